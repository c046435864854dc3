"""Changes of a step, by lane: the leaves of the state that differ, outside networks of messages.

Works on the JSON document of a check (docs/reference/json.md), where types are trees of objects and values are in ITF.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from outcrop.trace.lanes import Lanes, Tree, typed_text, value_text
from outcrop.trace.messages import Networks, message_text

#: Number of the processes of a model in Promela. The lanes show which of them are there.
_PROCESS_COUNT = "_nr_pr"
#: The place of a process that has ended in Promela. Its variables are cleared, which is no change that it makes.
_GONE = "-"

#: Longest text of a change or message, in characters; longer texts are cut.
_LONGEST_TEXT = 120


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


def cut(text: str) -> str:
    """Returns a text, cut where it is too long for a chart."""
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"


def changes(
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
        if lanes.are_processes and name == _PROCESS_COUNT:
            continue
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
            is_gone = lane is not None and isinstance(new, dict) and new.get("at") == _GONE and not name
            for each in kind["fields"]:
                field_name = each["name"]
                if is_gone and field_name != "at":
                    continue
                inner = f"{path}.{field_name}", f"{name}.{field_name}" if name else field_name
                yield from self.inside(each["type"], *inner, lane, old[field_name], new[field_name])
        elif kind["kind"] == "array":
            yield from self._array(kind, path, name, lane, old, new)
        elif kind["kind"] == "multiset":
            yield from self._multiset(kind, name, lane, old, new)
        else:
            at = len(self.lanes.names) if lane is None else lane
            yield Change(at, name, cut(typed_text(kind, old)), cut(typed_text(kind, new)))

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
                yield Change(at, name, cut(element), "∅")
        for element, count in now.items():
            if count > was.get(element, 0):
                yield Change(at, name, "∅", cut(element))

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
