"""Breadth-first search in RAM, with full states.

Exact. All states lie in one arena in the order of their discovery, and a level is a range of it. The arena is
therefore queue, visited set and trace log at once. A table of indexes, with a few hash bits each, finds a state.

Costs the packed state and 5 to 9 bytes a state; 11 and more from half a billion states on. Out of memory: *unknown*.
"""

from __future__ import annotations

from functools import partial

from outcrop.explorer.arena import Arena
from outcrop.explorer.budget import kernel_settings, state_budget
from outcrop.explorer.compressing import compressed, reported
from outcrop.explorer.context import DEFAULT_CONTEXT, Context
from outcrop.explorer.explorer import Explorer
from outcrop.kernels import Native
from outcrop.options import CheckOptions
from outcrop.outcome import Outcome, Stop
from outcrop.strategies import Compression, CompressOptions


def search(native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT) -> Outcome:
    compression = options.of(CompressOptions).compress
    if compression in (Compression.TREE, Compression.QUOTIENT):
        with compressed(native, options, context, compression) as explorer:
            return reported(explorer, explorer.run(partial(breadth_first, explorer)))
    settings = kernel_settings(options, context.tuning, budget=state_budget(options))
    with native.search(settings) as kernels:
        explorer = Explorer(kernels, options, context)
        return explorer.run(partial(breadth_first, explorer))


def breadth_first(explorer: Explorer) -> Stop:
    """Expands level after level, until a level is empty."""
    arena = explorer.frontier = Arena(explorer)
    explorer.begin()
    while (stop := explorer.next_stop()) is None:
        arena.expand()  # small levels are expanded many at a time in one kernel call (native/level.c)
        explorer.level_is_complete()
    return stop
