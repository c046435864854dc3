"""Searches for cycles whose states are folded into trees, from the start or when memory is used up.

Such a search needs the index of each state in the arena. Its visited set is therefore the table of ``ram``, over roots
of 8 bytes instead of states, and not a quotient table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from outcrop.dist.transport import transport_of
from outcrop.errors import UsageError
from outcrop.explorer.budget import cycle_settings
from outcrop.explorer.compressing import check_possible, compiled, sampled_shape, why_impossible
from outcrop.explorer.context import Context
from outcrop.kernels import Native, Search
from outcrop.kernels.compressed import ROOT_BYTES, CompressedSearch
from outcrop.options import CheckOptions
from outcrop.outcome import Event, EventKind, Outcome, Stop
from outcrop.strategies import Compression, CompressOptions, OwctyOptions

#: Narrowest states that are folded when memory is used up, in bytes.
_LEAST_BYTES = 24

#: Runs a search in a context. ``True``: with states folded.
Run = Callable[[Context, bool], Outcome]


@contextmanager
def cycle_kernels(native: Native, options: CheckOptions, context: Context, is_folded: bool) -> Iterator[Search]:
    """Opens the kernels of a search for cycles. ``is_folded``: its states are roots of trees."""
    settings = cycle_settings(options, context.tuning)
    if not is_folded:
        with native.search(settings) as kernels:
            yield kernels
        return
    check_possible(native, options)
    shape = sampled_shape(native, settings, context.tuning)
    with CompressedSearch(compiled(native), settings, shape, indexed=True) as folded:
        yield folded


def search_folding(native: Native, options: CheckOptions, context: Context, run: Run) -> Outcome:
    """Runs a search with states folded if the options ask for it, or when memory is used up otherwise."""
    asked = options.of(CompressOptions).compress
    if asked in (Compression.TREE, Compression.QUOTIENT):
        return run(context, native.model_bytes > ROOT_BYTES)  # narrower states are as short as roots
    outcome = run(context, False)
    may_fold = asked == Compression.AUTO and _may_fold(native, options)
    if outcome.stop is not Stop.MEMORY or not may_fold:
        return outcome
    states, width = sum(outcome.levels), native.model_bytes
    text = f"memory budget used up by {states:,} states of {width} bytes: searching again, states folded into trees"
    event = Event(EventKind.COMPRESSED, text, {"states": states, "before": width, "after": ROOT_BYTES})
    again = run(replace(context, seconds=outcome.seconds), True)
    return replace(again, events=[*outcome.events, event, *again.events])


def refuse_folding(options: CheckOptions) -> None:
    """Raises UsageError if the options ask for compression where states of products are not compressed."""
    is_asked = options.of(CompressOptions).compress in (Compression.TREE, Compression.QUOTIENT)
    if is_asked and not _can_fold(options):
        raise UsageError(
            "the states of a product are not compressed with --compact or over several ranks. Leave --compress out"
        )


def _can_fold(options: CheckOptions) -> bool:
    return not options.of(OwctyOptions).compact and transport_of(options.ranks).size == 1


def _may_fold(native: Native, options: CheckOptions) -> bool:
    """Returns whether folding may pay when memory is used up. A model that prints would print twice."""
    is_possible = why_impossible(native, options) is None and _can_fold(options) and not native.prints
    return is_possible and native.model_bytes >= _LEAST_BYTES
