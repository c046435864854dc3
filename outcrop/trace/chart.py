"""A trace as a message chart: one lane for each process or value of a type, one row a step, arrows for messages.

A message is drawn twice: where it is sent, and where it is received. Between the two it is in flight. Made from the
JSON document of a check alone, so that a chart can be drawn wherever the document goes.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from outcrop.trace.changes import Change, cut
from outcrop.trace.lanes import PROCESS_PARAMETERS, SHARED, Lanes
from outcrop.trace.messages import Message
from outcrop.trace.steps import ChartStep, StepReader


class ArrowKind(StrEnum):
    SENT = "sent"  #: the message is in flight from now on
    RECEIVED = "received"
    EXCHANGED = "exchanged"  #: sent and received in one step
    REMOVED = "removed"  #: removed by an actor that it is not addressed to


@dataclass(frozen=True)
class Arrow:
    """A message between two lanes. ``source`` or ``target`` is None where the trace does not show it."""

    kind: ArrowKind
    source: int | None
    target: int | None
    text: str
    other_step: int | None = (
        None  #: the step of the other end: the receipt of a sent message, the sending of a received one
    )


@dataclass(frozen=True)
class Row:
    """A step of the trace."""

    step: int
    rule: str  #: its name, with the parameters that do not name lanes
    actors: tuple[int, ...]
    changes: tuple[Change, ...] = ()
    arrows: tuple[Arrow, ...] = ()


@dataclass(frozen=True)
class Chart:
    """``lanes`` are headings; the last one may be the shared lane. ``idle``: lanes in which nothing happens."""

    title: str
    kind: str  #: kind of the things that lanes stand for
    lanes: tuple[str, ...]
    rows: tuple[Row, ...]
    ending: str = ""
    loop_start: int | None = None
    closing: Row | None = None  #: the step that leads back to ``loop_start``
    idle: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Returns the chart as plain data, for the report."""
        return asdict(self)

    def folded(self) -> Chart:
        """Returns the chart without the lanes in which nothing happens."""
        kept = [lane for lane in range(len(self.lanes)) if lane not in self.idle]
        place = {lane: at for at, lane in enumerate(kept)}

        def moved(row: Row) -> Row:
            changes = tuple(replace(each, lane=place[each.lane]) for each in row.changes)
            arrows = tuple(
                replace(each, source=place.get(each.source), target=place.get(each.target))  # type: ignore[arg-type]
                for each in row.arrows
            )
            return replace(row, actors=tuple(place[each] for each in row.actors), changes=changes, arrows=arrows)

        closing = None if self.closing is None else moved(self.closing)
        lanes = tuple(self.lanes[lane] for lane in kept)
        return replace(self, lanes=lanes, rows=tuple(map(moved, self.rows)), closing=closing, idle=())


def chart(
    document: dict[str, Any], violation: dict[str, Any], lanes: str | None = None, messages: Sequence[str] = ()
) -> Chart:
    """Returns the chart of a violation's trace. ``lanes`` names the type to make lanes of; ``messages`` describe
    networks (see messages.py). Raises UsageError where these do not fit the model."""
    trace = violation["trace"]
    drawing = _Drawing(document, StepReader(document, lanes, messages))
    states = trace["states"]
    for number, state in enumerate(states):
        drawing.add(number, state["#meta"], states[number - 1] if number else None, state)
    loop = trace.get("loop_start")
    closing = None
    if loop is not None:
        meta = trace["#meta"].get("closing", {"rule": trace["#meta"].get("closing_rule", "")})
        drawing.add(len(states), meta, states[-1], states[loop])
        closing = drawing.rows.pop()
    return drawing.finished(violation, loop, closing)


