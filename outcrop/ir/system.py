"""The System: the typed form of a model that a front-end produces.

A state is a row of leaves (types.py), those of the variables in declaration order. The successors of a state are made
for each rule in order, and for each combination of its parameter values (the last parameter varies fastest). If the
guard is true, the body runs on a copy of the state, which is then normalised: the slots of every multiset are sorted,
those in use first, and under symmetry the state is reduced to the representative of its orbit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import product

from outcrop.ir.automaton import Automaton, Product
from outcrop.ir.formula import Formula
from outcrop.ir.nodes import Expression, Frame, Local, Place, Statement, Variable
from outcrop.ir.types import INTEGER, Range, Scalarset, Simple, Type
from outcrop.source import Source, Span


@dataclass(frozen=True, eq=False)
class Parameter:
    """A parameter of a rule, startstate or property: a local of its frame, with its constant values."""

    local: Local
    values: range

    @property
    def type(self) -> Simple:
        assert isinstance(self.local.type, Simple)
        return self.local.type


@dataclass(frozen=True, eq=False)
class Instantiable:
    """A rule, startstate or property with parameters: there is one instance for each combination of their values."""

    name: str
    parameters: tuple[Parameter, ...]
    frame: Frame
    span: Span

    @cached_property
    def instance_count(self) -> int:
        count = 1
        for parameter in self.parameters:
            count *= len(parameter.values)
        return count

    def instances(self) -> Iterator[tuple[int, ...]]:
        """Returns the parameter values of each instance; the last parameter varies fastest."""
        return product(*(parameter.values for parameter in self.parameters))

    def label(self, arguments: tuple[int, ...]) -> str:
        """Returns ``name, p: value, q: value``, as traces print it."""
        shown = [
            f"{parameter.local.name}: {parameter.type.show(value)}"
            for parameter, value in zip(self.parameters, arguments, strict=True)
        ]
        return ", ".join([self.name, *shown])


@dataclass(frozen=True)
class QueueEnd:
    """One end of a queue in the state. Some statements of a step use it: they append an item behind the others, or look
    at the first item and may remove it. They use the queue in no other way, and count its items.

    ``length``: the number of items; its type ends where the queue is full. ``items``: an array of them, the oldest
    first; None if items have no value. ``statements``: those of the body, by number.
    """

    length: Place
    items: Place | None
    appends: bool
    statements: range


@dataclass(frozen=True)
class Executed:
    """Statements that a rule executes one after the other: the process of each, or the parameter that names it, and
    the number of the statement in the model. ``repeats``: any number of times."""

    moves: tuple[tuple[int | str, int], ...]
    repeats: bool = False


@dataclass(frozen=True)
class Handed:
    """A message that a rule hands from one process to another in a rendezvous. ``after``: the statements of the body
    before it. ``source`` and ``target``: numbers of the processes in the rule, in the order in which they come in."""

    after: int
    source: int
    target: int
    values: tuple[Expression, ...]
    types: tuple[Simple, ...]


@dataclass(frozen=True)
class StatementLine:
    """A statement that a rule executes, as SPIN shows it. ``process``: its number, or the parameter of the rule that
    has it; None: unknown. ``text``: empty where the process ends. ``is_inner``: inside a d_step, behind its first."""

    process: int | str | None
    name: str
    priority: int
    span: Span
    state: int
    text: str
    is_inner: bool = False


@dataclass(frozen=True, eq=False)
class Rule(Instantiable):
    """A rule. Without a ``guard`` it is always enabled. Of the enabled rules in a state, only those with the smallest
    ``priority`` fire. A guard never changes the state: if it calls a function that does, it works on a copy."""

    guard: Expression | None
    body: tuple[Statement, ...]
    priority: int = 0
    processes: tuple[str, ...] = ()  #: processes that take part in the step, in languages with processes
    ends: tuple[QueueEnd, ...] = ()  #: uses of queues
    statements: tuple[StatementLine, ...] = ()  #: statements of the step, in languages where a rule may be several
    handed: tuple[Handed, ...] = ()  #: messages of the step that are never in the state
    executed: tuple[Executed, ...] = ()  #: the same statements, as a trail file numbers them
    reaches: frozenset[tuple[str, int]] = frozenset()  #: texts and states that it leads processes to


@dataclass(frozen=True)
class TextPlace:
    """A place in the text of a process: its state there, and the statements that it can execute next.

    ``counts_with``: another state; a process that has been there counts as one that has been here.
    """

    state: int
    span: Span
    statements: tuple[str, ...]
    counts_with: int | None = None


@dataclass(frozen=True)
class Stop:
    """A place where a process can be between two steps. ``may_end``: a run may end there."""

    state: int
    span: Span
    may_end: bool


@dataclass(frozen=True)
class ProcessText:
    """The text that processes execute, in languages where unreached code is listed by place.

    ``starts``: whether a process is at state ``start`` from the beginning. ``processes``: the numbers that its
    processes can have. ``title``: its name in traces. ``stops``: by the value of the first field of a process, from 1.
    """

    name: str
    states: int
    start: int
    starts: bool
    places: tuple[TextPlace, ...]
    processes: range = range(0)
    title: str = ""
    priority: int = 1
    stops: tuple[Stop, ...] = ()


@dataclass(frozen=True, eq=False)
class StartState(Instantiable):
    """A startstate. It runs on a state that is undefined everywhere, with empty multisets."""

    body: tuple[Statement, ...]


class PropertyKind(StrEnum):
    INVARIANT = "invariant"  #: true in every reachable state
    ASSUMPTION = "assume"  #: states in which it is false are dropped
    COVER = "cover"  #: true in some reachable state; all instances of one property share one counter
    LIVENESS = "liveness"  #: a state where it is true can be reached from every reachable state (AG EF)
    WITNESS = "witness"  #: whether it is true in some reachable state; only noted, and failures in it are ignored
    END = "end"  #: true in states where a run may end, which are not deadlocks


@dataclass(frozen=True, eq=False)
class Property(Instantiable):
    """A property of states. Notes record events that happened at least once: the source offset of a NOTE read that met
    an undefined value or, for a WITNESS, its negative number ``note``."""

    kind: PropertyKind
    condition: Expression
    cover: int | None = None  #: for COVER, its counter: an index into System.covers
    note: int | None = None


@dataclass(frozen=True, eq=False)
class TemporalProperty(Instantiable):
    """An LTL formula that every run must satisfy. ``meaning`` has an expression over states for each proposition."""

    formula: Formula
    meaning: dict[Formula, Expression]
    has_scalarset_values: bool = False  #: whether propositions name single scalarset values
    violation: str = ""  #: what a violation is, for a formula that does not stand in the model

    @property
    def names_scalarset_values(self) -> bool:
        """Whether an instance names a single scalarset value, which symmetry would confuse with others."""
        return self.has_scalarset_values or any(map(_has_symmetry, self.parameters))


def has_symmetry(kind: Type) -> bool:
    """Returns whether the values of a type can be renamed by symmetry."""
    members = getattr(kind, "members", ()) if not isinstance(kind, Scalarset) else (kind,)
    return any(isinstance(each, Scalarset) and each.is_symmetric for each in members)


def _has_symmetry(parameter: Parameter) -> bool:
    return has_symmetry(parameter.type)


@dataclass(frozen=True, eq=False)
class CoverGoal:
    """A cover property or statement. One that is never met is a violation."""

    name: str
    span: Span


@dataclass(frozen=True, eq=False)
class Formal:
    """A formal parameter. ``by_reference``: a ``var`` formal, whose local is a reference. Otherwise a read-only
    copy."""

    local: Local
    by_reference: bool


@dataclass(eq=False)
class Function:
    """A function or, if ``result`` is None, a procedure. ``frame`` and ``body`` are filled in after creation, because a
    body may call its own function. Reaching the end of a function is a runtime error."""

    name: str
    formals: tuple[Formal, ...]
    result: Type | None
    span: Span
    frame: Frame = field(default_factory=Frame)
    body: tuple[Statement, ...] = ()
    is_recursive: bool = False
    #: Whether it, or a function that it calls, may assign a state variable (also through ``var``).
    writes_state: bool = False


@dataclass(frozen=True)
class Guess:
    """A bound that the front-end guessed. A run that passes it ends in an error that names the option."""

    option: str
    value: int
    larger: tuple[int, ...]  #: values to try instead, ascending
    remedy: str  #: end of the message of the error


@dataclass(frozen=True, eq=False)
class System:
    """A model, ready to be interpreted, printed or compiled."""

    name: str
    source: Source
    constants: dict[str, int | float | str]  #: values of the top-level constants, with -D applied
    variables: tuple[Variable, ...]
    functions: tuple[Function, ...]  #: in declaration order: each calls only itself and earlier ones
    start_states: tuple[StartState, ...]
    rules: tuple[Rule, ...]
    properties: tuple[Property, ...]
    covers: tuple[CoverGoal, ...]
    integers: Range = INTEGER  #: range of arithmetic; a value outside it is a runtime error
    temporal: tuple[TemporalProperty, ...] = ()
    automaton: Automaton | None = None  #: automaton of the runs that violate a property
    product: Product | None = None  #: set if the automaton runs together with the rules (see product.py)
    #: The state after a rule whose guard or body fails, in languages that continue from there; None: no state.
    error_state: StartState | None = None
    #: Why reading an undefined value is permitted, and the remedy, in the terms of the language.
    undefined_hint: str = ""
    forgives_failures: bool = False  #: whether reaching the error state is not reported
    orders_scalarsets: bool = False  #: whether a rule depends on an order of scalarset values
    texts: tuple[ProcessText, ...] = ()  #: texts of the processes, in languages where unreached code is listed by place
    guess: Guess | None = None
    included: tuple[Source, ...] = ()  #: further files that the model consists of
    skipped: tuple[str, ...] = ()  #: names of properties of states that are not checked

    @cached_property
    def leaf_types(self) -> tuple[Simple, ...]:
        """The type of each leaf of a state."""
        return tuple(leaf for variable in self.variables for leaf in variable.type.leaves())

    @cached_property
    def leaf_count(self) -> int:
        return sum(variable.type.leaf_count for variable in self.variables)

    @cached_property
    def scalarsets(self) -> tuple[Scalarset, ...]:
        """The scalarsets with symmetry, in order of declaration."""
        found: dict[int, Scalarset] = {}
        for variable in self.variables:
            for part in variable.type.parts():
                members = getattr(part, "members", ()) if not isinstance(part, Scalarset) else (part,)
                for member in members:
                    if isinstance(member, Scalarset) and member.is_symmetric:
                        found[member.uid] = member
        return tuple(found[uid] for uid in sorted(found))

    @cached_property
    def allows_symmetry(self) -> bool:
        """Whether states may be reduced to orbit representatives. A liveness property about a single scalarset value
        relates two states, whose representatives may be renamed in different ways. All other properties concern single
        states. A rule that depends on an order of scalarset values treats the states of an orbit differently."""
        return not self.orders_scalarsets and not any(
            _has_symmetry(parameter) for each in self.of_kind(PropertyKind.LIVENESS) for parameter in each.parameters
        )

    def of_kind(self, kind: PropertyKind) -> tuple[Property, ...]:
        return tuple(each for each in self.properties if each.kind is kind)

    @property
    def says_where_runs_end(self) -> bool:
        """Whether the language tells ends from deadlocks. A deadlock is then a state in which nothing is enabled."""
        return bool(self.of_kind(PropertyKind.END))

    @cached_property
    def has_priorities(self) -> bool:
        return len({rule.priority for rule in self.rules}) > 1
