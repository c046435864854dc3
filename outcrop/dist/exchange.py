"""The Exchange: what brings successors to the ranks that own them, and lets all ranks agree on levels.

A search asks its exchange, and never whether there are other ranks. LocalExchange is that of a process alone: every
state is its own, so that routing is the identity and an agreement is what it says itself. Over several ranks see
shared.py.
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
#: Makes a worker hand on what it has made for other ranks.
Send = Callable[[int], None]
#: Takes successors, as far as this rank owns them.
Take = Callable[[], None]


def open_exchange(explorer: Explorer) -> Exchange:
    """Opens the exchange of a search over as many ranks as its options say."""
    transport = transport_of(explorer.options.ranks)
    if transport.size == 1:
        return LocalExchange(explorer)
    from outcrop.dist.shared import SharedExchange  # which few searches need

    return SharedExchange(explorer, transport)


class LocalExchange:
    """The exchange of a process alone: the identity."""

    holds_all_states = True  #: no state is with another rank
    is_first = True  #: of the ranks, which prints
    sends_states = False  #: successors need not be sent before they are dealt with

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer

    @property
    def totals(self) -> Levels:
        """Sizes of the levels over all ranks."""
        return self._explorer.levels

    # --- Levels ------------------------------------------------------------------------------------------------

    def expand_arena(self, arena: LevelsInArena) -> None:
        """Expands the newest level of an arena: here, many levels in one kernel call."""
        arena.expand_levels()

    def fill_level(self, expand: ExpandPart, pieces: int | None = None) -> None:
        """Makes a level. ``expand`` has a worker make some successors, and says whether there are more. ``pieces``: no
        more workers than pieces of work, for in thin levels most of the time goes into waking them."""
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
        """Has successors taken in the order in which they were made, and those of other ranks inserted."""
        for take in expansions(lambda worker: None):
            take()

    def work_phase(
        self,
        work: Callable[[int], None],
        part: ExpandPart,
        add: Callable[[int, Message], None],
        has_work: Callable[[], bool],
    ) -> None:
        """Runs work that makes more work until none is left: ``work`` by all workers of this process, or ``part`` by
        part where other ranks send some."""
        explorer = self._explorer
        explorer.parallel(*(partial(work, worker) for worker in range(explorer.search.workers)))
        explorer.check_stop()

    def work_rounds(
        self, expand: ExpandPart, add: Callable[[int, Message], None], has_work: Callable[[], bool]
    ) -> None:
        """Runs rounds of work that makes more work, here and elsewhere, until nobody has any left."""
        self.work_round(expand, add)
        while has_work():
            self.work_round(expand, add)

    def work_round(self, expand: ExpandPart, add: Callable[[int, Message], None], workers: int | None = None) -> None:
        """Runs one round of work, in which all workers take part unless a number is given."""
        explorer = self._explorer
        count = explorer.search.workers if workers is None else workers
        explorer.parallel(*(partial(self._work, worker, expand) for worker in range(count)))
        explorer.check_stop()

    # --- Agreements --------------------------------------------------------------------------------------------

    def agree_on_level(self, size: int, stop: Stop | None) -> Stop | None:
        """Returns why the search must stop after a level of this size, if it must."""
        self._explorer.printing.end_level()
        return stop

    def agree_to_go_on(self, must: Stop | None = None) -> None:
        """Raises Stopped if the search must stop. ``must``: why, if that is known."""
        if must is not None:
            raise Stopped(must)
        self._explorer.check_stop()

    def gather(self, value: _Value) -> list[_Value]:
        """Returns what each rank gives."""
        return [value]

    def level_of(self, level: int | None) -> int | None:
        """Returns the level of a state, if any rank knows it."""
        return level

    def found_by_all(self, found: list[bytes]) -> list[bytes]:
        """Returns the states that all ranks have found, in order."""
        return found

    def sum(self, number: int) -> int:
        return number

    def any(self, is_so: bool) -> bool:
        return is_so

    def all(self, is_so: bool) -> bool:
        return is_so

    def tell_others(self, failure: Exception) -> None:
        """Raises a failure that other ranks must learn of. A process alone has nobody to tell, and goes on."""

    # --- Snapshots ---------------------------------------------------------------------------------------------

    def restore_level(self, blocks: Iterator[States], stays: bool) -> None:
        """Takes the next level from a snapshot. ``stays``: its states belong to the rank that reads them."""
        self._explorer.frontier.restore(blocks)

    def counts_are_restored(self) -> None:
        """Takes note that all ranks know the findings of a snapshot."""

    def describe(self, manifest: Manifest, owners: str) -> Manifest:
        """Completes a manifest with how states find their owners."""
        return manifest

    # --- The end -----------------------------------------------------------------------------------------------

    def progress_of_all(self, own: Progress) -> Progress:
        return own

    def search_has_ended(self) -> None:
        """Takes note that what follows is not waiting for other ranks."""

    def look(self, look: Look) -> Look:
        """Returns the same look among the states of all ranks."""
        return look

    def merged(self, outcome: Outcome) -> Outcome:
        """Returns what all ranks have done, the same for each of them."""
        return outcome

    def merged_layers(self, own: LayerReport | None) -> LayerReport | None:
        return own