@dataclass
class _Drawing:
    """Rows are put together step by step; messages in flight wait for the step that receives them."""

    document: dict[str, Any]
    reader: StepReader
    rows: list[Row] = field(default_factory=list)
    flying: dict[Message, deque[tuple[int, int]]] = field(default_factory=dict)  #: row and arrow of each sending

    @property
    def lanes(self) -> Lanes:
        return self.reader.lanes

    @property
    def shared(self) -> int:
        return self.reader.shared

    def add(self, number: int, meta: dict[str, Any], before: dict[str, Any] | None, state: dict[str, Any]) -> None:
        """Adds the row of a step. Nobody acts in the start state."""
        step = ChartStep() if before is None else self.reader.read(meta, before, state)
        arrows = [
            *(self._receive(number, each, step.actors, bool(step.named)) for each in step.received),
            *self._meeting(meta, step.named),
        ]
        self.rows.append(Row(number, self._rule(meta), step.actors, step.changes, tuple(arrows)))
        for each in step.sent:
            self._send(number, each, step.actors)

    def finished(self, violation: dict[str, Any], loop: int | None, closing: Row | None) -> Chart:
        """Returns the chart, with a shared lane where something is in it."""
        rows = [*self.rows, *([] if closing is None else [closing])]
        busy = {lane for row in rows for lane in _lanes_of(row)}
        names = [self.lanes.title(lane) for lane in range(self.shared)]
        if self.shared in busy:
            names.append(SHARED)
        idle = tuple(lane for lane in range(self.shared) if lane not in busy)
        message = violation["message"].rstrip(".")
        failing = violation.get("failing_rule")
        ending = f"Then {failing}: {message}" if failing else message
        title = self.document.get("model", "")
        return Chart(title, self.lanes.kind, tuple(names), tuple(self.rows), ending, loop, closing, idle)

    def _rule(self, meta: dict[str, Any]) -> str:
        """Returns the name of a rule with the parameters that no lane shows."""
        label = str(meta.get("rule", ""))
        arguments = meta.get("arguments", [])
        whole = "".join(f", {each['name']}: {each['value']}" for each in arguments)
        processes = meta.get("processes", ())
        if not whole or not label.endswith(whole):
            return _without_processes(label, processes)
        rest = [each for each in arguments if not self._is_lane(each)]
        return _without_processes(label.removesuffix(whole), processes) + "".join(
            f", {each['name']}: {each['value']}" for each in rest
        )

    def _is_lane(self, argument: dict[str, Any]) -> bool:
        if self.lanes.are_processes:
            return argument["name"] in PROCESS_PARAMETERS
        return self.lanes.of_text(argument["type"], argument["value"]) is not None

    def _meeting(self, meta: dict[str, Any], actors: Sequence[int]) -> Iterator[Arrow]:
        """Yields the arrows of messages that processes hand over; for a rendezvous of two whose message the document
        does not have, one with its statement."""
        messages = meta.get("messages", ())
        if self.lanes.are_processes and messages:
            for each in messages:
                ends = [actors[at] if at < len(actors) else None for at in (each["from"], each["to"])]
                yield Arrow(ArrowKind.EXCHANGED, ends[0], ends[1], cut(each["text"]))
            return
        if self.lanes.are_processes and len(actors) == 2:
            text = self._rule(meta).rstrip("!?") or "meets"
            yield Arrow(ArrowKind.EXCHANGED, actors[0], actors[1], cut(text))

    def _partner(self, end: int | None, actors: Sequence[int]) -> int | None:
        """Returns the end of a message that nothing names: the actor. A rule that names the other end is someone
        else's, who has no lane."""
        actor = next(iter(actors), None)
        return self.shared if actor is not None and actor == end and not self.lanes.are_processes else actor

    def _send(self, number: int, message: Message, actors: Sequence[int]) -> None:
        row = self.rows[-1]
        source = message.source if message.source is not None else self._partner(message.target, actors)
        arrow = Arrow(ArrowKind.SENT, source, message.target, cut(message.text))
        self.flying.setdefault(message, deque()).append((len(self.rows) - 1, len(row.arrows)))
        self.rows[-1] = replace(row, arrows=(*row.arrows, arrow))

    def _receive(self, number: int, message: Message, actors: Sequence[int], is_sure: bool) -> Arrow:
        """Returns the arrow of a received message, and completes the arrow of its sending."""
        target = message.target if message.target is not None else self._partner(message.source, actors)
        is_removed = is_sure and message.target not in (None, self.shared, *actors)
        kind = ArrowKind.REMOVED if is_removed else ArrowKind.RECEIVED
        waiting = self.flying.get(message)
        if not waiting:
            return Arrow(kind, message.source, target, cut(message.text))
        at, place = waiting.popleft()
        row = self.rows[at]
        sending = row.arrows[place]
        known = replace(sending, target=target if sending.target is None else sending.target, other_step=number)
        self.rows[at] = replace(row, arrows=(*row.arrows[:place], known, *row.arrows[place + 1 :]))
        return Arrow(kind, sending.source, target, cut(message.text), row.step)


def _lanes_of(row: Row) -> Iterator[int]:
    yield from row.actors
    yield from (each.lane for each in row.changes)
    yield from (lane for each in row.arrows for lane in (each.source, each.target) if lane is not None)


def _without_processes(label: str, processes: Sequence[str]) -> str:
    """Returns the label of a rule without its processes, which the lanes show, and in Promela without its line."""
    for before in (" -> ".join(processes), ", ".join(processes)):
        if processes and label.startswith(f"{before}:"):
            return re.sub(r"^(\d+)? ", "", label.removeprefix(f"{before}:"))
    return label
