"""Comparison of all searches for runs that violate a formula, on one model: the interpreter's components, nested
depth-first search, and OWCTY with states and with signatures; with and without fairness and symmetry.

Two more oracles do not share the product with them: random runs, on which the formula is evaluated as a word, and
separate definitions of weak and strong fairness.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "ltl"))

from compare import compared
from explored import Explored, has_fair_accepting_cycle, has_strongly_fair_cycle, steps_of
from generator.dve import FORMULA
from runs import random_lasso, word

from outcrop.check.temporal import Checked, TemporalCheck, plan, run_check
from outcrop.ir.faults import Fault
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.nodes import Assume
from outcrop.ir.product import product
from outcrop.ir.system import PropertyKind, System
from outcrop.ir.walk import walk
from outcrop.lang import load_text
from outcrop.lang.murphi.language import MurphiOptions, UndefinedReads
from outcrop.lang.while_limit import LoopOptions
from outcrop.ltl.file import formula_texts
from outcrop.ltl.words import holds
from outcrop.options import CheckOptions, Deadlock, Engine, Fair, LoadOptions
from outcrop.outcome import FindingKind, Outcome, Stop
from outcrop.source import Source, whole

#: Largest product, in states, because the interpreter is slow.
_MOST_STATES = 1_500
_MOST_INSTANCES = 3
_SEARCHES: dict[str, dict[str, Any]] = {
    "ndfs": {"strategy": "ndfs"},
    "owcty, 1 thread": {"strategy": "owcty", "threads": 1},
    "owcty, 4 threads": {"strategy": "owcty", "threads": 4},
    "owcty --compact": {"strategy": "owcty", "compact": True, "bits": 64, "threads": 2},
}
_FAIR_SEARCHES: dict[str, dict[str, Any]] = {"fair, 1 thread": {"threads": 1}, "fair, 4 threads": {"threads": 4}}
#: Largest number of sets for which the definition of strong fairness is fast enough.
_MOST_SETS = 8


def formula_disagreement(text: str, name: str, seed: int) -> str:
    """Returns what the searches disagree about; "" if they agree. The same seed tries the same options."""
    random = Random(seed)
    outside = [line.removeprefix(FORMULA) for line in text.splitlines() if line.startswith(FORMULA)]
    formulas = formula_texts(None, [whole(Source("--ltl", each)) for each in outside])
    load = LoadOptions(own=(MurphiOptions(random.choice(list(UndefinedReads))), LoopOptions(100)), formulas=formulas)
    system, _ = load_text(text, name, load)
    ways = [(Fair.NONE, False), (Fair.WEAK, False), (Fair.STRONG, False)]
    if system.scalarsets and system.allows_symmetry:
        ways.append((Fair.NONE, True))
    for fair, symmetry in ways:
        options = CheckOptions(symmetry=symmetry, fair=fair, deadlock=Deadlock.OFF, states=_MOST_STATES)
        for check in plan(system, options)[:_MOST_INSTANCES]:
            for found in _differences(system, check, load, options, random):
                return f"{found} with {load.own}, {fair} fairness, symmetry {symmetry}: {check.name}"
    return ""


def _differences(
    system: System, check: TemporalCheck, load: LoadOptions, options: CheckOptions, random: Random
) -> Iterator[str]:
    interpreted = dataclasses.replace(options, engine=Engine.INTERPRETER)
    oracle = run_check(check, load, interpreted, None, None)
    expected = _outcome(oracle)
    if expected.stop not in (Stop.COMPLETE, Stop.VIOLATION):
        return
    if not any(each.kind is not FindingKind.LASSO for each in expected.findings):
        yield from _witnesses(system, check, expected, options, random)
    searches = {} if options.fair is Fair.STRONG else _SEARCHES
    if options.fair is not Fair.NONE:
        searches = searches | _FAIR_SEARCHES
    for name, more in searches.items():
        compared[name] += 1
        got = _outcome(run_check(check, load, dataclasses.replace(options, states=None, **more), None, None))
        if not _same(got, expected, counts_alike=options.fair is not Fair.WEAK or name not in _FAIR_SEARCHES):
            yield f"{name}: {got} is not the interpreter's {expected}"


def _outcome(checked: Checked) -> Outcome:
    assert checked.searched is not None
    return checked.searched.outcome


def _same(got: Outcome, expected: Outcome, counts_alike: bool) -> bool:
    """Returns whether verdicts agree, and for a product without cycles its states, if both count fairness or neither
    does. If a run ends in an error before the components are examined, another search may find a cycle first."""
    if expected.stop is Stop.COMPLETE:
        return got.stop is Stop.COMPLETE and (sum(got.levels) == sum(expected.levels) or not counts_alike)
    lassos = [each.kind is FindingKind.LASSO for each in got.findings]
    only_lassos = all(each.kind is FindingKind.LASSO for each in expected.findings)
    return got.stop is Stop.VIOLATION and any(lassos) >= only_lassos


def _witnesses(
    system: System, check: TemporalCheck, expected: Outcome, options: CheckOptions, random: Random
) -> Iterator[str]:
    subject = check.property_instance.property
    if options.fair is Fair.NONE and subject is not None and expected.stop is Stop.COMPLETE:
        for run in filter(None, (random_lasso(system, random) for _ in range(5))):
            compared["random runs"] += 1
            try:
                truths = word(check.product, run, subject, check.property_instance.arguments)
            except Fault:  # of a proposition, in a state where no search evaluates it
                continue
            if not holds(subject.formula, truths):
                yield f"run: {run} violates what holds"
    both = check.product.product
    if options.fair is Fair.WEAK and both is not None and _is_plain(system):
        plain = Explored(product(system, both.automaton))
        compared["fairness by its definition"] += 1
        if has_fair_accepting_cycle(system, plain) != (expected.stop is Stop.VIOLATION):
            yield f"fairness: {expected} is not what the definition says"
    if options.fair is Fair.STRONG and both is not None and both.fairness is not None and _is_plain(system):
        plain = Explored(product(system, both.automaton))
        if len(both.fairness.sets) <= _MOST_SETS:
            compared["strong fairness by its definition"] += 1
            if has_strongly_fair_cycle(plain.graph, steps_of(system, plain)) != (expected.stop is Stop.VIOLATION):
                yield f"strong fairness: {expected} is not what the definition says"


def _is_plain(system: System) -> bool:
    """Returns whether there is one start state, and no assumption ends a run."""
    if any(each.kind is PropertyKind.ASSUMPTION for each in system.properties):
        return False
    bodies = [each.body for each in (*system.rules, *system.functions)]
    if any(isinstance(node, Assume) for body in bodies for node in walk(body)):
        return False
    return len(list(Interpreter(system, symmetry=False).start_states())) == 1
