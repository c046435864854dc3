"""Formulas under partial-order reduction, where a reduction of the product would miss a run (Siegel 2019).

A visible step competes with an invisible loop, and the automaton goes to and fro. A set that depends on the state of
the automaton, with a proviso about cycles of the product, can leave the visible step out wherever the automaton would
accept it: the loop leads to another state of the product, and the next one fires everything too late."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reduced_models import both, model_of

from outcrop.check.engines import search
from outcrop.errors import UsageError
from outcrop.ir.automaton import Automaton, Edge
from outcrop.ir.nodes import Unary, UnaryOperator
from outcrop.ir.product import product
from outcrop.ir.system import System
from outcrop.ir.types import BOOLEAN
from outcrop.ltl.binding import bind
from outcrop.ltl.translate import translate
from outcrop.options import CheckOptions, Deadlock, Engine, LoadOptions, Reduce
from outcrop.outcome import FindingKind

_LOOP = """
bit p, x, y; byte n;
active proctype Seen() { p = 1 }
active proctype Loop() { do :: x = 0 od }
active proctype Circle() { do :: y = 1; y = 0 od }
active proctype Steps() { n = 1; n = 2; n = 3 }
"""

#: Formulas, and whether all runs satisfy them.
_FORMULAS = {
    "<> (p == 1)": False,
    "[] (p == 0)": False,
    "[] ((p == 1) -> <> (p == 0))": False,
    "((p == 0) U (p == 1)) -> <> [] (p == 0)": False,
    "[] <> (p == 0)": False,
    "<> [] (p == 0) || <> [] (p == 1)": True,
    "([] <> (p == 0)) -> [] (p == 0)": True,
    "(<> (p == 1)) -> <> [] (p == 1)": True,
}


@pytest.mark.parametrize("formula", _FORMULAS)
def test_an_invisible_loop_hides_no_visible_step(formula: str) -> None:
    full, reduced = both(f"{_LOOP} ltl f {{ {formula} }}", "model.pml", deadlock="off")
    assert (full.verdict == "holds") == _FORMULAS[formula] == (reduced.verdict == "holds")
    assert reduced.reduction is not None and reduced.reduction.reduced


def _alternating(odd: bool) -> System:
    """Returns the product with an automaton that accepts runs in which the visible step comes after an odd number of
    steps, or after an even one. The loop makes both possible."""
    model = model_of(f"{_LOOP} ltl f {{ [] (p == 0) }}", "model.pml")
    (subject,) = model.system.temporal
    bound = bind(translate(subject.formula), subject.meaning, subject.span, subject.frame, (), ())
    (unseen,) = {edge.guard for edge in bound.edges if edge.guard is not None}
    seen = Unary(type=BOOLEAN, span=unseen.span, operator=UnaryOperator.NOT, operand=unseen)
    edges = ((0, 1, unseen), (1, 0, unseen), (int(odd), 2, seen), (2, 2, seen))
    automaton: Automaton = replace(
        bound,
        states=("even", "odd", "seen"),
        initial=0,
        accepting=frozenset({2}),
        edges=tuple(Edge(*each, bound.span) for each in edges),
    )
    return product(replace(model.system, automaton=None), automaton)


@pytest.mark.parametrize("odd", [False, True])
def test_no_state_of_the_automaton_hides_a_visible_step(odd: bool) -> None:
    system = _alternating(odd)
    for engine, strategy in ((Engine.INTERPRETER, "ndfs"), (Engine.NATIVE, "ndfs"), (Engine.NATIVE, "owcty")):
        options = CheckOptions(engine=engine, strategy=strategy, reduce=Reduce.POR, deadlock=Deadlock.OFF, threads=1)
        outcome = search(system, LoadOptions(), options).outcome
        assert outcome.reduction is not None and outcome.reduction.reduced
        assert [each.kind for each in outcome.findings] == [FindingKind.LASSO]


_STEPS = """
byte x, y;
active proctype P() { x = 1; x = 2; x = 3; done: skip }
active proctype Q() { y = 1; y = 2; y = 3 }
"""

#: Claims that do not count steps, and whether a run of the model is one that they forbid.
_CLAIMS = {
    "T0: do :: true :: x == 2 -> goto accept od; accept: do :: x != 3 od": False,
    "T0: do :: x < 3 :: x == 3 -> break od": True,
    "do :: assert(!(x == 3 && y == 1)) od": True,
    "do :: assert(x < 4) od": False,
    "T0: do :: true :: P@done -> goto accept od; accept: do :: x == 3 od": True,
}


@pytest.mark.parametrize("claim", _CLAIMS)
def test_claims_that_count_no_steps_are_reduced(claim: str) -> None:
    for strategy in ("owcty", "ndfs"):
        model = model_of(f"{_STEPS} never {{ {claim} }}", "model.pml")
        full, reduced = (
            model.check(engine="native", strategy=strategy, reduce=each, deadlock="off") for each in ("off", "por")
        )
        assert full.verdict == reduced.verdict == ("violated" if _CLAIMS[claim] else "holds")
        assert reduced.reduction is not None and not reduced.reduction.reason
        if not _CLAIMS[claim]:
            assert reduced.states < full.states


def test_property_processes_of_dve_that_count_no_steps_are_reduced() -> None:
    text = """
byte x, y;
process P { state a, b, c; init a; trans a -> b { effect x = 1; }, b -> c { effect x = 2; }; }
process Q { state a, b, c; init a; trans a -> b { effect y = 1; }, b -> c { effect y = 2; }; }
process Never { state wait, bad; init wait; accept bad;
  trans wait -> wait { guard x < 2; }, wait -> bad { guard x == 2; }, bad -> bad { guard x == 2; }; }
system async property Never;
"""
    full, reduced = both(text, "model.dve", deadlock="off")
    assert str(full.verdict) == "violated" and reduced.reduction is not None and not reduced.reduction.reason


@pytest.mark.parametrize("claim", ["skip; do :: x == 1 od", "x == 0 -> x == 0 -> do :: true od"])
def test_claims_that_may_count_steps_are_refused(claim: str) -> None:
    model = model_of(f"{_STEPS} never {{ {claim} }}", "model.pml")
    with pytest.raises(UsageError, match="never claim"):
        model.check(engine="interpreter", reduce="por")
