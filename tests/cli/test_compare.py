"""`outcrop compare`: models that are the same, and runs that only one of them has."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from conftest import Run

import outcrop
from outcrop.compare.bisimulation import Union, are_bisimilar, coarsest_partition
from outcrop.compare.graph import graph_of
from outcrop.compare.runs import Quotient, only_in
from outcrop.kernels import Native
from outcrop.options import CheckOptions

Cli = Callable[..., Run]
TWINS = [
    *("german_cache", "peterson", "two_phase_commit"),
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("bounded_buffer", "raft_election", "ring_election")),
]

COUNTER = """
var n: 0..9; b: boolean;
startstate begin n := 0; b := false; end;
rule "up" n < 3 ==> begin n := n + 1; end;
rule "down" n = 3 ==> begin n := 0; end;
"""


def written(tmp_path: Path, name: str, text: str) -> Path:
    (tmp_path / name).write_text(text)
    return tmp_path / name


def compared(cli: Cli, *arguments: Any) -> tuple[int, dict[str, Any]]:
    ran = cli("compare", *arguments, "--json")
    return ran.code, json.loads(ran.out)


@pytest.mark.parametrize("name", TWINS)
def test_twins_are_the_same(cli: Cli, repository: Path, name: str) -> None:
    examples = repository / "examples"
    code, document = compared(cli, examples / f"{name}.m", examples / f"{name}.py")
    assert (code, document["verdict"]) == (0, "holds")
    one, other = document["models"]
    assert one["steps"] == other["steps"] and one["levels"] == other["levels"]
    assert cli("compare", examples / f"{name}.py", examples / f"{name}.m", "--relation", "inclusion").code == 0


def test_graphs_have_every_step(repository: Path) -> None:
    model = outcrop.load(repository / "examples/raft_election.m")
    for symmetry in (True, False):
        graph = graph_of(model, CheckOptions(symmetry=symmetry, threads=2))
        result = model.check(symmetry=symmetry, coverage=True)
        assert (graph.states, graph.edges) == (result.states, result.rules_fired)
        fired = {each.name: each.fired for each in result.coverage}
        counts = np.bincount(graph.rules, minlength=len(model.system.rules))
        assert {rule.name: count for rule, count in zip(model.system.rules, counts, strict=True)} == fired
        assert graph.targets.max() < graph.states


def test_a_shortest_run_that_only_one_has(cli: Cli, tmp_path: Path) -> None:
    one = written(tmp_path, "one.m", COUNTER)
    other = written(tmp_path, "other.m", COUNTER.replace("n = 3 ==>", "n = 2 | n = 3 ==>"))
    code, document = compared(cli, one, other)
    assert (code, document["verdict"]) == (1, "violated")
    difference = document["difference"]
    assert difference["model"] == str(other) and difference["rules"] == ["up", "up", "down"]
    assert difference["possible"] == ["up"]
    assert len(difference["trace"]["states"]) == 4
    assert compared(cli, one, other, "--relation", "inclusion")[0] == 0
    assert compared(cli, other, one, "--relation", "inclusion")[0] == 1


def test_states_that_permit_the_same_are_the_same(cli: Cli, tmp_path: Path) -> None:
    """A variable that nothing reads doubles the states, and makes no difference."""
    one = written(tmp_path, "one.m", COUNTER)
    other = written(tmp_path, "other.m", COUNTER.replace("n := 0; end;\n", "n := 0; b := !b; end;\n"))
    code, document = compared(cli, one, other)
    assert code == 0
    assert [each["states"] for each in document["models"]] == [4, 8]


def test_renamings_are_given_or_found(cli: Cli, tmp_path: Path) -> None:
    one = written(tmp_path, "one.m", COUNTER)
    other = written(tmp_path, "other.m", COUNTER.replace('"up"', '"plus"').replace('"down"', '"minus"'))
    code, document = compared(cli, one, other)
    assert (code, document["renamed"]) == (0, {"up": "plus", "down": "minus"})
    assert compared(cli, one, other, "--rename", "up=plus")[0] == 0
    assert compared(cli, one, other, "--rename", "up=minus")[0] == 1
    assert cli("compare", one, other, "--rename", "side=plus").code == 2
    assert cli("compare", one, other, "--rename", "up").code == 2


def test_hidden_rules_refine(cli: Cli, tmp_path: Path) -> None:
    abstract = written(tmp_path, "abstract.m", COUNTER)
    detailed = COUNTER.replace("n < 3 ==> begin n", "b & n < 3 ==> begin b := false; n")
    refined = written(tmp_path, "refined.m", detailed + 'rule "prepare" !b ==> begin b := true; end;\n')
    inclusion = ("--relation", "inclusion")
    assert compared(cli, refined, abstract, *inclusion)[0] == 1
    assert compared(cli, refined, abstract, *inclusion, "--hide", "prepare")[0] == 0
    assert cli("compare", refined, abstract, "--hide", "prepare").code == 2


def test_the_same_runs_with_other_choices(cli: Cli, tmp_path: Path) -> None:
    """Milner's vending machines: one chooses with the coin, the other afterwards."""
    head = "var at: 0..4; startstate begin at := 0; end;\n"
    late = 'rule "coin" at = 0 ==> begin at := 1; end; rule "tea" at = 1 ==> begin at := 0; end;'
    late += ' rule "coffee" at = 1 ==> begin at := 0; end;'
    early = 'rule "coin" at = 0 ==> begin at := 1; end; rule "coin" at = 0 ==> begin at := 2; end;'
    early += ' rule "tea" at = 1 ==> begin at := 0; end; rule "coffee" at = 2 ==> begin at := 0; end;'
    one, other = written(tmp_path, "late.m", head + late), written(tmp_path, "early.m", head + early)
    code, document = compared(cli, one, other)
    assert code == 1 and document["difference"]["kind"] == "branching"
    assert document["difference"]["rules"] == ["coin"]
    assert compared(cli, one, other, "--relation", "inclusion")[0] == 0
    assert compared(cli, other, one, "--relation", "inclusion")[0] == 0


