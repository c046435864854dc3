"""Comparison of searches with and without partial-order reduction, on one model.

The interpreter searches the model in full and reduced: all deadlocks are the same states, and the same properties fail,
cover goals are met and rules fire. The compiled code visits as many states as the interpreter, reduced in the same way.
On the states of the reduced search the conditions on a stubborn set are verified by what the instances do."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from random import Random
from typing import Any

from compare import compared
from generator.dve import FORMULA
from stubborn_conditions import Conditions
from traced_effects import broken_claim

from outcrop.check.engines import search
from outcrop.check.reducing import refuse_what_changes
from outcrop.check.temporal import Checked, TemporalCheck, plan, run_check
from outcrop.errors import UsageError
from outcrop.ir.faults import Fault
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import Layout
from outcrop.ir.system import PropertyKind, System
from outcrop.ir.vacuity import vacuity
from outcrop.lang import load_text
from outcrop.lang.murphi.language import MurphiOptions, UndefinedReads
from outcrop.lang.while_limit import LoopOptions
from outcrop.ltl.file import formula_texts
from outcrop.options import CheckOptions, Deadlock, Engine, LoadOptions, Reduce
from outcrop.oracle.search import ReferenceSearch
from outcrop.outcome import FindingKind, Outcome, Stop
from outcrop.reduction import sample
from outcrop.reduction.prepare import Unreduced, reduction_of
from outcrop.reduction.stubborn import Reduction
from outcrop.source import Source, whole

_MOST_STATES = 2_500
#: States whose sets are verified.
_VERIFIED = 40
#: States in which the relations between instances are verified.
_RELATED = 20
#: Unreachable states in which it is verified what each instance does.
_CLAIMED = 5
#: States of a model at the most, if the rank is verified on all of them.
_RANKED = 1_000

#: States of all models in full and reduced, for statistics.
visited: Counter[str] = Counter()


def load_options(text: str, random: Random) -> LoadOptions:
    """Returns options of loading, with the formulas that comments name."""
    outside = [line.removeprefix(FORMULA) for line in text.splitlines() if line.startswith(FORMULA)]
    formulas = formula_texts(None, [whole(Source("--ltl", each)) for each in outside])
    return LoadOptions(own=(MurphiOptions(random.choice(list(UndefinedReads))), LoopOptions(100)), formulas=formulas)


@contextmanager
def whatever_it_gains() -> Iterator[None]:
    """Lets checks reduce what a sample would have them search in full."""
    most_time, sample.MOST_TIME = sample.MOST_TIME, 1e9
    try:
        yield
    finally:
        sample.MOST_TIME = most_time


@whatever_it_gains()
def reduction_used(system: System, symmetry: bool) -> Reduction | Unreduced:
    """Returns the reduction of a check, whatever it gains."""
    return reduction_of(system, symmetry)


def reduced_disagreement(text: str, name: str, seed: int, native: bool = True) -> str:
    """Returns what searches with and without reduction disagree about; "" if they agree."""
    random = Random(seed)
    load = load_options(text, random)
    system, _ = load_text(text, name, load)
    if system.of_kind(PropertyKind.LIVENESS):
        return ""
    system = vacuity(dataclasses.replace(system, automaton=None), system.temporal).system
    for symmetry in sorted({False, bool(system.scalarsets) and system.allows_symmetry}):
        found = reduction_used(system, symmetry)
        if isinstance(found, Unreduced):
            compared[f"not reduced: {found.reason[:30]}"] += 1
            return ""
        deadlock = random.choice(list(Deadlock))
        options = CheckOptions(symmetry=symmetry, max_errors=None, deadlock=deadlock, states=_MOST_STATES)
        difference = _difference(system, found, load, options, random, native)
        if difference:
            return f"{difference} with {load.own}, symmetry {symmetry}, deadlock {deadlock}"
    return ""


def _difference(
    system: System, reduction: Reduction, load: LoadOptions, options: CheckOptions, random: Random, native: bool
) -> str:
    full = ReferenceSearch(system, options, lambda progress: None, None, None)
    every = full.run()
    if every.stop is Stop.STATES:
        return ""
    reduced = ReferenceSearch(system, options, lambda progress: None, None, reduction)
    part = reduced.run()
    compared["reduced"] += 1
    visited["full"] += every.visited
    visited["reduced"] += part.visited
    expected, got = _verdicts(system, full, every), _verdicts(system, reduced, part)
    if expected != got:
        return f"reduced {got} is not the full {expected}"
    conditions = Conditions(Interpreter(system, False), reduction)
    broken = _broken_condition(conditions, full, reduced, random)
    broken = broken or broken_claim(system, list(full.parents), conditions, Random(every.visited), _CLAIMED)
    if broken or not native:
        return broken
    return _native_difference(system, load, options, part, random)


def _broken_condition(conditions: Conditions, full: ReferenceSearch, reduced: ReferenceSearch, random: Random) -> str:
    """Returns a condition that does not hold on the sets of visited states, or between instances in any state."""
    visited_states, states = list(reduced.parents), list(full.parents)
    checks = chain(
        map(conditions.broken_set, random.sample(visited_states, min(_VERIFIED, len(visited_states)))),
        map(conditions.broken_relation, random.sample(states, min(_RELATED, len(states)))),
        [conditions.broken_rank(states)] if len(states) <= _RANKED else [],
    )
    return next(filter(None, checks), "")


def _verdicts(system: System, search: ReferenceSearch, outcome: Outcome) -> dict[str, Any]:
    """Returns what reduction preserves."""
    interpreter, layout = Interpreter(system, False), Layout(system)
    kinds = {kind for kind, _, _ in search.found}
    failing = set()
    for state in search.parents:
        for kind in (PropertyKind.INVARIANT, PropertyKind.COVER):
            for each, arguments, truth in interpreter._evaluate(kind, state):
                if isinstance(truth, Fault) or truth == (kind is PropertyKind.COVER):
                    failing.add((each.name, arguments if not system.scalarsets else ()))
    return {
        "kinds": sorted(map(str, kinds)),
        "deadlocks": sorted(
            layout.pack(state) for kind, state, _ in search.found if kind is FindingKind.DEADLOCK and state
        ),
        "failing": sorted(failing),
        "covered": [count > 0 for count in outcome.covered[: len(system.covers)]],
        "fired": [count > 0 for count in outcome.fired],
        # An invariant that fails keeps those behind it from being evaluated.
        "witnessed": [note for note in outcome.noted if note < 0 and not search.found],
    }


@whatever_it_gains()
def _native_difference(
    system: System, load: LoadOptions, options: CheckOptions, expected: Outcome, random: Random
) -> str:
    way = random.choice(
        [
            {"strategy": "ram", "threads": 1},
            {"strategy": "ram", "threads": 3},
            {"strategy": "compact", "bits": 64, "threads": 2},
            {"strategy": "disk", "threads": 2, "state_memory": 1 << 20},
            {"strategy": "auto", "threads": 2},
        ]
    )
    chosen = dataclasses.replace(options, reduce=Reduce.POR, engine=Engine.NATIVE, states=None, **way)
    got = search(system, load, chosen).outcome
    assert got.reduction is not None and not got.reduction.reason
    compared[f"reduced, {way['strategy']}"] += 1

    def counts(outcome: Outcome) -> tuple[object, ...]:
        kinds = sorted({str(each.kind) for each in outcome.findings})
        if options.symmetry:  # other representatives, and so other sets
            return kinds, sum(each.kind is FindingKind.DEADLOCK for each in outcome.findings)
        return kinds, outcome.levels, outcome.fired, len(outcome.findings)

    return "" if counts(got) == counts(expected) else f"{way}: {counts(got)} is not {counts(expected)}"


# --- Formulas ----------------------------------------------------------------------------------------------


def reduced_formula_disagreement(text: str, name: str, seed: int, native: bool = True) -> str:
    """Returns a formula that is decided otherwise with reduction; "" if there is none."""
    random = Random(seed)
    load = load_options(text, random)
    system, _ = load_text(text, name, load)
    return formulas_disagreement(system, load, random, native)


def formulas_disagreement(system: System, load: LoadOptions, random: Random, native: bool) -> str:
    """Returns a formula or claim of a System that is decided otherwise with reduction; "" if there is none."""
    for symmetry in sorted({False, bool(system.scalarsets) and system.allows_symmetry}):
        options = CheckOptions(symmetry=symmetry, deadlock=Deadlock.OFF, states=_MOST_STATES)
        for check in plan(system, options)[:3]:
            try:
                refuse_what_changes(system, [check], dataclasses.replace(options, reduce=Reduce.POR))
            except UsageError:
                continue
            difference = _formula_difference(check, load, options, random, native)
            if difference:
                return f"{difference} with {load.own}, symmetry {symmetry}: {check.name}"
    return ""


@whatever_it_gains()
def _formula_difference(
    check: TemporalCheck, load: LoadOptions, options: CheckOptions, random: Random, native: bool
) -> str:
    interpreted = dataclasses.replace(options, engine=Engine.INTERPRETER)
    full = run_check(check, load, interpreted, None, None)
    expected = _kinds(full)
    if expected is None:
        return ""
    ways: list[tuple[str, dict[str, Any]]] = [("scc", {"engine": Engine.INTERPRETER})]
    if native:
        ways.append(("ndfs", {"strategy": "ndfs"}))
        ways.append(("owcty", {"strategy": "owcty", "threads": random.choice((1, 3))}))
    counts = set()
    for way, more in ways:
        chosen = dataclasses.replace(options, reduce=Reduce.POR, states=None, **more)
        reduced = run_check(check, load, chosen, None, None)
        assert reduced.searched is not None and full.searched is not None
        report = reduced.searched.outcome.reduction
        assert report is not None
        if report.reason:
            return ""
        compared[f"reduced formulas, {way}"] += 1
        # Searches stop at the first violation, and a failing step may come before a run or after it.
        if bool(_kinds(reduced)) != bool(expected):
            return f"{way} reduced {_kinds(reduced)} is not the full {expected}"
        if not expected:
            visited["full products"] += full.searched.outcome.visited if way == "scc" else 0
            visited["reduced products"] += reduced.searched.outcome.visited if way == "scc" else 0
            counts.add(reduced.searched.outcome.visited)
    return f"searches visit {sorted(counts)} states" if len(counts) > 1 and not options.symmetry else ""


def _kinds(checked: Checked) -> list[str] | None:
    """Returns the kinds of violations; None if the search did not end."""
    assert checked.searched is not None
    if not checked.searched.outcome.stop.is_conclusive:
        return None
    return sorted({str(each.kind) for each in (*checked.violations, *checked.failures)})
