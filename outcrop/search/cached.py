"""Breadth-first search with a cache of fixed size in place of the table of visited states.

G. Della Penna, B. Intrigila, I. Melatti, E. Tronci, M. Venturini Zilli, "Exploiting transition locality in automatic
verification of finite-state concurrent systems" (2004), section 4 (CBFS).

The cache T forgets: a state that was overwritten and is met again counts as new and is visited again. As most
transitions lead to states of nearby levels, it is mostly enough to remember the recent ones. When the search ends,
every reachable state has been visited: *holds* is exact, or with signatures as good as their omission bound, which the
paper shows to be that of a table. It need not end. So it is given up, as *unknown*, once the collision rate, the share
of insertions that overwrote a state, passes a limit: nearly everything is being forgotten.

Replacement ``random`` is the published one. ``idle`` is ours: what is overwritten is drawn from the entries that were
not met lately. It keeps the recent levels nearly whole, and old states that transitions keep leading back to.

The queue is the arena, as in ``compact``: a file without a name, of which memory holds what is being read and written.
All states stay in it, in the order of their discovery, and traces are rebuilt from it.

Costs less than the packed state, or the signature, for each state that is remembered (see native/cache.c), and on disk
the packed state for each visit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate

from outcrop.kernels import Native, Search, Settings
from outcrop.kernels_tables import Cache
from outcrop.options import CheckOptions, Keep, Replacement
from outcrop.search.blockwise import refuse_liveness
from outcrop.search.budget import state_budget, worker_count
from outcrop.search.compact import disk_limit, nameless_file, omission_bound
from outcrop.search.driver import DEADLOCK_RULES, Exploration, ShowProgress, TakePut, most_found
from outcrop.search.outcome import Outcome, Stop
from outcrop.store.workdir import work_place

#: Of signatures in RAM, as in the paper.
_BITS = 40
#: The cache's size at first. A large one for a small model would cost its memory for nothing.
_FIRST_BYTES = 4 << 20
#: The share of memory that the two ends of the queue may take: see arena.c.
_QUEUE_SHARE = 3 / 32
#: The share of the disk that the queue may take where there are other files: all states will be in a checkpoint too, or
#: in the log of another strategy.
DISK_SHARE = 3 / 8


def search(
    native: Native, options: CheckOptions, progress: ShowProgress | None = None, put: TakePut | None = None
) -> Outcome:
    bits = (options.bits or _BITS) if options.keep is Keep.SIGNATURES else None
    has_checkpoints = options.checkpoint is not None or options.resume is not None
    share = DISK_SHARE if has_checkpoints else 1.0
    with queue_on_disk(native, options, share) as visited:
        return Cached(visited, options, progress, put, bits, share).run()


@contextmanager
def queue_on_disk(native: Native, options: CheckOptions, share: float) -> Iterator[Search]:
    """A search whose arena is a file, which may take some share of the disk budget."""
    refuse_liveness(native, options)
    directory = work_place(options.workdir)
    with nameless_file(directory) as file:
        settings = Settings(
            workers=worker_count(options),
            seed=options.seed,
            deadlock=DEADLOCK_RULES[options.deadlock],
            budget=state_budget(options),
            most_states=options.states,
            most_found=most_found(options),
            first_lines=1,
            file=file,
            disk_limit=disk_limit(options, directory, share),
        )
        with native.search(settings) as search:
            yield search


class Cached(Exploration):
    """``bits`` None keeps states. ``share``: of the disk budget, for the queue."""

    knows_levels = False
    bytes_beside = 0  #: that each worker may take beside cache and queue

    def __init__(
        self,
        search: Search,
        options: CheckOptions,
        progress: ShowProgress | None,
        put: TakePut | None,
        bits: int | None,
        share: float,
    ) -> None:
        super().__init__(search, options, progress, put)
        if options.disk is not None:
            self.disk.limit = options.disk - int(options.disk * share)
        self.bits = bits
        self.memory = state_budget(options, self.bytes_beside)
        most_bytes = self.memory - int(self.memory * _QUEUE_SHARE)
        self.T = Cache(
            search,
            min(_FIRST_BYTES, most_bytes),
            bits,
            options.chain,
            idle=options.replacement is Replacement.IDLE,
            seed=options.seed,
            most_bytes=most_bytes,
            most_collisions=self.most_collisions,
        )

    @property
    def most_collisions(self) -> float:
        """The collision rate past which no more blocks of states are expanded."""
        return self.options.collision_limit

    def run(self) -> Outcome:
        try:
            return super().run()
        finally:
            if not self.search.is_abandoned:
                self.T.close()

    def stop_reason(self) -> Stop | None:
        return Stop.COLLISIONS if self.T.gives_up else super().stop_reason()

    @property
    def collision_rate(self) -> float | None:
        return self.T.collision_rate

    @property
    def revisits(self) -> bool:
        return self.T.has_forgotten

    @property
    def owner_bits(self) -> int:  # type: ignore[override]
        return self.bits or 64

    @property
    def keys(self) -> str:  # type: ignore[override]
        return "" if self.bits is None else f"{self.options.strategy}, {self.bits} bits, seed {self.options.seed}"

    def bytes_in_memory(self) -> int:
        return self.T.bytes + self.search.standing().memory

    def omission_bound(self, levels: list[int]) -> float:
        return 0.0 if self.bits is None else omission_bound(accumulate(levels), self.bits)
