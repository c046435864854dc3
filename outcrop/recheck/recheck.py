"""Evaluation of invariants over the states that a finished search has kept, without searching again.

The compiled invariants run over the blocks of the state file, level by level. The first level with a violation has the
shortest trace, which is found as searches find theirs: by expanding the levels before it again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any

from outcrop.api import Model, load
from outcrop.check.kept import Kept, read_kept
from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.codegen.identity import identity
from outcrop.errors import UsageError
from outcrop.explorer.budget import worker_count
from outcrop.explorer.paths import PathFinder, look_in_blocks
from outcrop.ir.layout import Layout, State
from outcrop.ir.system import Property, System
from outcrop.kernels import Found, Native, Search, Settings, States
from outcrop.options import CheckOptions, Deadlock
from outcrop.outcome import Finding, FindingKind
from outcrop.result import PropertyResult, Verdict, Violation
from outcrop.store.checkpoint import CheckpointDirectory, Manifest
from outcrop.store.frontier import RowFile
from outcrop.store.workdir import DiskBudget
from outcrop.trace.replay import Replay

#: Largest number of states that a worker checks at a time.
_BLOCK_ROWS = 8192

#: Reads the blocks of a level.
ReadLevel = Callable[[int], Iterator[States]]


@dataclass(frozen=True)
class Recheck:
    """The verdict on each invariant, over the kept states."""

    model: str
    kept: Kept
    states: int
    levels: int
    properties: tuple[PropertyResult, ...]
    violations: tuple[Violation, ...]
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """A violation is real. Without one, only a complete search shows that the invariants hold."""
        if self.violations:
            return Verdict.VIOLATED
        return Verdict.HOLDS if self.kept.is_complete else Verdict.UNKNOWN


def recheck(
    directory: str,
    invariants: Sequence[str],
    threads: int | None = None,
    warn: Callable[[str], None] = lambda text: None,
) -> Recheck:
    """Evaluates invariants over the states in a directory. ``warn`` receives warnings about damage."""
    if not invariants:
        raise UsageError("there is no invariant to evaluate; give one with --invariant EXPRESSION")
    kept = read_kept(directory)
    before = load(kept.model, kept.constants, invariants=kept.invariants, **kept.language)
    model = load(kept.model, kept.constants, invariants=invariants, **kept.language)
    options = CheckOptions(symmetry=kept.symmetry, deadlock=Deadlock(kept.deadlock), threads=threads)
    own = identity(before.system, before.options, options)
    if own["--symmetry"] == "on" and not model.system.allows_symmetry:
        raise UsageError(
            "an invariant distinguishes scalarset values, and the kept states do not; "
            "check it with 'outcrop check MODEL --invariant EXPRESSION'"
        )
    width = Layout(model.system).byte_count
    with closing(CheckpointDirectory(directory, own, width, DiskBudget())) as place:
        manifest = place.load(warn)
        begun = time.monotonic()
        with closing(place.open_states(manifest, _BLOCK_ROWS)) as states:
            violations = list(_violations(model, options, manifest, _reader(states, manifest)))
    found = {each.property for each in violations}
    otherwise = str(Verdict.HOLDS if kept.is_complete else Verdict.UNKNOWN)
    rows = tuple(
        PropertyResult(str(each.kind), each.name, each.span, "violated" if each.name in found else otherwise)
        for each in _given(model)
    )
    seconds = time.monotonic() - begun
    return Recheck(kept.name, kept, manifest.rows, sum(map(bool, manifest.levels)), rows, tuple(violations), seconds)


def _given(model: Model) -> list[Property]:
    """Returns the invariants that do not stand in the model."""
    sources = [each.source for each in model.options.invariants]
    return [each for each in model.system.properties if any(each.span.source is source for source in sources)]


def _reader(states: RowFile, manifest: Manifest) -> ReadLevel:
    ends = [0, *accumulate(manifest.levels)]
    return lambda level: states.blocks(ends[level], ends[level + 1])


def _violations(model: Model, options: CheckOptions, manifest: Manifest, read_level: ReadLevel) -> Iterator[Violation]:
    """Yields the first violation of each invariant that some state violates. The remaining ones are compiled again."""
    left = _given(model)
    while left:
        system = replace(model.system, properties=tuple(left), covers=(), temporal=())
        symmetry = options.symmetry and system.allows_symmetry
        emitted = emit(system, symmetry)
        native = compile_model(emitted.source, notes=emitted.notes, groups=emitted.groups, kernels=())
        with native.search(Settings(workers=worker_count(options), budget=1 << 20)) as search:
            goal = _first_bad(search, manifest, read_level)
            if goal is None:
                return
            finder = PathFinder(look_in_blocks(search, read_level, partial(_parallel, search)))
            (path,) = finder.paths([goal])
        replay = Replay(system, options, _canonical(system, native))
        violation = replay.explain(Finding(FindingKind.STATE, path))
        yield violation
        left = [each for each in left if each.name != violation.property]


def _first_bad(search: Search, manifest: Manifest, read_level: ReadLevel) -> tuple[bytes, int] | None:
    """Returns a state of the first level that has one which violates an invariant, and that level."""
    for level, size in enumerate(manifest.levels):
        blocks, reading = read_level(level), threading.Lock()

        def work(worker: int, blocks: Iterator[States] = blocks, reading: threading.Lock = reading) -> None:
            while True:
                with reading:
                    block = next(blocks, None)
                if block is None:
                    return
                search.check_block(worker, block)

        workers = search.workers if size > _BLOCK_ROWS else 1
        _parallel(search, *(partial(work, worker) for worker in range(workers)))
        found = search.take_found(Found.STATE)
        if found:
            return found[0], level
    return None


def _parallel(search: Search, *tasks: Callable[[], Any]) -> list[Any]:
    if len(tasks) == 1:
        return [tasks[0]()]
    with ThreadPoolExecutor(search.workers) as pool:
        return [each.result() for each in [pool.submit(task) for task in tasks]]


def _canonical(system: System, native: Native) -> Callable[[State], State]:
    layout = Layout(system)
    return lambda state: layout.unpack(native.normalise(layout.pack(state)))
