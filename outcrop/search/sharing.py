"""A search over several processes: what an exploration does beside, so that all ranks come to the same result.

Every rank remembers and expands the states that it owns. A level is complete when all ranks have ended it; then they
agree on how large it is, what was found in it, and whether the search must stop. So each takes the same decisions, and
what it says in the end is said of all of them.

Traces need no links between ranks: each looks for the least predecessor among its own states of the level before, and
the least of all is taken.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from outcrop.dist.exchange import Exchange
from outcrop.dist.pauses import Pauses
from outcrop.dist.rounds import Round, Traffic
from outcrop.kernels import States
from outcrop.kernels_route import Message, Route
from outcrop.machine import peak_rss
from outcrop.search.balance import Balance
from outcrop.search.outcome import FindingKind, LayerReport, LayerRow, Outcome, Progress, RankReport, Stop, Stopped
from outcrop.search.paths import Look, Predecessors
from outcrop.store.workdir import DiskFull

if TYPE_CHECKING:
    from outcrop.search.driver import Exploration

#: Blocks of states that a worker expands before it looks at what has arrived, unless they fill a message.
_BLOCKS_A_PART = 64
#: Seconds up to which a level is short; what a state takes until that is known; and levels that tell it.
SHORT_LEVEL = 0.02
_FIRST_PACE = 2e-6
_TELLING_LEVEL = 256
#: The filter of what was sent: its first bytes, and its share of what the states take.
_FIRST_FILTER = 1 << 18
_FILTER_SHARE = 1 / 40
#: ... and by what factor it grows at the least.
_FILTER_STEP = 1.25

_STOPS = (None, *Stop)
#: A finding, with the level of its state.
_Found = tuple[tuple[FindingKind, bytes, int | None], int]


class Sharing:
    def __init__(self, run: Exploration, exchange: Exchange) -> None:
        self._run = run
        self.exchange = exchange
        self.traffic = Traffic()
        self._waited = exchange.seconds_waiting  #: before
        self._seconds_waiting = 0.0
        self.told = 0  #: findings that all ranks know
        self._filter = 0  #: bytes
        self._route: Route | None = None
        self._pace = _FIRST_PACE  #: seconds that a state takes
        self.balance = Balance(run, exchange)

    @property
    def route(self) -> Route:
        if self._route is None:
            run, exchange = self._run, self.exchange
            self._route = Route(run.search, exchange.rank, exchange.size, run.owner_bits, self.balance.parts)
            self.size_filter()
        return self._route

    def size_filter(self) -> None:
        """Between levels: lets the filter grow with the states."""
        wanted = max(_FIRST_FILTER, int(_FILTER_SHARE * self._run.bytes_in_memory()))
        if wanted >= _FILTER_STEP * self._filter:
            self._filter = wanted
            self.route.size_filter(wanted)

    # --- Levels ------------------------------------------------------------------------------------------------

    def fill_level(self, expand: Callable[[int], bool]) -> None:
        """Makes a level in the arena. ``expand`` has a worker make some successors, and says whether there are more.
        Where that will not take long, the first worker makes all of them, and no threads are woken."""
        run, add = self._run, self.route.add
        size = sum(run.levels[-1:])
        is_short = self._pace * size < SHORT_LEVEL
        workers = 1 if is_short else run.search.workers
        self._make_room()
        begun = time.monotonic()
        with self.round(workers) as round:
            further: Callable[[int], bool] | None = expand
            while further is not None:
                if is_short:
                    round.work(0, further, add, self._must_leave)
                else:
                    must_leave = run.search.is_stopping
                    run.together(*(partial(round.work, each, further, add, must_leave) for each in range(workers)))
                further = run.go_past_memory(further) if run.stop_reason() is Stop.MEMORY else None
        seconds = time.monotonic() - begun - round.traffic.seconds_idle
        if size >= _TELLING_LEVEL or seconds > SHORT_LEVEL:
            self._pace = seconds / max(1, size)

    def _make_room(self) -> None:
        """The visited set grows when it is full. If that came to pass in different levels, each rank would wait for the
        others to grow; so it grows beforehand if that of some rank will have to in the next level."""
        if self.route.lacks_room(self.balance.expected()):
            run = self._run
            run.together(*(partial(self.route.make_room, each) for each in range(run.search.workers)))

    def _must_leave(self) -> bool:
        with suppress(Stopped):
            self._run.poll()
        return self._run.search.is_stopping()

    def work_off(
        self, expand: Callable[[int], bool], add: Callable[[int, Message], None], has_work: Callable[[], bool]
    ) -> None:
        """Rounds of work that makes more work, here and elsewhere, until nobody has any left."""
        self.work_round(expand, add)
        while self.any(has_work()):
            self.work_round(expand, add)

    def work_round(self, expand: Callable[[int], bool], add: Callable[[int, Message], None]) -> None:
        """One round of work, in which all workers take part."""
        run = self._run
        with self.round() as round:
            must_leave = run.search.is_stopping
            run.together(*(partial(round.work, each, expand, add, must_leave) for each in range(run.search.workers)))
        self.agree_to_go_on()

    def expand_part(self, worker: int) -> bool:
        """Of the level in the arena."""
        return self.route.expand_part(worker, _BLOCKS_A_PART)

    @contextmanager
    def round(self, workers: int | None = None) -> Iterator[Round]:
        """The exchange of a level. However this rank leaves it, the others learn of it."""
        run = self._run
        self.size_filter()
        round = self.exchange.round(self.route, workers or run.search.workers)
        stop: Stop | None = None
        try:
            yield round
        except Stopped as stopped:
            stop = stopped.stop
            raise
        except DiskFull:
            stop = Stop.DISK
            raise
        finally:
            round.finish(_STOPS.index(stop or run.stop_reason()) or round.stop, run.look_at_clock)
            self.traffic.add(round.traffic)
        self.route.foreign()  # raises when something was lost

    def arrived(self, round: Round, poll: Callable[[], None]) -> Iterator[States]:
        """What has arrived; and while this rank is too far ahead of the others, what arrives until it no longer is."""
        pauses = Pauses()
        while True:
            if round.stop:
                raise Stopped(_STOPS[round.stop] or Stop.INTERRUPTED)
            states = round.take()
            if states is not None:
                yield states
                pauses = Pauses()
            elif not round.is_ahead:
                return
            else:
                poll()
                round.traffic.seconds_idle += pauses.pause()

    def rest(self, round: Round, poll: Callable[[], None]) -> Iterator[States]:
        """This rank has made all successors of its level. Gives what the others still send."""
        round.end_part()
        pauses = Pauses()
        while not round.is_over:
            poll()
            for states in self.arrived(round, poll):
                yield states
                pauses = Pauses()
            round.traffic.seconds_idle += pauses.pause()

    # --- Agreeing ----------------------------------------------------------------------------------------------

    def agree_on_level(self, size: int, stop: Stop | None) -> Stop | None:
        """Tells the others of this rank's part of a new level, and takes note of theirs. Gives why to stop, if so."""
        run = self._run
        news: list[_Found] = list(islice(run.found.items(), self.told, None))
        printed = run.search.take_put() if run.native.prints else []
        numbers = [size, _STOPS.index(stop), run.has_failed_start, bool(news or printed)]
        sizes, stops, failures, has_more = self.exchange.gather_numbers(numbers, run.look_at_clock).T
        run.totals.append(int(sizes.sum()))
        self.balance.judge(sizes)
        run.has_failed_start = bool(failures.any())
        if has_more.any():
            for their_news, their_printed in self.exchange.gather((news, printed), run.look_at_clock):
                for key, level in their_news:
                    run.found.setdefault(key, level)
                run.print_put(their_printed)
        self.told = len(run.found)
        return min((_STOPS[code] for code in stops.tolist() if code), key=_STOPS.index, default=None)

    def agree_to_go_on(self, must: Stop | None = None) -> None:
        """Raises Stopped, on all ranks, if one of them must stop. ``must``: why this one does."""
        stop = _STOPS.index(must or self._run.stop_reason())
        stops = self.exchange.gather_numbers([stop], self._run.look_at_clock)
        why = min((code for code in stops[:, 0].tolist() if code), default=0)
        if why:
            raise Stopped(_STOPS[why] or Stop.INTERRUPTED)

    def level_of(self, level: int | None) -> int | None:
        """That a state is in, if any rank knows."""
        own = -1 if level is None else level
        known = int(self.exchange.gather_numbers([own], self._run.look_at_clock).max())
        return None if known < 0 else known

    def found_by_all(self, found: list[bytes]) -> list[bytes]:
        """States that ranks have found, in order."""
        if not self.any(bool(found)):
            return []
        everyone = self.exchange.gather(found, self._run.look_at_clock)
        return sorted({state for each in everyone for state in each})

    def sum(self, number: int) -> int:
        return int(self.exchange.gather_numbers([number], self._run.look_at_clock).sum())

    def any(self, is_so: bool) -> bool:
        return bool(self.exchange.gather_numbers([is_so], self._run.look_at_clock).any())

    def all(self, is_so: bool) -> bool:
        return bool(self.exchange.gather_numbers([is_so], self._run.look_at_clock).all())

    # --- Checkpoints -------------------------------------------------------------------------------------------

    def restore_level(self, blocks: Iterator[States], stays: bool) -> None:
        """Takes a level from this rank's part of a checkpoint. Unless its states stay with it, they go to the ranks
        that own them now, and it takes those that come to it."""
        run = self._run
        with closing(_as_generator(blocks) if stays else self._routed(blocks)) as own:
            stop = run.stopped_by(partial(run.restore_level, own))
        if stop is not None:
            run.levels.append(0)
        sizes, stops = self.exchange.gather_numbers([run.levels[-1], _STOPS.index(stop)], run.look_at_clock).T
        run.totals.append(int(sizes.sum()))
        self.balance.owned += sizes
        for code in stops.tolist():
            if code:
                raise Stopped(_STOPS[code] or Stop.INTERRUPTED)

    def _routed(self, blocks: Iterator[States]) -> Generator[States, None, None]:
        run = self._run
        with self.round() as round:
            for states in blocks:
                owners = self.route.owners(states)
                for rank in np.unique(owners).tolist():
                    own = np.ascontiguousarray(states[owners == rank])
                    if rank == self.exchange.rank:
                        yield own
                    else:
                        round.send_states(rank, own)
                yield from self.arrived(round, run.look_at_clock)
            yield from self.rest(round, run.look_at_clock)

    def progress_of_all(self, own: Progress) -> Progress:
        """States are shared out so evenly that each rank can tell, nearly, how far all of them are."""
        ranks = self.exchange.size
        return replace(
            own,
            states=ranks * own.states,
            rules_fired=ranks * own.rules_fired,
            frontier=ranks * own.frontier,
            generated=ranks * own.generated,
            memory=ranks * own.memory,
            disk=ranks * own.disk,
        )

    # --- The end -----------------------------------------------------------------------------------------------

    def search_has_ended(self) -> None:
        """What follows is not counted as waiting."""
        self._seconds_waiting = self.traffic.seconds_idle + self.exchange.seconds_waiting - self._waited

    def look(self, look: Look) -> Look:
        """The same among the states of all ranks."""

        def look_everywhere(level: int, targets: States) -> list[Predecessors]:
            everyone = self.exchange.gather(look(level, targets), self._run.look_at_clock)
            return [each for found in everyone for each in found]

        return look_everywhere

    def merged(self, outcome: Outcome) -> Outcome:
        """What all ranks have done, the same for each of them."""
        everyone = self.exchange.gather((outcome, self._report(outcome)))
        outcomes = [each for each, _ in everyone]
        return replace(
            outcome,
            fired=_sums([each.fired for each in outcomes]),
            covered=_sums([each.covered for each in outcomes]),
            noted=sorted({note for each in outcomes for note in each.noted}),
            omission_bound=max(each.omission_bound for each in outcomes),
            seconds=max(each.seconds for each in outcomes),
            peak_disk_bytes=sum(each.peak_disk_bytes for each in outcomes),
            events=_events([each.events for each in outcomes]),
            revisits=any(each.revisits for each in outcomes),
            generated=_known_sums([each.generated for each in outcomes]),
            missed=_optional_sums([each.missed for each in outcomes]),
            collision_rate=max(
                (each.collision_rate for each in outcomes if each.collision_rate is not None), default=None
            ),
            enabled=_optional_sums([each.enabled for each in outcomes]),
            deeper=_optional_sums([each.deeper for each in outcomes]),
            ranks=[report for _, report in everyone],
        )

    def merged_layers(self, own: LayerReport | None) -> LayerReport | None:
        """The layers of all ranks."""
        everyone = self.exchange.gather((own, list(self._run.levels)))
        reports = [report for report, _ in everyone if report is not None]
        if not reports:
            return None
        levels = sorted({row.level for report in reports for row in report.rows})
        return replace(
            reports[0],
            kept=_most_kept([report.kept for report in reports]),
            longest_back_edge=max(report.longest_back_edge for report in reports),
            rows=[_merged_row(level, everyone) for level in levels],
        )

    def _report(self, outcome: Outcome) -> RankReport:
        run, traffic = self._run, self.traffic
        return RankReport(
            rank=self.exchange.rank,
            host=self.exchange.host,
            states=run.levels.states,
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


def _merged_row(level: int, everyone: list[tuple[LayerReport | None, list[int]]]) -> LayerRow:
    """Of a layer that a rank had in RAM, whole, it has no row: it found all duplicates there."""
    rows, in_ram = [], 0
    for report, sizes in everyone:
        own = [row for row in report.rows if row.level == level] if report is not None else []
        rows += own
        in_ram += sizes[level] if not own and level < len(sizes) else 0
    return LayerRow(
        level,
        sum(row.states for row in rows) + in_ram,
        sum(row.candidates for row in rows) + in_ram,
        max(row.longest_back_edge for row in rows),
        _most_kept([row.kept for row in rows]),
        sum(row.layer_bytes for row in rows),
        sum(row.disk_bytes for row in rows),
    )


def _most_kept(each: list[int | None]) -> int | None:
    return None if None in each else max(kept for kept in each if kept is not None)


def _sums(rows: list[list[int]]) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)]


def _known_sums(rows: list[list[int | None]]) -> list[int | None]:
    """None where some rank does not know its part."""
    columns = [[each for each in column if each is not None] for column in zip(*rows, strict=True)]
    return [sum(column) if len(column) == len(rows) else None for column in columns]


def _optional_sums(rows: list[list[int] | None]) -> list[int] | None:
    known = [row for row in rows if row is not None]
    return _sums(known) if len(known) == len(rows) else None


def _events(each: list[list[str]]) -> list[str]:
    """What all ranks say is said once."""
    shared = [event for event in each[0] if all(event in events for events in each)]
    return shared + [
        f"rank {rank}: {event}" for rank, events in enumerate(each) for event in events if event not in shared
    ]
