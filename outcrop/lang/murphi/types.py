"""Type expressions, and the types that they denote. Limits keep every later step finite.

No function here enumerates the values of a type; sizes are computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from outcrop.ir.nodes import Binary, Constant, Expression
from outcrop.ir.types import (
    Array,
    Enum,
    Multiset,
    Range,
    Real,
    Record,
    Scalarset,
    Simple,
    Type,
    Union,
)
from outcrop.lang.folding import forced_value
from outcrop.lang.murphi import syntax
from outcrop.lang.murphi.context import Context
from outcrop.lang.murphi.scope import UNKNOWN, ConstantSymbol, TypeSymbol, UnknownSymbol, describe, kind_of
from outcrop.options import LoadOptions
from outcrop.source import Source, Span

MAX_LEAVES = 1_000_000
#: Largest number of values of a range: one pattern of a 64-bit leaf means undefined.
MAX_RANGE = 2**64 - 1
MAX_SCALARSET = 2**62
#: Largest number of parts of a type, counting each where it occurs; walking over a type takes that many steps.
MAX_TYPE_PARTS = 1_000_000


class TypeLowering(Context):
    def __init__(self, source: Source, options: LoadOptions, declared_later: dict[str, Span]) -> None:
        super().__init__(source, options, declared_later)
        self.scalarset_count = 0
        self._field_tables: dict[int, tuple[Record, dict[str, tuple[int, Type]]]] = {}
        self._part_counts: dict[int, tuple[Type, int]] = {}
        self._types: dict[type, Callable[[Any, str], Type]] = {
            syntax.TypeName: self._type_name,
            syntax.EnumType: self._enum,
            syntax.RangeType: self._range,
            syntax.ScalarsetType: self._scalarset,
            syntax.UnionType: self._union,
            syntax.RecordType: self._record,
            syntax.ArrayType: self._array,
            syntax.MultisetType: self._multiset,
            syntax.RealType: self._real,
        }

    def type_expression(self, node: syntax.TypeExpression, name: str = "") -> Type:
        """Returns the type of an expression; UNKNOWN after an error. ``name`` is the name in a type declaration."""
        return self._types[type(node)](node, name)

    # --- Constants -----------------------------------------------------------------------------------------

    def constant(self, node: syntax.Expression, what: str) -> Constant | None:
        """Returns the value of an expression that must be constant; None after an error."""
        value = self.expression(node)
        if value.type is UNKNOWN:
            return None
        if isinstance(value, Constant):
            return value
        forced = forced_value(value)
        if forced is not None:
            return Constant(type=value.type, span=value.span, value=forced)
        self.report.error(f"{what} must be a constant", value.span, _not_constant_hint(value))
        return None

    def constant_integer(self, node: syntax.Expression, what: str) -> int | None:
        value = self.constant(node, what)
        if value is None:
            return None
        if not isinstance(value.type, Range) or not isinstance(value.value, int):
            self.report.error(f"{what} must be an integer, not {describe(value.type)}", value.span)
            return None
        return value.value

    # --- The kinds of types --------------------------------------------------------------------------------

    def _type_name(self, node: syntax.TypeName, name: str) -> Type:
        symbol = self.lookup(node.name, node.span)
        if isinstance(symbol, TypeSymbol):
            return symbol.type
        if symbol is not None and not isinstance(symbol, UnknownSymbol):
            self.report.error(f"'{node.name}' is {kind_of(symbol)}, not a type", node.span)
        return UNKNOWN

    def _enum(self, node: syntax.EnumType, name: str) -> Type:
        kind = Enum(tuple(member.text for member in node.members), name)
        for ordinal, member in enumerate(node.members):
            value = Constant(type=kind, span=member.span, value=ordinal)
            self.declare(member, ConstantSymbol(value, member.span))
        return kind

    def _range(self, node: syntax.RangeType, name: str) -> Type:
        low = self.constant_integer(node.low, "the lower bound of a range")
        high = self.constant_integer(node.high, "the upper bound of a range")
        if low is None or high is None:
            return UNKNOWN
        if high < low:
            self.report.error(
                f"the range {low}..{high} is empty: its upper bound is below the lower one",
                node.span,
                "exchange the bounds, or choose other ones",
            )
            return UNKNOWN
        if high - low + 1 > MAX_RANGE:
            self.report.error(
                f"the range {low}..{high} has too many values for 64 bits", node.span, "use a smaller range"
            )
            return UNKNOWN
        return Range(low, high, name)

    def _scalarset(self, node: syntax.ScalarsetType, name: str) -> Type:
        size = self.constant_integer(node.size, "the size of a scalarset")
        if size is None:
            return UNKNOWN
        if not 1 <= size <= MAX_SCALARSET:
            self.report.error(f"a scalarset of {size:,} values: the size must be between 1 and 2**62", node.span)
            return UNKNOWN
        if not name:
            hint = "declare it under a name in a 'type' section"
            self.report.warning("a scalarset without a name carries no symmetry", node.span, hint)
            return Scalarset("", size, 0)
        self.scalarset_count += 1
        return Scalarset(name, size, self.scalarset_count)

    def _union(self, node: syntax.UnionType, name: str) -> Type:
        members: list[Enum | Scalarset] = []
        complete = True
        for each in node.members:
            member = self.type_expression(each)
            if member is UNKNOWN:
                complete = False
            elif not isinstance(member, Enum | Scalarset) or (isinstance(member, Scalarset) and not member.name):
                message = f"a member of a union must be an enumeration or a named scalarset, not {describe(member)}"
                self.report.error(message, each.span)
                complete = False
            elif member in members:
                self.report.error(f"{describe(member)} is in this union twice", each.span, "delete one")
                complete = False
            else:
                members.append(member)
        if complete and len(members) < 2:
            self.report.error("a union needs at least two members", node.span, "add one, or use the member type itself")
            complete = False
        return Union(tuple(members), name) if complete else UNKNOWN

    def _record(self, node: syntax.RecordType, name: str) -> Type:
        fields: list[tuple[str, Type]] = []
        declared: dict[str, Span] = {}
        complete = True
        for names, type_node in node.fields:
            kind = self.type_expression(type_node)
            complete = complete and kind is not UNKNOWN
            for field_name in names:
                earlier = declared.setdefault(field_name.text, field_name.span)
                if earlier is not field_name.span:
                    message = f"the record has two fields called '{field_name.text}'"
                    self.report.error(message, field_name.span, "rename or delete one", ("the first one", earlier))
                    complete = False
                fields.append((field_name.text, kind))
        return self._limited(Record(tuple(fields), name), node.span) if complete else UNKNOWN

    def _array(self, node: syntax.ArrayType, name: str) -> Type:
        index = self.type_expression(node.index)
        element = self.type_expression(node.element)
        if index is UNKNOWN or element is UNKNOWN:
            return UNKNOWN
        if not isinstance(index, Simple) or isinstance(index, Real):
            message = f"an array cannot be indexed by {describe(index)}"
            self.report.error(message, node.index.span, "use a range, an enumeration, a scalarset, a union or boolean")
            return UNKNOWN
        return self._limited(Array(index, element, name), node.span)

    def _multiset(self, node: syntax.MultisetType, name: str) -> Type:
        capacity = self.constant_integer(node.capacity, "the capacity of a multiset")
        element = self.type_expression(node.element)
        if capacity is None or element is UNKNOWN:
            return UNKNOWN
        if capacity < 1:
            self.report.error(f"a multiset of at most {capacity} elements: the capacity must be at least 1", node.span)
            return UNKNOWN
        return self._limited(Multiset(capacity, element, name), node.span)

    def _real(self, node: syntax.RealType, name: str) -> Type:
        digits = self.constant_integer(node.digits, "the number of digits of a real")
        exponent = self.constant_integer(node.exponent, "the largest exponent of a real")
        if digits is None or exponent is None:
            return UNKNOWN
        if not 1 <= digits <= 15 or not 1 <= exponent <= 308:
            message = f"real({digits}, {exponent}): digits go from 1 to 15, the largest exponent from 1 to 308"
            self.report.error(message, node.span)
            return UNKNOWN
        return Real(digits, exponent, name)

    # --- Sizes ---------------------------------------------------------------------------------------------

    def _limited(self, kind: Type, span: Span) -> Type:
        """Returns the type; UNKNOWN, with an error reported, if it is too large for a state or for walking over it."""
        if kind.leaf_count > MAX_LEAVES:
            message = f"a value of this type has {kind.leaf_count:,} components; at most {MAX_LEAVES:,} are possible"
            self.report.error(message, span, "use smaller arrays and multisets")
            return UNKNOWN
        if isinstance(kind, Record):
            parts = sum(self._part_count(each) for _, each in kind.fields)
        else:
            assert isinstance(kind, Array | Multiset)
            parts = self._part_count(kind.element)
        if parts >= MAX_TYPE_PARTS:
            self.report.error("this type is nested too deeply", span, "use fewer arrays and records inside one another")
            return UNKNOWN
        self._part_counts[id(kind)] = (kind, parts + 1)
        return kind

    def _part_count(self, kind: Type) -> int:
        found = self._part_counts.get(id(kind))
        return found[1] if found is not None else 1

    def fields_of(self, record: Record) -> dict[str, tuple[int, Type]]:
        """Returns the position and type of each field."""
        found = self._field_tables.get(id(record))
        if found is None:
            table = {name: (position, kind) for position, (name, kind) in enumerate(record.fields)}
            found = self._field_tables[id(record)] = (record, table)
        return found[1]


def _not_constant_hint(value: Expression) -> str:
    if isinstance(value, Binary) and isinstance(value.right, Constant) and value.right.value == 0:
        return "it divides by zero; change the divisor"
    return "the values of variables and function calls are not constant; use numbers and declared constants"


def has_scalarset(kind: Type) -> bool:
    """Returns whether values of this type contain scalarset values."""
    return any(
        isinstance(part, Scalarset) or (isinstance(part, Union) and any(isinstance(m, Scalarset) for m in part.members))
        for part in held_types(kind)
    )


def has_multiset(kind: Type) -> bool:
    return any(isinstance(part, Multiset) for part in held_types(kind))


def held_types(kind: Type) -> list[Type]:
    """Returns the type and all types that its values contain, without duplicates. Array indices do not count."""
    found: dict[int, Type] = {}
    waiting = [kind]
    while waiting:
        each = waiting.pop()
        if id(each) in found:
            continue
        found[id(each)] = each
        if isinstance(each, Record):
            waiting += [part for _, part in each.fields]
        elif isinstance(each, Array | Multiset):
            waiting.append(each.element)
    return list(found.values())
