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

from outcrop.trace.lanes import PROCESS_PARAMETERS, SHARED, Lanes, Tree, find_lanes, typed_text, value_text
from outcrop.trace.messages import Message, Networks, find_networks, message_text

#: Longest text of a change or message, in characters; longer texts are cut.
_LONGEST_TEXT = 120


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
class Change:
    """A change in a lane: the name of a leaf within the lane, and its values before and after."""

    lane: int
    name: str
    before: str
    after: str

    @property
    def text(self) -> str:
        """The change as ``state: Idle → Wait``."""
        return f"{self.name}: {self.before} → {self.after}"


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
    found = find_lanes(document, lanes)
    trace = violation["trace"]
    drawing = _Drawing(document, found, find_networks(document, found, messages))
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
    lanes: Lanes
    networks: Networks
    rows: list[Row] = field(default_factory=list)
    flying: dict[Message, deque[tuple[int, int]]] = field(default_factory=dict)  #: row and arrow of each sending

    @property
    def shared(self) -> int:
        return len(self.lanes.names)

    def add(self, number: int, meta: dict[str, Any], before: dict[str, Any] | None, state: dict[str, Any]) -> None:
        """Adds the row of a step."""
        variables = self.document.get("variables", [])
        changes = [] if before is None else list(_changes(self.lanes, self.networks, variables, before, state))
        lies = self.networks.messages(variables, state)
        lay = self.networks.messages(variables, before) if before is not None else lies
        received, sent = list((lay - lies).elements()), list((lies - lay).elements())
        named = self._named(meta)
        actors = named or self._inferred(changes, received, sent) if before is not None else ()
        arrows = [
            *(self._receive(number, each, actors, bool(named)) for each in received),
            *self._meeting(meta, named),
        ]
        row = Row(number, self._rule(meta), actors, tuple(changes), tuple(arrows))
        self.rows.append(row)
        for each in sent:
            self._send(number, each, actors)

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

    def _named(self, meta: dict[str, Any]) -> tuple[int, ...]:
        """Returns the lanes that the rule of a step names: its processes, or its arguments."""
        if self.lanes.are_processes:
            return self.lanes.of_step(meta)
        texts = [self.lanes.of_text(each["type"], each["value"]) for each in meta.get("arguments", [])]
        # The first of several arguments is the actor; the others are its partners.
        return tuple([lane for lane in texts if lane is not None][:1])

    def _inferred(
        self, changes: Sequence[Change], received: Sequence[Message], sent: Sequence[Message]
    ) -> tuple[int, ...]:
        """Returns the lanes of the receivers, else of the senders, else of the changes."""
        for found in (
            [each.target for each in received],
            [each.source for each in sent],
            [each.lane for each in changes if each.lane != self.shared],
        ):
            lanes = tuple(dict.fromkeys(lane for lane in found if lane is not None))
            if lanes:
                return lanes
        return (self.shared,) if changes else ()

    def _meeting(self, meta: dict[str, Any], actors: Sequence[int]) -> Iterator[Arrow]:
        """Yields the arrow of a rendezvous of two processes."""
        if self.lanes.are_processes and len(actors) == 2:
            text = self._rule(meta).rstrip("!?") or "meets"
            yield Arrow(ArrowKind.EXCHANGED, actors[0], actors[1], _cut(text))

    def _partner(self, end: int | None, actors: Sequence[int]) -> int | None:
        """Returns the end of a message that nothing names: the actor. A rule that names the other end is someone
        else's, who has no lane."""
        actor = next(iter(actors), None)
        return self.shared if actor is not None and actor == end and not self.lanes.are_processes else actor

    def _send(self, number: int, message: Message, actors: Sequence[int]) -> None:
        row = self.rows[-1]
        source = message.source if message.source is not None else self._partner(message.target, actors)
        arrow = Arrow(ArrowKind.SENT, source, message.target, _cut(message.text))
        self.flying.setdefault(message, deque()).append((len(self.rows) - 1, len(row.arrows)))
        self.rows[-1] = replace(row, arrows=(*row.arrows, arrow))

    def _receive(self, number: int, message: Message, actors: Sequence[int], is_sure: bool) -> Arrow:
        """Returns the arrow of a received message, and completes the arrow of its sending."""
        target = message.target if message.target is not None else self._partner(message.source, actors)
        is_removed = is_sure and message.target not in (None, self.shared, *actors)
        kind = ArrowKind.REMOVED if is_removed else ArrowKind.RECEIVED
        waiting = self.flying.get(message)
        if not waiting:
            return Arrow(kind, message.source, target, _cut(message.text))
        at, place = waiting.popleft()
        row = self.rows[at]
        sending = row.arrows[place]
        known = replace(sending, target=target if sending.target is None else sending.target, other_step=number)
        self.rows[at] = replace(row, arrows=(*row.arrows[:place], known, *row.arrows[place + 1 :]))
        return Arrow(kind, sending.source, target, _cut(message.text), row.step)


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


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"


