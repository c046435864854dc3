"""Places in C: addresses, reads and writes.

State variables lie behind ``state``. Complex and addressed locals lie in byte buffers with the layout that they would
have in a state. Other simple locals are C variables. An alias of a place is not a variable: its address, with evaluated
indices, replaces every use of the alias.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from outcrop.codegen.bounds import Interval
from outcrop.codegen.code import Address, Cell, Code, Location, Unit, Value
from outcrop.codegen.text import bare, braced, integer, unsigned
from outcrop.ir.layout import field_offsets, size, slot_element_offset, slot_size, width
from outcrop.ir.nodes import (
    Expression,
    FieldPlace,
    GlobalPlace,
    IndexPlace,
    Load,
    Local,
    LocalPlace,
    Place,
    SlotPlace,
    Undefined,
    ValuePlace,
)
from outcrop.ir.types import Array, Multiset, Real, Simple


def _is_defined(node: Place) -> bool:
    """Returns whether a place has a value in every state."""
    while isinstance(node, IndexPlace | FieldPlace):
        node = node.base
    return isinstance(node, GlobalPlace) and node.variable.is_defined


def definition(name: str, parameters: Sequence[str], code: Places, specifier: str = "BODY") -> list[str]:
    """Returns a function."""
    return function(name, parameters, contents(code), specifier)


def function(name: str, parameters: Sequence[str], lines: list[str], specifier: str = "BODY") -> list[str]:
    """Returns a function with these lines, in which unused parameters are marked."""
    used = set(re.findall(r"\w+", "\n".join(lines)))
    names = [parameter.split()[-1].lstrip("*") for parameter in parameters]
    unused = [f"(void){each};" for each in names if each not in used]
    return braced(f"static {specifier} int {name}({', '.join(parameters)})", [*unused, *lines])


def contents(code: Places) -> list[str]:
    """Returns the lines of a function, which begin with the declarations of its locals."""
    return [*(_declaration(local, code) for local in code.declared), *code.lines]


def _declaration(local: Local, code: Places) -> str:
    location = code.locals[local]
    if isinstance(location, Address):
        return f"{code.unit.buffer(location.base, local.type)} = {{0}};"
    assert isinstance(location, Cell)
    return f"uint64_t {location.name} = 0;"


class Places(Code):
    """Writes code for places."""

    def __init__(self, unit: Unit, *, is_condition: bool) -> None:
        super().__init__(unit, is_condition=is_condition)
        self.locals: dict[Local, Location] = {}
        self.declared: list[Local] = []  #: locals that need a declaration at the head of the function

    def value(self, node: Expression) -> Value:
        raise NotImplementedError

    def complex_value(self, node: Expression) -> Address:
        raise NotImplementedError

    # --- Locals ---

    def local(self, local: Local) -> Location:
        """Returns the place of a local. A local that has not been bound is declared, undefined, at the head of the
        function."""
        if local not in self.locals:
            assert not local.is_reference
            self.declared.append(local)
            name = f"v{local.index}"
            in_memory = local.is_addressed or not isinstance(local.type, Simple)
            self.locals[local] = Address(name) if in_memory else Cell(name)
        return self.locals[local]

    def bind(self, local: Local, value: Value) -> None:
        """Gives a local a simple value that it keeps until it is bound again; the text must not change."""
        assert isinstance(local.type, Simple)
        if local.is_addressed:
            self.store(self.local(local), local.type, value)
        else:
            self.locals[local] = value

    def frozen(self, value: Value, kind: Simple) -> Value:
        """Returns the value in a form that later changes of C variables do not affect."""
        if value.constant is not None:
            return value
        may_be_undefined = value.defined is not None
        if value.packed is not None and value.kind is not None:
            packed = self.constant_of("uint64_t", value.packed)
            return self.unpacked(value.kind, packed, may_be_undefined=may_be_undefined)
        text = self.constant_of(self.real("double") if isinstance(kind, Real) else "Integer", value.text)
        defined = self.constant_of("int", value.defined) if value.defined is not None else None
        return Value(text, value.interval, defined)

    def frozen_address(self, address: Address) -> Address:
        """Returns the address in a form that later changes of index variables do not affect."""
        if not address.terms:
            return address
        return Address(address.base, address.bit, (self.constant_of("uint64_t", " + ".join(address.terms)),))

    # --- Places ---

    def place(self, node: Place) -> Location:
        match node:
            case GlobalPlace():
                return Address(self.state, self.unit.variable_offsets[node.variable])
            case LocalPlace():
                return self.local(node.local)
            case FieldPlace():
                return self.address(node.base).plus(field_offsets(node.record)[node.field_index])
            case IndexPlace():
                array = node.base.type
                assert isinstance(array, Array)
                return self._element(self.address(node.base), node.index, array.index, size(array.element))
            case SlotPlace():
                slot = self.slot(self.address(node.base), node.index, node.multiset)
                self.check(f"!{self.slot_flag(slot)}")
                return slot.plus(slot_element_offset(node.multiset))
            case ValuePlace():
                return self.complex_value(node.value)
        raise TypeError(f"not a place: {node}")

    def address(self, node: Place) -> Address:
        """Returns the address of a place in memory."""
        location = self.place(node)
        assert isinstance(location, Address)
        return location

    def slot(self, base: Address, index: Expression, multiset: Multiset) -> Address:
        return self._element(base, index, multiset.index, slot_size(multiset))

    def slot_flag(self, slot: Address) -> str:
        return f"get_bits({slot.text}, 1)"

    def _element(self, base: Address, index: Expression, kind: Simple, stride: int) -> Address:
        value = self.require(self.value(index))
        value = self.limit(value, Interval(kind.low, kind.low + kind.cardinality - 1))
        if value.constant is not None:
            return base.plus((value.constant - kind.low) * stride)
        packed = self.packed_as(kind, value)
        if packed is not None:
            return (
                base.plus(-stride, f"{stride} * {packed}")
                if base.bit >= stride
                else base.plus(0, f"{stride} * ({packed} - 1)")
            )
        text = value.text if kind.low == 0 else f"({bare(value.text)} - {integer(kind.low)})"
        return base.plus(0, f"{stride} * (uint64_t){text}")

    # --- Reading and writing ---

    def read_packed(self, location: Location, kind: Simple) -> str:
        """Returns the current value of a leaf in packed form."""
        match location:
            case Cell():
                return location.name
            case Address():
                return self.keep("uint64_t", f"get_bits({location.text}, {width(kind)})")
            case Value():
                return self.keep("uint64_t", self.pack(kind, location))

    def load(self, node: Load) -> Value:
        """Returns the value of a simple place."""
        assert isinstance(node.type, Simple)
        location = self.place(node.place)
        if isinstance(location, Value):
            value = location
        else:
            packed = self.read_packed(location, node.type)
            value = self.unpacked(node.type, packed, may_be_undefined=not _is_defined(node.place))
        if value.defined is None or node.undefined is Undefined.ALLOW:
            return value
        if node.undefined is Undefined.ERROR:
            return self.require(value)
        self.only_for_real()
        self.has_effects = True
        self.line(f"if (unlikely(!{value.defined})) {self.unit.mark(node.span.start)} = 1;")
        return value

    def store(self, location: Location, kind: Simple, value: Value) -> None:
        packed = self.pack(kind, value)
        if isinstance(location, Cell):
            self.line(f"{location.name} = {bare(packed)};")
        else:
            assert isinstance(location, Address)
            self.line(f"set_bits({location.text}, {width(kind)}, {bare(packed)});")

    def copy(self, target: Address, source: Address, bits: int) -> None:
        self.line(f"copy_bits({target.text}, {source.text}, {unsigned(bits)});")
