"""When memory ends: states squeezed to the bits that change, so that a search goes on in RAM.

Most models declare more than they use: entries of a network that stay empty, integers that stay small. After a hundred
thousand states nearly all bits that ever change have changed. When memory is full, ``auto`` and ``layered`` look which
these are, carry all that was found over into a search that keeps no others, and go on where they were. When that is
full too, they go to disk, with states that are narrower there as well.

Exact: a bit that changes later gets a place of its own. If no place is left, the search is carried over into one with
wider states: in RAM, if there is room, or through files (see forerunner).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from outcrop.errors import OutcropError
from outcrop.kernels import Native, Search, Settings, States
from outcrop.kernels_spill import Spill
from outcrop.kernels_squeeze import Carrying, Form, SqueezedSearch, TooWide
from outcrop.options import CheckOptions
from outcrop.search.anew import BeginAnew
from outcrop.search.parts import find_parts
from outcrop.store.frontier import RowFile

if TYPE_CHECKING:
    from outcrop.search.driver import Exploration
    from outcrop.search.forerunner import Forerunner

#: With fewer states it is not known which bits change, and to compile the model once more would not pay.
LEAST_STATES = 1 << 15
#: Places for bits that change later: so many, and one for so many bits that have changed.
_SPARE_PLACES = 16
_BITS_A_SPARE_PLACE = 4
#: Of which there must be some left when the search is carried over.
_LEAST_SPARE_PLACES = 8
#: Squeezed states are so many bytes, or a multiple. Coarse, because for every size the model is compiled once.
_BYTES_STEP = 4
#: What a state takes in RAM beside its bytes; and by what factor more states must find room.
_BYTES_BESIDE = 7
_LEAST_GAIN = 1.4
#: The part of memory that wider states may take when the search is carried over: what finds no room then is lost.
_MOST_OF_MEMORY = 0.8
#: What compiling may take, when the search has just begun.
_SECONDS_TO_COMPILE = 2.0
#: Kernels keep a state of this size on the stack.
_WIDEST = 1 << 16
#: States that are carried over at a time.
_STATES_A_PART = 4096

#: Runs tasks in threads, and gives what each gives.
Together = Callable[..., list[States]]


class Squeezing:
    """Squeezes the states of an exploration. ``plain``: the model, compiled for states as it packs them."""

    def __init__(self, run: Exploration, plain: Native) -> None:
        self._run = run
        self._plain = plain
        self._ready: Native | None = None  #: the model, compiled for squeezed states
        self.has_squeezed = False

    @property
    def _is_possible(self) -> bool:
        """States that ranks send each other stay as the model packs them. Whoever forgets layers may have to search
        again. A search that begins anew would print once more what the model prints."""
        run, plain = self._run, self._plain
        if run.sharing is not None or not run.options.squeeze or run.options.forget:
            return False
        return plain.compile_squeezed is not None and plain.model_bytes <= _WIDEST and not plain.prints

    def _pays(self, form: Form) -> bool:
        """Whether it pays to compile the model for such states, by how long the search has been going on: nobody knows
        how much longer it will."""
        run = self._run
        is_soon_done = self._plain.seconds_to_compile <= _SECONDS_TO_COMPILE + run.seconds()
        return is_soon_done and pays(run.native.state_bytes, form.state_bytes)

    def make_ready(self) -> None:
        """Compiles while there is memory to do so. May be called while workers are at work."""
        run, standing = self._run, self._run.search.standing()
        if self._is_possible and standing.level_begin >= LEAST_STATES:
            form = form_of(run.search, standing.level_begin)
            if self._pays(form):
                self._ready = squeezed(self._plain, form)

    def squeeze(self, unexpanded: int) -> bool:
        """In the middle of a level, at state ``unexpanded``: goes on with narrower states; or with wider ones, where
        some are too wide for what they were squeezed to. Says whether it did; if it did not, the search must go to
        disk, even to go on with wider states."""
        run, search = self._run, self._run.search
        before, is_too_narrow = search.native.state_bytes, _is_too_narrow(search)
        if not is_too_narrow and not self._is_possible:
            return False
        try:
            used = Spill(search).resume()
            if not is_too_narrow and used < LEAST_STATES:
                return False
            left = _left(search)
            form = widened(form_of(search, used, run.together), left)
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
        if not carry_over(run, new, used, unexpanded, left):
            new.close()
            raise Widened(form, run) if is_too_narrow else Squeezed(form, run)
        run.search, run.native = new, native
        search.close()
        if run.asked is not None:
            new.stop()
        self.has_squeezed = True
        if is_too_narrow:
            run.tell(f"states of {before} bytes have become too narrow, going on with {native.state_bytes}")
        else:
            run.tell(
                f"memory budget reached at level {len(run.levels) - 1:,}: states squeezed from {before} to "
                f"{native.state_bytes} bytes, going on in RAM"
            )
        return True

    def _compiled(self, form: Form, before: int) -> Native:
        """The model for states of such a form, which had ``before`` bytes."""
        ready = self._ready
        if ready is not None and has_places(ready, form) and pays(before, ready.state_bytes):
            return ready
        (native,) = self._run.together(partial(squeezed, self._plain, form))
        return native

    def kept_form(self, states: States) -> States:
        """States of a checkpoint, as the search keeps them."""
        search = self._run.search
        try:
            return search.kept_form(states)
        except TooWide:
            raise Widened(widened(form_of(search, 0), states), self._run) from None

    def check_width(self) -> None:
        """Past RAM: raises Widened when states do not fit what they were squeezed to."""
        search = self._run.search
        if isinstance(search, SqueezedSearch) and _is_too_narrow(search):
            raise Widened(widened(form_of(search, 0), search.misfits()), self._run)


class Reformed(BeginAnew):
    """The search cannot go on but with states of another form: from its last level, where that is on disk, or else from
    the beginning."""

    def __init__(self, form: Form, run: Exploration, why: str) -> None:
        super().__init__(why, run.seconds())
        self.form = form
        self.events = run.events  #: what the search has told
        self.forerunner: Forerunner | None = None

    def options(self, options: CheckOptions) -> CheckOptions:
        """If checkpoints are kept, it goes on from the last one. Its clock goes on as well."""
        place = options.checkpoint or options.resume
        if place is None or not find_parts(place):
            return replace(super().options(options), time_limit=options.time_limit)
        return replace(options, resume=place, checkpoint=None)


class Squeezed(Reformed):
    """There is not even room for squeezed states, with those that memory did not hold before."""

    def __init__(self, form: Form, run: Exploration) -> None:
        super().__init__(form, run, f"states are squeezed from {run.native.state_bytes} to {form.state_bytes} bytes")


class Widened(Reformed):
    """States are too wide for what they were squeezed to."""

    def __init__(self, form: Form, run: Exploration) -> None:
        super().__init__(form, run, f"states of {run.native.state_bytes} bytes have become too narrow")


class PackedLog:
    """The log of a search whose states are squeezed: it holds them as the model packs them, for checkpoints."""

    def __init__(self, log: RowFile, search: Search) -> None:
        self._log = log
        self._search = search
        self.block_rows = log.block_rows
        self.file = log.file

    def __len__(self) -> int:
        return len(self._log)

    def append(self, states: States) -> None:
        self._log.append(self._search.packed_form(states))

    def blocks(self, begin: int, end: int) -> Iterator[States]:
        return map(self._search.kept_form, self._log.blocks(begin, end))


def pays(state_bytes: int, squeezed_bytes: int) -> bool:
    return state_bytes + _BYTES_BESIDE >= _LEAST_GAIN * (squeezed_bytes + _BYTES_BESIDE)


def form_of(search: Search, end: int, together: Together | None = None) -> Form:
    """What squeezed states would be made of, by the states of the arena up to ``end``. ``together`` runs tasks in
    threads."""
    if isinstance(search, SqueezedSearch):
        return form_with(search.first, search.placed_bits())
    carrying = Carrying(search)
    workers = 1 if together is None else search.workers
    cuts = [end * number // workers for number in range(workers + 1)]
    parts = [partial(carrying.changing_bits, *pair) for pair in pairwise(cuts)]
    found = [part() for part in parts] if together is None else together(*parts)
    return form_with(search.read_block(0, 1)[0], np.bitwise_or.reduce(found))


def form_with(first: States, changing: States) -> Form:
    bits = int(np.unpackbits(changing).sum())
    places = bits + _SPARE_PLACES + bits // _BITS_A_SPARE_PLACE
    return Form(first, changing, -(-places // (8 * _BYTES_STEP)) * _BYTES_STEP)


def widened(form: Form, states: States) -> Form:
    """A form that some more states fit."""
    changes = states ^ form.first
    return form_with(form.first, form.changing | np.bitwise_or.reduce(changes, axis=0, initial=0).astype(np.uint8))


def has_places(native: Native, form: Form) -> bool:
    """Whether states of the size that a model was compiled for can take such a form."""
    return form.bits + _LEAST_SPARE_PLACES <= 8 * native.state_bytes


def squeezed(native: Native, form: Form) -> Native:
    """A model, compiled for states of such a form; the model itself if that would not pay."""
    if native.compile_squeezed is None or not pays(native.model_bytes, form.state_bytes):
        return native
    narrow = native.compile_squeezed(form.state_bytes)
    narrow.identity = native.identity
    return narrow


def reopened(native: Native, settings: Settings, form: Form) -> Search:
    """A search of a model with states of such a form; or as the model packs them, where it cannot be compiled for
    others."""
    try:
        return open_search(squeezed(native, form), settings, form)
    except OutcropError:
        return native.search(settings)


def open_search(native: Native, settings: Settings, form: Form) -> Search:
    """A search with states of the size that ``native`` was compiled for."""
    if native.state_bytes == native.model_bytes:
        return native.search(settings)
    return SqueezedSearch(native, settings, form)


def _is_too_narrow(search: Search) -> bool:
    """Whether there are successors that could not be squeezed. The search has stopped, though not always for that:
    memory may have ended first."""
    return isinstance(search, SqueezedSearch) and len(search.misfits()) > 0


def _left(search: Search) -> States:
    """Successors that a search had no room for, or could not squeeze; as the model packs them."""
    carried = Carrying(search).carried()
    return np.concatenate([carried, search.misfits()]) if isinstance(search, SqueezedSearch) else carried


def carry_over(run: Exploration, new: Search, used: int, unexpanded: int, left: States) -> bool:
    """Carries over what the search of an exploration has found: ``used`` states. It stands in the middle of its last
    level, at state ``unexpanded``; ``left`` are states of the next one that it could not keep. Says whether there was
    room for all."""
    old = run.search
    ends = run.levels.ends
    begin, end = ends[-2:]
    leaving = Carrying(old)
    at = 0
    # The last level in two parts, so that what is expanded still lies before what is not.
    for to in [*ends[1:-1], unexpanded, end]:
        _insert(run, old, new, at, to)
        new.finish_level()
        leaving.let_go(to)
        at = to
    _insert(run, old, new, end, used)
    if new.standing().states < used:
        return False
    Carrying(new).take_up(old, begin, unexpanded, len(run.levels))
    # What workers had no room for has not been looked at.
    states = new.kept_form(left)
    is_new = new.insert_block(0, states)
    if len(is_new) < len(states):
        return False
    new.check_block(0, states[is_new])
    return True


def _insert(run: Exploration, old: Search, new: Search, begin: int, end: int) -> None:
    begins = iter(range(begin, end, _STATES_A_PART))

    def work(worker: int) -> None:
        for at in begins:
            states = old.packed_form(old.read_block(at, min(end, at + _STATES_A_PART)))
            new.insert_block(worker, new.kept_form(states))

    run.together(*(partial(work, worker) for worker in range(new.workers)))
