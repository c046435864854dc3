"""Bitstate hashing: breadth-first search that remembers a few bits of each state, for models that nothing else fits.

G. J. Holzmann, "An analysis of bitstate hashing" (1998), known as SPIN's supertrace. Each state sets k bits of a large
array, at places that k hash functions choose, and is taken for visited when all of them are set already. So states are
missed, and with them all that only they lead to.

A violation is real, and its trace a shortest one among the states visited. *Holds* is never claimed: a search that ends
without a violation is *unknown*, with the number of states visited, a lower bound, and about what part of all that is.
With several threads, which states are missed depends on which come first.

The queue is a file, as in ``compact``, from which traces are rebuilt. Costs the array, which takes all memory for
states, and on disk the packed state for each one visited.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from outcrop.explorer.budget import state_budget
from outcrop.explorer.context import DEFAULT_CONTEXT, Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.file_arena import QUEUE_SHARE, queue_on_disk
from outcrop.kernels import Native
from outcrop.kernels.bitstate import BitSet
from outcrop.options import CheckOptions
from outcrop.outcome import Outcome, Stop
from outcrop.search.ram import breadth_first
from outcrop.strategies import BitstateOptions

#: Steps in which the sum over all states is taken.
_STEPS = 1000


@dataclass(frozen=True)
class BitTable:
    """The array, as far as results depend on it."""

    keys: str
    bits: None = None
    revisits: bool = False
    drops_revisited: bool = True
    counts_deeper: bool = False
    collision_rate: None = None

    def omission_bound(self, levels: list[int]) -> float:
        return 1.0


def search(native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT) -> Outcome:
    functions, memory = options.of(BitstateOptions).hash_functions, state_budget(options)
    room = memory - int(memory * QUEUE_SHARE)
    with (
        queue_on_disk(native, options, context, first_lines=1) as explorer,
        closing(BitSet(explorer.search, room, functions)) as bits,
    ):
        explorer.visited = BitTable(f"bitstate, {bits.bits} bits, {functions} functions, seed {options.seed}")
        outcome = explorer.run(partial(supertrace, explorer))
        return replace(outcome, signature_coverage=expected_coverage(outcome.visited, bits.bits, functions))


def supertrace(explorer: Explorer) -> Stop:
    """Expands all states that are found. Nothing is left in the end, and nothing is proved."""
    stop = breadth_first(explorer)
    return Stop.COVERAGE if stop is Stop.COMPLETE else stop


def expected_coverage(states: int, bits: int, functions: int) -> float:
    """Returns about what part of the states was visited, if this many were. A state is missed when all of its bits are
    set by others: with probability p^k, where p is the part of the array that is set then. States that only a missed
    one leads to come on top of what is missed.

    >>> expected_coverage(1000, 8000, 3) > expected_coverage(1000, 2000, 3)
    True
    """
    missed = 0.0
    for step in range(_STEPS):
        before = states * (step + 0.5) / _STEPS
        part_set = 1.0 - (1.0 - 1.0 / bits) ** (functions * before)
        chance = part_set**functions
        missed += states / _STEPS * (chance / (1.0 - chance) if chance < 1.0 else states)
    return states / (states + missed) if states else 1.0
