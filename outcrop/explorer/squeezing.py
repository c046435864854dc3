"""Squeezing: when memory is full, states are reduced to the bits that change, and the search continues in RAM.

Most models declare more than they use: network entries that stay empty, integers that stay small. After a hundred
thousand states, nearly all bits that ever change have changed. When memory is full, ``auto`` and ``layered`` determine
these bits, hand the search over to one that keeps only them, and continue where they were. When memory is full again,
they move to disk, where states are narrower too.

Exact: a bit that changes later gets a spare place. If no place is left, the search is handed over to one with wider
states: in RAM, if there is enough, or through a snapshot of its levels on disk.
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

#: Memory of a state in RAM besides its own bytes, in bytes.
_ENTRY_BYTES = 7
#: Fraction of memory that wider states may take at a handover. A handover that runs out of memory is lost work.
_MOST_OF_MEMORY = 0.8
#: Largest state that is squeezed, in bytes, because kernels keep one on the stack.
_WIDEST = 1 << 16

#: Runs tasks in threads, and returns their results.
Parallel = Callable[..., list[States]]


class Squeezing:
    """The squeezing of one search. ``plain``: the model, compiled for states as it packs them."""

    def __init__(self, explorer: Explorer, plain: Native) -> None:
        self._explorer = explorer
        self._plain = plain
        self._tuning = explorer.tuning
        self._ready: Native | None = None  #: the model, compiled for squeezed states

    @property
    def _is_possible(self) -> bool:
        """Whether states may be squeezed. Not with several ranks, which send states as the model packs them; not with
        deleted layers, which may require a repeated search; and not if the model prints, because a search that restarts
        would print twice."""
        explorer, plain = self._explorer, self._plain
        options = explorer.options
        if not explorer.exchange.holds_all_states or not options.of(SqueezeOptions).squeeze:
            return False
        layered = options.of(LayeredOptions)
        if layered.forget or not layered.ram_cache:
            return False
        return plain.compile_squeezed is not None and plain.model_bytes <= _WIDEST and not plain.prints

    def _pays(self, form: Form) -> bool:
        """Returns whether compiling the model for such states pays, judged by the time that the search has taken: its
        remaining time is unknown."""
        explorer = self._explorer
        is_soon_done = self._plain.seconds_to_compile <= self._tuning.seconds_to_compile + explorer.watch.seconds()
        return is_soon_done and pays(explorer.native.state_bytes, form.state_bytes, self._tuning.least_gain)

    def make_ready(self) -> None:
        """Compiles the model while there is memory for it. May be called while workers run."""
        search = self._explorer.search
        found = search.standing().level_begin
        if self._is_possible and found >= self._tuning.least_states:
            form = form_of(search, found, self._tuning)
            if self._pays(form):
                self._ready = squeezed(self._plain, form, self._tuning.least_gain)

    def squeeze(self, unexpanded: int) -> bool:
        """Continues with narrower states, in the middle of a level at state ``unexpanded``. Continues with wider ones
        if some states do not fit their squeezed width. Returns whether it did; if not, the search must move to disk."""
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
        except OutcropError:  # the compiler failed
            if not is_too_narrow:
                return False
            native = self._plain
        if is_too_narrow and used * (native.state_bytes + _ENTRY_BYTES) > _MOST_OF_MEMORY * search.budget:
            return False
        new = open_search(native, search.settings, form)
        if not hand_over(explorer, new, used, unexpanded, left):
            new.close()
            if is_too_narrow:
                why = f"a state no longer fits the squeezed width of {before} bytes"
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
        """Reports that states, which had ``before`` bytes, have another width."""
        explorer = self._explorer
        level, after = len(explorer.levels) - 1, explorer.native.state_bytes
        texts = {
            EventKind.WIDENED: f"a state no longer fits the squeezed width of {before} bytes, continuing with {after}",
            EventKind.SQUEEZED: f"memory budget used up at level {level:,}: states squeezed from {before} to {after} "
            "bytes, continuing in RAM",
        }
        explorer.watch.tell(Event(kind, texts[kind], {"level": level, "before": before, "after": after}))

    def _compiled(self, form: Form, before: int) -> Native:
        """Returns the model, compiled for states of this form. ``before``: bytes of a state so far."""
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
        """Returns whether the state size that a model was compiled for is large enough for a form."""
        return form.bits + self._tuning.least_spare_places <= 8 * native.state_bytes

    def kept_form(self, states: States) -> States:
        """Converts states of a snapshot to the form that the search keeps. Raises Reformed if they do not fit."""
        try:
            return self._explorer.search.kept_form(states)
        except TooWide:
            raise self._widened(states) from None

    def check_width(self) -> None:
        """Raises Reformed if states do not fit their squeezed width."""
        search = self._explorer.search
        if isinstance(search, SqueezedSearch) and _is_too_narrow(search):
            raise self._widened(search.misfits())

    def _widened(self, states: States) -> Reformed:
        search = self._explorer.search
        form = widened(form_of(search, 0, self._tuning), states, self._tuning)
        why = f"a state no longer fits the squeezed width of {search.native.state_bytes} bytes"
        return Reformed(form, self._explorer, EventKind.WIDENED, why)


class Reformed(Restart):
    """Raised when a search must restart with states of another form: from its last level if that is on disk, else from
    the start states."""

    def __init__(self, form: Form | None, explorer: Explorer, kind: EventKind, why: str) -> None:
        super().__init__(why, explorer.options, explorer.watch.seconds())
        self.kind = kind  #: kind of the event that reports it
        self.form = form  #: None: as the model packs them, without compression

    def restart_options(self) -> CheckOptions:
        """Returns the options of the next search, which resumes from the checkpoint if there is one."""
        options = self.options
        place = options.checkpoint or options.resume
        if place is not None and find_parts(place):
            return replace(options, resume=place, checkpoint=None)
        discard_checkpoint(options, transport_of(options.ranks))
        return options


def pays(state_bytes: int, squeezed_bytes: int, least_gain: float) -> bool:
    """Returns whether narrower states save enough memory to be worth a handover."""
    return state_bytes + _ENTRY_BYTES >= least_gain * (squeezed_bytes + _ENTRY_BYTES)


def form_of(search: Search, end: int, tuning: Tuning, parallel: Parallel | None = None) -> Form:
    """Returns the form of squeezed states, derived from the states of the arena up to ``end``."""
    if isinstance(search, SqueezedSearch):
        return form_with(search.first, search.placed_bits(), tuning)
    carrying = Carrying(search)
    workers = 1 if parallel is None else search.workers
    cuts = [end * number // workers for number in range(workers + 1)]
    parts = [partial(carrying.changing_bits, *pair) for pair in pairwise(cuts)]
    found = [part() for part in parts] if parallel is None else parallel(*parts)
    return form_with(search.read_block(0, 1)[0], np.bitwise_or.reduce(found), tuning)


def form_with(first: States, changing: States, tuning: Tuning) -> Form:
    """Returns a form with places for the changing bits, and spare places."""
    bits = int(np.unpackbits(changing).sum())
    places = bits + tuning.spare_places + bits // tuning.bits_a_spare_place
    return Form(first, changing, -(-places // (8 * tuning.bytes_step)) * tuning.bytes_step)


def widened(form: Form, states: States, tuning: Tuning) -> Form:
    """Returns a form that these states fit too."""
    changes = states ^ form.first
    more = np.bitwise_or.reduce(changes, axis=0, initial=0).astype(np.uint8)
    return form_with(form.first, form.changing | more, tuning)


def squeezed(native: Native, form: Form, least_gain: float) -> Native:
    """Returns the model, compiled for states of this form; the model itself if that would not pay."""
    if native.compile_squeezed is None or not pays(native.model_bytes, form.state_bytes, least_gain):
        return native
    narrow = native.compile_squeezed(form.state_bytes)
    narrow.identity = native.identity
    return narrow


def reopened(native: Native, settings: Settings, form: Form, tuning: Tuning) -> Search:
    """Opens a search with states of this form. Falls back to states as the model packs them if it cannot be
    compiled."""
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
    """Returns whether some successors could not be squeezed. The search has stopped, though perhaps for lack of
    memory."""
    return isinstance(search, SqueezedSearch) and len(search.misfits()) > 0


def _left(search: Search) -> States:
    """Returns the successors that a search had no memory for or could not squeeze, as the model packs them."""
    carried = Carrying(search).carried()
    return np.concatenate([carried, search.misfits()]) if isinstance(search, SqueezedSearch) else carried


def hand_over(explorer: Explorer, new: Search, used: int, unexpanded: int, left: States) -> bool:
    """Hands the ``used`` states of a search over to a new one. The search stands in the middle of its last level, at
    state ``unexpanded``. ``left``: states of the next level that it could not keep. Returns whether all states fit."""
    old = explorer.search
    ends = explorer.levels.ends
    begin, end = ends[-2:]
    leaving = Carrying(old)
    at = 0
    # The last level is inserted in two parts, so that expanded states still precede the others.
    for to in [*ends[1:-1], unexpanded, end]:
        _insert(explorer, old, new, at, to)
        new.finish_level()
        leaving.let_go(to)
        at = to
    _insert(explorer, old, new, end, used)
    if new.standing().states < used:
        return False
    Carrying(new).take_up(old, begin, unexpanded, len(explorer.levels))
    # States that workers had no memory for have not been checked yet.
    is_new = new.insert_packed(0, left)
    if len(is_new) < len(left):
        return False
    new.check_block(0, new.kept_form(left[is_new]))
    return True


def _insert(explorer: Explorer, old: Search, new: Search, begin: int, end: int) -> None:
    """Inserts a range of the states of ``old`` into ``new``, in all workers."""
    at_a_time = explorer.tuning.states_a_part
    begins = iter(range(begin, end, at_a_time))

    def work(worker: int) -> None:
        for at in begins:
            states = old.packed_form(old.read_block(at, min(end, at + at_a_time)))
            new.insert_packed(worker, states)

    explorer.parallel(*(partial(work, worker) for worker in range(new.workers)))
