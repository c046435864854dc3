"""Breadth-first search with layered duplicate detection.

P. Lamborn and E. A. Hansen, "Layered duplicate detection in external-memory model checking" (2008). The names are those
of its Figs. 1 to 4: ``Bucket`` is the RAM cache of the newest layers, here the arena and its table; ``candidate`` the
successors that it does not have; ``Refined`` the layers on disk, sorted; ``Q`` the states to be expanded. A hash bucket
is a slice, by the first byte of the hash.

Starts as ``ram``, and keeps nothing on disk while all layers fit into RAM. Then, when RAM is full, whole layers go, the
shallow ones first: they are on disk too. When the newest layer alone is too large, its candidates go to disk. At the
end of the layer all candidates are compared, sorted, with the layers on disk, and what is left is the new layer.

The paper compares with the last L layers only and may therefore never end. Here older layers are packed, not
deleted, and compared as well: each state is visited once, and the search ends. See docs/algorithms/layered.md. With
``--forget`` they are deleted, as proposed in the paper, and the search may be given up.
"""

from __future__ import annotations

from collections.abc import Callable

from outcrop.errors import UsageError
from outcrop.explorer.context import DEFAULT_CONTEXT, Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.frontier import ExpandPart
from outcrop.explorer.layer_store import LayerStore
from outcrop.explorer.log import log_block_rows
from outcrop.explorer.paths import Look
from outcrop.explorer.ram_then_disk import RamThenDisk, search_ram_first
from outcrop.explorer.retrace import Retrace
from outcrop.kernels import Native
from outcrop.kernels.spill import RunDamaged
from outcrop.options import CheckOptions
from outcrop.outcome import Event, EventKind, Outcome, Stop
from outcrop.store.workdir import WorkDirectory
from outcrop.strategies import LayeredOptions

#: The part of RAM that layers must take to be worth dropping.
_LEAST_PART = 1 / 4
#: The part of RAM that is dropped where the newest layer alone is too large. With less, what is left is entered into
#: the table again more often; with more, fewer duplicates are found in RAM.
_DROPPED_PART = 3 / 4


def search(native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT) -> Outcome:
    own = options.of(LayeredOptions)
    if own.forget and own.layers == "all":
        raise UsageError("--forget says what becomes of older layers; --layers must say which these are")
    if own.forget and (options.ranks or 1) > 1:
        raise UsageError("several ranks keep all layers: --forget is for one process")
    return search_ram_first(native, options, context, Layers, LDDD)


def LDDD(explorer: Explorer, frontier: RamThenDisk[Layers]) -> Stop:
    """Fig. 1. ``expand`` is the loop over a depth, lines 9 to 20, once RAM was full; until then all layers stay in RAM,
    and duplicates need not wait."""
    explorer.begin()
    while (stop := explorer.next_stop()) is None:  # line 8
        frontier.expand()
        store = None if frontier.past_ram is None else frontier.past_ram.store
        is_going_round = store is not None and store.is_going_round()
        if store is not None and is_going_round:
            text = (
                f"given up at level {len(explorer.levels) - 1:,}: {explorer.levels.states:,} states visited, about "
                f"{store.estimate:,} of them different; more layers, or none forgotten, would tell more"
            )
            explorer.watch.tell(Event(EventKind.GAVE_UP, text))
        if explorer.exchange.any(is_going_round):  # which line 8 would never notice
            return Stop.REDUNDANT
        explorer.level_is_complete()
    return stop


class Layers:
    """One depth of Fig. 1, and DDD, over the layers of a search that has run out of memory."""

    medium = "layers"

    def __init__(self, explorer: Explorer, directory: WorkDirectory) -> None:
        self._explorer = explorer
        self.store = LayerStore(explorer, directory, self._counter_example_reconstruction)

    # --- Fig. 1 ------------------------------------------------------------------------------------------------

    def parts(self, begin: int, end: int) -> tuple[ExpandPart, int]:
        """Lines 9 to 12 and 17 to 20: workers dequeue blocks of Q, and look all children up in Bucket. Those that are
        not there become its newest states, which are the candidates."""
        pieces = 1 + (end - begin) // log_block_rows(self._explorer.native.state_bytes)
        return self.store.Bucket.parts(begin, self.store.Q.dequeue(begin, end)), pieces

    def make_room(self) -> None:
        """Lines 13 to 16, when RAM is full."""
        self.store.Bucket.make_room(self._delete_shallow)

    def _delete_shallow(self) -> None:
        """Deletes whole layers, the shallow ones first; if the new one takes nearly all of RAM, most of its candidates,
        the older ones, which go to disk."""
        store = self.store
        used, first = store.Bucket.resume(), store.Bucket.first
        dropped = store.end_of_shallow(int(used * _LEAST_PART))
        if dropped is None:
            dropped = int(used * _DROPPED_PART) // 8 * 8
        store.write_pending()
        if dropped > first:
            store.candidate.add(first, dropped)
            store.candidates += dropped - first
        store.drop(used, dropped)

    def resolve(self) -> None:
        """Lines 21 and 22: depth++, DDD. Where all candidates are in RAM, they are not sorted, but looked up."""
        store, depth = self.store, len(self._explorer.levels)
        used, first = store.Bucket.resume(), store.Bucket.first
        store.candidates += used - first
        try:
            if store.candidate:
                self.DDD(depth, first, used)
            else:
                before = store.states
                store.Bucket.resolve(first, used, store.Refined.layouts(depth), store.enqueue)
                store.add_in_ram(store.states - before)
        except RunDamaged:
            raise store.Refined.failure(store.directory.path) from None
        store.layer_is_complete(depth, first, used)

    # --- Figs. 2 and 3 -----------------------------------------------------------------------------------------

    def DDD(self, depth: int, first: int, used: int) -> None:
        """Fig. 2: sorts all candidates, slice by slice, drops those that are equal to their neighbours or in a previous
        layer (Fig. 3: native/layers.c reads each layer once), enqueues the others and adds them to Refined."""
        store = self.store
        if used > first:
            store.candidate.add(first, used)
        new = store.Bucket.checked(store.enqueue)
        store.Refined.add(store.candidate.resolve(store.Refined.layouts(depth), new, level=depth), depth, depth)
        store.kernels.set_known(first, used)

    # --- Fig. 4 ------------------------------------------------------------------------------------------------

    def _counter_example_reconstruction(self, store: LayerStore) -> tuple[Look, Callable[[], None]]:
        """Fig. 4 follows links to parents. We expand the layer before once more (explorer/paths.py), which needs no
        room for links; where that was deleted, the search is repeated as far as that."""
        retrace = Retrace(self._explorer, store, Layers)
        return retrace.look, retrace.close
