"""Symmetry: the native engine counts exactly the orbits of the states that are reachable without it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import outcrop
from outcrop.api import Model
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import State
from outcrop.ir.symmetry import Normaliser
from outcrop.options import Engine
from outcrop.result import Verdict

#: Number of steps up to which random models are explored.
DEPTH = 4

#: Instances small enough to enumerate every permutation of every state, of models with published counts. Those of
#: mcslock1, ldash and larger newlist6 come from normal forms that are not canonical.
SMALL = [
    ("mux/mcslock1.m", {"N": 3}),
    ("mux/n_peterson.m", {"N": 4}),
    ("multiset+sym/newlist6.m", {"CellCount": 4}),
    ("sym/list6.m", {"CellCount": 3}),
    ("dash/ldash.m", {"ProcCount": 3}),
    ("sci/sci.m", {"NumProcs": 2, "NumDataValues": 2}),
]


def orbits(model: Model, depth: int | None = None) -> set[State]:
    """Returns the representatives of all states within ``depth`` steps, found without reduction except of multisets."""
    interpreter, normalise = Interpreter(model.system, symmetry=False), Normaliser(model.system, symmetry=True)
    reached = {firing.successor for firing in interpreter.start_states() if firing.successor is not None}
    frontier = list(reached)
    while frontier and depth != 0:
        depth = None if depth is None else depth - 1
        found = {firing.successor for state in frontier for firing in interpreter.successors(state)}
        frontier = [state for state in found if state is not None and state not in reached]
        reached.update(frontier)
    return {normalise(state) for state in reached}


@pytest.mark.parametrize(("name", "constants"), SMALL[:4], ids=lambda value: str(value))
def test_the_count_is_the_number_of_orbits(name: str, constants: dict[str, int], shared: Path) -> None:
    model = outcrop.load(shared / "models" / "murphi" / name, constants)
    result = model.check(engine=Engine.NATIVE, deadlock="off")
    assert result.verdict is Verdict.HOLDS
    assert result.states == len(orbits(model))


@pytest.mark.parametrize(("name", "constants"), SMALL, ids=lambda value: str(value))
def test_engines_agree_under_symmetry(name: str, constants: dict[str, int], shared: Path) -> None:
    model = outcrop.load(shared / "models" / "murphi" / name, constants)
    native, plain = (model.check(engine=engine, deadlock="off") for engine in (Engine.NATIVE, Engine.INTERPRETER))
    assert (native.states, native.rules_fired, native.levels) == (plain.states, plain.rules_fired, plain.levels)


#: Declaration, startstate, and conditions and effects about nodes i and j and item k.
FEATURES = [
    ("colour: array [Node] of 0..1;", "for n: Node do colour[n] := 0 end;", "colour[i] = 0", "colour[i] := 1"),
    ("next: array [Node] of Node;", "", "next[i] != j", "next[i] := j"),
    ("held: array [Node] of Item;", "", "held[i] != k", "held[i] := k"),
    ("owner: Node;", "", "owner != i", "owner := i"),
    ("place: array [Place] of Place;", "place[Home] := Home;", "place[i] != j", "place[i] := j; place[Home] := i"),
    ("seen: array [Node] of array [Node] of boolean;", "", "isundefined(seen[i][j])", "seen[i][j] := i = j"),
    (
        "net: multiset [3] of Message;",
        "",
        "multisetcount(m: net, true) < 2",
        "x.from := i; x.item := k; multisetadd(x, net)",
    ),
]


def model_text(random: Random) -> str:
    """Returns a small model that is symmetric, because its rules treat all nodes and all items alike."""
    declarations, starts, conditions, effects = zip(*random.sample(FEATURES, 3), strict=True)
    rules = [
        f"rule {random.choice([*conditions, 'i != j'])} ==> var x: Message; begin {random.choice(effects)}; "
        f"{random.choice(effects)} end;"
        for _ in range(3)
    ]
    return f"""
        type Node: scalarset(3); Item: scalarset(2); Place: union {{Node, enum {{Home}}}};
             Message: record from: Node; item: Item end;
        var {" ".join(declarations)}
        startstate begin {" ".join(starts)} end;
        ruleset i: Node; j: Node; k: Item do {" ".join(rules)} end
    """


@pytest.mark.parametrize("seed", range(6))
def test_the_count_is_the_number_of_orbits_of_random_models(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "random.m"
    path.write_text(model_text(Random(seed)))
    model = outcrop.load(path)
    result = model.check(engine=Engine.NATIVE, deadlock="off", depth=DEPTH)
    assert result.states == len(orbits(model, DEPTH))
