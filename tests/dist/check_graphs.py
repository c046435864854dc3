"""Searches random graphs for accepting cycles, and prints each result as JSON. Runs under mpiexec, or alone."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "ltl"))

from cycle_graphs import SEARCHES, random_graphs, terminated, weakened

from outcrop.dist.launch import started_ranks
from outcrop.dist.transport import transport_of


def main() -> None:
    ranks = started_ranks()
    exchange = transport_of(ranks)
    name, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    for number, graph in enumerate(islice(random_graphs(seed, count), count)):
        strength = ("general", "weak", "terminal")[number % 3]
        shaped = {"general": lambda each: each, "weak": weakened, "terminal": terminated}[strength](graph)
        # Two threads in every fourth graph, and enough disk for the queues of a compacted search.
        options = replace(SEARCHES[name], ranks=ranks, threads=1 + (number % 4 == 0))
        outcome = shaped.search(options, strength)
        expected = shaped.has_accepting_cycle()
        assert (outcome.stop.name == "VIOLATION") == expected, (number, strength, outcome.stop)
        if exchange.rank == 0:
            lassos = [(list(map(bytes.hex, each.path)), each.loop_start) for each in outcome.findings]
            print(json.dumps([outcome.stop.name, outcome.levels, sum(outcome.fired), lassos]))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
