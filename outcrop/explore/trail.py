"""Trail files of SPIN's verifier: a line for each statement, ``depth:process:statement``.

A rule may execute several statements, so it takes as many lines. Where SPIN has merged statements, a line stands for
those after it as well: the process of the last line may then go on by statements that have no line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from outcrop.errors import UsageError
from outcrop.ir.interpreter import Firing, Interpreter
from outcrop.ir.layout import State
from outcrop.ir.system import Rule
from outcrop.result import Step
from outcrop.trace.replay import replayed

_LINE = re.compile(r"(-?\d+):(-?\d+):(-?\d+)")
#: First numbers of lines that are not statements: a claim is checked, statements were merged.
_CLAIM, _MERGED = -2, -4
#: States that are tried before a trail is given up.
_MOST_TRIED = 1_000_000
#: States that are tried for the violation after the last line.
_MOST_AFTER = 10_000

#: A position in a trail: the state, the number of lines read, and the process of the last one.
_Place = tuple[State, int, int | None]
#: For each position, the one before it and the firing that leads to it.
_Came = dict[_Place, tuple[_Place, Firing] | None]


def trail_document(text: str, is_known: bool = False) -> dict[str, Any] | None:
    """Returns the statements of a trail file as a document; None if the text is not a trail. A text
    that ``is_known`` to be one may be empty.

    >>> trail_document("1:0:3\\n2:1:0\\n")
    {'trail': [[0, 3], [1, 0]], 'merged': False}
    """
    found = [_LINE.fullmatch(each.strip()) for each in text.splitlines() if each.strip()]
    if None in found or not (found or is_known):
        return None
    lines = [tuple(map(int, each.groups())) for each in found if each is not None]
    marks = {first for first, _, _ in lines if first < 0}
    moves = [[process, statement] for first, process, statement in lines if first >= 0]
    if _CLAIM in marks:  # the claim has number 0, and the processes follow
        moves = [[process - 1, statement] for process, statement in moves if process > 0]
    return {"trail": moves, "merged": _MERGED in marks}


def is_trail(document: Any) -> bool:
    """Returns whether a document is that of a trail file."""
    moves = document.get("trail") if isinstance(document, dict) and "merged" in document else None
    return isinstance(moves, list) and all(
        isinstance(each, list) and [type(part) for part in each] == [int, int] for each in moves
    )


def follow(interpreter: Interpreter, document: dict[str, Any]) -> list[Step]:
    """Returns the steps of a trail, from the start state on. Raises UsageError if it does not fit the model.

    A trail may end with a statement that fails. The last step is then the one before it.
    """
    lines = [(process, statement) for process, statement in document["trail"]]
    start = next(iter(interpreter.start_states()))
    assert start.successor is not None
    first: _Place = (start.successor, 0, None)
    came: _Came = {first: None}
    pending, furthest, complete, limit = [first], 0, None, _MOST_TRIED
    while pending and len(came) < limit:
        place = pending.pop()
        furthest = max(furthest, place[1])
        firings = [each for each in interpreter.successors(place[0]) if not each.is_abandoned]
        if place[1] == len(lines):
            if not document["merged"] or _is_wrong(interpreter, place[0], firings):
                return _steps(interpreter, start, came, place)
            if complete is None:  # statements without a line may follow, up to the violation
                complete, limit = place, min(limit, len(came) + _MOST_AFTER)
        ahead = []
        for firing in firings:
            taken = _taken(firing, lines, place, bool(document["merged"]))
            if taken is None:
                continue
            if firing.successor is not None:
                ahead.append((taken[0] > place[1], -taken[2], (firing.successor, taken[0], taken[1]), firing))
            elif taken[0] == len(lines):
                return _steps(interpreter, start, came, place)
        for _, _, following, firing in sorted(ahead, key=lambda each: each[:2]):
            if following not in came:
                came[following] = place, firing
                pending.append(following)
    if complete is not None:
        return _steps(interpreter, start, came, complete)
    process, statement = lines[furthest]
    raise UsageError(
        f"the trail does not fit the model: process {process} cannot execute statement {statement} (step "
        f"{furthest + 1}); load it with the model, and the macros, of the run that wrote it"
    )


def _is_wrong(interpreter: Interpreter, state: State, firings: list[Firing]) -> bool:
    """Returns whether a state is one that a search would report."""
    if any(each.fault is not None for each in firings) or interpreter.check(state).failure is not None:
        return True
    return not firings and not interpreter.may_end(state)


def _taken(
    firing: Firing, lines: list[tuple[int, int]], place: _Place, merged: bool
) -> tuple[int, int | None, int] | None:
    """Returns how far a firing leads in a trail, the process of the last line, and how many of its statements have no
    line. None: it is not what the trail says. One that fails need not come to its end."""
    _, at, last = place
    hidden = 0
    for move in _moves(firing, lines, at):
        if at < len(lines) and lines[at] == move:
            at, last = at + 1, move[0]
        elif firing.successor is None and at == len(lines) and at > place[1]:
            break
        elif merged and move[0] == last:
            hidden += 1
        else:
            return None
    return at, last, hidden


def _moves(firing: Firing, lines: list[tuple[int, int]], at: int) -> Iterator[tuple[int, int]]:
    """Yields the statements of a firing: a loop as often as it stands in the trail."""
    rule = firing.origin
    if not isinstance(rule, Rule) or not rule.executed:
        raise UsageError("only models whose statements are numbered can follow a trail; load a trace in ITF")
    values = {
        each.local.name: int(each.type.show(value))
        for each, value in zip(rule.parameters, firing.arguments, strict=True)
        if each.type.show(value).isdigit()
    }
    for part in rule.executed:
        moves = [(values.get(who, -1) if isinstance(who, str) else who, number) for who, number in part.moves]
        if not part.repeats:
            yield from moves
            at += len(moves)
        while part.repeats and moves[0] in lines[at : at + 1]:
            yield from moves
            at += len(moves)


def _steps(interpreter: Interpreter, start: Firing, came: _Came, place: _Place) -> list[Step]:
    steps: list[Step] = []
    before = came[place]
    while before is not None:
        place, firing = before
        steps.append(replayed(interpreter, firing, place[0]))
        before = came[place]
    return [replayed(interpreter, start, None), *reversed(steps)]
