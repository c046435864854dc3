"""The rule instances of a System, with what each reads, writes and demands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from outcrop.ir.layout import encode
from outcrop.ir.system import Rule, System
from outcrop.ir.types import Simple
from outcrop.reduction.effects import Tracer
from outcrop.reduction.guards import Conjunct, Demands, both, conjuncts_of, refined, unless_false
from outcrop.reduction.leaves import Effects, Known, Values
from outcrop.reduction.queues import ends_of


@dataclass(frozen=True)
class Option:
    """Necessary enabling sets of a disabled instance: those of ``sets[v]`` where the leaf ``leaf`` has the packed value
    v, or of ``sets[0]``, if ``leaf`` is None. If ``conjunct`` is not None, only where that conjunct is false."""

    conjunct: int | None
    sets: tuple[tuple[int, ...], ...]
    leaf: int | None = None


@dataclass
class Instance:
    """An instance of a rule. ``effects`` are those of guard and body together, or of a guard that is never true."""

    number: int
    rule: int
    arguments: tuple[int, ...]
    effects: Effects
    guard_reads: int
    assumed: int  #: leaves of which it was assumed that they have their values in a box
    ends: dict[int, bool]  #: leaves of queues of which it uses one end: whether it appends
    demands: Demands  #: of a true guard
    unless_false: Demands  #: of a guard that is true or fails
    conjuncts: list[Conjunct]
    options: list[Option] = field(default_factory=list)
    otherwise: int = 0  #: a necessary enabling set that is right whatever is false

    @property
    def bit(self) -> int:
        return 1 << self.number


def instances_of(system: System) -> Iterator[tuple[int, Rule, tuple[int, ...]]]:
    """Yields the number of the rule, the rule and the arguments of each instance, in order."""
    for number, rule in enumerate(system.rules):
        for arguments in rule.instances():
            yield number, rule, arguments


def traced_instance(
    system: System,
    number: int,
    rule: Rule,
    arguments: tuple[int, ...],
    at: int,
    known: Known,
    values: Sequence[Values],
) -> Instance:
    """Returns an instance with its guard traced, where leaves have some values, and some are known."""
    conjuncts = conjuncts_of(system, rule, arguments, known, values)
    guard_reads = assumed = 0
    demands: Demands = {}
    for each in conjuncts:
        guard_reads |= each.reads
        assumed |= _assumed(each.known, demands, each.reads)
        demands = both(demands, each.demands)
    effects = Effects(guard_reads)
    failing = unless_false(conjuncts)
    return Instance(at, number, arguments, effects, guard_reads, assumed, {}, demands, failing, conjuncts)


def trace_body(
    system: System, rule: Rule, each: Instance, known: Known, values: Sequence[Values], written: int = 0
) -> None:
    """Adds the effects of the body to an instance that may fire. ``written``: leaves that it wrote when it was traced
    with more known values, which it therefore writes now."""
    inside = refined(known, each.demands, system.leaf_types, values)
    each.effects = _body_effects(system, rule, each.arguments, inside, written)
    each.assumed |= _assumed(inside, each.demands, each.effects.reads)
    each.effects.reads |= each.guard_reads
    each.ends = ends_of(system, rule, each, inside)


def _assumed(known: Known, demands: Demands, reads: int) -> int:
    """Returns the leaves whose values a reader takes for known because of the box. A single value that was demanded
    before is no assumption, and neither is one behind demands that nothing satisfies."""
    return reads & sum(1 << leaf for leaf in known if leaf not in demands or demands[leaf].bit_count() > 1)


def _body_effects(system: System, rule: Rule, arguments: tuple[int, ...], known: Known, expected: int) -> Effects:
    """Returns the effects of a body. Leaves that it writes itself have no known value in it, so that it is traced again
    if it writes one that was not ``expected``."""
    known = {leaf: value for leaf, value in known.items() if not expected >> leaf & 1}
    while True:
        effects = Tracer(system, rule, arguments, known).body(rule.body)
        written = [leaf for leaf in known if effects.writes >> leaf & 1]
        if not written:
            return effects
        known = {leaf: value for leaf, value in known.items() if leaf not in written}


def packed(kind: Simple, value: int | None) -> int:
    """Returns the packed form of a value; that of undefined for one outside the type, which is never stored."""
    return encode(kind, value) if value is not None and kind.low <= value <= kind.high else 0
