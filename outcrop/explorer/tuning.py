"""Tuning constants of searches, as one object.

No constant changes what a search finds, only how fast and in which portions of memory. Tests pass other values to force
rare paths; bench/NOTES.md has the measurements behind the defaults.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Tuning:
    """All constants. A search takes them from its Context."""

    # The clock.
    seconds_between_looks: float = 0.1  #: time from one look at clock, limits and progress to the next
    # Levels in RAM.
    levels_a_call: int = 4096  #: levels that one kernel call may expand
    levels_a_checkpoint: int = 256  #: the same while checkpoints are kept, which know only where a call ended
    largest_before_checkpoint: int = 2048  #: level size, in states, that ends such a call
    first_lines: int | None = None  #: lines of 64 bytes that the exact table starts with; None: the kernels' choice
    wide: bool = False  #: start with 64-bit slots in the exact table
    weak_hash: bool = False  #: hash the first eight bytes of a state only, so that hashes collide

    # Blocks of levels on disk (disk, locality, serial).
    fewest_to_expand: int = 8  #: states of a piece of work
    few_successors: int = 4096  #: successors that the main thread makes itself
    most_successor_bytes: int = 1 << 20  #: bytes of successors of a piece of work

    # Caches and tables.
    first_table_bytes: int = 4 << 20  #: first size of a cache or of table M: a large one costs a small model dear
    table_growth: int = 8  #: factor by which table M grows

    # Past RAM (auto, layered).
    made_ready_from: float = 1 / 4  #: part of memory in use at which kernels for going past RAM are compiled
    forgotten_part: float = 3 / 4  #: part of the arena that is dropped when it is full
    much: float = 12  #: states on disk for a candidate in RAM from which candidates wait for the end of the level
    few_candidates: int = 4096  #: candidates that are compared one by one, without a sweep over the table
    candidate_bytes: int | None = None  #: bytes to sort a waiting candidate in; None: computed from its width

    least_states_a_worker: int = 256  #: states that memory holds for each worker, however little there is

    # Squeezing.
    least_gain: float = 1.4  #: factor by which more states must find room
    least_states: int = 1 << 15  #: states from which it is known which bits change
    spare_places: int = 16  #: places for bits that change later, at the least
    bits_a_spare_place: int = 4  #: ... and one more for this many bits that have changed
    least_spare_places: int = 8  #: ... of which this many must be left after a handover
    bytes_step: int = 4  #: squeezed states have a multiple of this many bytes
    seconds_to_compile: float = 2.0  #: compile time that pays when the search has just begun
    states_a_part: int = 4096  #: states that are handed over at a time

    # Several ranks.
    large: int = 100_000  #: states from which it pays to learn who should own which
    short_level: float = 0.02  #: seconds up to which one worker does all of a level
    filter_share: float = 1 / 40  #: memory for the filter of what was sent, as a part of what states take

    # Fair cycles.
    first_look: int = 1 << 14  #: expanded states among which fair cycles are looked for first
    times_more: int = 6  #: factor by which there must be more for the next look


DEFAULT_TUNING = Tuning()
_current = DEFAULT_TUNING


def current_tuning() -> Tuning:
    """Returns the tuning of searches that are given none."""
    return _current


@contextmanager
def tuned(**changes: Any) -> Iterator[None]:
    """Changes the tuning of searches that begin inside and are given none."""
    global _current
    before = _current
    _current = replace(before, **changes)
    try:
        yield
    finally:
        _current = before
