"""The sample of states: whether reduction pays, and which instances are left alone."""

from __future__ import annotations

import pytest
from reduced_models import both, model_of

from outcrop.ir.interpreter import Interpreter
from outcrop.reduction.prepare import Unreduced, reduction_of
from outcrop.reduction.sample import Gain, sampled
from outcrop.reduction.stubborn import Reduction

#: Processes that have nothing to do with each other.
_APART = """
var a: array [0..3] of 0..6;
startstate begin for i: 0..3 do a[i] := 0; end; end;
ruleset i: 0..3; v: 0..5 do rule "step" a[i] = v ==> a[i] := v + 1; end; end;
"""
#: Steps on their own, and rules that must wait for a rule that these steps enable.
_WAITING = """
var a: 0..8; b: 0..1;
startstate begin a := 0; b := 0; end;
ruleset v: 0..8 do rule "step" a = v ==> a := (v + 1) % 9; end; end;
ruleset v: 0..1 do rule "turn" b = v ==> b := 1 - v; end; end;
rule "both" a = 8 ==> b := 0; end;
"""
#: Rules that all write one variable.
_SHARED = """
var turn: 0..3; a: array [0..3] of 0..5;
startstate begin turn := 0; for i: 0..3 do a[i] := 0; end; end;
ruleset i: 0..3 do rule "step" a[i] < 5 ==> a[i] := a[i] + 1; turn := (turn * 3 + i) % 4; end; end;
"""


@pytest.mark.parametrize(
    ("share", "time", "pays"),
    [(0.1, 6.0, True), (0.65, 4.0, True), (0.95, 1.4, True), (0.95, 3.0, False), (1.0, 1.2, False)],
)
def test_a_gain_is_weighed_against_the_time(share: float, time: float, pays: bool) -> None:
    assert Gain(share, time).pays is pays


def test_a_model_of_independent_steps_is_reduced() -> None:
    full, reduced = both(_APART)
    assert reduced.states and full.states and reduced.states * 20 < full.states
    assert reduced.reduction is not None and reduced.reduction.reason == ""


def test_a_model_that_gains_nothing_is_searched_in_full() -> None:
    """The same reason on each machine, since nothing is measured."""
    found = [reduction_of(model_of(_SHARED).system, False) for _ in range(2)]
    assert isinstance(found[0], Unreduced) and found[0] == found[1]
    assert found[0].reason.startswith("in a sample, reduction keeps 100% of the states")
    full, reduced = both(_SHARED)
    assert reduced.states == full.states and reduced.reduction is not None and reduced.reduction.reason


def test_instances_with_large_sets_are_left_alone() -> None:
    system = model_of(_WAITING).system
    whole = reduction_of(system, False, samples=False)
    assert isinstance(whole, Reduction)
    found, _ = sampled(Interpreter(system, False), whole)
    steps, turns = 0b111111111, 0b11 << 9
    assert whole.phases[-1].hopeless == 0 and found.phases[-1].hopeless & (steps | turns) == turns
    assert found.phases[-1].starts == whole.phases[-1].starts
    again, _ = sampled(Interpreter(system, False), whole)
    assert again == found