def test_limits_leave_it_unknown(cli: Cli, repository: Path) -> None:
    examples = repository / "examples"
    assert cli("compare", examples / "peterson.m", examples / "peterson.py", "--states", "5").code == 3


@pytest.fixture(scope="module")
def kernels() -> Native:
    return graph_of(outcrop.loads(COUNTER, "counter.m"), CheckOptions(threads=1)).native


def naive_bisimulation(edges: list[set[tuple[int, int]]]) -> list[list[bool]]:
    """Returns the greatest bisimulation, from its definition."""
    count = len(edges)
    related = [[True] * count for _ in range(count)]

    def matches(one: int, other: int) -> bool:
        return all(any(label == each and related[a][b] for each, b in edges[other]) for label, a in edges[one])

    changed = True
    while changed:
        changed = False
        for one in range(count):
            for other in range(count):
                if related[one][other] and not (matches(one, other) and matches(other, one)):
                    related[one][other] = related[other][one] = False
                    changed = True
    return related


def runs_of(edges: list[set[tuple[int, int]]], start: int, length: int) -> set[tuple[int, ...]]:
    level = {((), start)}
    found = {()}
    for _ in range(length):
        level = {((*run, label), target) for run, state in level for label, target in edges[state]}
        found |= {run for run, _ in level}
    return found


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_against_the_definitions(seed: int, kernels: Native) -> None:
    random = Random(seed)
    sizes = random.randint(1, 5), random.randint(1, 5)
    edges: list[set[tuple[int, int]]] = []
    for base, size in ((0, sizes[0]), (sizes[0], sizes[1])):
        for _ in range(size):
            edges.append({(random.randrange(2), base + random.randrange(size)) for _ in range(random.randint(0, 3))})
    flat = [sorted(each) for each in edges]
    graph = Union(
        kernels,
        np.cumsum([0, *map(len, flat)]),
        np.array([label for each in flat for label, _ in each], dtype=np.uint32),
        np.array([target for each in flat for _, target in each], dtype=np.uint32),
        sizes[0],
        (1, 1),
        threads=random.randint(1, 3),
    )
    related = naive_bisimulation(edges)
    assert are_bisimilar(graph) is related[0][sizes[0]]
    blocks = coarsest_partition(graph)
    assert [[bool(one == other) for other in blocks] for one in blocks] == related
    quotient = Quotient(graph, blocks)
    for number, (mine, others) in enumerate(((0, sizes[0]), (sizes[0], 0))):
        only = runs_of(edges, mine, 7) - runs_of(edges, others, 7)
        found = only_in(quotient, number)
        if found is not None and len(found.labels) <= 7:
            assert found.labels == min(only, key=lambda run: (len(run), run))
        else:
            assert not only
