"""When memory ends: states squeezed to the bits that change, so that a search goes on in RAM.

Most models declare more than they use: entries of a network that stay empty, integers that stay small. After a hundred
thousand states nearly all bits that ever change have changed. When memory is full, ``auto`` and ``layered`` look which
these are, carry all that was found over into a search that keeps no others, and go on where they were. When that is
full too, they go to disk, with states that are narrower there as well.

Exact: a bit that changes later gets a place of its own. If no place is left, the search is carried over into one with
wider states: in RAM, if there is room, or through a snapshot of its levels on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from outcrop.dist.parts import discard_checkpoint, find_parts
from outcrop.dist.transport import transport_of
from outcrop.errors import OutcropError
from outcrop.explorer.tuning import Tuning
from outcrop.kernels import Native, Search, Settings, States
from outcrop.kernels.spill import Spill
from outcrop.kernels.squeeze import Carrying, Form, SqueezedSearch, TooWide
from outcrop.options import CheckOptions
from outcrop.outcome import Event, EventKind, Restart
from outcrop.strategies import LayeredOptions, SqueezeOptions

if TYPE_CHECKING:
    from outcrop.explorer.explorer import Explorer
    from outcrop.explorer.snapshot import Snapshot

#: Bytes that a state takes in RAM beside its own.
_BYTES_BESIDE = 7
#: The part of memory that wider states may take when the search is handed over: what finds no room then is lost.
_MOST_OF_MEMORY = 0.8
#: Kernels keep a state of this size on the stack.
_WIDEST = 1 << 16

#: Runs tasks in threads, and returns their results.
Parallel = Callable[..., list[States]]


class Squeezing:
    """Squeezes the states of a search. ``plain``: the model, compiled for states as it packs them."""

    def __init__(self, explorer: Explorer, plain: Native) -> None:
        self._explorer = explorer
        self._plain = plain
        self._tuning = explorer.tuning
        self._ready: Native | None = None  #: the model, compiled for squeezed states

    @property
    def _is_possible(self) -> bool:
        """States that ranks send each other stay as the model packs them. Whoever forgets layers may have to search
        again. A search that restarts would print once more what the model prints."""
        explorer, plain = self._explorer, self._plain
        options = explorer.options
        if not explorer.exchange.holds_all_states or not options.of(SqueezeOptions).squeeze:
            return False
        if options.of(LayeredOptions).forget:
            return False
        return plain.compile_squeezed is not None and plain.model_bytes <= _WIDEST and not plain.prints

    def _pays(self, form: Form) -> bool:
        """Whether it pays to compile the model for such states, by how long the search has been going on: nobody knows
        how much longer it will."""
        explorer = self._explorer
        is_soon_done = self._plain.seconds_to_compile <= self._tuning.seconds_to_compile + explorer.watch.seconds()
        return is_soon_done and pays(explorer.native.state_bytes, form.state_bytes, self._tuning.least_gain)

    def make_ready(self) -> None:
        """Compiles while there is memory to do so. May be called while workers are at work."""
        search = self._explorer.search
        found = search.standing().level_begin
        if self._is_possible and found >= self._tuning.least_states:
            form = form_of(search, found, self._tuning)
            if self._pays(form):
                self._ready = squeezed(self._plain, form, self._tuning.least_gain)

    def squeeze(self, unexpanded: int) -> bool:
        """In the middle of a level, at state ``unexpanded``: goes on with narrower states; or with wider ones, where
        some are too wide for what they were squeezed to. Returns whether it did; if it did not, the search must go to
        disk, even to go on with wider states."""
        explorer, search = self._explorer, self._explorer.search
        before, is_too_narrow = search.native.state_bytes, _is_too_narrow(search)
        if not is_too_narrow and not self._is_possible:
            return False
        try:
            used = Spill(search).resume()
            if not is_too_narrow and used < self._tuning.least_states:
                return False
            left = _left(search)
            form = widened(form_of(search, used, self._tuning, explorer.parallel), left, self._tuning)
            if not is_too_narrow and not self._pays(form):
                return False
            native = self._compiled(form, before)
        except OutcropError:  # of the compiler
            if not is_too_narrow:
                return False
            native = self._plain
        if is_too_narrow and used * (native.state_bytes + _BYTES_BESIDE) > _MOST_OF_MEMORY * search.budget:
            return False
        new = open_search(native, search.settings, form)
        if not hand_over(explorer, new, used, unexpanded, left):
            new.close()
            if is_too_narrow:
                why = f"states of {before} bytes have become too narrow"
                raise Reformed(form, explorer, EventKind.WIDENED, why)
            why = f"states are squeezed from {before} to {form.state_bytes} bytes"
            raise Reformed(form, explorer, EventKind.SQUEEZED, why)
        explorer.search, explorer.native = new, native
        search.close()
        if explorer.watch.asked is not None:
            new.stop()
        self._tell(EventKind.WIDENED if is_too_narrow else EventKind.SQUEEZED, before)
        return True

    def _tell(self, kind: EventKind, before: int) -> None:
        """Tells that states, which had ``before`` bytes, have another form."""
        explorer = self._explorer
        level, after = len(explorer.levels) - 1, explorer.native.state_bytes
        texts = {
            EventKind.WIDENED: f"states of {before} bytes have become too narrow, going on with {after}",
            EventKind.SQUEEZED: f"memory budget reached at level {level:,}: states squeezed from {before} to {after} "
            "bytes, going on in RAM",
        }
        explorer.watch.tell(Event(kind, texts[kind], {"level": level, "before": before, "after": after}))

    def _compiled(self, form: Form, before: int) -> Native:
        """Returns the model for states of such a form, which had ``before`` bytes."""
        ready = self._ready
        if (
            ready is not None
            and self._has_places(ready, form)
            and pays(before, ready.state_bytes, self._tuning.least_gain)
        ):
            return ready
        (native,) = self._explorer.parallel(partial(squeezed, self._plain, form, self._tuning.least_gain))
        return native

    def _has_places(self, native: Native, form: Form) -> bool:
        """Whether states of the size that a model was compiled for can take such a form."""
        return form.bits + self._tuning.least_spare_places <= 8 * native.state_bytes

    def kept_form(self, states: States) -> States:
        """Returns states of a snapshot as the search keeps them. Raises Reformed where they do not fit."""
        try:
            return self._explorer.search.kept_form(states)
        except TooWide:
            raise self._widened(states) from None

    def check_width(self) -> None:
        """Raises Reformed when states do not fit what they were squeezed to."""
        search = self._explorer.search
        if isinstance(search, SqueezedSearch) and _is_too_narrow(search):
            raise self._widened(search.misfits())

    def _widened(self, states: States) -> Reformed:
        search = self._explorer.search
        form = widened(form_of(search, 0, self._tuning), states, self._tuning)
        why = f"states of {search.native.state_bytes} bytes have become too narrow"
        return Reformed(form, self._explorer, EventKind.WIDENED, why)


class Reformed(Restart):
    """Raised when a search cannot go on but with states of another form: from its last level, where that is on disk, or
    else from the beginning."""

    def __init__(self, form: Form, explorer: Explorer, kind: EventKind, why: str) -> None:
        super().__init__(why, explorer.options, explorer.watch.seconds())
        self.kind = kind  #: of the event that tells it
        self.form = form
        self.snapshot: Snapshot | None = None

    def restart_options(self) -> CheckOptions:
        """Returns the options of the search that follows: if there is a checkpoint, that goes on from it."""
        options = self.options
        place = options.checkpoint or options.resume
        if place is not None and find_parts(place):
            return replace(options, resume=place, checkpoint=None)
        discard_checkpoint(options, transport_of(options.ranks))
        return options


def pays(state_bytes: int, squeezed_bytes: int, least_gain: float) -> bool:
    """Whether narrower states make room for so many more that it is worth a handover."""
    return state_bytes + _BYTES_BESIDE >= least_gain * (squeezed_bytes + _BYTES_BESIDE)


def form_of(search: Search, end: int, tuning: Tuning, parallel: Parallel | None = None) -> Form:
    """Returns the form of squeezed states, by the states of the arena up to ``end``."""
    if isinstance(search, SqueezedSearch):
        return form_with(search.first, search.placed_bits(), tuning)
    carrying = Carrying(search)
    workers = 1 if parallel is None else search.workers
    cuts = [end * number // workers for number in range(workers + 1)]
    parts = [partial(carrying.changing_bits, *pair) for pair in pairwise(cuts)]
    found = [part() for part in parts] if parallel is None else parallel(*parts)
    return form_with(search.read_block(0, 1)[0], np.bitwise_or.reduce(found), tuning)


def form_with(first: States, changing: States, tuning: Tuning) -> Form:
    bits = int(np.unpackbits(changing).sum())
    places = bits + tuning.spare_places + bits // tuning.bits_a_spare_place
    return Form(first, changing, -(-places // (8 * tuning.bytes_step)) * tuning.bytes_step)


def widened(form: Form, states: States, tuning: Tuning) -> Form:
    """Returns a form that some more states fit."""
    changes = states ^ form.first
    more = np.bitwise_or.reduce(changes, axis=0, initial=0).astype(np.uint8)
    return form_with(form.first, form.changing | more, tuning)


def squeezed(native: Native, form: Form, least_gain: float) -> Native:
    """Returns a model, compiled for states of such a form; the model itself if that would not pay."""
    if native.compile_squeezed is None or not pays(native.model_bytes, form.state_bytes, least_gain):
        return native
    narrow = native.compile_squeezed(form.state_bytes)
    narrow.identity = native.identity
    return narrow


def reopened(native: Native, settings: Settings, form: Form, tuning: Tuning) -> Search:
    """Opens a search of a model with states of such a form; or as the model packs them, where it cannot be compiled for
    others."""
    try:
        return open_search(squeezed(native, form, tuning.least_gain), settings, form)
    except OutcropError:
        return native.search(settings)


def open_search(native: Native, settings: Settings, form: Form) -> Search:
    """Opens a search with states of the size that ``native`` was compiled for."""
    if native.state_bytes == native.model_bytes:
        return native.search(settings)
    return SqueezedSearch(native, settings, form)


def _is_too_narrow(search: Search) -> bool:
    """Whether there are successors that could not be squeezed. The search has stopped, though not always for that:
    memory may have ended first."""
    return isinstance(search, SqueezedSearch) and len(search.misfits()) > 0


def _left(search: Search) -> States:
    """Returns the successors that a search had no room for, or could not squeeze, as the model packs them."""
    carried = Carrying(search).carried()
    return np.concatenate([carried, search.misfits()]) if isinstance(search, SqueezedSearch) else carried


def hand_over(explorer: Explorer, new: Search, used: int, unexpanded: int, left: States) -> bool:
    """Hands all that a search has found, ``used`` states, over to a new one. It stands in the middle of its last level,
    at state ``unexpanded``; ``left`` are states of the next one that it could not keep. Returns whether there was room
    for all."""
    old = explorer.search
    ends = explorer.levels.ends
    begin, end = ends[-2:]
    leaving = Carrying(old)
    at = 0
    # The last level in two parts, so that what is expanded still lies before what is not.
    for to in [*ends[1:-1], unexpanded, end]:
        _insert(explorer, old, new, at, to)
        new.finish_level()
        leaving.let_go(to)
        at = to
    _insert(explorer, old, new, end, used)
    if new.standing().states < used:
        return False
    Carrying(new).take_up(old, begin, unexpanded, len(explorer.levels))
    # What workers had no room for has not been looked at.
    states = new.kept_form(left)
    is_new = new.insert_block(0, states)
    if len(is_new) < len(states):
        return False
    new.check_block(0, states[is_new])
    return True


def _insert(explorer: Explorer, old: Search, new: Search, begin: int, end: int) -> None:
    at_a_time = explorer.tuning.states_a_part
    begins = iter(range(begin, end, at_a_time))

    def work(worker: int) -> None:
        for at in begins:
            states = old.packed_form(old.read_block(at, min(end, at + at_a_time)))
            new.insert_block(worker, new.kept_form(states))

    explorer.parallel(*(partial(work, worker) for worker in range(new.workers)))
