"""Reads and writes of one turn of a loop, and whether the turns commute.

Turns commute if no turn writes what another reads or writes. Paths tell places apart: ``nodes[n].state`` is another
place in each turn of ``for n in Node``. Writes of a common place commute if all store one value that the turns have
in common, or all accumulate in the same way: sums, disjunctions, minima, additions to a Bag.
The analysis errs on the safe side: places that it cannot tell apart may be one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from outcrop.ir.nodes import (
    Assign,
    Binary,
    BinaryOperator,
    Bind,
    Call,
    Clear,
    Constant,
    Convert,
    Expression,
    FieldPlace,
    For,
    GlobalPlace,
    If,
    IndexPlace,
    Load,
    Local,
    LocalPlace,
    MultisetAdd,
    MultisetRemove,
    MultisetRemoveIf,
    Place,
    SlotPlace,
    SlotUsed,
    Statement,
    Switch,
    Undefine,
    Variable,
    While,
)
from outcrop.ir.system import Function
from outcrop.ir.walk import NODE_TYPES, walk
from outcrop.lang.python.gathering import conjuncts, extreme_branch, gathered, taken_value
from outcrop.source import Span

#: A step of a path: an index that differs in every turn, and one of which nothing is known.
OWN, ANY = "own", "any"


@dataclass(frozen=True)
class Path:
    """A place: a variable, and the fields and indices that lead to a part of it. Without a root, any place."""

    root: Variable | Local | None
    steps: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Access:
    """A read, or a write with its effect. Equal effects commute; None commutes with nothing. ``single``: the value
    to which a guard pins the loop variable, so that one turn at most does it."""

    path: Path
    span: Span
    is_write: bool
    effect: tuple[Any, ...] | None = None
    single: Expression | None = None


def conflict(accesses: list[Access]) -> Span | None:
    """Returns the position of a write that does not commute with an access of another turn; None without one."""
    for write in accesses:
        if not write.is_write:
            continue
        for other in accesses:
            if write.single is not None and write.single == other.single:
                continue
            commutes = other.is_write and write.effect is not None and write.effect == other.effect
            if not commutes and _may_overlap(write.path, other.path):
                return write.span
    return None


def _may_overlap(one: Path, two: Path) -> bool:
    """Returns whether a place of one turn may be, or contain, a place of another turn."""
    if one.root is None or two.root is None:
        return True
    if one.root is not two.root:
        return _may_alias(one.root, two.root) or _may_alias(two.root, one.root)
    for step, other in zip(one.steps, two.steps, strict=False):
        if step == other == OWN:
            return False
        if step != other and ANY not in (step, other) and OWN not in (step, other):
            return False
    return True


def _may_alias(reference: Variable | Local, other: Variable | Local) -> bool:
    """Returns whether a reference, which a function got from its caller, may lie within another variable."""
    if not isinstance(reference, Local) or not reference.is_reference:
        return False
    return (isinstance(other, Variable) or other.is_reference) and reference.type in other.type.parts()


@dataclass
class Turn:
    """The accesses of one turn of a loop over ``variable``, in the order of execution."""

    variable: Local
    binds: dict[Local, Place]  #: the places that references stand for
    outer: set[Local]  #: locals that are used outside the loop
    accesses: list[Access] = field(default_factory=list)
    own: set[Local] = field(default_factory=set)  #: locals that equal the loop variable
    inside: set[Local] = field(default_factory=set)  #: locals that get their values in the loop
    shared: set[Local] = field(default_factory=set)  #: locals whose values outlast a turn
    _paths: dict[Local, Path] = field(default_factory=dict)  #: references of functions that are being followed
    _carried: set[Local] = field(default_factory=set)  #: locals that are read before the turn assigns them
    _calls: tuple[tuple[Function, Span], ...] = ()
    _single: Expression | None = None

    def run(self, body: tuple[Statement, ...]) -> list[Access]:
        """Returns the accesses of a turn to places that turns have in common."""
        self.own.add(self.variable)
        self.inside |= {self.variable, *_assigned_in(body)}
        self._block(body, set())
        self.shared = self._carried | self.outer
        return [each for each in self.accesses if self._is_shared(each.path.root)]

    def _is_shared(self, root: Variable | Local | None) -> bool:
        return not isinstance(root, Local) or root.is_reference or root in self.shared

    def is_common(self, node: Any) -> bool:
        """Returns whether an expression or statement is the same in every turn, if nothing that it reads changes."""
        turn = self.inside | self.own
        return not any(isinstance(each, LocalPlace) and each.local in turn for each in walk(node))

    def is_pinned(self, conditions: tuple[Expression, ...]) -> bool:
        """Returns whether conditions let only one turn pass."""
        return any(self._pinned(each) is not None for each in conjuncts(conditions))

    # --- Statements --------------------------------------------------------------------------------------------

    def _block(self, body: tuple[Statement, ...], assigned: set[Local]) -> None:
        """Follows statements. ``assigned``: locals that have a value of this turn; it grows."""
        for each in body:
            self._statement(each, assigned)

    def _statement(self, each: Statement, assigned: set[Local]) -> None:
        extreme = extreme_branch(each) if isinstance(each, If) else None
        match each:
            case Bind():
                self._bind(each, assigned)
            case If() if extreme is not None:
                self._extreme(each, *extreme, assigned)
            case If():
                self._branches([((condition,), body) for condition, body in each.branches], each.otherwise, assigned)
            case Switch():
                self._read(each.selector, assigned)
                self._branches(each.cases, each.otherwise, assigned)
            case For() if (taken := taken_value(each)) is not None:
                target, value = taken
                self._read(value, assigned)
                self._write(target, each.span, ("take",), assigned)
            case For() | While():
                self._read(each.domain if isinstance(each, For) else each.condition, assigned)
                within = {each.variable} if isinstance(each, For) else set()
                self._block(each.body, assigned | within)
            case Assign():
                self._assign(each, assigned)
            case Clear() | Undefine():
                self._write(each.target, each.span, (type(each), each.target.type), assigned)
                if isinstance(each.target, LocalPlace):
                    assigned.add(each.target.local)
            case MultisetAdd():
                self._read(each.value, assigned)
                self._write(each.target, each.span, ("add to bag",), assigned)
            case MultisetRemove():
                self._read(each.index, assigned)
                slot = SlotPlace(type=each.target.type, span=each.span, base=each.target, index=each.index)
                self._write(slot, each.span, ("free",), assigned)
            case MultisetRemoveIf():
                self._add(Path(None), each.span, True, None)
            case _:
                for part in _parts(each):
                    self._read(part, assigned)

    def _bind(self, each: Bind, assigned: set[Local]) -> None:
        if isinstance(each.target, Place):
            self._indices(each.target, assigned)
            self._paths[each.local] = self._path(each.target)
            return
        self._read(each.target, assigned)
        if self._is_own(each.target):
            self.own.add(each.local)
        assigned.add(each.local)

    def _branches(self, branches: Any, otherwise: tuple[Statement, ...], assigned: set[Local]) -> None:
        after: list[set[Local]] = []
        before = self._single
        for conditions, body in branches:
            for condition in conditions:
                self._read(condition, assigned)
            within = set(assigned)
            self._single = before or next(filter(None, map(self._pinned, conjuncts(conditions))), None)
            self._block(body, within)
            self._single = before
            after.append(within)
        within = set(assigned)
        self._block(otherwise, within)
        assigned |= set.intersection(within, *after)

    def _pinned(self, guard: Expression) -> Expression | None:
        """Returns the value to which a guard pins the loop variable."""
        if isinstance(guard, Binary) and guard.operator is BinaryOperator.EQUAL:
            for one, other in ((guard.left, guard.right), (guard.right, guard.left)):
                if self._is_own(one) and self.is_common(other) and not self._calls:
                    return other
        return None

    def _assign(self, each: Assign, assigned: set[Local]) -> None:
        adds = gathered(each)
        effect: tuple[Any, ...] | None
        if adds is not None:
            effect, operand = adds
            self._read(operand, assigned)
            self._indices(each.target, assigned)
        else:
            self._read(each.value, assigned)
            is_common = self.is_common(each.value) and not self._calls
            effect = ("set", each.value) if is_common or isinstance(each.value, Constant) else None
        self._write(each.target, each.span, effect, assigned)
        if adds is None and isinstance(each.target, LocalPlace):
            assigned.add(each.target.local)
        elif adds is not None:
            self._note_local(each.target, assigned)

    def _extreme(
        self, each: If, effect: str, store: Assign, flag: Local | None, rest: list[Expression], assigned: set[Local]
    ) -> None:
        """Follows ``if x > best: best = x``, one write that commutes with others of its kind."""
        for guard in rest:
            self._read(guard, assigned)
        self._read(store.value, assigned)
        self._indices(store.target, assigned)
        self._write(store.target, each.span, (effect,), assigned)
        self._note_local(store.target, assigned)
        if flag is not None:
            self._add(Path(flag), each.span, True, (effect,))

    # --- Places and expressions --------------------------------------------------------------------------------

    def _add(self, path: Path, span: Span, is_write: bool, effect: tuple[Any, ...] | None = None) -> None:
        span = self._calls[0][1] if self._calls else span
        self.accesses.append(Access(path, span, is_write, effect, self._single))

    def _write(self, place: Place, span: Span, effect: tuple[Any, ...] | None, assigned: set[Local]) -> None:
        self._indices(place, assigned)
        self._add(self._path(place), span, True, effect)

    def _read(self, node: Any, assigned: set[Local]) -> None:
        if isinstance(node, tuple):
            for part in node:
                self._read(part, assigned)
        elif isinstance(node, SlotUsed):
            self._read_place(SlotPlace(type=node.type, span=node.span, base=node.place, index=node.index), assigned)
        elif isinstance(node, Place):
            self._read_place(node, assigned)
        elif isinstance(node, Call):
            self._call(node, assigned)
        elif isinstance(node, NODE_TYPES):
            for part in _parts(node):
                self._read(part, assigned)

    def _read_place(self, place: Place, assigned: set[Local]) -> None:
        self._indices(place, assigned)
        self._note_local(place, assigned)
        self._add(self._path(place), place.span, False)

    def _note_local(self, place: Place, assigned: set[Local]) -> None:
        root = self._path(place).root
        if isinstance(root, Local) and root not in assigned:
            self._carried.add(root)

    def _indices(self, place: Place, assigned: set[Local]) -> None:
        while not isinstance(place, GlobalPlace | LocalPlace):
            if isinstance(place, IndexPlace | SlotPlace):
                self._read(place.index, assigned)
            if not isinstance(place, FieldPlace | IndexPlace | SlotPlace):
                self._read(getattr(place, "value", ()), assigned)
                return
            place = place.base

    def _path(self, place: Place) -> Path:
        match place:
            case GlobalPlace():
                return Path(place.variable)
            case LocalPlace() if place.local.is_reference:
                known = self._paths.get(place.local)
                if known is None and place.local in self.binds:
                    return self._path(self.binds[place.local])
                return known or Path(place.local)
            case LocalPlace():
                return Path(place.local)
            case FieldPlace():
                base = self._path(place.base)
                return Path(base.root, (*base.steps, ("field", place.field_index)))
            case IndexPlace() | SlotPlace():
                base = self._path(place.base)
                return Path(base.root, (*base.steps, self._step(place.index)))
        return Path(Local("value", place.type, -1))  # lies in no variable

    def _step(self, index: Expression) -> Any:
        if self._is_own(index):
            return OWN
        return ("at", index.value) if isinstance(index, Constant) else ANY

    def _is_own(self, node: Any) -> bool:
        while isinstance(node, Convert):
            node = node.operand
        return isinstance(node, Load) and isinstance(node.place, LocalPlace) and node.place.local in self.own

    def _call(self, call: Call, assigned: set[Local]) -> None:
        """Follows a call into its function."""
        function = call.function
        if any(function is entered for entered, _ in self._calls) or function.is_recursive:
            self._add(Path(None), call.span, function.writes_state, None)
            return
        for formal, argument in zip(function.formals, call.arguments, strict=True):
            self.own.discard(formal.local)
            if formal.by_reference and isinstance(argument, Place):
                self._indices(argument, assigned)
                self._note_local(argument, assigned)
                self._paths[formal.local] = self._path(argument)
            else:
                self._read(argument, assigned)
                if self._is_own(argument):
                    self.own.add(formal.local)
        entered, self._calls = self._calls, (*self._calls, (function, call.span))
        fresh = {each.local for each in function.formals if not each.by_reference}
        self._block(function.body, fresh | set(function.frame.locals) | assigned)
        self._calls = entered


def _parts(node: Any) -> Iterator[Any]:
    return (getattr(node, each.name) for each in fields(node) if each.name not in ("span", "type"))


def _assigned_in(body: tuple[Statement, ...]) -> Iterator[Local]:
    for each in walk(body):
        if isinstance(each, Bind):
            yield each.local
        elif isinstance(each, Assign | Clear | Undefine) and isinstance(each.target, LocalPlace):
            yield each.target.local
        elif isinstance(variable := getattr(each, "variable", None), Local):
            yield variable
