"""Searches whose visited states are compressed without loss: trees, and quotient tables.

States of more than 8 bytes are folded into trees, and kept as roots of 8 bytes (native/tree.c). A quotient table finds
roots, or narrow states, and stores their remainders only (native/quotient.c). The queue holds roots or states in the
order of their discovery, in RAM or in a file; traces are rebuilt from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace

import numpy as np

from outcrop.dist.transport import transport_of
from outcrop.errors import OutcropError, UsageError
from outcrop.explorer.arena import disk_limit, nameless_file
from outcrop.explorer.budget import kernel_settings, state_budget
from outcrop.explorer.context import Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.snapshot import Boundary, Snapshot
from outcrop.explorer.squeezing import Reformed, hand_over
from outcrop.explorer.tuning import Tuning
from outcrop.explorer.visited import ExactTable
from outcrop.kernels import FIRST_LINES, Native, Search, Settings, States
from outcrop.kernels.compressed import ROOT_BYTES, CompressedMemory, CompressedSearch, sum_memory
from outcrop.kernels.spill import Spill
from outcrop.kernels.squeeze import Carrying
from outcrop.kernels.tree_shape import TreeShape, best_shape, most_sampled
from outcrop.options import CheckOptions
from outcrop.outcome import CompressionReport, Event, EventKind, Outcome
from outcrop.store.workdir import work_place
from outcrop.strategies import STRATEGIES, Compression, CompressOptions

#: Largest state that can be folded, in bytes: kernels keep an unfolded one on the stack.
_WIDEST = 1 << 14
#: The part of the disk that the queue may take: what follows it goes to disk as a whole.
_QUEUE_SHARE = 1 / 8
#: Expected number of states for each one met when the shape of trees is chosen.
_STATES_TO_COME = 256


@contextmanager
def compressed(native: Native, options: CheckOptions, context: Context, compression: Compression) -> Iterator[Explorer]:
    """Opens a search whose visited states are compressed from the start."""
    check_possible(native, options)
    transport = transport_of(options.ranks)
    small = transport.first_of_each_machine(lambda: compiled(native, is_shared=transport.size > 1))
    directory = work_place(options.workdir)
    with nameless_file(directory) if compression == Compression.QUOTIENT else nullcontext() as file:
        settings = kernel_settings(
            options,
            context.tuning,
            seed=options.seed,
            budget=state_budget(options),
            file=file,
            disk_limit=0 if file is None else disk_limit(options, directory),
        )
        shape = sampled_shape(native, settings, context.tuning) if small.is_tree else None
        with CompressedSearch(small, settings, shape) as kernels:
            explorer = Explorer(kernels, options, context)
            explorer.visited = ExactTable(counts_deeper=False)
            yield explorer


def why_impossible(native: Native, options: CheckOptions) -> str | None:
    """Returns why the states of a search cannot be compressed; None if they can."""
    if native.model_bytes > _WIDEST:
        return f"states of more than {_WIDEST:,} bytes are not folded into trees"
    if native.compile_compressed is None:
        return "this model cannot be compiled again"
    return None


def check_possible(native: Native, options: CheckOptions) -> None:
    """Raises UsageError where states cannot be compressed."""
    why = why_impossible(native, options)
    if why is not None:
        raise UsageError(f"visited states cannot be compressed: {why}. Leave --compress out, or use --compress off")


def check_starts_plain(options: CheckOptions) -> None:
    """Raises UsageError for compression from the start, which only ``ram`` offers."""
    asked = options.of(CompressOptions).compress
    if asked in (Compression.TREE, Compression.QUOTIENT):
        raise UsageError(
            f"auto compresses states when RAM is full, not from the start. Use --strategy ram --compress {asked}"
        )


def compiled(native: Native, *, is_shared: bool = False) -> Native:
    """Returns the model with the kernels of a compressed search; narrow states need no trees. ``is_shared``: over
    several ranks, which takes all kernels."""
    assert native.compile_compressed is not None
    small = native.compile_compressed(native.model_bytes > ROOT_BYTES, None if is_shared else ())
    small.identity = native.identity
    return small


def sampled_shape(native: Native, settings: Settings, tuning: Tuning) -> TreeShape:
    """Returns the shape of trees that suits the first states of a model, which it searches for that."""
    few = replace(
        settings,
        workers=1,
        file=None,
        budget=max(1 << 20, min(settings.budget, 4 * tuning.sampled_states * (native.state_bytes + 8))),
        first_lines=FIRST_LINES,
        most_states=tuning.sampled_states,
        most_found=1,
    )
    with native.search(few) as search:
        search.start()
        size = search.finish_level()
        sizes, generated = np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.uint64)
        while size and search.standing().level_end < tuning.sampled_states and not search.is_stopping():
            search.expand_levels(0, sizes, generated, 2**63)
            size = int(sizes[0])
        return shape_of(search, search.standing().level_end)


def shape_of(search: Search, states: int) -> TreeShape:
    """Returns the shape of trees that suits the states of an arena up to a number."""
    step = max(1, states // most_sampled(search.native.model_bytes))
    runs = 64  # states next to each other that are read together
    begins = range(0, states, step * runs)
    parts: list[States] = [search.read_block(at, min(states, at + runs)) for at in begins]
    sample = np.concatenate(parts) if parts else search.native.states(0)
    # Shuffled, because a part of the sample is to be a sample too.
    sample = sample[np.random.default_rng(0).permutation(len(sample))]
    return best_shape(search.packed_form(sample), _STATES_TO_COME * states)


def reported(explorer: Explorer, outcome: Outcome) -> Outcome:
    """Returns an outcome with the figures of compression, over all ranks, if there was any."""
    search = explorer.search
    if not isinstance(search, CompressedSearch):
        return outcome
    parts = explorer.exchange.gather((search.memory(), search.standing().states))
    return replace(outcome, compression=report_of(search, parts))


def report_of(search: CompressedSearch, parts: list[tuple[CompressedMemory, int]] | None = None) -> CompressionReport:
    """Returns where the memory of a compressed search is. ``parts``: memory and states of all ranks."""
    parts = parts or [(search.memory(), search.standing().states)]
    memory = sum_memory([each for each, _ in parts])
    states = max(1, sum(count for _, count in parts))
    return CompressionReport(
        form="tree" if search.is_tree else "quotient",
        queue="RAM" if search.settings.file is None else "disk",
        state_bytes=search.native.model_bytes,
        nodes=memory.nodes,
        node_bytes=memory.node_bytes,
        index_bytes=memory.index_bytes,
        root_bytes=memory.root_bytes,
        queue_bytes=memory.queue_bytes,
        bytes_a_state=round(memory.total / states, 2),
        ratio=round(search.native.model_bytes * states / max(1, memory.total), 2),
    )


def tell_compressed(explorer: Explorer, search: CompressedSearch, before: float) -> None:
    """Tells that states, which took ``before`` bytes each, are compressed from now on."""
    level, after = len(explorer.levels) - 1, report_of(search).bytes_a_state
    how = "folded into trees" if search.is_tree else "kept as remainders"
    text = (
        f"memory budget used up at level {level:,}: states {how}, {after:.1f} bytes each instead of {before:.1f}, "
        "continuing in RAM with the queue on disk"
    )
    data = {"level": level, "before": round(before), "after": round(after)}
    explorer.watch.tell(Event(EventKind.COMPRESSED, text, data))


class Compressing:
    """The handover of a search, in the middle of a level, to one whose visited states are compressed. ``plain``: the
    model."""

    def __init__(self, explorer: Explorer, plain: Native) -> None:
        self._explorer = explorer
        self._plain = plain
        self._ready: Native | None = None  #: the model with the kernels of a compressed search
        self._files = ExitStack()
        options = explorer.options
        is_declared = CompressOptions in STRATEGIES[options.strategy].options
        self._is_wanted = is_declared and options.of(CompressOptions).compress != Compression.OFF

    @property
    def _is_possible(self) -> bool:
        """A search that restarts would print once more what the model prints."""
        explorer, tuning = self._explorer, self._explorer.tuning
        plain, search = self._plain, explorer.search
        if not self._is_wanted or plain.prints or why_impossible(plain, explorer.options) is not None:
            return False
        if not explorer.exchange.holds_all_states or search.native is not plain:
            return False
        is_soon_done = plain.seconds_to_compile <= tuning.seconds_to_compile + explorer.watch.seconds()
        return is_soon_done and plain.model_bytes >= tuning.least_compressed_bytes

    def make_ready(self) -> None:
        """Compiles while there is memory to do so. May be called while workers are at work."""
        if self._is_possible and self._explorer.search.standing().level_begin >= self._explorer.tuning.least_compressed:
            self._ready = compiled(self._plain)

    def compress(self, unexpanded: int) -> bool:
        """Continues with compressed states, at state ``unexpanded`` of the level. Returns whether it did."""
        explorer, search = self._explorer, self._explorer.search
        if not self._is_possible:
            return False
        try:
            used = Spill(search).resume()
            if used < explorer.tuning.least_compressed:
                return False
            small = self._ready or compiled(self._plain)
        except OutcropError:  # raised by the compiler
            return False
        before = search.standing().memory / max(1, used)
        left = Carrying(search).carried()
        new = self._open(small, shape_of(search, used) if small.is_tree else None)
        if not hand_over(explorer, new, used, unexpanded, left):
            new.close()
            why = "compressed states do not fit in memory either"
            raise Reformed(None, explorer, EventKind.COMPRESSED, why)
        explorer.search, explorer.native = new, small
        search.close()
        if explorer.watch.asked is not None:
            new.stop()
        explorer.visited = ExactTable(counts_deeper=False)
        explorer.keeps_boundaries = True
        tell_compressed(explorer, new, before)
        return True

    def _open(self, small: Native, shape: TreeShape | None) -> CompressedSearch:
        explorer = self._explorer
        directory = work_place(explorer.options.workdir)
        file = self._files.enter_context(nameless_file(directory))
        settings = replace(
            explorer.search.settings,
            spills=False,
            file=file,
            disk_limit=disk_limit(explorer.options, directory, _QUEUE_SHARE),
            first_lines=FIRST_LINES,
        )
        return CompressedSearch(small, settings, shape)

    def check_memory(self) -> None:
        """Raises Reformed when the memory of a compressed search has ended: the one that follows goes to disk."""
        if isinstance(self._explorer.search, CompressedSearch):
            why = "memory budget used up by compressed states"
            raise Reformed(None, self._explorer, EventKind.COMPRESSED, why)

    def snapshot(self, boundary: Boundary | None) -> Snapshot | None:
        """Returns a snapshot of the last complete level of a compressed search, for one that is not."""
        explorer, search = self._explorer, self._explorer.search
        if boundary is None or not isinstance(search, CompressedSearch):
            return None
        manifest = boundary.describe(explorer)
        ends = explorer.levels.ends
        search.forget()

        def read_level(level: int) -> Iterator[States]:
            step = explorer.tuning.states_a_part
            for at in range(ends[level], ends[level + 1], step):
                yield search.packed_form(search.read_block(at, min(ends[level + 1], at + step)))

        def close() -> None:
            search.close()
            self.close()

        return Snapshot(
            own=[manifest],
            everyone=[manifest],
            read_level=read_level,
            event="continued at level {level:,} with {states:,} states that are no longer compressed",
            close=close,
        )

    def close(self) -> None:
        self._files.close()
