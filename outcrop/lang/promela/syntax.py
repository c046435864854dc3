"""The tree of a Promela model, as the parser makes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from outcrop.source import Span


@dataclass(frozen=True)
class Name:
    text: str
    span: Span


# --- Expressions ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Expression:
    span: Span = field(kw_only=True)


@dataclass(frozen=True)
class Number(Expression):
    value: int


@dataclass(frozen=True)
class Reference(Expression):
    """A variable, an element of it, or a field: ``name[index].next``."""

    name: Name
    index: Expression | None = None
    next: Reference | None = None


@dataclass(frozen=True)
class Unary(Expression):
    operator: str
    operand: Expression


@dataclass(frozen=True)
class Binary(Expression):
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Conditional(Expression):
    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True)
class Run(Expression):
    proctype: Name
    arguments: tuple[Expression, ...]
    priority: int = 1


@dataclass(frozen=True)
class ChannelTest(Expression):
    """A test of a channel: ``len``, ``empty``, ``nempty``, ``full`` or ``nfull``."""

    word: str
    channel: Reference


@dataclass(frozen=True)
class Poll(Expression):
    """A poll, ``channel?[arguments]``: whether a receive could be taken."""

    channel: Reference
    arguments: tuple[Expression, ...]
    is_random: bool


@dataclass(frozen=True)
class Timeout(Expression):
    pass


@dataclass(frozen=True)
class Progress(Expression):
    """The truth of ``np_``: no process is at a progress label."""


@dataclass(frozen=True)
class Enabled(Expression):
    """The truth of ``enabled(pid)``: whether that process could move."""

    process: Expression


@dataclass(frozen=True)
class RemoteLabel(Expression):
    """The truth of ``P[pid]@label``."""

    proctype: Name
    process: Expression | None
    label: Name


@dataclass(frozen=True)
class RemoteVariable(Expression):
    """The value of ``P[pid]:variable``."""

    proctype: Name
    process: Expression | None
    variable: Reference


@dataclass(frozen=True)
class Priority(Expression):
    """The priority of a process, ``get_priority(pid)``."""

    process: Expression


@dataclass(frozen=True)
class ArraySize(Expression):
    """The number of elements of an array, which ``for (i in array)`` asks for."""

    array: Reference


@dataclass(frozen=True)
class Evaluated(Expression):
    """An argument ``eval(expression)`` of a receive, which must be equal to the received value."""

    operand: Expression


# --- Declarations --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChannelValue:
    """An initial value ``[capacity] of {types}``."""

    capacity: Expression
    types: tuple[Name, ...]
    span: Span


@dataclass(frozen=True)
class Declarator:
    name: Name
    size: Expression | None
    bits: Expression | None
    initial: Expression | ChannelValue | tuple[Expression, ...] | None


@dataclass(frozen=True)
class Declaration:
    type: Name
    declarators: tuple[Declarator, ...]
    span: Span


# --- Statements ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Statement:
    span: Span = field(kw_only=True)


@dataclass(frozen=True)
class Test(Statement):
    """An expression as a statement: executable when it is not zero."""

    condition: Expression


@dataclass(frozen=True)
class Assignment(Statement):
    target: Reference
    value: Expression


@dataclass(frozen=True)
class Send(Statement):
    channel: Reference
    arguments: tuple[Expression, ...]
    is_sorted: bool


@dataclass(frozen=True)
class Receive(Statement):
    """A receive. ``is_random``: the first message that fits, wherever it is. ``keeps``: the message stays."""

    channel: Reference
    arguments: tuple[Expression, ...]
    is_random: bool
    keeps: bool


@dataclass(frozen=True)
class Assertion(Statement):
    condition: Expression


@dataclass(frozen=True)
class SetPriority(Statement):
    """A change of the priority of a process, ``set_priority(pid, value)``."""

    process: Expression
    value: Expression


@dataclass(frozen=True)
class Print(Statement):
    """A ``printf`` or, if ``is_name``, a ``printm``."""

    text: str
    arguments: tuple[Expression, ...]
    is_name: bool = False


@dataclass(frozen=True)
class Else(Statement):
    pass


@dataclass(frozen=True)
class Goto(Statement):
    label: Name


@dataclass(frozen=True)
class Break(Statement):
    pass


@dataclass(frozen=True)
class Choice(Statement):
    """A choice: ``if`` or, where it ``repeats``, ``do``. ``is_reversed``: the last option is tried first."""

    options: tuple[Block, ...]
    repeats: bool
    is_reversed: bool = False


@dataclass(frozen=True)
class Block(Statement):
    """A block. ``kind``: "" for braces alone, "atomic" or "d_step"."""

    steps: tuple[Statement, ...]
    kind: str = ""


@dataclass(frozen=True)
class Spliced(Statement):
    """Statements that stand for one, such as ``for``. They join the sequence around them; labels belong to the last."""

    before: tuple[Statement, ...]
    last: Statement


@dataclass(frozen=True)
class Scoped(Statement):
    """The body of a ``for``: its names are its own, but its statements join the sequence around them."""

    steps: tuple[Statement, ...]


@dataclass(frozen=True)
class Exclusive(Statement):
    """A declaration ``xr`` or ``xs``: only this proctype receives from the channels, or sends to them."""

    word: str
    channels: tuple[Reference, ...]


@dataclass(frozen=True)
class Unless(Statement):
    main: Statement
    escape: Statement


@dataclass(frozen=True)
class Labelled(Statement):
    label: Name
    statement: Statement


@dataclass(frozen=True)
class LocalDeclaration(Statement):
    """A declaration inside a proctype. ``is_silent``: it sets nothing where it stands behind a statement."""

    declaration: Declaration
    is_silent: bool = False


# --- The model -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Proctype:
    """A proctype. ``active``: processes that exist from the start; 0 or None: none do."""

    name: Name
    parameters: tuple[Declaration, ...]
    active: Expression | None
    provided: Expression | None
    body: Block
    span: Span
    is_init: bool = False
    priority: int = 1  #: priority of its active processes


@dataclass(frozen=True)
class Typedef:
    name: Name
    fields: tuple[Declaration, ...]


@dataclass(frozen=True)
class MtypeList:
    """A declaration of symbolic names. ``subtype``: the name of the mtype, "" for the common one."""

    subtype: str
    names: tuple[Name, ...]


@dataclass(frozen=True)
class Ltl:
    """A formula: expressions with operators ``G F X U W R -> <->`` in it."""

    name: str
    formula: Expression
    span: Span


@dataclass(frozen=True)
class EventTrace:
    """An assertion about the order of messages. ``word``: "trace" or "notrace"."""

    word: str
    body: Block
    span: Span

    @property
    def is_negated(self) -> bool:
        return self.word == "notrace"


@dataclass
class Model:
    declarations: list[Declaration] = field(default_factory=list)
    typedefs: list[Typedef] = field(default_factory=list)
    mtypes: list[MtypeList] = field(default_factory=list)
    proctypes: list[Proctype] = field(default_factory=list)
    never: Block | None = None
    formulas: list[Ltl] = field(default_factory=list)
    trace: EventTrace | None = None
    remote_labels: list[tuple[str, str]] = field(default_factory=list)  #: proctypes and labels of references P@label


def walk(node: Any) -> Iterator[Any]:
    """Yields all nodes of a tree, or of lists of trees."""
    if isinstance(node, list | tuple):
        for each in node:
            yield from walk(each)
    elif is_dataclass(node) and not isinstance(node, type):
        yield node
        for part in fields(node):
            if part.name != "span":
                yield from walk(getattr(node, part.name))


def stored_names(node: Any) -> Iterator[str]:
    """Yields the names that the statements of a tree store into."""
    for each in walk(node):
        if isinstance(each, Assignment):
            yield each.target.name.text
        elif isinstance(each, Receive):
            yield from (one.name.text for one in each.arguments if isinstance(one, Reference))
