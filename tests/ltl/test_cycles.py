"""Searches for accepting cycles, compared with strongly connected components, on random and hand-made graphs."""

from __future__ import annotations

import dataclasses
import os
import signal
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from cycle_graphs import SEARCHES, Graph, random_graphs, terminated, weakened

import outcrop
from outcrop.errors import UsageError
from outcrop.explorer.context import Context
from outcrop.explorer.tuning import Tuning
from outcrop.explorer.visited import expected_coverage
from outcrop.kernels import Settings
from outcrop.kernels.tables import hash_block
from outcrop.options import CheckOptions
from outcrop.outcome import Outcome, Stop
from outcrop.search import ndfs, owcty
from outcrop.search.owcty_compact import CompactedOwcty

COMPACT = SEARCHES["owcty --compact"]


@pytest.mark.parametrize("name", SEARCHES)
def test_a_cycle_is_found_where_there_is_one(name: str) -> None:
    verdicts = set()
    for graph in random_graphs(1, 250 if "compact" in name else 1000):
        expected = graph.has_accepting_cycle()
        verdicts.add(expected)
        assert (graph.search(SEARCHES[name]).stop is Stop.VIOLATION) == expected
    assert verdicts == {True, False}


@pytest.mark.parametrize("change", [weakened, terminated])
@pytest.mark.parametrize("name", ["owcty", "owcty, two threads", "owcty --compact"])
def test_automata_with_which_less_needs_to_be_done(name: str, change: Callable[[Graph], Graph]) -> None:
    strength = "weak" if change is weakened else "terminal"
    for graph in map(change, random_graphs(2, 150 if "compact" in name else 500)):
        assert (graph.search(SEARCHES[name], strength).stop is Stop.VIOLATION) == graph.has_accepting_cycle()


def test_a_run_that_an_assumption_ends_is_no_violation() -> None:
    """The automaton is terminal, but its accepting state has no successor."""
    graph = Graph([[0, 1], []], {1})
    assert graph.search(SEARCHES["owcty"], "terminal").stop is Stop.COMPLETE
    graph = Graph([[1], [2], []], {1, 2})
    assert graph.search(SEARCHES["owcty"], "terminal").stop is Stop.COMPLETE


# --- Larger graphs, many workers ---------------------------------------------------------------------------------


