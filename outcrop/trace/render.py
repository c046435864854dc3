"""Traces as text: a startstate fired, then rules, each with what it changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum

from outcrop.ir.automaton import STUTTER
from outcrop.ir.layout import Leaf, State
from outcrop.ir.system import StatementLine, System
from outcrop.ir.types import Array, Multiset, Record, Simple, Type
from outcrop.result import Trace
from outcrop.trace.spin import spin_lines
from outcrop.trace.values import Item, elements, is_channel, items, show

#: Characters that a terminal would interpret.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class TraceStyle(StrEnum):
    FULL = "full"  #: every leaf of every state
    DIFF = "diff"  #: the start state, then what each rule changed
    SPIN = "spin"  #: SPIN's words: process, place and text of each statement, then what changed
    OFF = "off"


def render(trace: Trace, style: TraceStyle = TraceStyle.DIFF, failing: Sequence[StatementLine] = ()) -> list[str]:
    """Returns the lines of a trace. ``failing``: the statements of the step that fails after it, for SPIN's style."""
    if style is TraceStyle.OFF or not trace.steps:
        return []
    if style is TraceStyle.SPIN:
        return list(spin_lines(trace, failing))
    parts = items(trace.system)
    lines: list[str] = []
    before: State | None = None
    margin = len(str(len(trace) - 1))
    for number, step in enumerate(trace.steps):
        if number == trace.loop_start:
            lines.append(_loop_mark(number, len(trace) - 1))
        kind = "Startstate" if before is None else "Rule"
        lines.append(f"{number:>{margin}}  {fired(kind, step.label)}")
        if before is None or style is TraceStyle.FULL:
            shown = list(folded(trace.system, step.state) if style is TraceStyle.DIFF else whole(parts, step.state))
        else:
            shown = list(changes(parts, before, step.state)) or ["(nothing changes)"]
        if trace.propositions:
            shown.append(_truths(trace.propositions, step.truths))
        lines += [" " * (margin + 4) + each for each in (*shown, *printed(step.printed))]
        before = step.state
    if trace.closing is not None and before is not None:
        closing = fired("Rule", trace.closing.label).removesuffix(".")
        lines.append(f"{' ' * margin}  {closing}: back to {trace.loop_start}.")
        shown = [*changes(parts, before, trace.closing.state), *printed(trace.closing.printed)]
        lines += [" " * (margin + 4) + each for each in shown]
    return lines


def printed(text: str) -> list[str]:
    """Returns the lines that a step printed, marked as such.

    >>> printed("up 1\\ndone")
    ['prints: up 1', '        done']
    """
    lines = _CONTROL.sub("\ufffd", text).removesuffix("\n").split("\n") if text else []
    return [f"{' ' * 8 if number else 'prints: '}{line}".rstrip() for number, line in enumerate(lines)]


def _loop_mark(first: int, last: int) -> str:
    states = f"state {first} repeats" if first == last else f"states {first} to {last} repeat"
    return f"--- the cycle starts here: {states} forever ---"


def _truths(propositions: Sequence[str], truths: Sequence[bool]) -> str:
    """Returns the propositions, negated where they are false."""
    literals = [each if truth else f"!{each}" for each, truth in zip(propositions, truths, strict=True)]
    return f"propositions: {', '.join(literals)}"


def fired(kind: str, label: str) -> str:
    """Returns ``Rule enter, p: Proc_1 fired.`` The label of an unnamed rule already begins with its kind."""
    if label == STUTTER:
        return "Nothing is enabled, so the state repeats."
    prefix = "" if label.lower().startswith(kind.lower() + " ") else kind + " "
    return f"{prefix}{label} fired."


def changes(parts: Sequence[Item], before: State, after: State) -> Iterator[str]:
    """Yields one line for each leaf that differs, and for each element that a multiset gained or lost."""
    for item in parts:
        old, new = item.slice(before), item.slice(after)
        if old == new:
            continue
        if isinstance(item.type, Multiset):
            yield from _multiset_changes(item.name, item.type, old, new)
        else:
            yield f"{item.name}: {show(item.type, old)} -> {show(item.type, new)}"


def _multiset_changes(name: str, kind: Multiset, old: Sequence[Leaf], new: Sequence[Leaf]) -> Iterator[str]:
    was, now = (Counter(show(kind.element, each) for each in elements(kind, row)) for row in (old, new))
    for element in sorted((was - now).elements()):
        yield f"{name}: removed {element}"
    for element in sorted((now - was).elements()):
        yield f"{name}: added {element}"


def whole(parts: Sequence[Item], state: State) -> Iterator[str]:
    """Yields one line for each leaf, multiset and channel."""
    for item in parts:
        yield f"{item.name}: {show(item.type, item.slice(state))}"


def folded(system: System, state: State) -> Iterator[str]:
    """Yields what is defined in a state. Elements of an array that are all alike take one line, ``votes[*]: false``."""
    skipped: set[str] = set()
    for variable in system.variables:
        row = state[variable.offset : variable.offset + variable.type.leaf_count]
        for suffix, text in _folded(variable.type, row):
            if text is None:
                skipped.update(each.undefined for each in variable.type.leaves())
            else:
                yield f"{variable.name}{suffix}: {text}"
    if skipped:
        yield f"(everything else is {min(skipped)})"


def _folded(kind: Type, row: Sequence[Leaf]) -> list[tuple[str, str | None]]:
    """Returns the leaves of a value, each as the rest of a name and a text; None for what is undefined."""
    if isinstance(kind, Simple):
        return [("", None if row[0] is None else show(kind, row))]
    if isinstance(kind, Record) and not is_channel(kind):
        return [
            (f".{name}{suffix}", text)
            for (name, each), start in zip(kind.fields, kind.offsets, strict=True)
            for suffix, text in _folded(each, row[start : start + each.leaf_count])
        ]
    if not isinstance(kind, Array):
        return [("", show(kind, row))]
    size = kind.element.leaf_count
    parts = [_folded(kind.element, row[at * size : (at + 1) * size]) for at in range(kind.index.cardinality)]
    if len(parts) > 1 and all(part == parts[0] for part in parts):
        return [(f"[*]{suffix}", text) for suffix, text in parts[0]]
    names = [kind.index.show(kind.index.low + at) for at in range(len(parts))]
    return [(f"[{name}]{suffix}", text) for name, part in zip(names, parts, strict=True) for suffix, text in part]
