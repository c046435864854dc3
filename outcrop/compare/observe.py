"""Observations: values that must agree in related states of two models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from outcrop.api import Model
from outcrop.compare.values import NoMatchError, Pair, Token, pairs
from outcrop.errors import UsageError
from outcrop.ir.faults import Abandoned, Fault
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import Layout, Leaf, State
from outcrop.ir.places import blank_frame, frame_offsets
from outcrop.ir.system import System, has_symmetry
from outcrop.ir.types import BOOLEAN, Array, Enum, Record, Simple, Type
from outcrop.kernels.states import States
from outcrop.lang import load_open
from outcrop.source import Source, whole
from outcrop.trace.values import show

Classes = NDArray[np.uint32]
Key = tuple[Token, ...]


@dataclass(frozen=True)
class Observable:
    """A value in the states of one model. ``leaves``: those of the state that decide it."""

    text: str
    type: Type
    read: Callable[[State], Sequence[Leaf]]
    leaves: range
    is_symmetric: bool  #: whether it is the same in all states of an orbit


class Observation:
    """The values that must agree, and the classes of states that agree in them."""

    def __init__(self, models: tuple[Model, Model], texts: Sequence[tuple[str, str]]) -> None:
        self._systems = models[0].system, models[1].system
        self.observables = [(_observable(models[0], one), _observable(models[1], other)) for one, other in texts]
        self._pairs = [list(self._matched(*each)) for each in self.observables]
        self.keys: list[Key] = []
        self.shown: list[dict[str, str]] = []  #: for each class, the values by the texts of the first model

    def _matched(self, one: Observable, other: Observable) -> Iterator[Pair]:
        try:
            yield from pairs(one.type, other.type)
        except NoMatchError:
            raise UsageError(
                f"the values of '{one.text}' in {self._systems[0].name} ({_described(one.type)}) and '{other.text}' in "
                f"{self._systems[1].name} ({_described(other.type)}) cannot be matched; "
                "observe parts or expressions that can"
            ) from None

    @property
    def texts(self) -> list[str]:
        """The observed values, as the first model names them."""
        return [one.text for one, _ in self.observables]

    def is_symmetric(self, number: int) -> bool:
        return all(each[number].is_symmetric for each in self.observables)

    def key(self, number: int, state: State) -> Key:
        """Returns what a state of model ``number`` shares with the states that agree with it."""
        values = (each[number].read(state) for each in self.observables)
        rows = zip(values, self._pairs, strict=True)
        return tuple(each.tokens[number](leaves[each.positions[number]]) for leaves, row in rows for each in row)

    def values(self, number: int, state: State) -> dict[str, str]:
        """Returns the observed values in a state of model ``number``, by the texts of the first model."""
        return {each[0].text: show(each[number].type, each[number].read(state)) for each in self.observables}

    def mask(self, number: int) -> NDArray[np.uint8]:
        """Returns the bits of a packed state that decide the observed values."""
        layout, mask = Layout(self._systems[number]), 0
        for at in {leaf for each in self.observables for leaf in each[number].leaves}:
            bit, width, _ = layout.leaves[at]
            mask |= (1 << width) - 1 << bit
        return np.frombuffer(mask.to_bytes(layout.byte_count, "little"), dtype=np.uint8)


class Classifier:
    """The observed values of the states of one model, in the order in which blocks of states arrive."""

    def __init__(self, observation: Observation, number: int, system: System) -> None:
        self._observation, self._number, self._layout = observation, number, Layout(system)
        self._mask = observation.mask(number)
        self._bytes = np.flatnonzero(self._mask)
        self.found: dict[Key, tuple[int, dict[str, str]]] = {}  #: number and values of each key
        self.parts: list[Classes] = []

    def look(self, rows: States) -> None:
        """Takes the next states."""
        used = rows[:, self._bytes] & self._mask[self._bytes]
        width = 8 if len(self._bytes) <= 8 else len(self._bytes)
        padded = np.zeros((len(rows), width), dtype=np.uint8)
        padded[:, : len(self._bytes)] = used
        flat = padded.view(np.uint64 if width == 8 else np.dtype((np.void, width))).reshape(-1)
        _, first, inverse = np.unique(flat, return_index=True, return_inverse=True)
        self.parts.append(np.array([self._class(rows[at]) for at in first], dtype=np.uint32)[inverse.reshape(-1)])

    def _class(self, row: NDArray[np.uint8]) -> int:
        state = self._layout.unpack(row.tobytes())
        key = self._observation.key(self._number, state)
        if key not in self.found:
            self.found[key] = len(self.found), self._observation.values(self._number, state)
        return self.found[key][0]


def common_classes(observation: Observation, classifiers: tuple[Classifier, Classifier]) -> Classes:
    """Returns the class of each state, those of the second model after those of the first. Sets the keys."""
    values = {key: shown for each in reversed(classifiers) for key, (_, shown) in each.found.items()}
    observation.keys = sorted(values, key=repr)
    observation.shown = [values[key] for key in observation.keys]
    numbers = {key: number for number, key in enumerate(observation.keys)}
    states: list[Classes] = []
    for each in classifiers:
        table = np.array([numbers[key] for key in each.found], dtype=np.uint32)
        states += [table[part] for part in each.parts]
    return np.concatenate(states)


def _described(kind: Type) -> str:
    """Returns the text of a type; that of an enumeration shows its members, which are what is matched."""
    return f"{kind}: {', '.join(kind.members)}" if isinstance(kind, Enum) and kind != BOOLEAN else str(kind)


def _observable(model: Model, text: str) -> Observable:
    start = 0
    for variable in model.system.variables:
        for name, kind, first, is_named in _parts(variable.type, variable.name, start):
            if name == text:
                leaves = range(first, first + kind.leaf_count)
                is_symmetric = not is_named and not any(map(has_symmetry, kind.parts()))
                cut = slice(leaves.start, leaves.stop)
                return Observable(text, kind, itemgetter(cut), leaves, is_symmetric)
        start += variable.type.leaf_count
    return _expression(model, text)


def _parts(kind: Type, name: str, first: int, is_named: bool = False) -> Iterator[tuple[str, Type, int, bool]]:
    """Yields a value and its parts: the name, the type, the first leaf, and whether it names a scalarset value."""
    yield name, kind, first, is_named
    if isinstance(kind, Record):
        for (field, each), offset in zip(kind.fields, kind.offsets, strict=True):
            yield from _parts(each, f"{name}.{field}", first + offset, is_named)
    elif isinstance(kind, Array):
        is_named = is_named or has_symmetry(kind.index)
        for at in range(kind.index.cardinality):
            part = f"{name}[{kind.index.show(kind.index.low + at)}]"
            yield from _parts(kind.element, part, first + at * kind.element.leaf_count, is_named)


def _expression(model: Model, text: str) -> Observable:
    system, _, lower = load_open(model.system.source, model.options)
    node, frame = lower(whole(Source("--observe", text)))
    executor = Interpreter(system, symmetry=False).executor
    executor.offsets.update(frame_offsets(frame))
    evaluate = executor.expression(node)

    def read(state: State) -> Sequence[Leaf]:
        try:
            with executor.recording():
                value = evaluate(list(state), blank_frame(frame))
        except (Fault, Abandoned):  # it has no value here
            return (None,) * node.type.leaf_count
        leaves: Sequence[Leaf] = (value,) if isinstance(node.type, Simple) else tuple(value)
        return leaves

    return Observable(text, node.type, read, range(system.leaf_count), not system.scalarsets)
