"""State graphs as arrays: the edges of every reachable state, each with the rule that fires.

The search is that of `ram`. Then all states are expanded again, divided among the workers.
With symmetry, states stand for their orbits. That changes neither the runs nor the bisimilarity of a model as long as
labels do not name interchangeable values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from outcrop.api import Model
from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.errors import Undecided, UsageError
from outcrop.explorer.budget import state_budget, worker_count
from outcrop.explorer.context import Context
from outcrop.explorer.explorer import Explorer
from outcrop.kernels import Native, Settings
from outcrop.kernels.edges import Numbers, edges_between, joined
from outcrop.kernels.states import States
from outcrop.options import CheckOptions, Deadlock
from outcrop.outcome import Stop
from outcrop.search.ram import breadth_first

#: Number of states that an observer looks at together.
_LOOK_STATES = 1 << 16

#: Number of edges that are marked together, so that copies of them stay small.
_MARKED = 1 << 20

#: Most states: edges name their targets by 32 bits, and two graphs are numbered together.
_MOST_STATES = 2**31 - 1

Offsets = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Graph:
    """A state graph. States are numbered in breadth-first order; the first ``starts`` are start states."""

    native: Native  #: the compiled model
    starts: int
    levels: tuple[int, ...]  #: number of states of each level
    offsets: Offsets  #: first edge of each state, and the number of edges
    instances: Numbers  #: rule instance of each edge
    targets: Numbers  #: state that each edge leads to
    seconds: float  #: time of the search

    @property
    def states(self) -> int:
        return len(self.offsets) - 1

    @property
    def edges(self) -> int:
        return len(self.targets)

    @cached_property
    def fired(self) -> NDArray[np.int64]:
        """The rule instances that some edge has."""
        has_edge = np.zeros(int(self.instances.max(initial=0)) + 1, dtype=np.bool_)
        for begin in range(0, self.edges, _MARKED):
            has_edge[self.instances[begin : begin + _MARKED]] = True
        return np.flatnonzero(has_edge)

    @property
    def level_of(self) -> Numbers:
        """The level of each state."""
        return np.repeat(np.arange(len(self.levels), dtype=np.uint32), self.levels)


def graph_of(model: Model, options: CheckOptions, look: Callable[[States], None] | None = None) -> Graph:
    """Explores every reachable state, despite violations. ``look`` receives the states in blocks, in order. Raises
    Undecided if a limit ends the search."""
    system = model.system
    options = replace(options, deadlock=Deadlock.OFF, max_errors=None)
    emitted = emit(system, options.symmetry and system.allows_symmetry, instances=True)
    native = compile_model(emitted.source, notes=emitted.notes, groups=emitted.groups, kernels=())
    settings = Settings(
        workers=worker_count(options), budget=state_budget(options), most_states=options.states, most_found=1
    )
    with native.search(settings) as visited:
        explorer = Explorer(visited, options, Context())
        parts: list[tuple[Numbers, Numbers, Numbers]] = []
        outcome = explorer.run(partial(_explore, explorer, parts))
        if outcome.stop is not Stop.COMPLETE:
            raise Undecided(
                f"comparing needs all reachable states, and the search of {system.name} ended early: {outcome.stop} "
                f"after {outcome.visited:,} states. Raise the limit, or compare with smaller constants"
            )
        for begin in range(0, outcome.visited, _LOOK_STATES) if look is not None else ():
            assert look is not None
            look(visited.packed_form(visited.read_block(begin, min(outcome.visited, begin + _LOOK_STATES))))
        degrees, instances, targets = (joined(list(arrays)) for arrays in zip(*parts, strict=True))
        offsets = np.zeros(len(degrees) + 1, dtype=np.uint64)
        np.cumsum(degrees, out=offsets[1:])
        levels = tuple(size for size in outcome.levels if size)
        return Graph(native, levels[0], levels, offsets, instances, targets, outcome.seconds)


def _explore(explorer: Explorer, parts: list[tuple[Numbers, Numbers, Numbers]]) -> Stop:
    """Searches as `ram` does, then gathers the edges. ``parts`` receives those of consecutive ranges of states."""
    stop = breadth_first(explorer)
    if stop is not Stop.COMPLETE:
        return stop
    states = list(accumulate(explorer.levels))[-1]
    if states > _MOST_STATES:
        raise UsageError(
            f"the graph has {states:,} states, and at most {_MOST_STATES:,} can be compared; use smaller constants"
        )
    workers = explorer.search.workers
    cuts = [states * number // workers for number in range(workers + 1)]
    fired = int(explorer.count()[0].sum())
    room = fired if workers == 1 else fired // workers * 9 // 8  # of unequal shares, the largest
    tasks = [
        partial(edges_between, explorer.search, worker, cuts[worker], cuts[worker + 1], room + 1)
        for worker in range(workers)
    ]
    parts += explorer.parallel(*tasks)
    explorer.check_stop()
    return stop
