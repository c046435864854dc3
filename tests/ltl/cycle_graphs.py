"""Graphs with accepting nodes, the textbook test for a reachable accepting cycle, and the searches on them.

``Graph`` is run by kernels that were compiled once, from tests/kernels/graph_model.c; node 0 is the start.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from outcrop.codegen.compiler import compile_model
from outcrop.ir.graph import components
from outcrop.kernels import Native, States
from outcrop.options import CheckOptions
from outcrop.outcome import FindingKind, Outcome, Stop
from outcrop.search import ndfs, owcty

#: Options of each search, with so little memory that the system need not prepare large pages.
SEARCHES = {
    "ndfs": CheckOptions(strategy="ndfs", threads=1, state_memory=4 << 20),
    "owcty": CheckOptions(strategy="owcty", threads=1, state_memory=4 << 20),
    "owcty, two threads": CheckOptions(strategy="owcty", threads=2, state_memory=4 << 20),
    "owcty --compact": CheckOptions(strategy="owcty", compact=True, bits=64, threads=1, state_memory=40 << 20),
}


class Graph:
    def __init__(self, successors: list[list[int]], accepting: set[int]) -> None:
        self.successors = successors
        self.accepting = accepting

    def reachable(self) -> set[int]:
        seen, waiting = {0}, [0]
        while waiting:
            for target in self.successors[waiting.pop()]:
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return seen

    def has_accepting_cycle(self) -> bool:
        """Returns whether a reachable strongly connected component with an edge has an accepting node."""
        reachable = self.reachable()
        for component in components(self.successors):
            members = set(component)
            has_edge = any(target in members for node in component for target in self.successors[node])
            if has_edge and members & reachable & self.accepting:
                return True
        return False

    # --- Kernels -----------------------------------------------------------------------------------------------

    def native(self, strength: str = "general") -> Native:
        """Returns the compiled graph. Only one can be in use at a time."""
        native = _compiled()
        native.strength = strength
        self.give_to(native)
        return native

    def give_to(self, native: Native) -> None:
        counts = [len(targets) for targets in self.successors]
        self._first = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32)
        self._targets = np.array([each for targets in self.successors for each in targets] or [0], dtype=np.uint32)
        self._accepts = np.zeros(len(self.successors), dtype=np.uint8)
        self._accepts[list(self.accepting)] = 1
        library = native.library_declaring(
            "void graph_set(const uint32_t *first, const uint32_t *targets, const uint8_t *accepts);"
        )
        library.graph_set(self._first.ctypes.data, self._targets.ctypes.data, self._accepts.ctypes.data)

    def states(self, nodes: list[int]) -> States:
        """Returns the packed states of some nodes."""
        rows = np.zeros((len(nodes), 9), dtype=np.uint8)
        for row, node in zip(rows, nodes, strict=True):
            row[:4] = list(node.to_bytes(4, "little"))
            row[5:] = list((node * 2654435761 % 2**32).to_bytes(4, "little"))
        return rows

    def search(self, options: CheckOptions, strength: str = "general") -> Outcome:
        """Returns the outcome of a search, after checking its lasso if there is one."""
        strategy = ndfs if options.strategy == "ndfs" else owcty
        outcome = strategy.search(self.native(strength), options)
        assert (outcome.stop is Stop.VIOLATION) == bool(outcome.findings)
        for finding in outcome.findings:
            assert finding.kind is FindingKind.LASSO
            assert finding.loop_start is not None
            self.check_lasso([int.from_bytes(state[:4], "little") for state in finding.path], finding.loop_start)
        return outcome

    def check_lasso(self, path: list[int], loop_start: int) -> None:
        assert path[0] == 0
        for node, following in zip(path, [*path[1:], path[loop_start]], strict=True):
            assert following in self.successors[node]
        assert self.accepting.intersection(path[loop_start:])


@cache
def _compiled() -> Native:
    return compile_model((Path(__file__).parent.parent / "kernels" / "graph_model.c").read_text())


def random_graphs(seed: int, count: int, most_nodes: int = 40) -> Iterator[Graph]:
    """Yields graphs of many shapes: sparse and dense, long and round, with many and with few accepting nodes."""
    chance = random.Random(seed)
    for _ in range(count):
        nodes = chance.randint(1, most_nodes)
        degree = chance.choice([0.6, 1.0, 1.5, 2.5, 4.0])
        reach = chance.choice([2, 5, nodes])
        backwards = chance.choice([0.0, 0.02, 0.1, 0.5])
        successors: list[list[int]] = [[] for _ in range(nodes)]
        for node in range(nodes):
            if node:
                successors[max(0, node - chance.randint(1, reach))].append(node)
            for _ in range(round(chance.expovariate(1 / degree))):
                is_back = chance.random() < backwards
                low, high = (0, node) if is_back else (min(node + 1, nodes - 1), min(node + reach, nodes - 1))
                successors[node].append(chance.randint(low, high))
        share = chance.choice([0.05, 0.2, 0.6])
        yield Graph(successors, {node for node in range(nodes) if chance.random() < share})


def weakened(graph: Graph) -> Graph:
    """Returns the graph with components that accept as a whole."""
    accepting: set[int] = set()
    for component in components(graph.successors):
        if component[0] in graph.accepting:
            accepting.update(component)
    return Graph(graph.successors, accepting)


def terminated(graph: Graph) -> Graph:
    """Returns the graph with all nodes after an accepting node accepting, and without dead ends."""
    successors = [targets or [node] for node, targets in enumerate(graph.successors)]
    accepting, waiting = set(graph.accepting), list(graph.accepting)
    while waiting:
        for target in successors[waiting.pop()]:
            if target not in accepting:
                accepting.add(target)
                waiting.append(target)
    return Graph(successors, accepting)
