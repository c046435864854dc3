"""The reduction of a System, or the reason why there is none."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from outcrop.garbage import uncollected
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.nodes import Cover, Expression, Put
from outcrop.ir.system import Instantiable, PropertyKind, System
from outcrop.outcome import Outcome, ReductionReport
from outcrop.reduction.boxes import narrower_box, widest_box
from outcrop.reduction.effects import Tracer
from outcrop.reduction.leaves import bits
from outcrop.reduction.ranking import ascending
from outcrop.reduction.reachable import reachable_nodes
from outcrop.reduction.sample import sampled
from outcrop.reduction.stubborn import Phase, Reduction
from outcrop.reduction.tables import Relations, groups_of

#: Rule instances of a model that is reduced; the relations take a bit for each pair of them.
MOST_INSTANCES = 2_000
#: Work for the ranks of the widest box if there is a narrower one, which has nearly all states: a share of the most.
_EFFORT_FOR_FEW = 0.02
#: Variables that are named when a model does not reduce.
_MOST_BLAMED = 3


@dataclass(frozen=True)
class Unreduced:
    """The reason why a model is searched in full, and the variables that are to blame."""

    reason: str
    instances: int
    blamed: tuple[str, ...] = ()


@uncollected()
def reduction_of(system: System, symmetry: bool, samples: bool = True) -> Reduction | Unreduced:
    """Returns the reduction that preserves the properties of a System: those of states or, in a product, the runs of
    the automaton. That must not count steps. With ``samples``, a model that would gain nothing is not reduced."""
    if (unreduced := _unreduced(system)) is not None:
        return unreduced
    interpreter = Interpreter(system, symmetry and system.allows_symmetry)
    found = _reduction(system, interpreter)
    if not samples:
        return found
    found, gain = sampled(interpreter, found)
    if gain.pays:
        return found
    reason = f"in a sample, reduction keeps {gain.share:.0%} of the states, at {gain.time:.1f} times the time each"
    return Unreduced(reason, len(found.instances), found.blamed)


def reported(outcome: Outcome, reduction: Reduction | Unreduced, covers: int) -> Outcome:
    """Returns the outcome with a report, for which the counters are taken from behind those of the cover goals."""
    if isinstance(reduction, Unreduced):
        report = ReductionReport(reduction.reason, reduction.instances, blamed=reduction.blamed)
        return replace(outcome, reduction=report)
    states, reduced, enabled, fired = outcome.covered[covers:]
    report = ReductionReport("", len(reduction.instances), states, reduced, enabled, fired, reduction.blamed)
    return replace(outcome, covered=outcome.covered[:covers], reduction=report)


def _unreduced(system: System) -> Unreduced | None:
    """Returns the reason why a System cannot be reduced, if there is one."""
    count = sum(rule.instance_count for rule in system.rules)
    if count > MOST_INSTANCES:
        return Unreduced(f"it has {count:,} rule instances, and at most {MOST_INSTANCES:,} are compared", count)
    if system.of_kind(PropertyKind.ASSUMPTION):
        return Unreduced("an assumption drops states, so that no two steps are independent", count)
    if system.forgives_failures:
        return Unreduced("runs continue after a failure, which changes the whole state", count)
    if any(rule.guard is not None and _is_observable(rule.guard) for rule in system.rules):
        return Unreduced("a guard prints or counts when it is evaluated", count)
    return None


def _reduction(system: System, interpreter: Interpreter) -> Reduction:
    groups = [] if system.product is not None else groups_of(system)
    widest = widest_box(system)
    narrower = narrower_box(system, widest, interpreter)
    boxes = [widest] if narrower is None else [narrower, widest]
    relations = [Relations(system, each, widest, groups) for each in boxes]
    efforts = [1.0] if narrower is None else [1.0, _EFFORT_FOR_FEW]
    phases = tuple(
        _phase(each, each.box is not widest, effort) for each, effort in zip(relations, efforts, strict=True)
    )
    return Reduction(phases, _blamed(relations[-1], phases[-1].dependents))


def _phase(relations: Relations, is_tested: bool, effort: float) -> Phase:
    system, box = relations.system, relations.box
    is_strict = system.product is not None
    visible = relations.writers_of(_seen(system)) if is_strict else 0
    relations.add_enabling()
    dependents = tuple(map(relations.dependents, relations.instances))
    starts = ascending(relations, dependents, effort) & ~visible
    # A run must not go round without what the automaton sees, so all that fires alone must ascend.
    hopeless = (1 << len(relations.instances)) - 1 & ~starts if is_strict else 0
    tests = box.tests(system) if is_tested else {}
    return Phase(tuple(tests.items()), tuple(relations.instances), dependents, starts, relations.later, hopeless)


def _seen(system: System) -> int:
    """Returns the leaves that the automaton of a product looks at."""
    assert system.product is not None
    automaton = system.product.automaton
    owner = Instantiable(automaton.name, automaton.parameters, automaton.frame, automaton.span)
    leaves = 0
    for edge in automaton.edges:
        if edge.guard is not None:
            leaves |= Tracer(system, owner, automaton.arguments).condition(edge.guard).reads
    return leaves


def _is_observable(node: Expression) -> bool:
    """Returns whether one more evaluation of a condition has a visible effect."""
    return any(isinstance(each, Cover | Put) for each in reachable_nodes(node))


def _blamed(relations: Relations, dependents: tuple[int, ...]) -> tuple[str, ...]:
    """Returns the variables through which most instances depend on each other. Those that are never active together,
    such as the steps of one process at different places, do not count."""
    system, shares = relations.system, Counter[str]()
    for variable in system.variables:
        for leaf in range(variable.offset, variable.offset + variable.type.leaf_count):
            writers = relations.writers[leaf]
            users = writers | relations.readers[leaf]
            pairs = ((dependents[each] | 1 << each) & users for each in bits(writers))
            shares[variable.name] += sum(each.bit_count() for each in pairs)
    return tuple(name for name, share in shares.most_common(_MOST_BLAMED) if share)
