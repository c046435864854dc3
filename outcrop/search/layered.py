"""Breadth-first search with layered duplicate detection.

P. Lamborn and E. A. Hansen, "Layered duplicate detection in external-memory model checking" (2008). The names are those
of its Figs. 1 to 4. ``Bucket`` is the RAM cache of the newest layers: here, the arena and its table. ``candidate`` has
the successors that are not in ``Bucket``. ``Refined`` has the layers on disk, sorted. ``Q`` has the states to expand. A
hash bucket is a slice, selected by the first byte of the hash.

The search starts as ``ram``, with nothing on disk while all layers fit in RAM. When RAM is full, it drops whole layers,
the shallow ones first: they are on disk too. If the newest layer alone is too large, its candidates go to disk. At the
end of a layer, all candidates are sorted and compared with the layers on disk. The remaining ones are the new layer.

The paper compares only with the last L layers, and its search may never end. Here older layers are packed instead of
deleted, and are compared too, so each state is visited once and the search ends. See docs/algorithms/layered.md. With
``--forget`` older layers are deleted, as the paper proposes, and the search may have to give up.
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

#: Smallest fraction of RAM that must become free for whole layers to be dropped.
_LEAST_PART = 1 / 4
#: Fraction of RAM that is dropped when the newest layer alone is too large. A smaller fraction means that the remaining
#: states are entered into the table again more often; a larger one, that RAM finds fewer duplicates.
_DROPPED_PART = 3 / 4


def search(native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT) -> Outcome:
    own = options.of(LayeredOptions)
    if own.forget and own.layers == "all":
        raise UsageError("--forget needs a number of layers to keep; give it with --layers N or --layers auto")
    if own.forget and (options.ranks or 1) > 1:
        raise UsageError("--forget works in one process only; leave out --forget or --ranks")
    if not own.ram_cache and native.liveness_count:
        raise UsageError("--ram-cache off keeps no states in memory, which liveness properties need; leave it out")
    if not own.ram_cache and (own.forget or (options.ranks or 1) > 1):
        raise UsageError("--ram-cache off works in one process that keeps all layers; leave out --forget and --ranks")
    return search_ram_first(native, options, context, Layers, LDDD)


def LDDD(explorer: Explorer, frontier: RamThenDisk[Layers]) -> Stop:
    """Runs Fig. 1. ``expand`` is its loop over one depth, lines 9 to 20. While all layers are in RAM, duplicates are
    found at once, without delayed detection."""
    explorer.begin()
    if not explorer.options.of(LayeredOptions).ram_cache:
        frontier.leave_ram()
    while (stop := explorer.next_stop()) is None:  # line 8
        frontier.expand()
        store = None if frontier.past_ram is None else frontier.past_ram.store
        has_stalled = store is not None and store.has_stalled()
        if store is not None and has_stalled:
            text = (
                f"giving up at level {len(explorer.levels) - 1:,}: {explorer.levels.states:,} visits reached only "
                f"about {store.estimate:,} different states; keep more layers with --layers, or leave out --forget"
            )
            explorer.watch.tell(Event(EventKind.GAVE_UP, text))
        if explorer.exchange.any(has_stalled):  # line 8 alone would loop forever
            return Stop.REDUNDANT
        explorer.level_is_complete()
    return stop


class Layers:
    """One depth of Fig. 1, and DDD, over the layers of a search that has run out of memory."""

    medium = "layers"

    def __init__(self, explorer: Explorer, directory: WorkDirectory) -> None:
        self._explorer = explorer
        self._has_ram_cache = explorer.options.of(LayeredOptions).ram_cache
        self.store = LayerStore(explorer, directory, self._counter_example_reconstruction)

    # --- Fig. 1 ------------------------------------------------------------------------------------------------

    def parts(self, begin: int, end: int) -> tuple[ExpandPart, int]:
        """Runs lines 9 to 12 and 17 to 20. Workers dequeue blocks of Q and look all children up in Bucket. Children
        that are not in it become its newest states: the candidates."""
        pieces = 1 + (end - begin) // log_block_rows(self._explorer.native.state_bytes)
        return self.store.Bucket.parts(begin, self.store.Q.dequeue(begin, end)), pieces

    def make_room(self) -> None:
        """Runs lines 13 to 16, when RAM is full."""
        self.store.Bucket.make_room(self._delete_shallow)

    def _delete_shallow(self) -> None:
        """Deletes whole layers from RAM, the shallow ones first. If the new layer takes nearly all of RAM, most of its
        candidates, the older ones, go to disk."""
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
        """Runs lines 21 and 22: depth++, DDD. If all candidates are in RAM, they are looked up instead of sorted."""
        store, depth = self.store, len(self._explorer.levels)
        used, first = store.Bucket.resume(), store.Bucket.first
        store.candidates += used - first
        try:
            if store.candidate or not self._has_ram_cache:
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
        """Runs Fig. 2. Sorts all candidates, slice by slice, and drops duplicates and states of earlier layers (Fig. 3;
        native/layers.c reads each layer once). Enqueues the remaining states and adds them to Refined."""
        store = self.store
        if used > first:
            store.candidate.add(first, used)
        new = store.Bucket.checked(store.enqueue)
        store.Refined.add(store.candidate.resolve(store.Refined.layouts(depth), new, level=depth), depth, depth)
        store.kernels.set_known(first, used)

    # --- Fig. 4 ------------------------------------------------------------------------------------------------

    def _counter_example_reconstruction(self, store: LayerStore) -> tuple[Look, Callable[[], None]]:
        """Returns the path search of Fig. 4 and its cleanup. The paper follows links to parents. We expand the previous
        layer again (explorer/paths.py), which needs no space for links. A deleted layer is rebuilt by a new search."""
        retrace = Retrace(self._explorer, store, Layers)
        return retrace.look, retrace.close
