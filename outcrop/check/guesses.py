"""Bounds that a front-end guessed: a search that passes one begins again with a larger one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from outcrop.ir.system import Guess
from outcrop.options import CheckOptions
from outcrop.outcome import Event, EventKind, Progress, announce
from outcrop.result import Result, ViolationKind

if TYPE_CHECKING:
    from outcrop.api import Model

_Check = Callable[["Model", CheckOptions], Result]


def with_better_guesses(
    model: Model, options: CheckOptions, progress: Callable[[Progress], None] | None, check: _Check
) -> Result:
    """Checks a model and, as long as a run passes its guess, checks it with the next larger value."""
    guess = model.system.guess
    result = check(model, options)
    if guess is None or model.reload is None or options.resume is not None or options.keep_states is not None:
        return result
    events: list[Event] = []
    value, left = guess.value, options
    for larger in guess.larger:
        if not _is_passed(guess, result, options):
            break
        text = f"--{guess.option} {value} is too small; the search begins again with {larger}"
        events.append(Event(EventKind.ENLARGED, text, {"before": value, "after": larger}))
        announce(progress, events[-1])
        value, left = larger, left.after(result.seconds)
        result = check(model.reload({}, **{guess.option: larger}), left)
    result.events[:0] = events
    return result


def _is_passed(guess: Guess, result: Result, options: CheckOptions) -> bool:
    """Returns whether a run passes the guess; on several ranks, whether one of them says so."""
    found = any(each.kind is ViolationKind.ERROR and guess.remedy in each.message for each in result.violations)
    if (options.ranks or 1) == 1:
        return found
    from outcrop.dist.transport import transport_of  # imports numpy

    return any(transport_of(options.ranks).gather(found))
