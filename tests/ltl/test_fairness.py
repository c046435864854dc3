"""Fair cycles, compared with the definitions on random graphs and random systems, and on models made by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from cycle_graphs import Graph, random_graphs, weakened
from explored import Explored, Sets, has_strongly_fair_cycle, steps_of
from test_cycle_systems import random_products

import outcrop
from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.errors import UsageError
from outcrop.explorer.context import Context
from outcrop.explorer.tuning import DEFAULT_TUNING, Tuning
from outcrop.ir.graph import components
from outcrop.ir.product import product, strong_fairness, weak_fairness
from outcrop.kernels import Native
from outcrop.options import CheckOptions
from outcrop.oracle import cycles as scc
from outcrop.outcome import Outcome, Stop
from outcrop.result import FormulaResult, Result
from outcrop.search import fair

SETS = 4
OPTIONS = CheckOptions(strategy="fair", threads=1, state_memory=4 << 20)


# --- Graphs ----------------------------------------------------------------------------------------------------


@cache
def _compiled(is_strong: bool) -> Native:
    constants = {"HAS_FAIRNESS": 1, "HAS_MOVERS": 1, "FAIRNESS_SETS": SETS, "FAIRNESS_IS_STRONG": int(is_strong)}
    lines = [f"#define {name} {value}" for name, value in constants.items()]
    return compile_model("\n".join([*lines, (Path(__file__).parent.parent / "kernels" / "graph_model.c").read_text()]))


class FairGraph(Graph):
    """A graph with fairness sets. ``sets``: the sets that the step of each edge belongs to, at most two."""

    def __init__(self, graph: Graph, sets: list[list[Sets]], *, is_strong: bool = True) -> None:
        super().__init__(graph.successors, graph.accepting)
        self.sets = sets
        self.is_strong = is_strong

    def native(self, strength: str = "general") -> Native:
        native = _compiled(self.is_strong)
        native.strength = strength
        self.give_to(native)
        rows = [[*sorted(each), SETS, SETS][:2] for sets in self.sets for each in sets] or [[SETS, SETS]]
        self._movers, self._partners = np.array(rows, dtype=np.uint32).T.copy()
        library = native.library_declaring("void graph_set_movers(const uint32_t *movers, const uint32_t *partners);")
        library.graph_set_movers(self._movers.ctypes.data, self._partners.ctypes.data)
        return native

    def search(self, options: CheckOptions, strength: str = "general", tuning: Tuning = DEFAULT_TUNING) -> Outcome:
        outcome = fair.search(self.native(strength), options, Context(tuning=tuning))
        for finding in outcome.findings:
            assert finding.loop_start is not None
            path = [int.from_bytes(state[:4], "little") for state in finding.path]
            self.check_lasso(path, finding.loop_start)
            loop = path[finding.loop_start :]
            taken = {
                each
                for node, following in pairwise([*loop, loop[0]])
                for to, sets in zip(self.successors[node], self.sets[node], strict=True)
                for each in sets
                if to == following
            }
            possible = [Sets().union(*self.sets[node]) for node in loop]
            assert taken >= (Sets().union(*possible) if self.is_strong else possible[0].intersection(*possible))
        return outcome

    def has_fair_cycle(self) -> bool:
        if self.is_strong:
            return has_strongly_fair_cycle(self, self.sets)
        for component in components(self.successors):
            members, inner = set(component), []
            for node in component:
                edges = zip(self.successors[node], self.sets[node], strict=True)
                inner += [sets for to, sets in edges if to in members]
            possible = [Sets().union(*self.sets[node]) for node in component]
            is_fair = Sets().union(*inner) >= possible[0].intersection(*possible)
            if inner and is_fair and members & self.accepting & self.reachable():
                return True
        return False


def fair_graphs(seed: int, count: int, most_nodes: int) -> Iterator[FairGraph]:
    """Yields graphs. In every other one, some nodes also lead to dead ends, by steps of sets that have few others: fair
    cycles must avoid these nodes."""
    chance = Random(seed)
    for number, graph in enumerate(random_graphs(seed, count, most_nodes)):
        kinds = [frozenset(chance.sample(range(SETS), chance.choice([0, 1, 1, 1, 2]))) for _ in range(6)]
        if number % 2:
            kinds = [Sets(), Sets(), Sets({0}), Sets({1}), Sets({2}), Sets({0, 1})]
        sets = [[chance.choice(kinds[: 2 + chance.randrange(5)]) for _ in targets] for targets in graph.successors]
        if number % 2:
            end = len(graph.successors)
            for node in range(end):
                if chance.random() < 0.3:
                    graph.successors[node].append(end)
                    sets[node].append(Sets({chance.randrange(1, SETS)}))
            graph.successors.append([])
            sets.append([])
        yield FairGraph(graph, sets, is_strong=number % 3 > 0)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("first_look", [2, 1000])
def test_a_fair_cycle_is_found_where_there_is_one(threads: int, first_look: int) -> None:
    met, tuning = set(), Tuning(first_look=first_look)
    for graph in fair_graphs(threads, 100, 20):
        expected = graph.has_fair_cycle()
        met.add((graph.is_strong, graph.has_accepting_cycle(), expected))
        assert (graph.search(replace(OPTIONS, threads=threads), tuning=tuning).stop is Stop.VIOLATION) == expected
        whole = FairGraph(weakened(graph), graph.sets, is_strong=graph.is_strong)
        outcome = whole.search(replace(OPTIONS, threads=threads), "weak", tuning)
        assert (outcome.stop is Stop.VIOLATION) == whole.has_fair_cycle()
    verdicts = {(False, False), (True, False), (True, True)}
    assert met == {(is_strong, *verdict) for is_strong in (False, True) for verdict in verdicts}


@pytest.mark.parametrize("is_strong", [False, True])
def test_the_lasso_does_not_depend_on_threads(is_strong: bool) -> None:
    chance, nodes = Random(3), 60_000
    graph = Graph([[chance.randrange(nodes) for _ in range(2)] for _ in range(nodes)], {*range(9_000, 9_100)})
    sets = [[frozenset({chance.randrange(SETS - 1)}) for _ in range(2)] for _ in range(nodes)]
    both, options = FairGraph(graph, sets, is_strong=is_strong), replace(OPTIONS, state_memory=None)
    one, *others = (both.search(replace(options, threads=each)) for each in (1, 2, 4))
    assert one.findings
    assert all(each.findings == one.findings for each in others)


def test_a_cycle_does_not_wait_for_the_end() -> None:
    nodes = 300_000
    successors = [[(2 * node + 1) % nodes, (2 * node + 2) % nodes] for node in range(nodes)]
    graph = FairGraph(Graph(successors, set(range(nodes))), [[Sets({0}), Sets({1})] for _ in range(nodes)])
    graph.successors[5][0] = 5
    graph.sets[5] = [Sets({0}), Sets()]
    outcome = graph.search(replace(OPTIONS, state_memory=None))
    assert outcome.stop is Stop.VIOLATION
    assert outcome.visited < nodes // 2


def test_what_is_taken_apart_twice() -> None:
    """Set 0 is enabled in node 0 and never taken. Without node 0, set 1 is taken nowhere either."""
    graph = Graph([[1, 3], [0, 2], [1], [3]], {0, 1, 2})
    sets = [[Sets({1}), Sets({0})], [Sets(), Sets({2})], [Sets({2})], [Sets()]]
    assert FairGraph(graph, sets).search(OPTIONS).stop is Stop.VIOLATION  # 1 and 2
    sets[2] = [Sets({3})]
    sets[1] = [Sets({1}), Sets({2})]
    assert FairGraph(graph, sets).search(OPTIONS).stop is Stop.COMPLETE


def test_memory_that_is_not_enough_for_the_graph() -> None:
    nodes = 20_000
    graph = Graph([[(node + 1) % nodes] for node in range(nodes)], {0})
    sets = [[Sets()] for _ in range(nodes)]
    assert FairGraph(graph, sets).search(replace(OPTIONS, state_memory=600_000)).stop is Stop.MEMORY
    assert FairGraph(graph, sets).search(OPTIONS).stop is Stop.VIOLATION


# --- Systems ---------------------------------------------------------------------------------------------------


def test_random_systems() -> None:
    """Compares the interpreter with the definition, and for some systems the kernels with the interpreter."""
    both = set()
    for number, (system, automaton) in enumerate(random_products(5, 80)):
        plain = Explored(product(system, automaton))
        expected = has_strongly_fair_cycle(plain.graph, steps_of(system, plain))
        both.add((plain.graph.has_accepting_cycle(), expected))
        strong = product(system, automaton, strong_fairness(system))
        assert (scc.search(strong, CheckOptions()).stop is Stop.VIOLATION) == expected
        if number % 20 == 0:
            native = compile_model(emit(strong, False).source)
            assert (fair.search(native, OPTIONS).stop is Stop.VIOLATION) == expected
            weak = product(system, automaton, weak_fairness(system), counts=False)
            native = compile_model(emit(weak, False).source)
            counted = scc.search(product(system, automaton, weak_fairness(system)), CheckOptions())
            assert fair.search(native, OPTIONS).stop is counted.stop
    assert both == {(False, False), (True, False), (True, True)}


PHILOSOPHERS = """
const N: 3;
type phil: 0 .. N - 1;
var fork: array [phil] of boolean; at: array [phil] of 0 .. 2;
startstate begin for p: phil do fork[p] := true; at[p] := 0; end; end;
ruleset p: phil do
  rule "both" at[p] = 0 & fork[p] & fork[(p + 1) % N] ==> fork[p] := false; fork[(p + 1) % N] := false; at[p] := 1; end;
  rule "done" at[p] = 1 ==> fork[p] := true; fork[(p + 1) % N] := true; at[p] := 0; end;
  ltl "eats" : G F {at[p] = 1};
  ltl "stays" : F G {at[p] = 1};
