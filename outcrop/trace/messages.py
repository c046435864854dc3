"""Messages of a chart: what lies in multisets, channels and arrays of records that carry a source and a destination.

A network is recognised by the names and types of the fields of its elements. One that is not can be described by hand:
``FIELD:FROM:TO``, where FROM and TO are a field of the element, ``index`` (the index of the array around it, ``index2``
the second one), ``actor`` (whoever sends or receives) or the name of a lane.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from outcrop.errors import UsageError
from outcrop.trace.lanes import SHARED, Lanes, Tree, is_undefined, parts, typed_text, value_text, values_of

_SOURCE = re.compile(r"^(src|source|from|frm|sender|origin|orig)(_?(id|node|proc|pid))?$", re.IGNORECASE)
_TARGET = re.compile(r"^(dst|dest|destination|to|receiver|target|recipient)(_?(id|node|proc|pid))?$", re.IGNORECASE)
_INDICES = re.compile(r"\[[^\]]*\]")
#: Values of the kind of a message that stand for no message.
_NOTHING = re.compile(r"(?i:none|nil|null|empty|nothing|invalid|no)|[Nn]o[A-Z_]\w*|\w*_(?i:none)")


@dataclass(frozen=True)
class Network:
    """A place of messages: the path of a variable or part, without indices, and the fields that name their ends."""

    path: str
    source: str
    target: str
    is_given: bool = False  #: described by hand


@dataclass(frozen=True)
class Message:
    """A message in a network. An end is None if only the sending or receiving step shows it."""

    path: str
    source: int | None
    target: int | None
    text: str


@dataclass(frozen=True)
class Networks:
    """The networks of a model, by path."""

    lanes: Lanes
    of_path: dict[str, Network]

    def messages(self, variables: Sequence[Tree], state: dict[str, Any]) -> Counter[Message]:
        """Returns the messages that lie in the networks of a state."""
        found: Counter[Message] = Counter()
        for each in variables:
            found.update(self._inside(each["name"], each["type"], state.get(each["name"]), ()))
        return found

    def _inside(self, path: str, kind: Tree, value: Any, indices: tuple[int, ...]) -> Iterator[Message]:
        network = self.of_path.get(_INDICES.sub("", path))
        if network is not None:
            yield from self._elements(replace(network, path=path), kind, value, indices)
        elif is_buffer(kind):
            kept = {"#map": value["messages"]["#map"][: value["length"]]}
            yield from self._inside(f"{path}.messages", kind["fields"][1]["type"], kept, indices)
        elif kind["kind"] == "record" and isinstance(value, dict):
            for each in kind["fields"]:
                yield from self._inside(f"{path}.{each['name']}", each["type"], value.get(each["name"]), indices)
        elif kind["kind"] == "array" and isinstance(value, dict):
            for index, element in value.get("#map", ()):
                lane = self.lanes.of_value(kind["index"], index)
                inner = indices if lane is None else (*indices, lane)
                place = f"{path}[{value_text(index)}]" if self.lanes.are_processes else path
                yield from self._inside(place, kind["element"], element, inner)

    def _elements(self, network: Network, kind: Tree, value: Any, indices: tuple[int, ...]) -> Iterator[Message]:
        if kind["kind"] == "multiset":
            for element, count in value["#map"]:
                yield from [self._message(network, kind["element"], element, indices)] * count
        elif kind["kind"] == "array":
            for index, element in value["#map"]:
                lane = self.lanes.of_value(kind["index"], index)
                yield from self._elements(
                    network, kind["element"], element, indices if lane is None else (*indices, lane)
                )
        elif not _is_empty(network, kind, value):
            yield self._message(network, kind, value, indices)

    def _message(self, network: Network, kind: Tree, value: Any, indices: tuple[int, ...]) -> Message:
        ends = [self._end(each, kind, value, indices) for each in (network.source, network.target)]
        text = message_text(kind, value, skipped={network.source, network.target})
        return Message(network.path, ends[0], ends[1], text)

    def _end(self, end: str, kind: Tree, value: Any, indices: tuple[int, ...]) -> int | None:
        if end == "actor":
            return None
        if end in ("index", "index2"):
            at = 0 if end == "index" else 1
            return indices[at] if at < len(indices) else None
        if end == SHARED:
            return len(self.lanes.names)
        if end in self.lanes.names:
            return self.lanes.names.index(end)
        fields = {each["name"]: each["type"] for each in kind.get("fields", [])}
        return self.lanes.of_value(fields[end], value[end]) if end in fields else None


def find_networks(document: dict[str, Any], lanes: Lanes, given: Sequence[str]) -> Networks:
    """Returns the networks of a model, those described by hand included. Raises UsageError for a description that does
    not fit the model."""
    found: dict[str, Network] = {}
    variables = document.get("variables", [])
    for each in variables:
        for network in _recognised(lanes, each["name"], each["type"], 0):
            found.setdefault(network.path, network)
    if lanes.are_processes:
        found.update(_channels(document))
    for text in given:
        network = _described(text, lanes, variables)
        found[network.path] = network
    return Networks(lanes, found)


def _recognised(lanes: Lanes, path: str, kind: Tree, indices: int) -> Iterator[Network]:
    """Yields the networks in a part of the state inside arrays with ``indices`` indices that name lanes."""
    if kind["kind"] == "record":
        source, target = _ends(lanes, kind)
        if source and target:
            yield Network(path, source, target)
            return
        for each in kind["fields"]:
            yield from _recognised(lanes, f"{path}.{each['name']}", each["type"], indices)
    elif kind["kind"] in ("array", "multiset"):
        names_lanes = kind["kind"] == "array" and kind["index"]["text"] in lanes.types
        inside = indices + names_lanes
        if kind["element"]["kind"] == "record":
            source, target = _ends(lanes, kind["element"])
            other = "index" if inside else "actor" if kind["kind"] == "multiset" else None
            is_queue = kind["kind"] == "multiset" or (kind["index"]["kind"] == "range" and not names_lanes)
            if (source or target) and (source or other) and (target or other):
                yield Network(path, source or other or "", target or other or "")
                return
            if is_queue and indices == 2 and any(each["type"]["kind"] == "enum" for each in kind["element"]["fields"]):
                yield Network(path, "index", "index2")
                return
        yield from _recognised(lanes, path, kind["element"], inside)


def _ends(lanes: Lanes, record: Tree) -> tuple[str | None, str | None]:
    """Returns the fields of a record that name the source and the target of a message."""
    names = [each["name"] for each in record["fields"] if each["type"]["text"] in lanes.types]
    return next(filter(_SOURCE.match, names), None), next(filter(_TARGET.match, names), None)


def _channels(document: dict[str, Any]) -> dict[str, Network]:
    """Channels of processes: buffers of Promela, and arrays that rules of DVE are said to send to."""
    names = [rule["name"] for rule in document.get("coverage", [])]
    variables = document.get("variables", [])
    arrays = [each["name"] for each in variables if each["type"]["kind"] == "array"]
    sent_to = [each for each in arrays if any(re.search(rf"(?<![\w.]){re.escape(each)}!", name) for name in names)]
    buffers = [path for each in variables for path in _buffers(each["name"], each["type"])]
    owners = {each.partition(".")[0] for each in buffers}
    paths = [*buffers, *(each for each in sent_to if each not in owners)]
    return {each: Network(each, "actor", "actor") for each in paths}


def is_buffer(kind: Tree) -> bool:
    """Returns whether a type is that of a channel with a buffer in Promela."""
    return [each["name"] for each in kind.get("fields", ())] == ["length", "messages"]


def _buffers(path: str, kind: Tree) -> Iterator[str]:
    """Yields the paths of the buffers in a part of the state."""
    if is_buffer(kind):
        yield f"{path}.messages"
    elif kind["kind"] == "record":
        for each in kind["fields"]:
            yield from _buffers(f"{path}.{each['name']}", each["type"])
    elif kind["kind"] == "array":
        yield from _buffers(path, kind["element"])


def _described(text: str, lanes: Lanes, variables: Sequence[Tree]) -> Network:
    pieces = text.split(":")
    if len(pieces) != 3 or not all(pieces):
        raise UsageError(f"'{text}' describes no messages. Write FIELD:FROM:TO, as in net:src:dst")
    path, source, target = pieces
    kind = _type_at(variables, path)
    if kind is None:
        raise UsageError(
            f"the model has no variable or field '{path}' with messages; 'outcrop show' lists the variables"
        )
    fields = {each["name"] for part in parts(kind) for each in part.get("fields", [])}
    known = {"actor", "index", "index2", SHARED, *lanes.names, *fields}
    for end in (source, target):
        if end not in known:
            raise UsageError(f"'{end}' in '{text}' is not an end of a message. Use one of {', '.join(sorted(known))}")
    return Network(path, source, target, is_given=True)


def _type_at(variables: Sequence[Tree], path: str) -> Tree | None:
    """Returns the type of a part of the state, given its path without indices."""
    for each in variables:
        if path != each["name"] and not path.startswith(f"{each['name']}."):
            continue
        kind: Tree | None = each["type"]
        for name in path[len(each["name"]) + 1 :].split(".") if path != each["name"] else ():
            while kind is not None and kind["kind"] in ("array", "multiset"):
                kind = kind["element"]
            fields = {one["name"]: one["type"] for one in (kind or {}).get("fields", [])}
            kind = fields.get(name)
        if kind is not None:
            return kind
    return None


def _is_empty(network: Network, kind: Tree, value: Any) -> bool:
    """Returns whether an element of an array holds no message."""
    if is_undefined(value):
        return True
    if kind["kind"] != "record":
        least = ["false"] if kind["kind"] == "boolean" else values_of(kind)[:1]
        return network.is_given and not _is_channel(network) and [value_text(value)] == least
    texts = {each["name"]: value[each["name"]] for each in kind["fields"] if not isinstance(value[each["name"]], list)}
    if all(is_undefined(each) for each in texts.values()):
        return True
    if any(end in texts and is_undefined(texts[end]) for end in (network.source, network.target)):
        return True
    for each in kind["fields"]:
        if each["type"]["kind"] == "enum":
            text = value_text(value[each["name"]])
            first = network.is_given and text == each["type"]["members"][0]
            return is_undefined(value[each["name"]]) or first or _NOTHING.fullmatch(text) is not None
    return False


def _is_channel(network: Network) -> bool:
    return network.source == network.target == "actor"


def message_text(kind: Tree, value: Any, skipped: set[str]) -> str:
    """Returns a message on one line: the values of enumerations as they are, other fields with their names. Fields
    that are numbered, as in Promela, keep their order."""
    if kind["kind"] != "record":
        return "" if isinstance(value, dict) and "#map" in value else typed_text(kind, value)
    fields = [each for each in kind["fields"] if each["name"] not in skipped and not _is_blank(value[each["name"]])]
    if fields and all(each["name"].isdigit() for each in fields):
        return ", ".join(_short(each["type"], value[each["name"]]) for each in fields)
    kinds = [each for each in fields if each["type"]["kind"] == "enum" or each["type"].get("labels")]
    first = [typed_text(each["type"], value[each["name"]]) for each in kinds]
    others = [each for each in fields if each not in kinds]
    rest = [
        f"{'' if each['name'].isdigit() else each['name'] + ' '}{_short(each['type'], value[each['name']])}"
        for each in others
    ]
    return ", ".join([" ".join(first), *rest] if first else rest)


def _short(kind: Tree, value: Any) -> str:
    if kind["kind"] == "record":
        return f"({message_text(kind, value, set())})"
    if kind["kind"] in ("array", "multiset"):
        at = 1 if kind["kind"] == "array" else 0
        return "[" + ", ".join(_short(kind["element"], each[at]) for each in value["#map"]) + "]"
    return typed_text(kind, value)


def _is_blank(value: Any) -> bool:
    if isinstance(value, dict) and "#map" in value:
        return not value["#map"]
    if isinstance(value, dict) and not any(key.startswith("#") for key in value):
        return all(_is_blank(each) for each in value.values())
    return is_undefined(value)
