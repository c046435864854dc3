"""Traces in SPIN's words: as ``spin -t -p -g -l`` prints them, with the values that changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from outcrop.ir.layout import Leaf, State
from outcrop.ir.system import StatementLine, System
from outcrop.ir.types import Array, Range, Record, Simple, Type
from outcrop.result import Step, Trace
from outcrop.source import Span
from outcrop.trace.processes import processes_in
from outcrop.trace.values import is_channel, messages

_CYCLE = "  <<<<<START OF CYCLE>>>>>"
#: Variables of the state that a model does not declare.
_OWN = frozenset(("_nr_pr", "_last", "atomic", "trace", "notrace"))


def spin_lines(trace: Trace, failing: Sequence[StatementLine] = ()) -> Iterator[str]:
    """Yields the lines of a trace. ``failing``: statements of the step that fails, up to the one that does.

    As in SPIN, each statement of an atomic sequence has a number, and a d_step has one for all of its statements.
    """
    values = _Values(trace.system)
    before = trace.steps[0].state
    if trace.loop_start == 0:
        yield _CYCLE
    count = 0
    for number, step in enumerate(trace.steps[1:] if trace.closing is None else [*trace.steps[1:], trace.closing], 1):
        for line in _statements(step):
            count += isinstance(line, str) or not line.is_inner
            yield f"{count:>3}:{line if isinstance(line, str) else _text(line)}"
        yield from (f"\t\t{each}" for each in values.changes(before, step.state))
        yield from (f"          {each}" for each in step.printed.removesuffix("\n").split("\n") if each)
        before = step.state
        if number == trace.loop_start:
            yield _CYCLE
    for line in failing:
        count += not line.is_inner
        yield f"{count:>3}:{_text(line)}"
    yield f"spin: trail ends after {count} steps"
    yield from values.processes(before, count)


def _statements(step: Step) -> Sequence[StatementLine | str]:
    return step.statements or (f"\t{step.label}",)


def _text(line: StatementLine) -> str:
    who = "-" if line.process is None else line.process
    if not line.text:
        return f" proc {who} terminates"
    return f"\tproc {who:>2} ({line.name}:{line.priority}) {_place(line.span)} (state {line.state})\t[{line.text}]"


def _place(span: Span) -> str:
    return f"{Path(span.source.name).name}:{span.line}"


class _Values:
    """The variables of a model by their names in SPIN."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._variables = [each for each in system.variables if each.name not in _OWN]
        self._processes = {each.name: each for each in system.texts}

    def processes(self, state: State, count: int) -> Iterator[str]:
        """Yields where the processes are, the youngest first."""
        found = processes_in(self._system, state)
        if found:
            yield f"#processes: {len(found)}"
        for each in reversed(found):
            ending = " <valid end state>" if each.stop.may_end else ""
            place = f"{_place(each.stop.span)} (state {each.stop.state}){ending}"
            yield f"{count:>3}:\tproc {each.number:>2} ({each.text.title}:{each.text.priority}) {place}"

    def changes(self, before: State, after: State) -> Iterator[str]:
        """Yields a line for each channel and each variable that differs."""
        for each in self._variables:
            text = self._processes.get(each.name)
            rows = [state[each.offset : each.offset + each.type.leaf_count] for state in (before, after)]
            if rows[0] == rows[1]:
                continue
            if text is None:
                yield from _changed(each.name, each.type, *rows)
            elif isinstance(each.type, Array):
                size = each.type.element.leaf_count
                for at, pid in enumerate(text.processes):
                    parts = [row[at * size : (at + 1) * size] for row in rows]
                    yield from _of_process(f"{text.title}({pid})", each.type.element, *parts)
            else:
                yield from _of_process(f"{text.title}({text.processes[0]})", each.type, *rows)


def _of_process(name: str, kind: Type, before: Sequence[Leaf], after: Sequence[Leaf]) -> Iterator[str]:
    """Yields the changes of the variables of a process; none where it has ended. The first field is where it is."""
    assert isinstance(kind, Record)
    if not after[0]:
        return
    for (field, inner), start in list(zip(kind.fields, kind.offsets, strict=True))[1:]:
        end = start + inner.leaf_count
        yield from _changed(f"{name}:{field}", inner, before[start:end], after[start:end])


def _changed(name: str, kind: Type, before: Sequence[Leaf], after: Sequence[Leaf]) -> Iterator[str]:
    if before == after:
        return
    if is_channel(kind):
        yield f"queue ({name}): {messages(kind, after, _value)}".rstrip()
    elif isinstance(kind, Record):
        for (field, inner), start in zip(kind.fields, kind.offsets, strict=True):
            end = start + inner.leaf_count
            yield from _changed(f"{name}.{field}", inner, before[start:end], after[start:end])
    elif isinstance(kind, Array):
        size = kind.element.leaf_count
        for at in range(kind.index.cardinality):
            rows = before[at * size : (at + 1) * size], after[at * size : (at + 1) * size]
            yield from _changed(f"{name}[{kind.index.show(kind.index.low + at)}]", kind.element, *rows)
    else:
        assert isinstance(kind, Simple)
        yield f"{name} = {_value(kind, after[0])}"


def _value(kind: Simple, value: Leaf) -> str:
    """Returns a value; truth values are numbers in SPIN."""
    is_truth = isinstance(kind, Range) and kind.labels == ("false", "true")
    return str(value) if is_truth else kind.show(value)
