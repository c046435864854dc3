"""Bitstate hashing: breadth-first search that remembers a few bits a state, for models that nothing else can hold.

G. J. Holzmann, "An analysis of bitstate hashing" (1998), known as SPIN's supertrace. Each state sets k bits of a large
bit array; k hash functions choose them. A state whose bits are all set counts as visited. The search therefore misses
states, and all states that only the missed ones lead to.

A violation is real, and its trace is a shortest one among the visited states. The search never claims *holds*: if it
ends without a violation, the verdict is *unknown*, with the number of visited states and an estimate of the coverage.
With several threads, the order of discovery decides which states are missed.

The queue is a file, as in ``compact``, and traces are rebuilt from it. Costs the whole state memory for the bit array,
and the packed state on disk for each visited state.
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

#: Number of steps in the numerical integration over the visited states.
_STEPS = 1000


@dataclass(frozen=True)
class BitTable:
    """The bit array as a Visited set: it proves nothing, so its omission bound is 1."""

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
    """Expands all states that are found. A complete search ends with Stop.COVERAGE, because it proves nothing."""
    stop = breadth_first(explorer)
    return Stop.COVERAGE if stop is Stop.COMPLETE else stop


def expected_coverage(states: int, bits: int, functions: int) -> float:
    """Returns the estimated fraction of the reachable states that was visited.

    A state is missed when other states have set all of its bits. The probability is p^k, where p is the fraction of the
    array that is set at that time. The estimate does not include states that only missed states lead to.

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
