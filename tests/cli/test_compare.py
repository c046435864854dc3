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
from outcrop.compare.bisimulation import Union, are_bisimilar, are_paired, coarsest_partition
from outcrop.compare.graph import graph_of
from outcrop.compare.runs import Quotient, only_in
from outcrop.kernels import Native
from outcrop.kernels.refine import Part
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
        rule_of = np.repeat(np.arange(len(model.system.rules)), [rule.instance_count for rule in model.system.rules])
        counts = np.bincount(rule_of[graph.instances], minlength=len(model.system.rules))
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


def test_observed_values_must_agree(cli: Cli, tmp_path: Path) -> None:
    """A value that no rule reads makes a difference only if it is observed."""
    one = written(tmp_path, "one.m", COUNTER)
    other = written(tmp_path, "other.m", COUNTER.replace("n := 0; end;\n", "n := 0; b := !b; end;\n"))
    assert compared(cli, one, other, "--observe", "n")[0] == 0
    for relation in ("bisimulation", "inclusion"):
        code, document = compared(cli, one, other, "--observe", "n,b", "--relation", relation)
        difference = document["difference"]
        assert code == 1 and difference["rules"] == ["up", "up", "up", "down"]
        assert difference["observed"][-1] == {"n": "0", "b": "false"} and difference["others"] == [
            {"n": "0", "b": "true"}
        ]
        assert [each["n"] for each in difference["observed"]] == ["0", "1", "2", "3", "0"]
    assert "true" in cli("compare", one, other, "--observe", "b").out
    assert compared(cli, one, other, "--observe", "(n + 1)=(1 + n)")[0] == 0
    assert compared(cli, one, other, "--observe", "(b | true)")[0] == 0
    assert compared(cli, one, other, "--observe", "n=(n + 1)")[1]["difference"]["rules"] == []


def test_observed_values_of_two_languages(cli: Cli, repository: Path, tmp_path: Path) -> None:
    """The seeded error: a cache that returns its copy does not write it to memory."""
    murphi, python = (repository / "examples" / f"german_cache.{suffix}" for suffix in ("m", "py"))
    wrong = written(tmp_path, "wrong.m", murphi.read_text().replace("memory := answer[n].value;", "memory := memory;"))
    assert wrong.read_text() != murphi.read_text()
    sizes = ("--first", "NodeCount=2", "--second", "NODES=2")
    assert compared(cli, wrong, python, *sizes)[0] == 0
    observed = ("--observe", "memory,client,exclusive_granted,sharer=sharers", *sizes)
    assert compared(cli, murphi, python, *observed)[0] == 0
    code, document = compared(cli, wrong, python, *observed)
    assert code == 1 and document["difference"]["others"]
    assert len(document["difference"]["trace"]["states"]) == len(document["difference"]["rules"]) + 1


@pytest.mark.parametrize("observed", ["serving=exclusive_granted", "nothing", "sharer=memory", "a=b=c", ""])
def test_values_that_cannot_be_observed(cli: Cli, repository: Path, observed: str) -> None:
    examples = repository / "examples"
    ran = cli("compare", examples / "german_cache.m", examples / "german_cache.py", "--observe", observed)
    assert ran.code == 2 and "Traceback" not in ran.err


def test_limits_leave_it_unknown(cli: Cli, repository: Path) -> None:
    examples = repository / "examples"
    assert cli("compare", examples / "peterson.m", examples / "peterson.py", "--states", "5").code == 3


@pytest.fixture(scope="module")
def kernels() -> Native:
    return graph_of(outcrop.loads(COUNTER, "counter.m"), CheckOptions(threads=1)).native


def naive_bisimulation(edges: list[set[tuple[int, int]]], observed: list[int]) -> list[list[bool]]:
    """Returns the greatest bisimulation, from its definition."""
    count = len(edges)
    related = [[one == other for other in observed] for one in observed]

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


Visible = tuple[tuple[int, ...], tuple[int, ...]]


def runs_of(edges: list[set[tuple[int, int]]], observed: list[int], start: int, length: int) -> set[Visible]:
    """Returns the runs up to a length: their labels, and the classes of their states."""
    level: set[tuple[Visible, int]] = {(((), (observed[start],)), start)}
    found = {run for run, _ in level}
    for _ in range(length):
        level = {
            (((*run[0], label), (*run[1], observed[target])), target)
            for run, state in level
            for label, target in edges[state]
        }
        found |= {run for run, _ in level}
    return found


def part_of(edges: list[set[tuple[int, int]]], base: int) -> Part:
    """Returns a graph whose states are numbered from ``base`` on, with the labels 0 and 1 under other numbers."""
    flat = [sorted(each) for each in edges]
    return Part(
        np.cumsum([0, *map(len, flat)], dtype=np.uint64),
        np.array([1 - label for each in flat for label, _ in each], dtype=np.uint32),
        np.array([target - base for each in flat for _, target in each], dtype=np.uint32),
        np.array([1, 0], dtype=np.uint32),
    )


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_against_the_definitions(seed: int, kernels: Native) -> None:
    random = Random(seed)
    sizes = random.randint(1, 5), random.randint(1, 5)
    edges: list[set[tuple[int, int]]] = []
    for base, size in ((0, sizes[0]), (sizes[0], sizes[1])):
        for _ in range(size):
            edges.append({(random.randrange(2), base + random.randrange(size)) for _ in range(random.randint(0, 3))})
    drawn = [random.randrange(random.randint(1, 2)) for _ in edges]
    observed = [sorted(set(drawn)).index(each) for each in drawn]
    parts = part_of(edges[: sizes[0]], 0), part_of(edges[sizes[0] :], sizes[0])
    graph = Union(kernels, parts, (1, 1), np.array(observed, dtype=np.uint32), threads=random.randint(1, 3))
    related = naive_bisimulation(edges, observed)
    assert are_bisimilar(graph) is related[0][sizes[0]]
    assert related[0][sizes[0]] or not are_paired(graph)
    blocks = coarsest_partition(graph)
    assert [[bool(one == other) for other in blocks] for one in blocks] == related
    quotient = Quotient(graph, blocks)
    for number, (mine, others) in enumerate(((0, sizes[0]), (sizes[0], 0))):
        only = runs_of(edges, observed, mine, 7) - runs_of(edges, observed, others, 7)
        found = only_in(quotient, number)
        if found is not None and len(found.labels) <= 7:
            assert (found.labels, found.observed) == min(only, key=lambda run: (len(run[0]), run))
        else:
            assert not only