end;
"""

#: P and Q can meet again and again while R is elsewhere.
MEETING = """
channel c;
byte met;
process P { state a; init a; trans a -> a { sync c!; effect met = 1 - met; }; }
process Q { state a; init a; trans a -> a { sync c?; }; }
process R { state a, b; init a; trans a -> b { guard met == 0; }, b -> a { }; }
process S { state a, b; init a; trans a -> b { guard R.b; effect met = met; }; }
system async;
"""


def formulas_of(result: Result) -> list[FormulaResult]:
    return [row for row in result.properties if isinstance(row, FormulaResult)]


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_philosophers(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "model.m"
    path.write_text(PHILOSOPHERS, encoding="utf-8")
    model = outcrop.load(path)
    for kind, expected in (("weak", "violated"), ("strong", "holds")):
        rows = formulas_of(model.check(engine=engine, fair=kind))
        assert [row.status for row in rows if row.name.startswith("eats")] == [expected] * 3
        assert [row.status for row in rows if row.name.startswith("stays")] == ["violated"] * 3
    assert {row.strategy for row in rows} == {"scc" if engine == "interpreter" else "fair"}


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_processes(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "model.dve"
    path.write_text(MEETING, encoding="utf-8")
    formulas = ["G F {R.b}", "F {S.b}", "G F {met == 1}"]
    statuses = {
        kind: [row.status for row in outcrop.load(path, ltl=formulas).check(engine=engine, fair=kind).properties]
        for kind in ("none", "weak", "strong")
    }
    assert statuses["none"] == ["violated"] * 3
    assert statuses["weak"] == ["violated", "violated", "holds"]
    assert statuses["strong"] == ["holds"] * 3


def test_what_does_not_go_with_strong_fairness(tmp_path: Path) -> None:
    path = tmp_path / "model.m"
    path.write_text(PHILOSOPHERS, encoding="utf-8")
    for more in ({"strategy": "ndfs"}, {"strategy": "owcty", "compact": True}, {"ranks": 2}):
        with pytest.raises(UsageError, match="strong fairness cannot be checked with ndfs"):
            outcrop.load(path).check(fair="strong", **more)


@pytest.mark.parametrize(
    "more", [{}, {"strategy": "ndfs"}, {"strategy": "owcty"}, {"strategy": "owcty", "compact": True}]
)
def test_weak_fairness_is_counted_where_a_search_for_cycles_is_named(more: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "model.m"
    path.write_text(PHILOSOPHERS, encoding="utf-8")
    rows = formulas_of(outcrop.load(path).check(fair="weak", **more))
    assert {row.strategy for row in rows} == {more.get("strategy", "fair")}
    assert [row.status for row in rows] == ["violated"] * 6


def test_weak_fairness_past_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If there is no memory for the graph, the search falls back to signatures of the product that counts fairness."""
    path = tmp_path / "model.m"
    path.write_text(PHILOSOPHERS.replace("N: 3", "N: 5"), encoding="utf-8")

    def no_memory(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(fair, "FairGraph", no_memory)
    model = outcrop.load(path, ltl=["G F {exists p: phil do at[p] = 1 end}"])
    (row,) = formulas_of(model.check(fair="weak", properties=["3"]))
    assert (row.strategy, row.status) == ("owcty --compact", "holds")
    (row,) = formulas_of(model.check(fair="strong", properties=["3"]))
    assert (row.strategy, row.status) == ("fair", "unknown")
