"""The race between the interpreter and the C compiler, which gives small models a verdict at once.

The interpreter begins to search while the model is compiled. If it finishes first, its result counts, and the compiler
is stopped. Otherwise the compiled model searches from the start, and the work of the interpreter is dropped.

Both engines return equal counts, levels and findings, so that the result does not depend on the winner. The exceptions
take no part: searches with other strategies, budgets of memory or states, files, printed output, detailed counts, and
formulas. Under symmetry a trace depends on the representatives that an engine chooses, so that a violation waits for
the compiler.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from outcrop.ir.system import System
from outcrop.machine import available_cores, resident_bytes
from outcrop.options import CheckOptions, DeviceChoice, Engine, Reduce
from outcrop.outcome import Outcome, Progress, Stop

if TYPE_CHECKING:
    from outcrop.codegen.processes import Watch
    from outcrop.kernels import Native
    from outcrop.reduction.stubborn import Reduction

ShowProgress = Callable[[Progress], None]

#: Memory that the interpreter may take before it gives up, in bytes.
_MOST_MEMORY = 64 << 20
#: Longest search of the interpreter in seconds: on a single core, where it takes its time from the compiler, and with
#: reduction, where a state takes it ten times as long and most models are too large.
_MOST_SECONDS_ON_ONE_CORE, _MOST_SECONDS_REDUCED = 0.5, 0.25


def may_race(system: System, options: CheckOptions) -> bool:
    """Returns whether the interpreter's result would be that of the compiled model."""
    has_budget = options.memory or options.state_memory or options.states
    has_files = options.checkpoint or options.resume or options.keep_c
    return (
        options.engine is Engine.AUTO
        and options.strategy == "auto"
        and not options.own
        and options.device is not DeviceChoice.GPU
        and (options.ranks or 1) == 1
        and system.product is None
        and not (has_budget or has_files or options.prints or options.coverage)
    )


class _HandOver(Exception):
    """Raised in the search of the interpreter when the compiled model takes over."""


class _Stopped(Exception):
    """Raised in the thread of the compiler when the interpreter has finished."""


class Compilation:
    """A compilation in a thread of its own. Leaving it stops the compiler."""

    def __init__(self, compile_it: Callable[[Watch], Native]) -> None:
        self._is_stopped = False
        self._native: Native | None = None
        self._error: BaseException | None = None
        self._compile = compile_it
        self._thread = threading.Thread(target=self._work, name="outcrop compile", daemon=True)

    def __enter__(self) -> Compilation:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._is_stopped = True
        self._thread.join()

    def _work(self) -> None:
        try:
            self._native = self._compile(self._watch)
        except BaseException as error:  # raised where the result is asked for
            self._error = error

    def _watch(self) -> None:
        if self._is_stopped:
            raise _Stopped

    @property
    def is_done(self) -> bool:
        return not self._thread.is_alive()

    def result(self, watch: Watch) -> Native:
        """Waits for the compiled model while ``watch`` is called. Raises what the compilation raised."""
        while not self.is_done:
            watch()
            self._thread.join(0.1)
        if self._error is not None:
            raise self._error
        assert self._native is not None
        return self._native


class CompileClock:
    """Reports that a compiler runs. Call it several times a second, or let it extend the progress of a search."""

    def __init__(self, progress: ShowProgress | None) -> None:
        self._progress = progress
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def __call__(self) -> None:
        if self._progress is not None:
            nothing = Progress(level=0, states=0, rules_fired=0, frontier=0, seconds=0.0, memory=resident_bytes())
            self._progress(replace(nothing, compiling=self.seconds))

    def extend(self, snapshot: Progress) -> None:
        if self._progress is not None:
            self._progress(replace(snapshot, compiling=self.seconds))


def race(
    system: System, options: CheckOptions, compilation: Compilation, clock: CompileClock, reduction: Reduction | None
) -> Outcome | None:
    """Returns the outcome of the interpreter, or None if the compiled model must search."""
    from outcrop.oracle.search import search as interpret  # memory that a compiled model does without

    most_memory = resident_bytes() + _MOST_MEMORY
    most_seconds = _MOST_SECONDS_ON_ONE_CORE if available_cores() == 1 else inf
    if options.reduce is not Reduce.OFF:
        most_seconds = _MOST_SECONDS_REDUCED

    def look(snapshot: Progress) -> None:
        clock.extend(snapshot)
        is_late = snapshot.seconds > most_seconds
        if compilation.is_done or snapshot.memory > most_memory or is_late:
            raise _HandOver

    try:
        outcome = interpret(system, options, progress=look, reduction=reduction)
    except (_HandOver, MemoryError):
        return None
    return outcome if _counts(system, options, outcome) else None


def _counts(system: System, options: CheckOptions, outcome: Outcome) -> bool:
    """Returns whether the compiled model would return this outcome too, or the user has ended the search."""
    if outcome.stop is Stop.INTERRUPTED:
        return True
    is_symmetric = options.symmetry and bool(system.scalarsets) and system.allows_symmetry
    ends = (Stop.COMPLETE, Stop.DEPTH, Stop.VIOLATION)
    return outcome.stop in ends and not (outcome.findings and is_symmetric)
