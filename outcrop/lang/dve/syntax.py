"""The syntax tree of a DVE model, before names are resolved."""

from __future__ import annotations

from dataclasses import dataclass

from outcrop.source import Span


@dataclass(frozen=True, slots=True)
class Name:
    text: str
    span: Span


# --- Expressions -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    value: int
    span: Span


@dataclass(frozen=True, slots=True)
class Truth:
    """``true`` or ``false``."""

    value: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Reference:
    """``name``, ``name[index]``, ``process->name`` or ``process->name[index]``."""

    process: Name | None
    name: Name
    index: Expression | None
    span: Span


@dataclass(frozen=True, slots=True)
class InState:
    """``process.state``."""

    process: Name
    state: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Unary:
    """``operator`` is ``-``, ``~`` or ``not``."""

    operator: str
    operand: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Binary:
    """``operator`` as written, but ``&&`` for ``and`` and ``||`` for ``or``."""

    operator: str
    left: Expression
    right: Expression
    span: Span


Expression = Number | Truth | Reference | InState | Unary | Binary

# --- Declarations ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VariableDeclaration:
    """The declaration of one variable. ``initial`` is an expression, or a tuple of them for ``{...}``. ``is_input``
    marks a constant that is meant to be replaced."""

    name: Name
    is_byte: bool
    is_constant: bool
    is_input: bool
    size: Expression | None
    initial: Expression | tuple[Expression, ...] | None
    span: Span


@dataclass(frozen=True, slots=True)
class ChannelDeclaration:
    """The declaration of a channel. ``items`` says for each item whether it is a byte or an int; None: untyped."""

    name: Name
    items: tuple[bool, ...] | None
    capacity: Expression | None
    span: Span


Declaration = VariableDeclaration | ChannelDeclaration

# --- Processes ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sync:
    """``channel!values`` or ``channel?targets``; ``values`` are References where it receives."""

    process: Name | None  #: process that declares the channel, if it is not global
    channel: Name
    is_send: bool
    values: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Assignment:
    target: Reference
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Transition:
    """A transition. ``guards`` are a conjunction."""

    source: Name
    target: Name
    guards: tuple[Expression, ...]
    sync: Sync | None
    effects: tuple[Assignment, ...]
    span: Span  #: the two states, which name the transition in messages


@dataclass(frozen=True, slots=True)
class Assertion:
    state: Name
    condition: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Process:
    name: Name
    is_property: bool
    declarations: tuple[Declaration, ...]
    states: tuple[Name, ...]
    initial: tuple[Name, ...]  #: exactly one in a correct model
    committed: tuple[Name, ...]
    accepting: tuple[Name, ...]
    assertions: tuple[Assertion, ...]
    transitions: tuple[Transition, ...]


@dataclass(frozen=True, slots=True)
class Model:
    declarations: tuple[Declaration, ...]
    processes: tuple[Process, ...]
    property: Name | None  #: the process that ``system async property P`` names