def large_graph(seed: int, nodes: int, *, has_cycle: bool) -> Graph:
    """Returns a graph with wide levels and cycles in most places, and an accepting one only at the end, if at all."""
    chance = Random(seed)
    successors = [[chance.randint(0, nodes - 1) for _ in range(3)] for _ in range(nodes)]
    tail = [[nodes + node + 1] for node in range(500)]
    tail[-1] = [nodes + 250] if has_cycle else []
    successors[nodes // 2].append(nodes)
    return Graph(successors + tail, set(range(nodes, nodes + 500)))


def essence(outcome: Outcome) -> object:
    return outcome.stop, outcome.levels, outcome.fired, outcome.findings


@pytest.mark.parametrize("has_cycle", [False, True])
@pytest.mark.parametrize("strength", ["general", "weak"])
def test_the_number_of_workers_changes_nothing(has_cycle: bool, strength: str) -> None:
    graph = large_graph(1, 20_000, has_cycle=has_cycle)
    outcomes = [graph.search(CheckOptions(strategy="owcty", threads=threads), strength) for threads in (1, 2, 3)]
    assert len({repr(essence(outcome)) for outcome in outcomes}) == 1
    assert outcomes[0].stop is (Stop.VIOLATION if has_cycle else Stop.COMPLETE)


def test_lassos_are_short() -> None:
    """A lasso has a shortest path to the first cycle that is closed, and a shortest cycle there."""
    graph = Graph([[1, 2], [3], [4], [5], [], [6], [5, 7], [3]], {5})
    for name in SEARCHES:
        (finding,) = graph.search(SEARCHES[name]).findings
        assert (len(finding.path), finding.loop_start) == (5, 3), name


@pytest.mark.parametrize("name", SEARCHES)
def test_a_chain_that_unravels_state_by_state(name: str) -> None:
    """Elimination, and the depth-first stack, reach their greatest depth."""
    nodes = 30_000
    chain = [[node + 1] for node in range(nodes - 1)] + [[]]
    graph = Graph(chain, set(range(nodes)))
    outcome = graph.search(dataclasses.replace(SEARCHES[name], state_memory=96 << 20))
    assert (outcome.stop, sum(outcome.levels)) == (Stop.COMPLETE, nodes)


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("strength", ["general", "weak"])
def test_a_cycle_behind_much_that_is_eliminated(name: str, strength: str) -> None:
    """There are more accepting states than a block has, each with two predecessors: none may be removed twice."""
    nodes = 12_000
    successors = [[node + 1, min(node + 2, nodes - 1)] for node in range(nodes - 1)] + [[nodes - 500]]
    outcome = Graph(successors, set(range(nodes))).search(
        dataclasses.replace(SEARCHES[name], state_memory=64 << 20), strength
    )
    assert outcome.stop is Stop.VIOLATION


# --- Many predecessors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("has_cycle", [False, True])
def test_more_predecessors_than_a_note_holds(name: str, has_cycle: bool) -> None:
    """One accepting state leads to thousands that all lead to one. Without a path back all must be eliminated."""
    fan = 5000
    successors = [[1], list(range(2, fan + 2)), *([fan + 2] for _ in range(fan)), [1] if has_cycle else []]
    outcome = Graph(successors, {1}).search(SEARCHES[name])
    assert outcome.stop is (Stop.VIOLATION if has_cycle else Stop.COMPLETE)


# --- False cycles -------------------------------------------------------------------------------------------------


def seeds_for(graph: Graph, alike: set[int], bits: int = 4) -> list[int]:
    """Returns seeds of the hash with which these nodes, and no others of the graph, have the same signature."""
    native = graph.native()
    nodes = sorted(graph.reachable())
    found = []
    for seed in range(60_000):
        with native.search(Settings(bits=bits, seed=seed)) as search:
            hashes = hash_block(search, graph.states(nodes))
        signatures = [int(each) >> (64 - bits) for each in hashes]
        shared = {signatures[nodes.index(node)] for node in alike}
        others = {signatures[nodes.index(node)] for node in nodes if node not in alike}
        if len(shared) == 1 and len(others) == len(nodes) - len(alike) and not shared & others:
            found.append(seed)
            if len(found) == 3:
                break
    assert found
    return found


#: Figure 1 of the paper: the accepting s1 leads, through s*, to s2, which has the same signature.
FIGURE_1 = (Graph([[1], [2], [3], []], {1}), {1, 3})
#: Figure 1 with an accepting s2, and with a successor of it.
FIGURE_1_ACCEPTING = (Graph([[1], [2], [3], [4], []], {1, 3}), {1, 3})
#: Figure 2: three accepting states of one signature, each of which leads to the next. S changes from one iteration to
#: the next, but keeps its size.
FIGURE_2 = (Graph([[1], [2], [3], [4], [5], [6], [7], []], {1, 3, 5}), {1, 3, 5})
FIGURE_2_SHORT = (Graph([[1], [2], [3], []], {1, 2, 3}), {1, 2, 3})


@pytest.mark.parametrize("figure", [FIGURE_1, FIGURE_1_ACCEPTING, FIGURE_2, FIGURE_2_SHORT])
def test_what_only_signatures_make_a_cycle_is_none(figure: tuple[Graph, set[int]]) -> None:
    graph, alike = figure
    for seed in seeds_for(graph, alike):
        outcome = graph.search(dataclasses.replace(COMPACT, bits=4, seed=seed))
        assert outcome.stop is Stop.COMPLETE
        assert outcome.omission_bound > 0.05


def test_an_end_without_a_fixpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the paper says of its Figure 2: S keeps its size, though not its members, and verification must decide."""
    graph, alike = FIGURE_2
    verify, sizes = CompactedOwcty.VERIFICATION, []

    def verification(self: CompactedOwcty) -> None:
        sizes.append(self.S.size)
        verify(self)

    monkeypatch.setattr(CompactedOwcty, "VERIFICATION", verification)
    for seed in seeds_for(graph, alike):
        graph.search(dataclasses.replace(COMPACT, bits=4, seed=seed))
    assert sizes
    assert all(sizes)


@pytest.mark.parametrize(("bits", "least_found"), [(4, 0.2), (8, 0.85)])
@pytest.mark.parametrize("strength", ["general", "weak"])
def test_no_cycle_is_made_up_however_few_the_bits(bits: int, least_found: float, strength: str) -> None:
    cycles = found = 0
    for number, graph in enumerate(random_graphs(3, 120)):
        graph = weakened(graph) if strength == "weak" else graph
        outcome = graph.search(dataclasses.replace(COMPACT, bits=bits, seed=number), strength)
        cycles += graph.has_accepting_cycle()
        found += bool(outcome.findings)
        assert graph.has_accepting_cycle() or not outcome.findings
    assert found > least_found * cycles  # few bits miss some of them


def test_coverage() -> None:
    """The graph is so well connected that almost nothing is missed because its predecessors were."""
    graph = Graph(large_graph(5, 20_000, has_cycle=False).successors[:20_000], {20_000 - 1})
    graph.successors[10_000].pop()
    outcome = graph.search(dataclasses.replace(COMPACT, bits=24))
    assert outcome.signature_coverage == pytest.approx(sum(outcome.levels) / len(graph.reachable()), abs=0.001)
    assert outcome.signature_coverage != 1
    assert expected_coverage(6_000_000, 32) == pytest.approx(0.9993, abs=0.0001)


# --- Limits -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SEARCHES)
def test_out_of_memory(name: str) -> None:
    nodes = 400_000
    later = [[node + 1, min(nodes - 1, 2 * node + 2)] for node in range(nodes - 1)]
    graph = Graph([*later, []], set(range(0, nodes, 2)))
    least = 5 << 20 if "compact" in name else 1 << 20
    stops = [
        graph.search(dataclasses.replace(SEARCHES[name], state_memory=least + (megabytes << 20))).stop
        for megabytes in (0, 3, 7, 100)
    ]
    assert stops[0] is Stop.MEMORY
    assert set(stops) == {Stop.MEMORY, Stop.COMPLETE}
    assert stops[-1] is Stop.COMPLETE


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize(("limit", "stop"), [({"states": 100}, Stop.STATES), ({"time_limit": 0.0}, Stop.TIME)])
def test_limits(name: str, limit: dict[str, float], stop: Stop) -> None:
    graph = large_graph(1, 100_000, has_cycle=False)
    options = dataclasses.replace(SEARCHES[name], state_memory=96 << 20, **limit)  # type: ignore[arg-type]
    assert graph.search(options).stop is stop


def _interrupt_once() -> Callable[[object], None]:
    seen: list[object] = []

    def interrupt(snapshot: object) -> None:
        if not seen:
            os.kill(os.getpid(), signal.SIGINT)
        seen.append(snapshot)

    return interrupt


@pytest.mark.parametrize("name", SEARCHES)
def test_interrupt(name: str) -> None:
    native = large_graph(1, 100_000, has_cycle=False).native()
    strategy = ndfs if name == "ndfs" else owcty
    options = dataclasses.replace(SEARCHES[name], state_memory=96 << 20)
    context = Context(progress=_interrupt_once(), tuning=Tuning(seconds_between_looks=0.0))
    outcome = strategy.search(native, options, context)
    assert (outcome.stop, outcome.findings) == (Stop.INTERRUPTED, [])


@pytest.mark.parametrize("strategy", [ndfs, owcty])
def test_interrupt_while_a_cycle_is_traced(strategy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interruption of the tracing must not count as the absence of a cycle."""
    traced, interrupt = strategy.shortest_path, _interrupt_once()

    def interrupted(*arguments: Any, **keywords: Any) -> Any:
        interrupt(arguments)
        return traced(*arguments, **keywords)

    monkeypatch.setattr(strategy, "shortest_path", interrupted)
    graph = large_graph(1, 1_000, has_cycle=True)
    outcome = strategy.search(graph.native(), SEARCHES[strategy.__name__.split(".")[-1]])
    assert (outcome.stop, outcome.findings) == (Stop.INTERRUPTED, [])


@pytest.mark.parametrize("name", ["ndfs", "owcty"])
def test_checkpoints_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.m"
    path.write_text("var x: 0..1; startstate x := 0; end; rule begin x := 1 - x; end;")
    model = outcrop.load(path, ltl=["G F {x = 1}"])
    with pytest.raises(UsageError, match="writes no checkpoints"):
        model.check(strategy=name, checkpoint=str(tmp_path / "somewhere"))
