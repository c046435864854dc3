"""The System: what a front-end makes of a model.

A state is a row of leaves (types.py), those of the variables in declaration order. Successors of a state: for
each rule in order, for each combination of its parameter values (the last parameter varies fastest), if the
guard holds, what the body makes of a copy of the state, then normalised: the slots of every multiset sorted,
those in use first, and under symmetry reduced to the representative of its orbit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import product

from outcrop.ir.automaton import Automaton, Product
from outcrop.ir.formula import Formula
from outcrop.ir.nodes import Expression, Frame, Local, Statement, Variable
from outcrop.ir.types import INTEGER, Range, Scalarset, Simple, Type
from outcrop.source import Source, Span


@dataclass(frozen=True, eq=False)
class Parameter:
    """A parameter of a rule, startstate or property: a local of its frame and the constant values it takes."""

    local: Local
    values: range

    @property
    def type(self) -> Simple:
        assert isinstance(self.local.type, Simple)
        return self.local.type


@dataclass(frozen=True, eq=False)
class Instantiable:
    """What stands inside rulesets: one copy for each combination of parameter values."""

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
        """The parameter values of each instance, the last parameter varying fastest."""
        return product(*(parameter.values for parameter in self.parameters))

    def label(self, arguments: tuple[int, ...]) -> str:
        """``name, p: value, q: value`` as traces print it."""
        shown = [
            f"{parameter.local.name}: {parameter.type.show(value)}"
            for parameter, value in zip(self.parameters, arguments, strict=True)
        ]
        return ", ".join([self.name, *shown])


@dataclass(frozen=True, eq=False)
class Rule(Instantiable):
    """``guard`` None is always enabled. Among the enabled rules of a state only those with the smallest
    ``priority`` fire. Guards never change the state: should one call a function that does, it works on a copy."""

    guard: Expression | None
    body: tuple[Statement, ...]
    priority: int = 0
    processes: tuple[str, ...] = ()  #: whose step it is, in languages that have processes


@dataclass(frozen=True, eq=False)
class StartState(Instantiable):
    """Runs on a state that is undefined everywhere (multisets empty)."""

    body: tuple[Statement, ...]


class PropertyKind(StrEnum):
    INVARIANT = "invariant"  #: true in every reachable state
    ASSUMPTION = "assume"  #: states in which it is false are dropped
    COVER = "cover"  #: true in some reachable state; all instances of one property share one counter
    LIVENESS = "liveness"  #: from every reachable state a state where it is true can be reached (AG EF)
    WITNESS = "witness"  #: is it true in some reachable state? Noted, and nothing else; a failure in it is no matter


@dataclass(frozen=True, eq=False)
class Property(Instantiable):
    """Notes say what has happened at least once: the offset in the source of a NOTE read that met an undefined value,
    or, for a WITNESS, the negative number that it has as its ``note``."""

    kind: PropertyKind
    condition: Expression
    cover: int | None = None  #: for COVER, the counter: an index into System.covers
    note: int | None = None


@dataclass(frozen=True, eq=False)
class TemporalProperty(Instantiable):
    """A formula of linear temporal logic that every run must satisfy; ``meaning`` has an expression over states for
    each of its propositions."""

    formula: Formula
    meaning: dict[Formula, Expression]
    has_scalarset_values: bool = False  #: propositions speak of them one by one

    @property
    def names_scalarset_values(self) -> bool:
        """Does an instance speak of one value of a scalarset, which symmetry would confuse with the others?"""
        return self.has_scalarset_values or any(map(_has_symmetry, self.parameters))


def has_symmetry(kind: Type) -> bool:
    """Can values be renamed?"""
    members = getattr(kind, "members", ()) if not isinstance(kind, Scalarset) else (kind,)
    return any(isinstance(each, Scalarset) and each.is_symmetric for each in members)


def _has_symmetry(parameter: Parameter) -> bool:
    return has_symmetry(parameter.type)


@dataclass(frozen=True, eq=False)
class CoverGoal:
    """A cover property or statement; one that is never met is a violation."""

    name: str
    span: Span


@dataclass(frozen=True, eq=False)
class Formal:
    """``by_reference``: a ``var`` formal; its local is a reference. Otherwise a read-only copy."""

    local: Local
    by_reference: bool


@dataclass(eq=False)
class Function:
    """A function, or with ``result`` None a procedure. ``frame`` and ``body`` are filled in after creation,
    because a body may call its own function. Falling off the end of a function is a runtime error."""

    name: str
    formals: tuple[Formal, ...]
    result: Type | None
    span: Span
    frame: Frame = field(default_factory=Frame)
    body: tuple[Statement, ...] = ()
    is_recursive: bool = False
    writes_state: bool = False  #: it, or something it calls, may assign a state variable (also through ``var``)


@dataclass(frozen=True, eq=False)
class System:
    """A model, ready to be interpreted, printed, or compiled."""

    name: str
    source: Source
    constants: dict[str, int | float | str]  #: the values of the model's top-level constants, -D applied
    variables: tuple[Variable, ...]
    functions: tuple[Function, ...]  #: in declaration order: each calls only itself and earlier ones
    start_states: tuple[StartState, ...]
    rules: tuple[Rule, ...]
    properties: tuple[Property, ...]
    covers: tuple[CoverGoal, ...]
    integers: Range = INTEGER  #: leaving it in arithmetic is a runtime error
    temporal: tuple[TemporalProperty, ...] = ()
    automaton: Automaton | None = None  #: of the runs that violate a property of infinite runs
    product: Product | None = None  #: set where the automaton runs beside the rules (see product.py)
    #: Where a rule leads whose guard or body fails, in languages that go on from there. None: nowhere.
    error_state: StartState | None = None
    undefined_hint: str = ""  #: why reading an undefined value is permitted, and the remedy, in the language's words
    forgives_failures: bool = False  #: to be led there is nothing to report

    @cached_property
    def leaf_types(self) -> tuple[Simple, ...]:
        """The type of each leaf of a state."""
        return tuple(leaf for variable in self.variables for leaf in variable.type.leaves())

    @cached_property
    def leaf_count(self) -> int:
        return sum(variable.type.leaf_count for variable in self.variables)

    @cached_property
    def scalarsets(self) -> tuple[Scalarset, ...]:
        """The scalarsets that carry symmetry, in order of declaration."""
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
        """May states be reduced to orbit representatives? A liveness property about one scalarset value says
        something about the way between two states of which representatives, each renamed in its own way, know
        nothing; all other properties speak of single states."""
        return not any(
            _has_symmetry(parameter) for each in self.of_kind(PropertyKind.LIVENESS) for parameter in each.parameters
        )

    def of_kind(self, kind: PropertyKind) -> tuple[Property, ...]:
        return tuple(each for each in self.properties if each.kind is kind)

    @cached_property
    def has_priorities(self) -> bool:
        return len({rule.priority for rule in self.rules}) > 1
