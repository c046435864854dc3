"""The places of processes in a state, in languages whose processes execute a text."""

from __future__ import annotations

from dataclasses import dataclass

from outcrop.ir.layout import State
from outcrop.ir.system import ProcessText, Stop, System
from outcrop.ir.types import Array
from outcrop.source import Span

#: Places that a message lists.
_MOST_GROUPS = 4


@dataclass(frozen=True)
class Process:
    """A process in a state. ``name``: with its number, if there can be several of its kind."""

    name: str
    number: int
    text: ProcessText
    stop: Stop


def processes_in(system: System, state: State) -> list[Process]:
    """Returns the processes of a state, in the order of their numbers."""
    texts = {each.name: each for each in system.texts}
    found = []
    for each in system.variables:
        text = texts.get(each.name)
        if text is None:
            continue
        is_array = isinstance(each.type, Array)
        size = each.type.leaf_count // len(text.processes) if is_array else each.type.leaf_count
        for at, number in enumerate(text.processes):
            where = int(state[each.offset + at * size] or 0)
            if where:
                name = f"{text.title}[{number}]" if is_array else text.title
                found.append(Process(name, number, text, text.stops[where - 1]))
    return sorted(found, key=lambda process: process.number)


def waiting(system: System, processes: list[Process]) -> str:
    """Returns where processes wait: "2 processes P wait at line 3, Q at line 5"."""
    groups: dict[tuple[str, str], list[Process]] = {}
    for each in processes:
        groups.setdefault((each.text.title, _place(system, each.stop.span)), []).append(each)
    shown: list[str] = []
    for (title, place), group in list(groups.items())[:_MOST_GROUPS]:
        names = group[0].name if len(group) == 1 else f"{len(group)} processes {title}"
        verb = "" if shown else "waits " if len(group) == 1 else "wait "
        shown.append(f"{names} {verb}at {place}")
    left = len(groups) - len(shown)
    return ", ".join(shown) + (f", and others at {left} more place{'s' if left > 1 else ''}" if left > 0 else "")


def _place(system: System, span: Span) -> str:
    return f"line {span.line}" + (f" of {span.source.name}" if span.source is not system.source else "")
