"""Expressions, places and statements of a System.

All decisions of a front-end are explicit here: names are resolved, constants folded, conversions written out, and every
read says what an undefined value means. Nodes are immutable; ``span`` points at the source for messages and does not
take part in equality.

Control flow inside a rule body, function or startstate is structured; the only jump is ``Return``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from outcrop.ir.types import BOOLEAN, Multiset, Record, Simple, Type
from outcrop.source import Span

if TYPE_CHECKING:
    from outcrop.ir.system import Function

# --- Variables ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Variable:
    """A state variable. Its leaves start at leaf ``offset`` of the state. ``is_defined``: all of it has a value in
    every state that a start state or a rule leads to, so that compiled code needs no test."""

    name: str
    type: Type
    offset: int
    span: Span
    is_defined: bool = False


@dataclass(eq=False)
class Local:
    """A variable of one frame: a parameter, a declared local, a loop or quantifier variable, an alias.

    ``index`` is its position in ``Frame.locals``. A *reference* (an alias of a place, a ``var`` formal) holds
    where another variable lies instead of a value; the place it names is fixed when it is bound.
    ``addressed`` says that some place of the frame other than a plain whole read or write needs it in memory:
    it is complex, or a reference is taken to it. Both are settled when the frame is complete, then never change.
    """

    name: str
    type: Type
    index: int
    is_reference: bool = False
    is_addressed: bool = False


@dataclass(frozen=True, eq=False)
class Frame:
    """The locals of one rule, function, startstate or property. All values are undefined at entry."""

    locals: tuple[Local, ...] = ()


# --- Places (lvalues) --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Place:
    """A part of the state or frame that can be read and, where the front-end allows it, written."""

    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class GlobalPlace(Place):
    variable: Variable


@dataclass(frozen=True, kw_only=True)
class LocalPlace(Place):
    """A local, or the target of a reference local (``local.is_reference``)."""

    local: Local


@dataclass(frozen=True, kw_only=True)
class FieldPlace(Place):
    base: Place
    field_index: int

    @property
    def record(self) -> Record:
        assert isinstance(self.base.type, Record)
        return self.base.type


@dataclass(frozen=True, kw_only=True)
class IndexPlace(Place):
    """An element of an array. An index that is undefined or not a value of the index type is a runtime error."""

    base: Place
    index: Expression


@dataclass(frozen=True, kw_only=True)
class SlotPlace(Place):
    """The element in a slot of a multiset; ``index`` is the slot number. Runtime error if the slot is free."""

    base: Place
    index: Expression

    @property
    def multiset(self) -> Multiset:
        assert isinstance(self.base.type, Multiset)
        return self.base.type


@dataclass(frozen=True, kw_only=True)
class ValuePlace(Place):
    """A complex value that lies in no variable (the result of a function), so that its parts can be read."""

    value: Expression


# --- Expressions -------------------------------------------------------------------------------------------


class Undefined(StrEnum):
    """The effect of reading an undefined value."""

    ERROR = "error"  #: a runtime error
    NOTE = "note"  #: allowed; the place is reported once at the end of the check
    ALLOW = "allow"  #: allowed silently


@dataclass(frozen=True, kw_only=True)
class Expression:
    """An expression that evaluates to a value of ``type`` (see types.py); complex types evaluate to a row of leaves."""

    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Constant(Expression):
    """A literal, a folded constant or, with value None, the literal ``undefined``."""

    value: int | float | None


@dataclass(frozen=True, kw_only=True)
class Load(Expression):
    """A read of a place. ``undefined`` matters only for simple types; a complex value is copied unchanged."""

    place: Place
    undefined: Undefined = Undefined.ERROR


class UnaryOperator(StrEnum):
    NOT = "!"
    NEGATE = "-"
    COMPLEMENT = "~"


@dataclass(frozen=True, kw_only=True)
class Unary(Expression):
    operator: UnaryOperator
    operand: Expression


class BinaryOperator(StrEnum):
    # Boolean, short-circuit, left to right.
    AND = "&"
    OR = "|"
    IMPLIES = "->"
    # Comparison: = and != on any type; the rest on integers and reals.
    EQUAL = "="
    NOT_EQUAL = "!="
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="
    # Arithmetic on 64-bit integers or reals. Results beyond 64 bits, and division by zero, are runtime errors.
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"  #: integers: truncates towards zero
    REMAINDER = "%"  #: has the sign of the dividend
    # Bitwise on 64-bit integers. A negative shift count shifts the other way; 64 or more gives 0 (or -1 for
    # the arithmetic right shift of a negative number). Bits shifted out on the left are lost, not an error.
    BIT_AND = "bitand"
    BIT_OR = "bitor"
    BIT_XOR = "bitxor"
    SHIFT_LEFT = "<<"
    SHIFT_RIGHT = ">>"


@dataclass(frozen=True, kw_only=True)
class Binary(Expression):
    """A binary operation on operands of one type. ``=`` on undefined simple values (reads with NOTE or ALLOW):
    undefined equals only undefined. ``=`` on complex values compares leaf by leaf."""

    operator: BinaryOperator
    left: Expression
    right: Expression


@dataclass(frozen=True, kw_only=True)
class Conditional(Expression):
    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, kw_only=True)
class TypeDomain:
    """All values of a simple type, ascending."""

    type: Simple


@dataclass(frozen=True, kw_only=True)
class StepDomain:
    """``first`` to ``last`` by ``step``, each evaluated once. A step away from ``last``: empty; of 0: an error."""

    first: Expression
    last: Expression
    step: Expression | None
    span: Span = field(compare=False, repr=False)


Domain = TypeDomain | StepDomain


class Quantifier(StrEnum):
    FORALL = "forall"
    EXISTS = "exists"


@dataclass(frozen=True, kw_only=True)
class Quantified(Expression):
    """A quantified expression, evaluated with short-circuit over the domain in order."""

    quantifier: Quantifier
    variable: Local
    domain: Domain
    body: Expression
    type: Type = BOOLEAN


@dataclass(frozen=True, kw_only=True)
class IsUndefined(Expression):
    place: Place
    type: Type = BOOLEAN


@dataclass(frozen=True, kw_only=True)
class IsMember(Expression):
    """A test whether a union value belongs to ``member``. False if undefined. ``operand`` is read with ALLOW."""

    operand: Expression
    member: Simple
    type: Type = BOOLEAN


@dataclass(frozen=True, kw_only=True)
class Convert(Expression):
    """A conversion between a union and a member of it (a runtime error if the value belongs to another member), between
    two unions through their common members, or from integer to real. Undefined stays undefined."""

    operand: Expression


@dataclass(frozen=True, kw_only=True)
class SlotUsed(Expression):
    """A test whether a slot of a multiset is in use, which ``choose`` adds to a guard."""

    place: Place
    index: Expression
    type: Type = BOOLEAN


@dataclass(frozen=True, kw_only=True)
class MultisetCount(Expression):
    """The number of slots in use that satisfy ``condition``, in which ``variable`` is the slot number."""

    variable: Local
    place: Place
    condition: Expression


@dataclass(frozen=True, kw_only=True)
class Call(Expression):
    """A function call. Arguments are evaluated left to right: a Place for a ``var`` formal, otherwise an expression,
    which is stored like an assignment (range-checked; undefined passes). ``undefined`` is the meaning of an undefined
    simple result; NOTE and ALLOW are the same here, because the function has noted its read."""

    function: Function
    arguments: tuple[Expression | Place, ...]
    undefined: Undefined = Undefined.ERROR


@dataclass(frozen=True, kw_only=True)
class RealCall(Expression):
    """A call of a real function: log log10 exp sin cos tan fabs floor ceil sqrt fmod pow asin acos atan sinh cosh tanh.
    A result that is not a finite number is a runtime error."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, kw_only=True)
