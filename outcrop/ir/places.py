"""Places, frames and assignments at run time.

A place evaluates to a *location*: the list that it lies in, and its position there. A reference local holds such a
location. Every node is compiled once to a Python closure over ``(state, frame)``, two flat lists of leaves: the current
state, and the locals of the current rule, function or property.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from outcrop.ir.arithmetic import round_real
from outcrop.ir.faults import Fault, FaultKind
from outcrop.ir.names import leaf_names, state_leaf_names
from outcrop.ir.nodes import (
    Expression,
    FieldPlace,
    Frame,
    GlobalPlace,
    IndexPlace,
    Local,
    LocalPlace,
    Place,
    SlotPlace,
    ValuePlace,
)
from outcrop.ir.system import System
from outcrop.ir.types import BOOLEAN, Array, Range, Real, Simple, Type
from outcrop.source import Span

Store = list[Any]
Location = tuple[Store, int]
Evaluate = Callable[[Store, Store], Any]
Locate = Callable[[Store, Store], Location]
#: Function that stores a value at a location. The current state comes first, since messages name its leaves.
Write = Callable[[Store, Location, Any], None]


def source_text(span: Span) -> str:
    """Returns the source text of a span on one line."""
    return " ".join(span.text.split())


def frame_offsets(frame: Frame) -> dict[Local, int]:
    """Returns the position of each local in a frame. A reference takes one position, which holds a location."""
    offsets, end = {}, 0
    for local in frame.locals:
        offsets[local] = end
        end += local_size(local)
    return offsets


def local_size(local: Local) -> int:
    return 1 if local.is_reference else local.type.leaf_count


def blank_frame(frame: Frame) -> Store:
    return [None] * sum(local_size(local) for local in frame.locals)


class Places:
    """Compiles the places of one System to closures."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.offsets: dict[Local, int] = {}
        for function in system.functions:
            self.offsets.update(frame_offsets(function.frame))
        starts = system.start_states if system.error_state is None else (*system.start_states, system.error_state)
        for each in (*starts, *system.rules, *system.properties):
            self.offsets.update(frame_offsets(each.frame))
        if system.product is not None:
            self.offsets.update(frame_offsets(system.product.automaton.frame))

    @cached_property
    def leaf_names(self) -> tuple[str, ...]:
        return state_leaf_names(self.system)

    def expression(self, node: Expression) -> Evaluate:
        raise NotImplementedError

    def defined(self, node: Expression) -> Evaluate:
        """Returns a closure for an expression whose value is used, so that undefined is a fault."""
        raise NotImplementedError

    def place(self, node: Place) -> Locate:
        match node:
            case GlobalPlace():
                offset = node.variable.offset
                return lambda state, frame: (state, offset)
            case LocalPlace():
                offset = self.offsets[node.local]
                if node.local.is_reference:
                    return lambda state, frame: frame[offset]
                return lambda state, frame: (frame, offset)
            case FieldPlace():
                return self._field(self.place(node.base), node.record.offsets[node.field_index])
            case IndexPlace():
                return self._element(node)
            case SlotPlace():
                return self._slot(node)
            case ValuePlace():
                value = self.expression(node.value)
                return lambda state, frame: (list(value(state, frame)), 0)
        raise TypeError(f"not a place: {node}")

    @staticmethod
    def _field(base: Locate, offset: int) -> Locate:
        def locate(state: Store, frame: Store) -> Location:
            store, start = base(state, frame)
            return store, start + offset

        return locate

    def _element(self, node: IndexPlace) -> Locate:
        array = node.base.type
        assert isinstance(array, Array)
        base = self.place(node.base)
        position = self.position(node.index, array.index, node.base)
        stride = array.element.leaf_count

        def locate(state: Store, frame: Store) -> Location:
            store, start = base(state, frame)
            return store, start + position(state, frame) * stride

        return locate

    def _slot(self, node: SlotPlace) -> Locate:
        base = self.place(node.base)
        position = self.position(node.index, node.multiset.index, node.base)
        stride = node.multiset.slot_leaf_count

        def locate(state: Store, frame: Store) -> Location:
            store, start = base(state, frame)
            flag = start + position(state, frame) * stride
            if store[flag] is None:
                number = (flag - start) // stride
                raise Fault(FaultKind.FREE_SLOT, f"slot {number} of {source_text(node.base.span)} is free", node.span)
            return store, flag + 1

        return locate

    def position(self, index: Expression, kind: Simple, base: Place) -> Callable[[Store, Store], int]:
        """Returns a closure for an index into ``base``, counted from 0."""
        evaluate = self.defined(index)
        low, count = kind.low, kind.cardinality

        def locate(state: Store, frame: Store) -> int:
            value: int = evaluate(state, frame)
            if 0 <= value - low < count:
                return value - low
            text = f"index {value} is outside {low}..{kind.high} of {source_text(base.span)}"
            raise Fault(FaultKind.INDEX, text, index.span)

        return locate

    def describe(self, place: Place, location: Location, state: Store) -> str:
        """Returns the name of the leaf at a location."""
        store, offset = location
        if store is state:
            return self.leaf_names[offset]
        root = place
        while isinstance(root, FieldPlace | IndexPlace | SlotPlace):
            root = root.base
        if isinstance(root, LocalPlace) and not root.local.is_reference:
            return leaf_names(root.local.type, root.local.name)[offset - self.offsets[root.local]]
        return source_text(place.span)

    def writer(self, target: Place) -> Write:
        """Returns a function that stores values in a place."""
        return self.write(target.type, target.span, lambda location, state: self.describe(target, location, state))

    @staticmethod
    def write(kind: Type, span: Span, name: Callable[[Location, Store], str]) -> Write:
        """Returns a function that stores values: it checks ranges, rounds reals, and copies complex values whole."""

        def write_complex(state: Store, location: Location, value: Any) -> None:
            store, start = location
            store[start : start + size] = value

        def write_range(state: Store, location: Location, value: Any) -> None:
            if value is not None and not low <= value <= high:
                text = f"value {value} is outside {low}..{high} of {name(location, state)}"
                raise Fault(FaultKind.RANGE, text, span)
            store, offset = location
            store[offset] = value

        def write_real(state: Store, location: Location, value: Any) -> None:
            assert isinstance(kind, Real)
            rounded = None if value is None else round_real(kind, value)
            if rounded is None and value is not None:
                text = f"the exponent of {value} is above {kind.max_exponent}, the highest of {name(location, state)}"
                raise Fault(FaultKind.REAL, text, span)
            store, offset = location
            store[offset] = rounded

        def write_boolean(state: Store, location: Location, value: Any) -> None:
            store, offset = location
            store[offset] = None if value is None else int(value)

        def write_simple(state: Store, location: Location, value: Any) -> None:
            store, offset = location
            store[offset] = value

        match kind:
            case Range():
                low, high = kind.low, kind.high
                return write_range
            case Real():
                return write_real
            case Simple():
                return write_boolean if kind == BOOLEAN else write_simple
        size = kind.leaf_count
        return write_complex
