"""Every search for accepting cycles against strongly connected components, on random graphs."""

from __future__ import annotations

import pytest

from outcrop.search.outcome import Stop
from tests.ltl.graphs import SEARCHES, Graph, random_graphs, terminated, weakened


@pytest.mark.parametrize("name", SEARCHES)
def test_a_cycle_is_found_where_there_is_one(name: str) -> None:
    verdicts = set()
    for graph in random_graphs(1, 1500):
        expected = graph.has_accepting_cycle()
        verdicts.add(expected)
        assert (graph.search(SEARCHES[name]).stop is Stop.VIOLATION) == expected
    assert verdicts == {True, False}


@pytest.mark.parametrize("change", [weakened, terminated])
@pytest.mark.parametrize("name", ["owcty", "owcty, two threads", "owcty --compact"])
def test_automata_with_which_less_needs_to_be_done(name: str, change: object) -> None:
    strength = "weak" if change is weakened else "terminal"
    for graph in map(change, random_graphs(2, 700)):  # type: ignore[arg-type]
        assert (graph.search(SEARCHES[name], strength).stop is Stop.VIOLATION) == graph.has_accepting_cycle()
