"""The exchange of a search over several ranks, by which all of them come to the same result.

Every rank stores and expands the states that it owns. A level is complete when all ranks have finished it. They then
agree on its size, on its findings, and on whether the search must stop. Each rank therefore takes the same decisions,
and its result holds for all of them.

Traces need no links between ranks: each rank finds the least predecessor among its own states of the previous level,
and the least of all is taken.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from outcrop.dist.balance import Balance
from outcrop.dist.exchange import Send, Take
from outcrop.dist.levels import Levels
from outcrop.dist.merging import merged_outcome, merged_report
from outcrop.dist.owners import write_parts
from outcrop.dist.pauses import Pauses
from outcrop.dist.rounds import Round, Traffic
from outcrop.dist.transport import Transport
from outcrop.kernels import States
from outcrop.kernels.route import Message, Route
from outcrop.machine import peak_rss
from outcrop.outcome import FindingKind, LayerReport, Outcome, Progress, RankReport, Stop, Stopped
from outcrop.store.workdir import DiskFull

if TYPE_CHECKING:
    from outcrop.explorer.explorer import Explorer
    from outcrop.explorer.frontier import ExpandPart, LevelsInArena
    from outcrop.explorer.paths import Look, Predecessors
    from outcrop.store.checkpoint import Manifest

#: Number of blocks that a worker expands before it handles arrived messages, unless they fill a message.
_BLOCKS_A_PART = 64
#: First estimate of the time that a state takes, in seconds, and smallest level that gives a better one, in states.
_FIRST_PACE = 2e-6
_TELLING_LEVEL = 256
#: First size of the filter of sent states, in bytes.
_FIRST_FILTER = 1 << 18
#: Smallest factor by which the filter grows.
_FILTER_STEP = 1.25

_Value = TypeVar("_Value")
_STOPS = (None, *Stop)
#: A finding, with the level of its state.
_Found = tuple[tuple[FindingKind, bytes, int | None], int]


class SharedExchange:
    """The exchange of one of several ranks."""

    holds_all_states = False
    sends_states = True

    def __init__(self, explorer: Explorer, transport: Transport) -> None:
        self._explorer = explorer
        self.transport = transport
        self.is_first = transport.rank == 0
        self.totals = Levels()  #: sizes of the levels over all ranks
        self.traffic = Traffic()
        self._waited = transport.seconds_waiting  #: seconds waited before this search
        self._seconds_waiting = 0.0
        self._told = 0  #: number of findings that all ranks know
        self._filter = 0  #: size of the filter of sent states, in bytes
        self._route: Route | None = None
        self._pace = _FIRST_PACE  #: seconds that a state takes
        self.balance = Balance(explorer, transport)

    @property
    def route(self) -> Route:
        """The route of successors to their owners."""
        if self._route is None:
            explorer, transport = self._explorer, self.transport
            bits = explorer.visited.bits or 64
            self._route = Route(explorer.search, transport.rank, transport.size, bits, self.balance.parts)
            self.size_filter()
        return self._route

    def size_filter(self) -> None:
        """Enlarges the filter of sent states as their number grows. Called between levels."""
        wanted = max(_FIRST_FILTER, int(self._explorer.tuning.filter_share * self._explorer.frontier.memory()))
        if wanted >= _FILTER_STEP * self._filter:
            self._filter = wanted
            self.route.size_filter(wanted)

    # --- Levels ------------------------------------------------------------------------------------------------

    def expand_arena(self, arena: LevelsInArena) -> None:
        """Expands the newest level of an arena."""
        arena.expand_level(self._expand_part)

    def fill_level(self, expand: ExpandPart, pieces: int | None = None) -> None:
        """Fills a level. ``expand`` generates some successors in a worker, and returns whether there may be more. If
        the level is expected to be short, the first worker expands all of it, and no threads are woken."""
        explorer, add = self._explorer, self.route.add
        size = sum(explorer.levels[-1:])
        is_short = self._pace * size < explorer.tuning.short_level
        workers = 1 if is_short else explorer.search.workers
        self._make_room()
        begun = time.monotonic()
        with self.open_round(workers) as this_round:
            further: ExpandPart | None = expand
            while further is not None:
                if is_short:
                    this_round.work(0, further, add, self._must_leave)
                else:
                    must_leave = explorer.search.is_stopping
                    explorer.parallel(
                        *(partial(this_round.work, each, further, add, must_leave) for each in range(workers))
                    )
                further = explorer.frontier.go_past_memory(further) if explorer.stop_reason() is Stop.MEMORY else None
        seconds = time.monotonic() - begun - this_round.traffic.seconds_idle
        if size >= _TELLING_LEVEL or seconds > explorer.tuning.short_level:
            self._pace = seconds / max(1, size)

    def _make_room(self) -> None:
        """Enlarges the visited set ahead of a level, if that of some rank would fill up in it. If the sets grew in
        different levels, the ranks would wait for each other each time."""
        if self.route.lacks_room(self.balance.expected()):
            explorer = self._explorer
            explorer.parallel(*(partial(self.route.make_room, each) for each in range(explorer.search.workers)))

    def _must_leave(self) -> bool:
        with suppress(Stopped):
            self._explorer.watch.poll()
        return self._explorer.search.is_stopping()

    def work_phase(
        self,
        work: Callable[[int], None],
        part: ExpandPart,
        add: Callable[[int, Message], None],
        has_work: Callable[[], bool],
    ) -> None:
        """Runs work that creates more work, in rounds, until no rank has any left."""
        self.work_rounds(part, add, has_work)

    def work_rounds(
        self, expand: ExpandPart, add: Callable[[int, Message], None], has_work: Callable[[], bool]
    ) -> None:
        """Runs rounds of work that creates more work, on any rank, until no rank has any left."""
        self.work_round(expand, add)
        while self.any(has_work()):
            self.work_round(expand, add)

    def work_round(self, expand: ExpandPart, add: Callable[[int, Message], None], workers: int | None = None) -> None:
        """Runs one round of work, in all workers unless a number is given."""
        explorer = self._explorer
        count = explorer.search.workers if workers is None else workers
        with self.open_round(count) as this_round:
            must_leave = explorer.search.is_stopping
            explorer.parallel(*(partial(this_round.work, each, expand, add, must_leave) for each in range(count)))
        self.agree_to_go_on()

    def route_successors(self, expansions: Callable[[Send], Iterable[Take]], insert: Callable[[States], None]) -> None:
        """Takes successors in the order of generation, and inserts those of other ranks."""
        poll = self._explorer.watch.poll
        with self.open_round() as this_round:
            for take in expansions(this_round.send):
                take()
                for arrived in self.arrived(this_round, poll):
                    insert(arrived)
            for arrived in self.rest(this_round, poll):
                insert(arrived)

    def _expand_part(self, worker: int) -> bool:
        return self.route.expand_part(worker, _BLOCKS_A_PART)

    @contextmanager
    def open_round(self, workers: int | None = None) -> Iterator[Round]:
        """Opens the exchange of a level. However this rank leaves it, the other ranks are told."""
        explorer = self._explorer
        self.size_filter()
        this_round = self.transport.open_round(self.route, workers or explorer.search.workers)
        stop: Stop | None = None
        try:
            yield this_round
        except Stopped as stopped:
            stop = stopped.stop
            raise
        except DiskFull:
            stop = Stop.DISK
            raise
        finally:
            this_round.finish(_STOPS.index(stop or explorer.stop_reason()) or this_round.stop, explorer.watch.look)
            self.traffic.add(this_round.traffic)
        self.route.foreign()  # raises if a state was lost

    def arrived(self, this_round: Round, poll: Callable[[], None]) -> Iterator[States]:
        """Yields the states that have arrived. While this rank is too far ahead of the others, keeps yielding what
        arrives."""
        pauses = Pauses()
        while True:
            if this_round.stop:
                raise Stopped(_STOPS[this_round.stop] or Stop.INTERRUPTED)
            states = this_round.take()
            if states is not None:
                yield states
                pauses = Pauses()
            elif not this_round.is_ahead:
                return
            else:
                poll()
                this_round.traffic.seconds_idle += pauses.pause()

    def rest(self, this_round: Round, poll: Callable[[], None]) -> Iterator[States]:
        """Yields the states that other ranks still send after this one has expanded its part of the level."""
        this_round.end_part()
        pauses = Pauses()
        while not this_round.is_over:
            poll()
            for states in self.arrived(this_round, poll):
                yield states
                pauses = Pauses()
            this_round.traffic.seconds_idle += pauses.pause()

    # --- Agreements --------------------------------------------------------------------------------------------

    def agree_on_level(self, size: int, stop: Stop | None) -> Stop | None:
        """Tells the other ranks about this rank's part of a new level, and records theirs. Returns why the search must
        stop, or None."""
        explorer = self._explorer
        news: list[_Found] = list(islice(explorer.findings.states.items(), self._told, None))
        printed = explorer.printing.take_rest()
        numbers = [size, _STOPS.index(stop), explorer.findings.has_failed_start, bool(news or printed)]
        sizes, stops, failures, has_more = self.transport.gather_numbers(numbers, explorer.watch.look).T
        self.totals.append(int(sizes.sum()))
        self.balance.record(sizes)
        explorer.findings.has_failed_start = bool(failures.any())
        if has_more.any():
            for their_news, their_printed in self.transport.gather((news, printed), explorer.watch.look):
                for key, level in their_news:
                    explorer.findings.states.setdefault(key, level)
                explorer.printing.print_all(their_printed)
        self._told = len(explorer.findings.states)
        return min((_STOPS[code] for code in stops.tolist() if code), key=_STOPS.index, default=None)

    def review_owners(self) -> None:
        """Raises Restart, on all ranks, if states should have other owners."""
        self.balance.review()

    def agree_to_go_on(self, must: Stop | None = None) -> None:
        """Raises Stopped, on all ranks, if one of them must stop. ``must``: why this one must."""
        stop = _STOPS.index(must or self._explorer.stop_reason())
        stops = self.transport.gather_numbers([stop], self._explorer.watch.look)
        why = min((code for code in stops[:, 0].tolist() if code), default=0)
        if why:
            raise Stopped(_STOPS[why] or Stop.INTERRUPTED)

    def gather(self, value: _Value) -> list[_Value]:
        """Returns the values of all ranks."""
        return self.transport.gather(value, self._explorer.watch.look)

    def level_of(self, level: int | None) -> int | None:
        """Returns the level of a state, if any rank knows it."""
        own = -1 if level is None else level
        known = int(self.transport.gather_numbers([own], self._explorer.watch.look).max())
        return None if known < 0 else known

    def found_by_all(self, found: list[bytes]) -> list[bytes]:
        """Returns the states that any rank has found, sorted."""
        if not self.any(bool(found)):
            return []
        everyone = self.transport.gather(found, self._explorer.watch.look)
        return sorted({state for each in everyone for state in each})

    def sum(self, number: int) -> int:
        return int(self.transport.gather_numbers([number], self._explorer.watch.look).sum())

    def any(self, is_so: bool) -> bool:
        return bool(self.transport.gather_numbers([is_so], self._explorer.watch.look).any())

    def all(self, is_so: bool) -> bool:
        return bool(self.transport.gather_numbers([is_so], self._explorer.watch.look).all())

    def tell_others(self, failure: Exception) -> None:
        """Raises a failure that the other ranks must know of."""
        raise failure

    # --- Snapshots ---------------------------------------------------------------------------------------------

    def restore_level(self, blocks: Iterator[States], stays: bool) -> None:
        """Takes a level from this rank's part of a snapshot. Unless ``stays``, sends its states to the ranks that own
        them now, and takes those that arrive."""
        explorer = self._explorer
        with closing(_as_generator(blocks) if stays else self._routed(blocks)) as own:
            stop = explorer.stopped_by(partial(explorer.frontier.restore, own))
        if stop is not None:
            explorer.levels.append(0)
        sizes, stops = self.transport.gather_numbers([explorer.levels[-1], _STOPS.index(stop)], explorer.watch.look).T
        self.totals.append(int(sizes.sum()))
        self.balance.owned += sizes
        for code in stops.tolist():
            if code:
                raise Stopped(_STOPS[code] or Stop.INTERRUPTED)

    def _routed(self, blocks: Iterator[States]) -> Generator[States, None, None]:
        explorer = self._explorer
        with self.open_round() as this_round:
            for states in blocks:
                owners = self.route.owners(states)
                for rank in np.unique(owners).tolist():
                    own = np.ascontiguousarray(states[owners == rank])
                    if rank == self.transport.rank:
                        yield own
                    else:
                        this_round.send_states(rank, own)
                yield from self.arrived(this_round, explorer.watch.look)
            yield from self.rest(this_round, explorer.watch.look)

    def counts_are_restored(self) -> None:
        """Records that all ranks know the findings of a snapshot. From here on messages hold successors."""
        self._told = len(self._explorer.findings.states)
        self.traffic = Traffic()

    def describe(self, manifest: Manifest, owners: str) -> Manifest:
        """Adds the ownership of states to a manifest."""
        return replace(manifest, owners=owners, owner_parts=write_parts(self.balance.parts))

    def progress_of_all(self, own: Progress) -> Progress:
        """Returns the progress of all ranks, estimated from this one: ownership is nearly even."""
        ranks = self.transport.size
        return replace(
            own,
            states=ranks * own.states,
            rules_fired=ranks * own.rules_fired,
            frontier=ranks * own.frontier,
            generated=ranks * own.generated,
            memory=ranks * own.memory,
            disk=ranks * own.disk,
        )

    # --- End of the search -------------------------------------------------------------------------------------

    def search_has_ended(self) -> None:
        """Ends the measurement of the time spent waiting for other ranks."""
        self._seconds_waiting = self.traffic.seconds_idle + self.transport.seconds_waiting - self._waited

    def look(self, look: Look) -> Look:
        """Returns a lookup of predecessors among the states of all ranks."""

        def look_everywhere(level: int, targets: States) -> list[Predecessors]:
            everyone = self.transport.gather(look(level, targets), self._explorer.watch.look)
            return [each for found in everyone for each in found]

        return look_everywhere

    def merged(self, outcome: Outcome) -> Outcome:
        """Returns the outcome of all ranks, which is the same on each."""
        return merged_outcome(outcome, self.transport.gather((outcome, self._report(outcome))))

    def merged_layers(self, own: LayerReport | None) -> LayerReport | None:
        """Returns the layers of all ranks."""
        return merged_report(self.transport.gather((own, list(self._explorer.levels))))

    def _report(self, outcome: Outcome) -> RankReport:
        explorer, traffic = self._explorer, self.traffic
        return RankReport(
            rank=self.transport.rank,
            host=self.transport.host,
            states=explorer.levels.states,
            rules_fired=outcome.rules_fired,
            successors_of_others=self.route.foreign(),
            states_sent=traffic.states,
            bytes_sent=traffic.bytes,
            messages_sent=traffic.messages,
            seconds_waiting=round(self._seconds_waiting, 6),
            peak_rss_bytes=peak_rss(),
            peak_disk_bytes=outcome.peak_disk_bytes,
        )


def _as_generator(blocks: Iterator[States]) -> Generator[States, None, None]:
    yield from blocks
