"""Lanes of a message chart: the processes of a model, or the values of the type that its rules range over.

Works on the JSON document of a check (docs/reference/json.md), where types are trees of objects and values are in ITF.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from outcrop.errors import UsageError

Tree = dict[str, Any]  #: a type, as the JSON document writes it

#: Largest number of lanes. A type with more values makes no lanes unless it is asked for.
_MOST_LANES = 24

#: The lane of variables that belong to no other lane.
SHARED = "shared"

#: Parameters of a rule that number the instances of its processes.
PROCESS_PARAMETERS = ("process", "with")


@dataclass(frozen=True)
class Lanes:
    """The lanes of a chart, without the shared one. ``types``: texts of the types whose values name lanes; empty where
    lanes are processes."""

    kind: str  #: the type, or "process"
    names: tuple[str, ...]
    types: frozenset[str] = frozenset()
    is_numbered: bool = False  #: whether values are numbers, which say little without the name of their type

    @property
    def are_processes(self) -> bool:
        """Whether lanes are processes rather than values of a type."""
        return not self.types

    def of_value(self, kind: Tree, value: Any) -> int | None:
        """Returns the lane that a value of a type names."""
        return self.of_text(kind["text"], value_text(value)) if kind["text"] in self.types else None

    def of_text(self, kind: str, value: str) -> int | None:
        """Returns the lane that a value names, given the texts of its type and its own."""
        return self.names.index(value) if kind in self.types and value in self.names else None

    def of_variable(self, name: str) -> int | None:
        """Returns the process that a variable belongs to: its control state, or a variable declared in it."""
        owner = name if name in self.names else name.rpartition(".")[0]
        return self.names.index(owner) if self.are_processes and owner in self.names else None

    def of_element(self, path: str, kind: Tree, index: Any) -> int | None:
        """Returns the lane of an element of an array: that of its index, or the process instance that it holds."""
        if self.are_processes:
            return self.of_variable(f"{path}[{value_text(index)}]")
        return self.of_value(kind["index"], index)

    def of_step(self, meta: Tree) -> tuple[int, ...]:
        """Returns the processes of a step. Where a rule stands for several instances, its arguments number them."""
        numbers = [each["value"] for each in meta.get("arguments", ()) if each["name"] in PROCESS_PARAMETERS]
        found = []
        for name in meta.get("processes", ()):
            if name in self.names:
                found.append(name)
            elif numbers:
                found.append(f"{name}[{numbers.pop(0)}]")
        if numbers and found:  # two instances of one kind
            found.append(f"{meta['processes'][-1]}[{numbers.pop(0)}]")
        return tuple(dict.fromkeys(self.names.index(each) for each in found if each in self.names))

    def title(self, lane: int) -> str:
        """Returns the heading of a lane."""
        return f"{self.kind} {self.names[lane]}" if self.is_numbered else self.names[lane]


def find_lanes(document: dict[str, Any], asked: str | None) -> Lanes:
    """Returns the lanes of a model: those of the type ``asked`` for, else its processes, else the values of the type
    that most rules have a parameter of. Raises UsageError where no such type is in the model."""
    rules = document.get("coverage", [])
    processes = _processes(document)
    if asked is None and processes:
        return Lanes("process", processes)
    if asked is not None and asked.lower() == "process":
        if not processes:
            raise UsageError("the model has no processes. Name a type with --lanes")
        return Lanes("process", processes)
    parameters = [each["type"] for rule in rules for each in rule.get("parameters", ())]
    known = [part for each in document.get("variables", []) for part in parts(each["type"])]
    if asked is not None:
        return _asked(asked, [*parameters, *known])
    return _chosen(parameters, [*known, *parameters])


def _asked(name: str, known: Sequence[Tree]) -> Lanes:
    simple = {each["text"]: each for each in known if values_of(each)}
    found = simple.get(name) or next((each for text, each in simple.items() if text.lower() == name.lower()), None)
    if found is None:
        raise UsageError(f"the model has no type '{name}' for lanes. It has {', '.join(sorted(simple))}")
    return _of_type(found, known)


def _chosen(parameters: Sequence[Tree], known: Sequence[Tree]) -> Lanes:
    """Counts parameters by type; a type that indexes part of the state goes before one that does not."""
    indices = {each["index"]["text"] for each in known if each["kind"] == "array"}
    unions = {each["text"]: each for each in known if each["kind"] == "union"}
    votes: Counter[str] = Counter()
    trees: dict[str, Tree] = {}
    for each in parameters:
        if each["kind"] == "boolean":
            continue
        tree = _widest(each, list(unions.values()))
        if 2 <= len(values_of(tree)) <= _MOST_LANES:
            trees[tree["text"]] = tree
            votes[tree["text"]] += 1
    if not votes:
        return Lanes("", (), frozenset({""}))

    def weight(text: str) -> tuple[bool, int]:
        members = {member["text"] for member in trees[text].get("members", []) if isinstance(member, dict)}
        return bool(indices & {text, *members}), votes[text]

    return _of_type(trees[max(votes, key=weight)], known)


def _widest(tree: Tree, unions: Sequence[Tree]) -> Tree:
    """Returns the largest union that has a type as a member, or the type itself."""
    fitting = [each for each in unions if any(member["text"] == tree["text"] for member in each["members"])]
    return max(fitting, key=lambda each: len(values_of(each)), default=tree)


def _processes(document: dict[str, Any]) -> tuple[str, ...]:
    """Returns the processes of a model in the order of its variables. Elements of an array are instances."""
    named = list(dict.fromkeys(name for rule in document.get("coverage", []) for name in rule.get("processes", ())))
    kinds = {each["name"]: each["type"] for each in document.get("variables", [])}
    found: dict[str, None] = {}
    for name in named:
        owner = name.partition("[")[0]
        kind = kinds.get(owner)
        if kind is not None and kind["kind"] == "array" and len(values_of(kind["index"])) <= _MOST_LANES:
            found.update(dict.fromkeys(f"{owner}[{value}]" for value in values_of(kind["index"])))
        else:
            found[name] = None
    return tuple(found)


def _of_type(tree: Tree, known: Sequence[Tree]) -> Lanes:
    """Returns the lanes of a type. Values of its members name lanes too, and those of every union that has one of
    these."""
    members = {tree["text"], *(member["text"] for member in tree.get("members", []) if isinstance(member, dict))}
    unions = [each for each in known if each["kind"] == "union"]
    wider = {each["text"] for each in unions if any(member["text"] in members for member in each["members"])}
    is_named = not tree["text"][:1].isdigit() and not tree["text"].startswith("-")
    return Lanes(
        tree["text"],
        tuple(values_of(tree)),
        frozenset(members | wider),
        tree["kind"] == "range" and is_named,
    )


def parts(tree: Tree) -> Iterator[Tree]:
    """Yields a type and every type that it is built from."""
    yield tree
    for inner in (tree.get("index"), tree.get("element")):
        if inner is not None:
            yield from parts(inner)
    for each in tree.get("fields", []):
        yield from parts(each["type"])
    for each in tree.get("members", []):
        if isinstance(each, dict):
            yield from parts(each)


def values_of(tree: Tree) -> list[str]:
    """Returns the values of a simple type as texts; none for a type with too many to be lanes."""
    match tree["kind"]:
        case "enum":
            return list(tree["members"])
        case "scalarset":
            return [f"{tree['name'] or 'scalarset'}_{number + 1}" for number in range(min(tree["size"], 1000))]
        case "range":
            return [str(value) for value in range(tree["low"], min(tree["high"], tree["low"] + 1000) + 1)]
        case "union":
            return [value for member in tree["members"] for value in values_of(member)]
    return []


def value_text(value: Any) -> str:
    """Returns the text of a simple value in ITF."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return str(next(iter(value.values()), ""))
    return str(value)


def typed_text(kind: Tree, value: Any) -> str:
    """Returns the text of a simple value: its name, where the type has names for its numbers."""
    if is_undefined(value):
        return str(kind.get("undefined", "undefined"))
    labels = kind.get("labels", ())
    at = value - kind["low"] if labels and isinstance(value, int) else len(labels)
    return str(labels[at]) if at < len(labels) else value_text(value)


def is_undefined(value: Any) -> bool:
    return isinstance(value, dict) and value.get("#unserializable") == "undefined"
