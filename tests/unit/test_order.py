"""Traces that are easier to read: fewer switches between lanes, and no step that is not needed."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

import outcrop
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import State
from outcrop.report.text import report
from outcrop.result import Trace
from outcrop.tools.simulate import SimulationOptions, simulate
from outcrop.trace.order import needed_states, reordered
from outcrop.trace.replay import step_of

#: Two counters that know nothing of each other, and a clock that matters to nobody.
COUNTERS = """
type Node: 0..1;
var count: array [Node] of 0..3; clock: 0..40;
startstate begin for n: Node do count[n] := 0; end; clock := 0; end;
ruleset n: Node do rule "up" count[n] < 3 ==> begin count[n] := count[n] + 1; end; end;
rule "tick" clock < 40 ==> begin clock := clock + 1; end;
invariant "not both" !(count[0] = 3 & count[1] = 3);
"""


@pytest.fixture
def model(tmp_path: Path) -> outcrop.Model:
    (tmp_path / "counters.m").write_text(COUNTERS)
    return outcrop.load(tmp_path / "counters.m")


def run_of(model: outcrop.Model, labels: list[str]) -> Trace:
    """The run that fires rules with these labels."""
    interpreter = Interpreter(model.system, symmetry=False)
    firing = next(interpreter.start_states())
    steps = [step_of(firing, "")]
    for label in labels:
        firing = next(each for each in interpreter.successors(steps[-1].state) if each.label == label)
        steps.append(step_of(firing, ""))
    return Trace(model.system, tuple(steps))


def switches(trace: Trace) -> int:
    return sum(one.arguments != other.arguments for one, other in pairwise(trace.steps[1:]))


def test_independent_steps_stand_together(model: outcrop.Model) -> None:
    trace = run_of(model, ["up, n: 0", "up, n: 1"] * 3)
    shown = reordered(trace)
    assert switches(trace) == 5 and switches(shown) == 1
    assert shown.steps[-1].state == trace.steps[-1].state and len(shown) == len(trace)
    assert run_of(model, [step.label for step in shown.steps[1:]]).steps == shown.steps, "it is a run of the model"
    assert reordered(trace).steps == shown.steps


def test_a_check_chooses_the_easiest(model: outcrop.Model) -> None:
    easy, found = (model.check(engine="interpreter", trace_order=order).trace for order in ("lanes", "found"))
    assert easy is not None and found is not None
    assert switches(easy) == 1 and len(easy) == len(found) == 7


def test_needless_steps_are_dropped(model: outcrop.Model) -> None:
    labels = ["tick", "up, n: 0", "tick", "up, n: 1", "tick", "tick"] * 3
    trace = run_of(model, [*labels, "tick"])

    def is_wrong(interpreter: Interpreter, state: State) -> bool:
        return interpreter.check(state).failure is not None

    states = needed_states(trace, is_wrong, 60)
    assert len(states) == 7 and states[-1][-1] == 0, "the clock never ticks"


def test_simulation_shrinks_to_what_is_needed(model: outcrop.Model) -> None:
    options = SimulationOptions(walks=1, time_limit=None, seed=5, weights={"tick": 9.0}, shrink_seconds=60)
    result = simulate(model, options)
    assert result.violation is not None and result.violation.trace is not None
    assert result.walk_steps is not None and result.walk_steps > 6
    assert len(result.violation.trace) == 7


def test_an_error_shows_the_calls_around_it(tmp_path: Path) -> None:
    (tmp_path / "stack.m").write_text(
        """var x: 0..5; a: array [0..2] of 0..3;
procedure deep(n: 0..5); begin a[n] := 1; end;
procedure mid(n: 0..5); begin deep(n); end;
startstate begin x := 0; for i: 0..2 do a[i] := 0; end; end;
rule "up" x < 5 ==> begin x := x + 1; mid(x); end;"""
    )
    result = outcrop.load(tmp_path / "stack.m").check(engine="interpreter")
    assert [(name, span.line) for name, span in result.violations[0].calls] == [("deep", 3), ("mid", 5)]
    assert [each["function"] for each in result.to_dict()["violations"][0]["calls"]] == ["deep", "mid"]
    lines = report(result).splitlines()
    assert f"  in deep, called at {tmp_path / 'stack.m'}:3:31" in lines
    assert "     a[*]: 0" in lines, "elements that are alike take one line"
