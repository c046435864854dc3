"""The trace with the fewest switches between lanes among all shortest ones, against an enumeration of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import outcrop
from outcrop.ir.interpreter import Firing, Interpreter
from outcrop.ir.layout import State
from outcrop.result import Trace, ViolationKind

#: Types of nodes: one whose values are alike, and one with an order.
NODES = {"symmetric": "scalarset(3)", "numbered": "1..3"}


def random_model(seed: int, nodes: str) -> str:
    """Returns a model of three nodes with a state each, and of flags. A violation is some steps away, in most cases."""
    chance = random.Random(seed)

    def test() -> str:
        return f"flag[{chance.randrange(3)}] = {chance.randrange(2)}"

    def effect() -> str:
        return f"flag[{chance.randrange(3)}] := {chance.randrange(2)};"

    def step(number: int) -> str:
        at = number % 4 if number < 6 else chance.randrange(4)
        guard = f"at[n] = {at}" + (f" & {test()}" if chance.random() < 0.6 else "")
        change = f"at[n] := {min(4, at + chance.choice((1, 1, 1, 2)))};" + (
            f" {effect()}" if chance.random() < 0.5 else ""
        )
        return f'ruleset n: Node do rule "step {number}" {guard} ==> begin {change} end; end;'

    rules = [step(number) for number in range(chance.randint(6, 10))]
    rules += [f'rule "flip {number}" {test()} ==> begin {effect()} end;' for number in range(chance.randint(0, 2))]
    bad = [
        "forall n: Node do at[n] >= 2 end",
        "exists n: Node do at[n] = 4 & flag[2] = 1 end & exists m: Node do at[m] = 2 end",
        "exists n: Node do exists m: Node do n != m & at[n] = 3 & at[m] = 4 end end",
    ]
    fail = "at[n] = 3 & flag[1] = 1 & exists m: Node do at[m] = 2 end ==> begin assert flag[0] = 1; end"
    failing = f'ruleset n: Node do rule "fail" {fail}; end;'
    return f"""
type Node: {nodes};
var at: array [Node] of 0..4; flag: array [0..2] of 0..1;
startstate begin for n: Node do at[n] := 0; end; for i: 0..2 do flag[i] := 0; end; end;
startstate begin for n: Node do at[n] := 0; end; for i: 0..2 do flag[i] := 1; end; end;
{" ".join(rules)}
{failing if chance.random() < 0.3 else ""}
invariant "good" !({chance.choice(bad)});
"""


def switches(lanes: list[tuple[object, ...]]) -> tuple[int, int]:
    """Switches between nodes, and those from and to steps that belong to nobody."""
    owned = [each for each in lanes if each]
    between_nodes, between_all = (sum(one != other for one, other in pairwise(each)) for each in (owned, lanes))
    return between_nodes, between_all


def lane(firing: Firing) -> tuple[int, ...]:
    """The node that a step belongs to; flags belong to nobody."""
    return firing.arguments


def fewest(model: outcrop.Model, trace: Trace, kind: ViolationKind) -> tuple[int, int]:
    """The least number of switches among all runs of this length that end in a violation of this kind."""
    interpreter = Interpreter(model.system, symmetry=False)

    def lanes_of_end(state: State) -> list[tuple[int, ...]] | None:
        """The lanes of the failing step, if one is asked for; None where the state is no end."""
        if kind is ViolationKind.ASSERTION:
            return next(([lane(each)] for each in interpreter.successors(state) if each.fault is not None), None)
        return [] if interpreter.check(state).failure is not None else None

    def runs(state: State, taken: list[tuple[int, ...]]) -> Iterator[tuple[int, int]]:
        if len(taken) + 1 == len(trace):
            end = lanes_of_end(state)
            if end is not None:
                yield switches([*taken, *end])
            return
        for firing in interpreter.successors(state):
            if firing.successor is not None and firing.fault is None:
                yield from runs(firing.successor, [*taken, lane(firing)])

    starts = [each.successor for each in interpreter.start_states()]
    return min(count for state in starts if state is not None for count in runs(state, []))


def check(tmp_path: Path, seed: int, nodes: str, **options: str) -> tuple[outcrop.Model, outcrop.Result]:
    (tmp_path / "model.m").write_text(random_model(seed, nodes))
    model = outcrop.load(tmp_path / "model.m")
    return model, model.check(deadlock="off", **options)


def shown_switches(model: outcrop.Model, result: outcrop.Result) -> tuple[int, int]:
    """The switches of the trace that is shown, with those to the step that fails."""
    violation = result.violations[0]
    assert violation.trace is not None
    steps = [step.arguments for step in violation.trace.steps[1:]]
    found: list[tuple[object, ...]] = [tuple(each.value for each in arguments) for arguments in steps]
    if violation.failing_step:
        found.append((violation.failing_step.rpartition(": ")[2],))
    return switches(found)


@pytest.mark.parametrize("nodes", NODES.values(), ids=NODES)
def test_no_shortest_trace_has_fewer_switches(tmp_path: Path, nodes: str) -> None:
    compared = improved = failing = 0
    for seed in range(20):
        model, result = check(tmp_path, seed, nodes, engine="interpreter")
        trace = result.trace
        if trace is None or not 2 < len(trace) <= 6:
            continue
        kind = result.violations[0].kind
        assert shown_switches(model, result) == fewest(model, trace, kind), seed
        assert not result.events
        _, found = check(tmp_path, seed, nodes, engine="interpreter", trace_order="found")
        assert found.trace is not None and len(found.trace) == len(trace) and found.violations[0].kind is kind
        compared += 1
        improved += shown_switches(model, result) < shown_switches(model, found)
        failing += kind is ViolationKind.ASSERTION
    assert compared > 8 and improved > 2 and failing > 0


@pytest.mark.parametrize("nodes", NODES.values(), ids=NODES)
def test_engines_and_strategies_show_the_same_trace(tmp_path: Path, nodes: str) -> None:
    model, expected = check(tmp_path, 12, nodes, engine="interpreter")
    assert expected.trace is not None and expected.violations[0].kind is ViolationKind.ASSERTION
    for strategy in ("ram", "disk"):
        result = model.check(engine="native", strategy=strategy, deadlock="off")
        assert result.trace is not None and result.trace.steps == expected.trace.steps