class Let(Expression):
    """Aliases bound around an expression; each may use the earlier ones."""

    bindings: tuple[Bind, ...]
    body: Expression


@dataclass(frozen=True, kw_only=True)
class Witnessed(Expression):
    """The truth value of ``operand``. If it is true, ``note`` is recorded (see Property)."""

    operand: Expression
    note: int


# --- Statements --------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Statement:
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Bind(Statement):
    """The binding of an alias: a reference local to a place, or a value local to the value of ``target``."""

    local: Local
    target: Place | Expression


@dataclass(frozen=True, kw_only=True)
class Assign(Statement):
    """An assignment. A range target checks its bounds, a real one rounds; complex values are copied whole, including
    undefined parts. The value is evaluated before the indices of the target."""

    target: Place
    value: Expression


@dataclass(frozen=True, kw_only=True)
class If(Statement):
    branches: tuple[tuple[Expression, tuple[Statement, ...]], ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Switch(Statement):
    """A switch. The selector is evaluated once, labels are tried in order, and there is no fall-through."""

    selector: Expression
    cases: tuple[tuple[tuple[Expression, ...], tuple[Statement, ...]], ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True, kw_only=True)
class For(Statement):
    variable: Local
    domain: Domain
    body: tuple[Statement, ...]


@dataclass(frozen=True, kw_only=True)
class While(Statement):
    """A loop. More than ``limit`` iterations of one execution are a runtime error; None means no limit."""

    condition: Expression
    body: tuple[Statement, ...]
    limit: int | None


@dataclass(frozen=True, kw_only=True)
class CallStatement(Statement):
    """A procedure call, or a function call whose value is dropped."""

    call: Call


@dataclass(frozen=True, kw_only=True)
class Clear(Statement):
    """Sets every leaf to its least value, and empties multisets."""

    target: Place


@dataclass(frozen=True, kw_only=True)
class Undefine(Statement):
    """Makes every leaf undefined, and empties multisets."""

    target: Place


@dataclass(frozen=True, kw_only=True)
class Error(Statement):
    message: str


@dataclass(frozen=True, kw_only=True)
class Assert(Statement):
    condition: Expression
    message: str


@dataclass(frozen=True, kw_only=True)
class Assume(Statement):
    """An assumption. If it is false, the rule is abandoned as if it had not been enabled."""

    condition: Expression
    message: str
    is_guard: bool = False  #: a late part of the rule's guard, which leaves no behaviour out


@dataclass(frozen=True, kw_only=True)
class Cover(Statement):
    """Counts executions in which ``condition`` is true, in counter ``cover`` (an index into System.covers)."""

    condition: Expression
    cover: int


@dataclass(frozen=True, kw_only=True)
class Put(Statement):
    """Prints a text, a place (``name:value`` for each leaf) or the value of a simple expression. Undefined leaves are
    printed as ``Undefined``."""

    argument: str | Place | Expression


@dataclass(frozen=True, kw_only=True)
class Return(Statement):
    value: Expression | None = None


@dataclass(frozen=True, kw_only=True)
class MultisetAdd(Statement):
    """Puts a value into the first free slot; a full multiset is a runtime error."""

    value: Expression
    target: Place


@dataclass(frozen=True, kw_only=True)
class MultisetRemove(Statement):
    """Frees a slot (all its leaves become undefined). The other slots keep their places until the state is normalised
    after the rule. Freeing a free slot is a runtime error."""

    target: Place
    index: Expression


@dataclass(frozen=True, kw_only=True)
class MultisetRemoveIf(Statement):
    """Frees every slot in use that satisfies ``condition``, in which ``variable`` is the slot number."""

    variable: Local
    target: Place
    condition: Expression
