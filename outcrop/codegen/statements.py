"""Statements in C: the bodies of rules, startstates and functions."""

from __future__ import annotations

from collections.abc import Sequence

from outcrop.codegen.code import Address, Unit, Value
from outcrop.codegen.expressions import Expressions
from outcrop.codegen.text import bare, integer, negated, unsigned
from outcrop.ir.evaluate import may_be_undefined
from outcrop.ir.layout import leaf_offsets, size, slot_element_offset, slot_size
from outcrop.ir.nodes import (
    Assert,
    Assign,
    Assume,
    Bind,
    CallStatement,
    Clear,
    Constant,
    Cover,
    Error,
    Expression,
    For,
    If,
    MultisetAdd,
    MultisetRemove,
    MultisetRemoveIf,
    Place,
    Put,
    Return,
    Statement,
    Switch,
    Undefine,
    While,
)
from outcrop.ir.types import Multiset, Real, Simple, Type
from outcrop.ir.walk import walk, writes_state

#: Widest access, in bits, that one load or store moves at any bit.
WIDEST_ACCESS = 57


class Statements(Expressions):
    """Writes code for statements."""

    def __init__(self, unit: Unit, *, is_condition: bool = False, result: Type | None = None) -> None:
        super().__init__(unit, is_condition=is_condition)
        self._result = result  #: type of the value that ``return`` stores

    def statements(self, nodes: Sequence[Statement]) -> None:
        for node in nodes:
            self.statement(node)

    def body(self, nodes: Sequence[Statement]) -> list[str]:
        with self.block() as lines:
            self.statements(nodes)
        return lines

    def statement(self, node: Statement) -> None:
        match node:
            case Assign():
                self._assign(node)
            case Bind():
                self.bind_alias(node)
            case If():
                self._if(node.branches, node.otherwise)
            case Switch():
                self._switch(node)
            case For():
                with self.loop(node.variable, node.domain):
                    self.statements(node.body)
            case While():
                self._while(node)
            case CallStatement():
                self._call_statement(node)
            case Clear():
                self._clear(node.target)
            case Undefine():
                self._undefine(node.target)
            case Error():
                self.check("1")
            case Assert():
                self.check(negated(self.condition(node.condition)))
            case Assume():
                self.line(f"if ({bare(negated(self.condition(node.condition)))}) return ABANDONED;")
            case Cover():
                condition = self.condition(node.condition)
                self.line(f"cover(context, {node.cover}, {bare(condition)});")
            case Put() if self.unit.prints:
                self._put(node)
            case Put():
                self._evaluate(node.argument)
            case Return():
                self._return(node)
            case MultisetAdd():
                self._multiset_add(node)
            case MultisetRemove():
                self._multiset_remove(node)
            case MultisetRemoveIf():
                self._multiset_remove_if(node)
            case _:
                raise TypeError(f"not a statement: {node}")

    def _assign(self, node: Assign) -> None:
        if isinstance(node.target.type, Simple):
            value = self.value(node.value)
            self.store(self.place(node.target), node.target.type, value)
            return
        source = self.complex_value(node.value)
        if writes_state(node.target):
            source = self.copied(source, node.value)
        self.copy(self.address(node.target), source, size(node.target.type))

    # --- Control flow ---

    def _if(
        self, branches: Sequence[tuple[Expression, tuple[Statement, ...]]], otherwise: tuple[Statement, ...]
    ) -> None:
        (condition, body), *rest = branches
        text = self.condition(condition)
        then = self.body(body)
        with self.block() as lines:
            if rest:
                self._if(rest, otherwise)
            else:
                self.statements(otherwise)
        self.branch(text, then, lines)

    def _switch(self, node: Switch) -> None:
        selector = self.value(node.selector)
        labels = [label for labels, _ in node.cases for label in labels]
        are_constant = all(isinstance(label, Constant) and label.value is not None for label in labels)
        if are_constant and selector.defined is None and not isinstance(node.selector.type, Real):
            self._constant_switch(node, selector)
        else:
            assert isinstance(node.selector.type, Simple)
            self._chain(self.frozen(selector, node.selector.type), node)

    def _constant_switch(self, node: Switch, selector: Value) -> None:
        seen: set[int] = set()
        with self.block() as lines:
            for labels, statements in node.cases:
                values = [int(label.value or 0) for label in labels if isinstance(label, Constant)]
                fresh = [value for value in dict.fromkeys(values) if value not in seen]
                seen.update(fresh)
                if fresh:
                    heads = " ".join(f"case {bare(integer(value))}:" for value in fresh)
                    self.nest(heads, [*self.body(statements), "break;"])
            self.nest("default:", [*self.body(node.otherwise), "break;"])
        self.nest(f"switch ({bare(selector.text)})", lines)

    def _chain(self, selector: Value, node: Switch) -> None:
        """Writes a chain of comparisons: labels are evaluated in order until one matches, then the body runs."""
        chosen = self.name()
        self.line(f"int {chosen} = -1;")
        for number, (labels, _) in enumerate(node.cases):
            for label in labels:
                with self.block() as lines:
                    self.line(f"if ({bare(self.equal(selector, self.value(label)))}) {chosen} = {number};")
                self.nest(f"if ({chosen} < 0)", lines)
        with self.block() as lines:
            for number, (_, statements) in enumerate(node.cases):
                self.nest(f"case {number}:", [*self.body(statements), "break;"])
            self.nest("default:", [*self.body(node.otherwise), "break;"])
        self.nest(f"switch ({chosen})", lines)

    def _while(self, node: While) -> None:
        count = self.name()
        if node.limit is not None:
            self.line(f"uint64_t {count} = 0;")
        with self.block() as lines:
            self.line(f"if ({bare(negated(self.condition(node.condition)))}) break;")
            if node.limit is not None:
                self.check(f"{count}++ == {unsigned(node.limit)}")
            self.statements(node.body)
        self.nest("for (;;)", lines)

    def _call_statement(self, node: CallStatement) -> None:
        with self.block() as lines:
            if node.call.function.result is None:
                self.invoke(node.call)
            elif isinstance(node.call.function.result, Simple):
                self.value(node.call)
            else:
                self.complex_value(node.call)
        self.nest("", lines)

    def _return(self, node: Return) -> None:
        if node.value is not None:
            if isinstance(self._result, Simple):
                self.line(f"*result = {bare(self.pack(self._result, self.value(node.value)))};")
            else:
                self.copy(Address("result"), self.complex_value(node.value), size(node.value.type))
        self.line("return OK;")

    # --- Filling ---

    def _clear(self, target: Place) -> None:
        kind = target.type
        location = self.place(target)
        if isinstance(kind, Simple):
            self.store(location, kind, self.constant(kind, kind.low))
            return
        assert isinstance(location, Address)
        if size(kind) <= WIDEST_ACCESS:
            self.line(f"set_bits({location.text}, {size(kind)}, {unsigned(self.unit.cleared(kind))});")
        else:
            self.copy(location, Address(self.unit.clear_table(kind)), size(kind))

    def _undefine(self, target: Place) -> None:
        location = self.place(target)
        if isinstance(location, Address):
            self.line(f"zero_bits({location.text}, {size(target.type)});")
        else:
            assert isinstance(target.type, Simple)
            self.store(location, target.type, self.constant(target.type, None))

    # --- Multisets ---

    def _multiset_add(self, node: MultisetAdd) -> None:
        multiset = node.target.type
        assert isinstance(multiset, Multiset)
        element = multiset.element
        with self.block() as lines:
            if isinstance(element, Simple):
                packed = self.keep("uint64_t", self.pack(element, self.value(node.value)))
            else:
                source = self.complex_value(node.value)
                if writes_state(node.target):
                    source = self.copied(source, node.value)
            base, free = self.address(node.target), self.name()
            slot = base.plus(0, f"{slot_size(multiset)} * {free}")
            self.line(f"uint64_t {free} = 0;")
            self.line(f"while ({free} < {multiset.capacity} && {self.slot_flag(slot)}) {free}++;")
            self.check(f"{free} == {multiset.capacity}")
            self.line(f"set_bits({slot.text}, 1, 1);")
            room = slot.plus(slot_element_offset(multiset))
            if isinstance(element, Simple):
                self.line(f"set_bits({room.text}, {size(element)}, {packed});")
            else:
                self.copy(room, source, size(element))
        self.nest("", lines)

    def _multiset_remove(self, node: MultisetRemove) -> None:
        multiset = node.target.type
        assert isinstance(multiset, Multiset)
        slot = self.slot(self.address(node.target), node.index, multiset)
        self.check(f"!{self.slot_flag(slot)}")
        self.line(f"zero_bits({slot.text}, {slot_size(multiset)});")

    def _multiset_remove_if(self, node: MultisetRemoveIf) -> None:
        multiset = node.target.type
        assert isinstance(multiset, Multiset)
        with self.used_slots(node.variable, self.address(node.target), multiset) as slot:
            condition = self.condition(node.condition)
            self.nest(f"if ({bare(condition)})", [f"zero_bits({slot.text}, {slot_size(multiset)});"])

    # --- Output ---

    def _evaluate(self, argument: str | Place | Expression) -> None:
        """Evaluates the argument of a ``put`` if that can fail or has an effect, as a call may."""

        def write() -> None:
            if isinstance(argument, Place):
                self.place(argument)
            elif not isinstance(argument, str):
                self.value(argument)

        lines = self.needed(write)
        if lines:
            self.nest("", lines)

    def _put(self, node: Put) -> None:
        """Records the words that puts.py needs to format the text: the site, then the position of a place and its
        leaves, or whether a value is defined and its number."""
        site = self.unit.put_site(node)
        words: list[str] = []
        argument = node.argument
        with self.block() as lines:
            if isinstance(argument, Place):
                words = self._place_words(argument)
            elif not isinstance(argument, str):
                value = self.value(argument)
                is_real = isinstance(argument.type, Real)
                packed = self.real(f"packed_real({value.text})") if is_real else f"(uint64_t){value.text}"
                words = [value.defined or "1", packed]
            for word in [str(site), *words]:
                self.line(f"put_word(context, {bare(word)});")
        self.nest("", lines)

    def _place_words(self, place: Place) -> list[str]:
        location = self.place(place)
        if not isinstance(location, Address):
            assert isinstance(place.type, Simple)
            return ["0", "0", self.read_packed(location, place.type)]
        leaves = zip(leaf_offsets(place.type), place.type.leaves(), strict=True)
        words = [self.read_packed(location.plus(bit), kind) for bit, kind in leaves]
        is_state = "1" if location.base == self.state else f"({location.base} == {self.state})"
        return [is_state, location.position, *words]


def may_return_undefined(nodes: tuple[Statement, ...]) -> bool:
    """Returns whether a function with this body can return an undefined value."""
    returns = (each for each in walk(nodes) if isinstance(each, Return) and each.value is not None)
    return any(each.value is not None and may_be_undefined(each.value) for each in returns)
