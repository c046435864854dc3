"""The Exchange: it routes successors to the ranks that own them, and lets all ranks agree on levels.

A search calls its exchange, and never asks whether there are other ranks. LocalExchange is for a single process: it
owns every state, so routing is the identity and every agreement is its own value. SharedExchange, for several ranks, is
in shared.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from outcrop.dist.transport import transport_of
from outcrop.kernels import States
from outcrop.outcome import LayerReport, Outcome, Progress, Stop, Stopped

if TYPE_CHECKING:
    from outcrop.dist.levels import Levels
    from outcrop.dist.shared import SharedExchange
    from outcrop.explorer.explorer import Explorer
    from outcrop.explorer.frontier import ExpandPart, LevelsInArena
    from outcrop.explorer.paths import Look
    from outcrop.kernels.route import Message
    from outcrop.store.checkpoint import Manifest

    Exchange: TypeAlias = "LocalExchange | SharedExchange"

_Value = TypeVar("_Value")
#: Sends what a worker has generated for other ranks.
Send = Callable[[int], None]
#: Takes successors that this rank owns.
Take = Callable[[], None]


def open_exchange(explorer: Explorer) -> Exchange:
    """Opens the exchange of a search over the number of ranks in its options."""
    transport = transport_of(explorer.options.ranks)
    if transport.size == 1:
        return LocalExchange(explorer)
    from outcrop.dist.shared import SharedExchange  # few searches need it

    return SharedExchange(explorer, transport)


class LocalExchange:
    """The exchange of a single process: the identity."""

    holds_all_states = True  #: whether this rank owns every state
    is_first = True  #: whether this is the first rank, which prints
    sends_states = False  #: whether successors must be sent to their owners

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer

    @property
    def totals(self) -> Levels:
        """Sizes of the levels over all ranks."""
        return self._explorer.levels

    # --- Levels ------------------------------------------------------------------------------------------------

    def expand_arena(self, arena: LevelsInArena) -> None:
        """Expands the newest level of an arena; in a single process, many levels in one kernel call."""
        arena.expand_levels()

    def fill_level(self, expand: ExpandPart, pieces: int | None = None) -> None:
        """Fills a level. ``expand`` generates some successors in a worker, and returns whether there may be more.
        ``pieces``: number of blocks; more workers are not woken, because waking them would dominate thin levels."""
        explorer = self._explorer
        workers = explorer.search.workers if pieces is None else min(explorer.search.workers, pieces)
        further: ExpandPart | None = expand
        while further is not None:
            explorer.parallel(*(partial(self._work, worker, further) for worker in range(workers)))
            is_full = explorer.stop_reason() is Stop.MEMORY
            further = explorer.frontier.go_past_memory(further) if is_full else None
        explorer.check_stop()

    def _work(self, worker: int, expand: ExpandPart) -> None:
        while not self._explorer.search.is_stopping() and expand(worker):
            pass

    def route_successors(self, expansions: Callable[[Send], Iterable[Take]], insert: Callable[[States], None]) -> None:
        """Takes successors in the order of generation, and inserts those of other ranks."""
        for take in expansions(lambda worker: None):
            take()

    def work_phase(
        self,
        work: Callable[[int], None],
        part: ExpandPart,
        add: Callable[[int, Message], None],
        has_work: Callable[[], bool],
    ) -> None:
        """Runs work that creates more work until none is left. In a single process, all workers run ``work``; with
        several ranks they run ``part`` and ``add`` in rounds."""
        explorer = self._explorer
        explorer.parallel(*(partial(work, worker) for worker in range(explorer.search.workers)))
        explorer.check_stop()

    def work_rounds(
        self, expand: ExpandPart, add: Callable[[int, Message], None], has_work: Callable[[], bool]
    ) -> None:
        """Runs rounds of work that creates more work, on any rank, until no rank has any left."""
        self.work_round(expand, add)
        while has_work():
            self.work_round(expand, add)

    def work_round(self, expand: ExpandPart, add: Callable[[int, Message], None], workers: int | None = None) -> None:
        """Runs one round of work, in all workers unless a number is given."""
        explorer = self._explorer
        count = explorer.search.workers if workers is None else workers
        explorer.parallel(*(partial(self._work, worker, expand) for worker in range(count)))
        explorer.check_stop()

    # --- Agreements --------------------------------------------------------------------------------------------

    def agree_on_level(self, size: int, stop: Stop | None) -> Stop | None:
        """Returns why the search must stop after a level of this size, or None."""
        self._explorer.printing.end_level()
        return stop

    def review_owners(self) -> None:
        """Raises Restart if states should have other owners. A single process owns all of them."""

    def agree_to_go_on(self, must: Stop | None = None) -> None:
        """Raises Stopped if the search must stop. ``must``: the reason, if this rank has one."""
        if must is not None:
            raise Stopped(must)
        self._explorer.check_stop()

    def gather(self, value: _Value) -> list[_Value]:
        """Returns the values of all ranks."""
        return [value]

    def level_of(self, level: int | None) -> int | None:
        """Returns the level of a state, if any rank knows it."""
        return level

    def found_by_all(self, found: list[bytes]) -> list[bytes]:
        """Returns the states that any rank has found, sorted."""
        return found

    def sum(self, number: int) -> int:
        return number

    def any(self, is_so: bool) -> bool:
        return is_so

    def all(self, is_so: bool) -> bool:
        return is_so

    def tell_others(self, failure: Exception) -> None:
        """Raises a failure that other ranks must know of. A single process has none to tell, and continues."""

    # --- Snapshots ---------------------------------------------------------------------------------------------

    def restore_level(self, blocks: Iterator[States], stays: bool) -> None:
        """Takes the next level from a snapshot. ``stays``: its states belong to the rank that reads them."""
        self._explorer.frontier.restore(blocks)

    def counts_are_restored(self) -> None:
        """Records that all ranks know the findings of a snapshot."""

    def describe(self, manifest: Manifest, owners: str) -> Manifest:
        """Adds the ownership of states to a manifest."""
        return manifest

    # --- End of the search -------------------------------------------------------------------------------------

    def progress_of_all(self, own: Progress) -> Progress:
        return own

    def search_has_ended(self) -> None:
        """Ends the measurement of the time spent waiting for other ranks."""

    def look(self, look: Look) -> Look:
        """Returns a lookup of predecessors among the states of all ranks."""
        return look

    def merged(self, outcome: Outcome) -> Outcome:
        """Returns the outcome of all ranks, which is the same on each."""
        return outcome

    def merged_layers(self, own: LayerReport | None) -> LayerReport | None:
        return own