# --- Changes -----------------------------------------------------------------------------------------------------


def _changes(
    lanes: Lanes,
    networks: Networks,
    variables: Sequence[Tree],
    before: dict[str, Any],
    state: dict[str, Any],
) -> Iterator[Change]:
    """Yields the differences between two states, outside networks."""
    walk = _Walk(lanes, networks)
    for each in variables:
        name = each["name"]
        lane = lanes.of_variable(name)
        short = name
        if lane is not None:
            is_whole = name == lanes.names[lane]
            short = ("" if each["type"]["kind"] == "record" else "state") if is_whole else name.rpartition(".")[2]
        yield from walk.inside(each["type"], name, short, lane, before[name], state[name])


@dataclass(frozen=True)
class _Walk:
    lanes: Lanes
    networks: Networks

    def inside(self, kind: Tree, path: str, name: str, lane: int | None, old: Any, new: Any) -> Iterator[Change]:
        """Yields the differences of one part of the state. ``name`` is its name within its lane."""
        if old == new or path in self.networks.of_path or self._counts_messages(kind, path):
            return
        if kind["kind"] == "record":
            for each in kind["fields"]:
                field_name = each["name"]
                inner = f"{path}.{field_name}", f"{name}.{field_name}" if name else field_name
                yield from self.inside(each["type"], *inner, lane, old[field_name], new[field_name])
        elif kind["kind"] == "array":
            yield from self._array(kind, path, name, lane, old, new)
        elif kind["kind"] == "multiset":
            yield from self._multiset(kind, name, lane, old, new)
        else:
            at = len(self.lanes.names) if lane is None else lane
            yield Change(at, name, _cut(typed_text(kind, old)), _cut(typed_text(kind, new)))

    def _array(self, kind: Tree, path: str, name: str, lane: int | None, old: Any, new: Any) -> Iterator[Change]:
        for (index, element), (_, earlier) in zip(new["#map"], old["#map"], strict=True):
            own = self.lanes.of_element(path, kind, index) if lane is None else None
            whole = "" if self.lanes.are_processes else name
            inner_name = whole if own is not None else f"{name}[{value_text(index)}]"
            inner_lane = lane if own is None else own
            yield from self.inside(kind["element"], path, inner_name, inner_lane, earlier, element)

    def _multiset(self, kind: Tree, name: str, lane: int | None, old: Any, new: Any) -> Iterator[Change]:
        at = len(self.lanes.names) if lane is None else lane
        was, now = (dict(_bag(kind, each)) for each in (old, new))
        for element, count in was.items():
            if count > now.get(element, 0):
                yield Change(at, name, _cut(element), "∅")
        for element, count in now.items():
            if count > was.get(element, 0):
                yield Change(at, name, "∅", _cut(element))

    def _counts_messages(self, kind: Tree, path: str) -> bool:
        """Returns whether a part is the length of a queue: a number next to it in a record, or ``.count`` in DVE."""
        owner = path.rpartition(".")[0]
        beside = [each.rpartition(".") for each in self.networks.of_path]
        return (
            kind["kind"] == "range"
            and bool(owner)
            and (owner in self.networks.of_path or any(before == owner for before, _, _ in beside))
        )


def _bag(kind: Tree, value: Any) -> Iterator[tuple[str, int]]:
    for element, count in value["#map"]:
        yield message_text(kind["element"], element, set()), count
