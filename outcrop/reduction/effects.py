"""The effects of one rule instance: the leaves of the state that it may read and write, and the values that it stores.

The parameters of the instance are constants here, loops over small types are unrolled, and called functions are
entered, so that most indices are constants. An index that is not means all elements. A multiset counts as a whole,
because sorting its slots after each step moves the others.

Everything that decides the outcome of a step is a read: indices, conditions, values, and what a failing check looks at.
Leaves of which the value is known (boxes.py) are constants too, as long as the instance does not write them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from outcrop.ir.nodes import (
    Assert,
    Assign,
    Assume,
    Binary,
    BinaryOperator,
    Bind,
    Call,
    CallStatement,
    Clear,
    Conditional,
    Constant,
    Convert,
    Cover,
    Error,
    Expression,
    FieldPlace,
    For,
    GlobalPlace,
    If,
    IndexPlace,
    IsMember,
    IsUndefined,
    Let,
    Load,
    Local,
    LocalPlace,
    MultisetAdd,
    MultisetCount,
    MultisetRemove,
    MultisetRemoveIf,
    Place,
    Put,
    Quantified,
    RealCall,
    Return,
    SlotPlace,
    SlotUsed,
    Statement,
    StepDomain,
    Switch,
    TypeDomain,
    Unary,
    Undefine,
    ValuePlace,
    While,
    Witnessed,
)
from outcrop.ir.system import Function, Instantiable, Rule, System
from outcrop.ir.types import Array, Multiset, Real, Simple, Type
from outcrop.reduction.folding import combined, converted, negated
from outcrop.reduction.leaves import Effects, Known, Location, Stored, Values, bits, mask_of
from outcrop.reduction.reachable import assigned_in, assigned_locals, may_return

#: Nodes that are looked at for one instance. With more, the instance reads and writes everything.
_MOST_NODES = 50_000
#: Turns of a loop that is unrolled.
_MOST_TURNS = 64

Constants = dict[Local, int]


class TooLarge(Exception):
    """Raised when an instance is too large to trace, or calls itself; it may then do anything."""


class Tracer:
    """Collects the effects of expressions and statements."""

    def __init__(
        self, system: System, owner: Instantiable, arguments: tuple[int, ...], known: Known | None = None
    ) -> None:
        self._known = known or {}
        self._everything = (1 << system.leaf_count) - 1
        self.constants: Constants = {each.local: value for each, value in zip(owner.parameters, arguments, strict=True)}
        self._references: dict[Local, Location] = {}
        self._left = _MOST_NODES
        self._active: list[Function] = []
        self._owner = owner
        #: Locals that change after they are bound, and therefore are not constants.
        self._assigned = set(assigned_in(owner)) if isinstance(owner, Rule) else set[Local]()
        self.effects = Effects()

    def condition(self, node: Expression) -> Effects:
        """Returns the effects of a condition. It never changes the state, whatever functions it calls."""
        self._note_assigned(node)
        try:
            self.value(node)
        except TooLarge:
            self.effects.reads = self._everything
        self.effects.writes = 0
        self.effects.stores.clear()
        return self.effects

    def body(self, statements: Sequence[Statement]) -> Effects:
        self._note_assigned(statements)
        try:
            self._block(statements, True)
        except TooLarge:
            self.effects = Effects(self._everything, self._everything)
        return self.effects

    def _note_assigned(self, node: object) -> None:
        if not isinstance(self._owner, Rule):
            self._assigned.update(assigned_locals(node))

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooLarge

    # --- Places ------------------------------------------------------------------------------------------------

    def place(self, node: Place) -> Location:
        """Returns where a place may be, and records what computing that reads."""
        self._spend()
        match node:
            case GlobalPlace():
                return Location((node.variable.offset,), size=node.variable.type.leaf_count)
            case LocalPlace():
                return self._references.get(node.local, Location()) if node.local.is_reference else Location()
            case FieldPlace():
                base = self.place(node.base)
                shift = node.record.offsets[node.field_index]
                return Location(tuple([each + shift for each in base.starts]), base.multiset, base.size)
            case IndexPlace():
                return self._element(node)
            case SlotPlace():
                base = self.place(node.base)
                self.value(node.index)
                whole = base.multiset or replace(base, size=node.multiset.leaf_count)
                return replace(base, multiset=whole) if base.starts else base
            case ValuePlace():
                self.value(node.value)
                return Location()
        raise TooLarge

    def _element(self, node: IndexPlace) -> Location:
        base = self.place(node.base)
        before, self.effects.reads = self.effects.reads, 0
        index = self.value(node.index)
        if index is None:
            self.effects.indices |= self.effects.reads
        self.effects.reads |= before
        array = node.base.type
        assert isinstance(array, Array)
        count, size = array.index.cardinality, array.element.leaf_count
        position = None if index is None else index - array.index.low
        # An index that is or may be outside fails, and so is never a single place, even if there is one element.
        positions: Sequence[int] = (0, *range(count))
        if position is not None and 0 <= position < count:
            positions = (position,)
        starts = [start + each * size for start in base.starts for each in positions]
        return Location(tuple(starts), base.multiset, base.size)

    def leaves(self, location: Location, kind: Type) -> int:
        if location.multiset is not None:
            return mask_of(location.multiset.starts, location.multiset.size)
        return mask_of(location.starts, kind.leaf_count)

    def read(self, node: Place) -> Location:
        location = self.place(node)  # before the sum below is loaded, since indices are reads as well
        self.effects.reads |= self.leaves(location, node.type)
        return location

    def write(self, location: Location, kind: Type, values: Sequence[Values], is_certain: bool) -> None:
        """Records a write, with the values of each leaf if these are known. A write inside a multiset also reads it,
        since its slots are sorted afterwards."""
        written = self.leaves(location, kind)
        self.effects.writes |= written
        has_slots = location.multiset is not None or any(isinstance(each, Multiset) for each in kind.parts())
        if has_slots:
            self.effects.reads |= written
        if has_slots or len(location.starts) != 1 or not values:
            for leaf in bits(written):
                self.effects.stores[leaf] = Stored(None, self.effects.stored(leaf).is_certain)
            return
        for leaf, some in enumerate(values, location.starts[0]):
            self.effects.store(leaf, some, is_certain)

    # --- Expressions -------------------------------------------------------------------------------------------

    def value(self, node: Expression) -> int | None:
        """Records the reads of an expression, and returns its value if that is known."""
        self._spend()
        match node:
            case Constant():
                return node.value if isinstance(node.value, int) else None
            case Load():
                if isinstance(node.place, LocalPlace) and not node.place.local.is_reference:
                    return self.constants.get(node.place.local)
                leaf = self.read(node.place).single
                return None if leaf is None or not isinstance(node.type, Simple) else self._known.get(leaf)
            case Unary():
                return negated(node.operator, self.value(node.operand))
            case Binary():
                return self._binary(node)
            case Conditional():
                return self._conditional(node)
            case Quantified():
                self._repeat(node.variable, node.domain, lambda _: self.value(node.body))
            case IsUndefined():
                self.read(node.place)
            case IsMember() | Witnessed():
                self.value(node.operand)
            case Convert():
                return converted(self.value(node.operand), node.operand.type, node.type)
            case SlotUsed():
                self.read(node.place)
                self.value(node.index)
            case MultisetCount():
                self.read(node.place)
                self.value(node.condition)
            case Call():
                self._call(node, False)
            case RealCall():
                for each in node.arguments:
                    self.value(each)
            case Let():
                for binding in node.bindings:
                    self._bind(binding)
                return self.value(node.body)
            case _:
                raise TooLarge
        return None

    def _binary(self, node: Binary) -> int | None:
        left = self.value(node.left)
        is_short = {BinaryOperator.AND: 0, BinaryOperator.OR: 1}.get(node.operator)
        if left is not None and left == is_short:
            return left
        if node.operator is BinaryOperator.IMPLIES and left == 0:
            return 1
        right = self.value(node.right)
        return None if isinstance(node.type, Real) else combined(node.operator, left, right)

    def _conditional(self, node: Conditional) -> int | None:
        condition = self.value(node.condition)
        if condition is not None:
            return self.value(node.then if condition else node.otherwise)
        self.value(node.then)
        self.value(node.otherwise)
        return None  # even if both are equal, since the condition may fail

    def _repeat(self, variable: Local, domain: TypeDomain | StepDomain, turn: Callable[[bool], object]) -> None:
        """Takes the turns of a loop, each with its value if there are few. ``turn`` is told if it surely happens."""
        values = self.domain(domain)
        if values is None or len(values) > _MOST_TURNS or variable in self._assigned:
            self.constants.pop(variable, None)
            turn(False)
            return
        for each in values:
            self.constants[variable] = each
            turn(True)
        self.constants.pop(variable, None)

    def domain(self, domain: TypeDomain | StepDomain) -> range | None:
        if isinstance(domain, TypeDomain):
            return range(domain.type.low, domain.type.low + domain.type.cardinality)
        first, last = self.value(domain.first), self.value(domain.last)
        step = 1 if domain.step is None else self.value(domain.step)
        if first is None or last is None or not step:
            return None
        return range(first, last + (1 if step > 0 else -1), step)

    def _call(self, node: Call, is_certain: bool) -> None:
        function = node.function
        if function in self._active:
            raise TooLarge  # recursion
        # All of them first, since an argument may call the same function.
        given = [self.place(each) if isinstance(each, Place) else self.value(each) for each in node.arguments]
        for formal, argument in zip(function.formals, given, strict=True):
            if isinstance(argument, Location):
                self._references[formal.local] = argument
            else:
                self._know(formal.local, argument)
        self._active.append(function)
        self._block(function.body, is_certain)
        self._active.pop()

    def _know(self, local: Local, value: int | None) -> None:
        if value is None or local in self._assigned:
            self.constants.pop(local, None)
        else:
            self.constants[local] = value

    def _bind(self, node: Bind) -> None:
        if isinstance(node.target, Place):
            self._references[node.local] = self.place(node.target)
        else:
            self._know(node.local, self.value(node.target))

    # --- Statements --------------------------------------------------------------------------------------------

    def _block(self, statements: Sequence[Statement], is_certain: bool) -> None:
        for each in statements:
            self._statement(each, is_certain)
            is_certain = is_certain and not may_return(each)

    def _statement(self, node: Statement, is_certain: bool) -> None:
        self._spend()
        match node:
            case Assign():
                value = self.value(node.value)
                is_undefined = isinstance(node.value, Constant) and node.value.value is None
                known = frozenset([value]) if value is not None or is_undefined else None
                target = self.place(node.target)
                change = self._change_of(target.single, node.value) if is_certain else None
                self.write(target, node.target.type, [known] * isinstance(node.target.type, Simple), is_certain)
                if change is not None and target.single is not None:
                    self.effects.stores[target.single] = Stored(None, True, change)
            case Bind():
                self._bind(node)
            case If():
                self._if(node, is_certain)
            case Switch():
                self.value(node.selector)
                for labels, body in node.cases:
                    for label in labels:
                        self.value(label)
                    self._block(body, False)
                self._block(node.otherwise, False)
            case For():
                is_certain = is_certain and not any(map(may_return, node.body))
                self._repeat(node.variable, node.domain, lambda is_sure: self._block(node.body, is_certain and is_sure))
            case While():
                self.value(node.condition)
                self._block(node.body, False)
            case CallStatement():
                self._call(node.call, is_certain)
            case Clear():
                lowest = [frozenset([leaf.low]) for leaf in node.target.type.leaves()]
                self.write(self.place(node.target), node.target.type, lowest, is_certain)
            case Undefine():
                nothing = [frozenset([None])] * node.target.type.leaf_count
                self.write(self.place(node.target), node.target.type, nothing, is_certain)
            case Assert() | Assume() | Cover():
                self.value(node.condition)
            case Put():
                if isinstance(node.argument, Place):
                    self.read(node.argument)
                elif isinstance(node.argument, Expression):
                    self.value(node.argument)
            case Return():
                if node.value is not None:
                    self.value(node.value)
            case MultisetAdd():
                self.value(node.value)
                self._change(node.target)
            case MultisetRemove():
                self.value(node.index)
                self._change(node.target)
            case MultisetRemoveIf():
                self.value(node.condition)
                self._change(node.target)
            case Error():
                pass
            case _:
                raise TooLarge

    def _change_of(self, leaf: int | None, value: Expression) -> int | None:
        """Returns the number that a value adds to a leaf, if the leaf has not been written before."""
        if leaf is None or leaf in self.effects.stores or not isinstance(value, Binary):
            return None
        sign = {BinaryOperator.ADD: 1, BinaryOperator.SUBTRACT: -1}.get(value.operator)
        if sign is None or not isinstance(value.left, Load) or self.place(value.left.place).single != leaf:
            return None
        change = self.value(value.right)
        return None if change is None else sign * change

    def _change(self, target: Place) -> None:
        self.read(target)
        self.write(self.place(target), target.type, (), False)

    def _if(self, node: If, is_certain: bool) -> None:
        for condition, body in node.branches:
            known = self.value(condition)
            if known is None:
                self._block(body, False)
                is_certain = False
            elif known:
                self._block(body, is_certain)
                return
        self._block(node.otherwise, is_certain)
