"""Tuning constants of searches, as one object.

No constant changes what a search finds: only its speed and the sizes of its buffers. Tests pass other values to force
rare paths. bench/NOTES.md has the measurements behind the defaults.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Tuning:
    """All tuning constants. A search takes them from its Context."""

    # The clock.
    seconds_between_looks: float = 0.1  #: interval at which clock, limits and progress are polled
    # Levels in RAM.
    levels_a_call: int = 4096  #: most levels that one kernel call expands
    levels_a_checkpoint: int = 256  #: same with checkpoints, which can only be taken where a call ends
    largest_before_checkpoint: int = 2048  #: level size, in states, that ends such a call
    first_lines: int | None = None  #: 64-byte lines that the exact table starts with; None: default of the kernels
    wide: bool = False  #: whether the exact table starts with 64-bit slots
    weak_hash: bool = False  #: hash little of a state, past RAM and in compressed searches, so that hashes collide

    # Blocks of levels on disk (disk, locality, serial).
    fewest_to_expand: int = 8  #: fewest states expanded in one block
    few_successors: int = 4096  #: number of successors below which the main thread works alone
    most_successor_bytes: int = 1 << 20  #: most bytes of successors of one block

    # Caches and tables.
    first_table_bytes: int = 4 << 20  #: first size of a cache or of table M; a larger one would slow small models down
    table_growth: int = 8  #: factor by which table M grows

    # Past RAM (auto, layered).
    made_ready_from: float = 1 / 4  #: fraction of memory in use at which kernels for going past RAM are compiled
    forgotten_part: float = 3 / 4  #: fraction of the arena that is dropped when it is full
    much: float = 12  #: states on disk for each candidate in RAM from which candidates wait for the end of the level
    few_candidates: int = 4096  #: number of candidates below which each is looked up, without a sweep over the table
    candidate_bytes: int | None = None  #: memory for sorting a waiting candidate; None: computed from its width

    least_states_a_worker: int = 256  #: fewest states that the memory budget must hold for each worker

    # Squeezing.
    least_gain: float = 1.4  #: smallest factor by which more states must fit in memory
    least_states: int = 1 << 15  #: number of states from which the changing bits count as known
    spare_places: int = 16  #: fewest places for bits that change later
    bits_a_spare_place: int = 4  #: ... plus one for each of this many changing bits
    least_spare_places: int = 8  #: ... of which this many must be free after a handover
    bytes_step: int = 4  #: the width of squeezed states is a multiple of this many bytes
    seconds_to_compile: float = 2.0  #: compile time that pays when the search has just begun
    states_a_part: int = 4096  #: number of states handed over at a time

    # Compressing.
    sampled_states: int = 1 << 16  #: states by which the shape of trees is chosen
    least_compressed: int = 1 << 15  #: states from which it pays
    least_compressed_bytes: int = 56  #: ... if they are at least this wide, in bytes; narrower ones are faster on disk

    # Several ranks.
    large: int = 100_000  #: number of states from which learning the ownership pays
    short_level: float = 0.02  #: duration of a level, in seconds, up to which one worker does all of it
    filter_share: float = 1 / 40  #: memory for the filter of sent states, as a fraction of the state memory

    # Fair cycles.
    first_look: int = 1 << 14  #: number of expanded states at the first check for fair cycles
    times_more: int = 6  #: factor by which that number grows until the next check


DEFAULT_TUNING = Tuning()
_current = DEFAULT_TUNING


def current_tuning() -> Tuning:
    """Returns the tuning of searches whose context has none."""
    return _current


@contextmanager
def tuned(**changes: Any) -> Iterator[None]:
    """Changes the tuning of the searches that start inside the block and have none of their own."""
    global _current
    before = _current
    _current = replace(before, **changes)
    try:
        yield
    finally:
        _current = before
