"""Designators: the places of variables, fields, elements and aliases, and the ways in which they may be used."""

from __future__ import annotations

from outcrop.ir.nodes import (
    Constant,
    Expression,
    FieldPlace,
    GlobalPlace,
    IndexPlace,
    Load,
    Local,
    LocalPlace,
    Place,
    SlotPlace,
    ValuePlace,
)
from outcrop.ir.types import Array, Multiset, Record, Simple
from outcrop.lang.murphi import syntax
from outcrop.lang.murphi.scope import (
    UNKNOWN,
    ConstantSymbol,
    LocalSymbol,
    PlaceSymbol,
    UnknownSymbol,
    ValueSymbol,
    VariableSymbol,
    describe,
    kind_of,
)
from outcrop.lang.murphi.types import TypeLowering
from outcrop.lang.report import did_you_mean
from outcrop.source import Span

#: A place with the reason why it cannot be assigned ("" if it can); an expression that is not a place; None: error.
Designated = tuple[Place, str] | Expression | None

_NO_VARIABLE = "the value of an expression"


class PlaceLowering(TypeLowering):
    def designate(self, node: syntax.Expression, reading: bool = True) -> Designated:
        """Returns the meaning of a designator. If ``reading`` is false, its root variable does not count as read."""
        kind = type(node)
        if kind is syntax.Identifier:
            return self._designate_name(node, reading)  # type: ignore[arg-type]
        if kind is syntax.FieldAccess:
            return self._designate_field(node, reading)  # type: ignore[arg-type]
        if kind is syntax.ElementAccess:
            return self._designate_element(node, reading)  # type: ignore[arg-type]
        return self.expression(node)

    def _designate_name(self, node: syntax.Identifier, reading: bool) -> Designated:
        name, span = node.name, node.span
        symbol = self.scope.find(name)
        if symbol is None:
            symbol = self.lookup(name, span)
            if symbol is None:
                return None
        kind = type(symbol)
        if kind is VariableSymbol:
            variable = symbol.variable  # type: ignore[union-attr]
            if reading:
                self.variables_read.add(variable)
            return GlobalPlace(type=variable.type, span=span, variable=variable), ""
        if kind is LocalSymbol:
            assert isinstance(symbol, LocalSymbol)
            if symbol.slot_of is not None:
                hint = "it can only pick an element, as in 'net[i]', or be removed with 'multisetremove'"
                self.report.error(f"'{name}' numbers the slots of a multiset and has no value", span, hint)
                return None
            return LocalPlace(type=symbol.local.type, span=span, local=symbol.local), symbol.read_only
        if kind is ConstantSymbol or kind is ValueSymbol:
            value = symbol.value  # type: ignore[union-attr]
            return Constant(type=value.type, span=span, value=value.value)
        if isinstance(symbol, PlaceSymbol):
            return symbol.place, symbol.read_only
        if not isinstance(symbol, UnknownSymbol):
            hint = f"call it as '{name}(...)'" if "function" in kind_of(symbol) else ""
            self.report.error(f"'{name}' is {kind_of(symbol)}; a value is needed here", span, hint)
        return None

    def _base(self, node: syntax.Expression, reading: bool) -> tuple[Place, str] | None:
        base = self.designate(node, reading)
        if base is None or isinstance(base, tuple):
            return None if base is not None and base[0].type is UNKNOWN else base
        if base.type is UNKNOWN:
            return None
        return ValuePlace(type=base.type, span=base.span, value=base), _NO_VARIABLE

    def _designate_field(self, node: syntax.FieldAccess, reading: bool) -> Designated:
        base = self._base(node.base, reading)
        if base is None:
            return None
        place, read_only = base
        record = place.type
        name = node.field.text
        if not isinstance(record, Record):
            message = f"only records have fields, and '{node.base.span.text}' is {describe(record)}"
            self.report.error(message, node.field.span)
            return None
        found = self.fields_of(record).get(name)
        if found is None:
            hint = did_you_mean(name, self.fields_of(record))
            self.report.error(f"{describe(record)} has no field '{name}'", node.field.span, hint)
            return None
        return FieldPlace(type=found[1], span=node.span, base=place, field_index=found[0]), read_only

    def _designate_element(self, node: syntax.ElementAccess, reading: bool) -> Designated:
        base = self._base(node.base, reading)
        if base is not None and isinstance(base[0].type, Multiset):
            slot = self.slot_number(node.index, base[0].type)
            if slot is None:
                return None
            return SlotPlace(type=base[0].type.element, span=node.span, base=base[0], index=slot), base[1]
        index = self.expression(node.index)
        if base is None:
            return None
        place, read_only = base
        array = place.type
        if not isinstance(array, Array):
            message = f"only arrays and multisets have elements, and '{node.base.span.text}' is {describe(array)}"
            self.report.error(message, node.span)
            return None
        index = self.fitted(index, array.index, "the index")
        if index.type is UNKNOWN:
            return None
        if isinstance(index, Constant) and isinstance(index.value, int):
            self.warn_outside(index.value, array.index, index.span)
        return IndexPlace(type=array.element, span=node.span, base=place, index=index), read_only

    def slot_number(self, node: syntax.Expression, multiset: Multiset) -> Expression | None:
        """Returns a slot variable that ``choose`` or the like binds over a multiset of this type; None after an
        error."""
        symbol = self.lookup(node.name, node.span) if isinstance(node, syntax.Identifier) else None
        if isinstance(symbol, LocalSymbol) and symbol.slot_of is not None:
            if symbol.slot_of != multiset:
                other = describe(symbol.slot_of)
                message = f"'{symbol.local.name}' numbers the slots of {other}, not of {describe(multiset)}"
                self.report.error(message, node.span, "bind another one with 'choose' or 'multisetcount'")
                return None
            place = LocalPlace(type=symbol.local.type, span=node.span, local=symbol.local)
            return Load(type=place.type, span=node.span, place=place)
        if not isinstance(symbol, UnknownSymbol) and not (symbol is None and isinstance(node, syntax.Identifier)):
            hint = "bind one with 'choose', 'multisetcount' or 'multisetremovepred'"
            self.report.error("an element of a multiset can only be selected by a slot variable", node.span, hint)
        return None

    def warn_outside(self, value: int, kind: Simple, span: Span) -> None:
        if not kind.low <= value <= kind.high:
            message = f"{value} is never a value of {describe(kind)}: executing this is a runtime error"
            self.report.warning(message, span)

    # --- Uses of places ------------------------------------------------------------------------------------

    def place(self, node: syntax.Expression, what: str, reading: bool = True) -> Place | None:
        """Returns the variable, or part of one, that a designator names; None after an error."""
        designated = self.designate(node, reading)
        if isinstance(designated, tuple):
            place, read_only = designated
            if read_only is not _NO_VARIABLE:
                return None if place.type is UNKNOWN else place
        elif designated is None or designated.type is UNKNOWN:
            return None
        self.report.error(
            f"{what} must be a variable or a part of one", node.span, "assign the value to a variable first"
        )
        return None

    def target(self, node: syntax.Expression, action: str, reading: bool = False) -> Place | None:
        """Returns the place of a designator that is written here; None after an error."""
        place = self.writable(node, action, reading)
        if place is not None and self.function is not None and self.reaches_state(place):
            self.function.writes_state = True
        return place

    def writable(self, node: syntax.Expression, action: str, reading: bool) -> Place | None:
        """Returns the place of a designator that may be written; None after an error. ``action`` completes "cannot
        be"."""
        designated = self.designate(node, reading)
        if designated is None:
            return None
        if not isinstance(designated, tuple):
            if designated.type is not UNKNOWN:
                self.report.error(f"'{_short(node.span)}' is not a variable and cannot be {action}", node.span)
            return None
        place, read_only = designated
        if read_only:
            self.report.error(f"'{_short(node.span)}' is {read_only} and cannot be {action}", node.span)
            return None
        return None if place.type is UNKNOWN else place

    def reaches_state(self, place: Place) -> bool:
        root = root_of(place)
        return isinstance(root, GlobalPlace) or (
            isinstance(root, LocalPlace) and root.local in self.references_to_state
        )

    def is_value(self, place: Place) -> bool:
        """Returns whether a place lies in no variable."""
        return isinstance(root_of(place), ValuePlace)

    def take_reference(self, place: Place) -> None:
        """Records that a reference to the place, or to a part of it, will exist."""
        root = root_of(place)
        if isinstance(root, LocalPlace) and not root.local.is_reference:
            root.local.is_addressed = True


def root_of(place: Place) -> Place:
    while isinstance(place, FieldPlace | IndexPlace | SlotPlace):
        place = place.base
    return place


def is_fixed(place: Place, constants: set[Local]) -> bool:
    """Returns whether a place is always the same one, and evaluating it never fails.

    ``constants`` are the locals that are always defined and never change while the alias is in scope.
    """
    while True:
        if isinstance(place, FieldPlace):
            place = place.base
        elif isinstance(place, IndexPlace):
            if not _never_fails(place, constants):
                return False
            place = place.base
        else:
            return isinstance(place, GlobalPlace | LocalPlace)


def _never_fails(place: IndexPlace, constants: set[Local]) -> bool:
    index, array = place.index, place.base.type
    assert isinstance(array, Array)
    if isinstance(index, Constant) and isinstance(index.value, int):
        return array.index.low <= index.value <= array.index.high
    if isinstance(index, Load) and isinstance(index.place, LocalPlace) and index.place.local in constants:
        return index.type == array.index
    return False


def _short(span: Span) -> str:
    text = " ".join(span.text.split())
    return text if len(text) <= 40 else text[:37] + "..."
