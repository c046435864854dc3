"""Comparison of emitted code that reduces with the interpreter, on one model.

In each state of the reduced search both must fire the same instances, as often, with the same successors, and count the
same. So must they in states next to these that may be unreachable: the choice is a function of the state alone.
For formulas the product with each automaton is compared in the same way."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from compare import compared
from compare_reduced import load_options, reduction_used
from emitted_reduced import SANITIZED, ReducedProgram, Reference, difference

from outcrop.check.reducing import refuse_what_changes
from outcrop.check.temporal import plan
from outcrop.errors import UsageError
from outcrop.ir.system import PropertyKind, System
from outcrop.ir.vacuity import vacuity
from outcrop.lang import load_text
from outcrop.options import CheckOptions, Deadlock, Reduce
from outcrop.reduction.prepare import Unreduced

#: States of the reduced search that are compared, and states that may be unreachable.
_MOST_STATES, _CHANGED = 300, 60


def emitted_disagreement(
    text: str, name: str, seed: int, has_formulas: bool, tiny: bool = False, sanitize: bool = False
) -> str:
    """Returns what emitted code and interpreter disagree about; "" if they agree. ``tiny``: compile with tcc where it
    can. ``sanitize``: compile with sanitizers."""
    random = Random(seed)
    system, _ = load_text(text, name, load_options(text, random))
    flags = SANITIZED if sanitize else ()
    for symmetry in sorted({False, bool(system.scalarsets) and system.allows_symmetry}):
        for each in _systems(system, symmetry, has_formulas):
            found = reduction_used(each, symmetry)
            if isinstance(found, Unreduced):
                compared[f"not reduced: {found.reason[:30]}"] += 1
                continue
            with TemporaryDirectory() as name_of:
                directory, reference = Path(name_of), Reference(each, found, symmetry)
                expected = reference.sample(_MOST_STATES, _CHANGED, random)
                program = ReducedProgram(each, found, symmetry, directory, *flags, tiny=tiny and not sanitize)
                problem = difference(program, reference, expected)
                if problem and program.is_tiny:  # tcc has bugs of its own
                    again = difference(ReducedProgram(each, found, symmetry, directory), reference, expected)
                    problem = again or f"with tcc alone: {problem}"
            if problem:
                return f"{problem}; symmetry {symmetry}, product {each.product is not None}"
            compared["emitted products" if each.product else "emitted"] += 1
            compared["emitted, narrower box"] += len(found.phases) > 1
            compared["emitted, several words"] += len(found.instances) > 64
            compared["states compared"] += program.states
    return ""


def _systems(system: System, symmetry: bool, has_formulas: bool) -> Iterator[System]:
    """Yields the systems that a check with reduction would search."""
    if not has_formulas:
        if not system.of_kind(PropertyKind.LIVENESS):
            yield vacuity(dataclasses.replace(system, automaton=None), system.temporal).system
        return
    options = CheckOptions(symmetry=symmetry, deadlock=Deadlock.OFF, reduce=Reduce.POR)
    for check in plan(dataclasses.replace(system, automaton=None), options)[:3]:
        try:
            refuse_what_changes(system, [check], options)
        except UsageError:
            continue
        yield check.product
