"""Runs one search: with the interpreter, or with a native strategy on a compiled model."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from outcrop.check.race import Compilation, CompileClock, may_race, race
from outcrop.codegen.find_compiler import find_compiler
from outcrop.declared import choice, listed
from outcrop.errors import CompilerNotFound, UsageError
from outcrop.interrupts import causes
from outcrop.ir.layout import State
from outcrop.ir.system import System
from outcrop.options import CheckOptions, DeviceChoice, Engine, LoadOptions, Reduce
from outcrop.outcome import Ending, Event, EventKind, Outcome, Progress, Restart, ShortestRuns, Stop
from outcrop.strategies import (
    STRATEGIES,
    Compression,
    CompressOptions,
    OwctyOptions,
    SqueezeOptions,
    Strategy,
    names,
)

if TYPE_CHECKING:
    from outcrop.kernels import Native
    from outcrop.reduction.stubborn import Reduction

#: Maps a state to the representative of its orbit.
Canonical = Callable[[State], State]
ShowProgress = Callable[[Progress], None]
TakeOutput = Callable[[str], object]
#: Repeats a search as far as needed, and returns the states on all shortest runs to each of some endings.
FindShortestRuns = Callable[[Sequence[Ending]], list[ShortestRuns | None]]

#: Environment variable with the engine of checks that name none.
ENGINE_VARIABLE = "OUTCROP_ENGINE"
_INTERPRETED = (
    "no C compiler was found, so the interpreter searched, which is slow; install one (apt install gcc), or "
    "pip install 'outcrop[zig]'"
)


@dataclass(frozen=True)
class EngineOutcome:
    """The outcome of a search with data of its engine. ``canonical`` returns the representative of a state as the
    search chose it; None stands for that of the interpreter."""

    outcome: Outcome
    compile_seconds: float = 0.0
    canonical: Canonical | None = None
    compiler: str = ""  #: name and version of the C compiler
    engine: Engine = Engine.NATIVE  #: the engine that searched
    shortest_runs: FindShortestRuns | None = None


def search(
    system: System,
    load: LoadOptions,
    options: CheckOptions,
    progress: ShowProgress | None = None,
    output: TakeOutput | None = None,
) -> EngineOutcome:
    """Runs the search that the options name."""
    _refuse_strategy(options, has_product=system.product is not None)
    reduction = used = None
    if options.reduce is not Reduce.OFF:
        from outcrop.reduction.prepare import reduction_of, reported  # few checks reduce
        from outcrop.reduction.stubborn import Reduction

        reduction = reduction_of(system, options.symmetry)
        used = reduction if isinstance(reduction, Reduction) else None
    if options.engine is Engine.INTERPRETER:
        if system.product is None and options.strategy != "ram":
            raise UsageError(
                f"the interpreter has only the strategy ram, not {options.strategy}; leave out --strategy or --engine"
            )
        if lack := _lack_of_interpreter(options):
            raise UsageError(f"the interpreter {lack}; use --engine native")
        name = "search" if system.product is None else "cycles"
        interpreted = import_module(f"outcrop.oracle.{name}")
        printed = output if options.prints else None
        outcome = interpreted.search(system, options, progress=progress, output=printed, reduction=used)
        searched = _interpreted(system, options, outcome, used)
    else:
        searched = _search_native(system, load, options, progress, output, used)
    outcome = searched.outcome.without_states_undecided()
    if reduction is not None:
        outcome = reported(outcome, reduction, len(system.covers))
    return dataclasses.replace(searched, outcome=outcome)


def _interpreted(system: System, options: CheckOptions, outcome: Outcome, reduction: Reduction | None) -> EngineOutcome:
    """Returns the outcome of the interpreter."""

    def runs(endings: Sequence[Ending]) -> list[ShortestRuns | None]:
        from outcrop.oracle.shortest import shortest_runs  # needed only for violations

        return shortest_runs(system, options, endings, reduction)

    return EngineOutcome(outcome, engine=Engine.INTERPRETER, shortest_runs=runs)


def _interrupted(system: System, reduction: Reduction | None) -> Outcome:
    """Returns the outcome of a search that a signal ended while the model was compiled."""
    cause = next(iter(causes()), "interrupted")
    event = Event(EventKind.INTERRUPTED, f"{cause} while the model was compiled")
    counters = len(system.covers)
    if reduction is not None:
        from outcrop.reduction.stubborn import COUNTERS  # few checks reduce

        counters += len(COUNTERS)
    return Outcome(Stop.INTERRUPTED, [], [0] * len(system.rules), [0] * counters, events=[event])


def settled(options: CheckOptions) -> tuple[CheckOptions, Event | None]:
    """Returns the options with the engine that the environment and the machine allow, and an event if that is the
    interpreter for want of a C compiler."""
    engine = options.engine
    if engine is Engine.AUTO and (named := os.environ.get(ENGINE_VARIABLE)):
        engine = choice(Engine, f"${ENGINE_VARIABLE}", named)
    event = None
    if engine is Engine.AUTO:
        try:
            find_compiler()
        except CompilerNotFound as error:
            lack = _lack_of_interpreter(options)
            if options.strategy not in ("auto", "ram"):
                lack = f"has no strategy {options.strategy}"
            if lack:
                raise CompilerNotFound(
                    f"{error}. Without one this check is impossible: the interpreter {lack}"
                ) from None
            engine, event = Engine.INTERPRETER, Event(EventKind.INTERPRETED, _INTERPRETED)
    if engine is Engine.INTERPRETER and options.strategy == "auto":
        options = dataclasses.replace(options, strategy="ram")
    return dataclasses.replace(options, engine=engine), event


def _lack_of_interpreter(options: CheckOptions) -> str:
    """Returns what the interpreter cannot do of the options, as the end of a sentence; empty: nothing."""
    if options.checkpoint is not None or options.resume is not None:
        return "writes no checkpoints"
    if (options.ranks or 1) > 1:
        return "cannot use several ranks"
    if wants_compression(options):
        return "does not compress states, as --compress asks"
    return "cannot use a GPU" if options.device is DeviceChoice.GPU else ""


def _refuse_strategy(options: CheckOptions, has_product: bool) -> None:
    """Raises UsageError for a strategy that does not exist, or that cannot search this kind of system."""
    strategy = STRATEGIES.get(options.strategy)
    if strategy is not None and strategy.finds_cycles is has_product:
        return  # includes a strategy that only check.temporal chooses
    if strategy is not None and strategy.finds_cycles:
        raise UsageError(
            f"{options.strategy} searches for runs that violate a formula, and there is no formula; give one with --ltl"
        )
    raise UsageError(f"strategy must be one of {', '.join(names())}, not '{options.strategy}'")


def _refuse_what_it_cannot(strategy: Strategy, options: CheckOptions, has_liveness: bool) -> None:
    """Raises UsageError for options that the strategy does not support, according to the registry."""
    is_shared = (options.ranks or 1) > 1
    if has_liveness and is_shared:
        raise UsageError("liveness cannot be checked over several ranks; leave out --ranks")
    if has_liveness and not strategy.liveness:
        others = listed(names(liveness=True, finds_cycles=False), "or")
        raise UsageError(f"{strategy.name} does not check liveness; use {others}")
    if not strategy.checkpoints and options.keep_states is not None:
        raise UsageError(f"{strategy.name} cannot keep its states; leave out --keep-states, or choose another strategy")
    if not strategy.checkpoints and (options.checkpoint is not None or options.resume is not None):
        raise UsageError(
            f"{strategy.name} writes no checkpoints; leave out --checkpoint and --resume, or choose another strategy"
        )
    if is_shared and not strategy.ranks:
        others = listed(names(ranks=True, finds_cycles=strategy.finds_cycles), "or")
        raise UsageError(f"{strategy.name} cannot use several ranks; use {others}")
    if wants_compression(options):
        if CompressOptions not in strategy.options:
            others = listed([each for each in names() if CompressOptions in STRATEGIES[each].options], "or")
            raise UsageError(f"{strategy.name} does not compress states; leave out --compress, or use {others}")
        if options.device is DeviceChoice.GPU:
            raise UsageError("states on a GPU are not compressed; leave out --compress or --device")


def wants_compression(options: CheckOptions) -> bool:
    """Returns whether states are to be compressed from the start."""
    return options.of(CompressOptions).compress in (Compression.TREE, Compression.QUOTIENT)


def _kernels_needed(strategy: Strategy, options: CheckOptions) -> tuple[str, ...] | None:
    """Returns the kernel files that a search needs beyond those of most searches; None: all. A search with limited
    memory, or with detailed counts, gets all of them."""
    is_limited = options.memory is not None or options.state_memory is not None
    needs_all = options.coverage or (options.ranks or 1) > 1 or options.of(OwctyOptions).compact
    return None if needs_all or (is_limited and SqueezeOptions in strategy.options) else strategy.kernels


def _search_native(
    system: System,
    load: LoadOptions,
    options: CheckOptions,
    progress: ShowProgress | None,
    output: TakeOutput | None,
    reduction: Reduction | None,
) -> EngineOutcome:
    # The interpreter needs no compiler, kernels or numpy.
    from outcrop.codegen.c import emit
    from outcrop.codegen.compiler import cached_model, compile_model
    from outcrop.codegen.identity import identity
    from outcrop.codegen.processes import Watch
    from outcrop.codegen.puts import printer
    from outcrop.codegen.symmetry import needs_normalise
    from outcrop.dist.compare import compare_ranks
    from outcrop.dist.parts import discard_checkpoint
    from outcrop.dist.transport import transport_of
    from outcrop.explorer.context import Context
    from outcrop.gpu.device import is_there
    from outcrop.store.workdir import remove_stale_work

    strategy, started = STRATEGIES[options.strategy], time.monotonic()
    remove_stale_work(options.workdir)
    symmetry = options.symmetry and system.allows_symmetry
    emitted = emit(system, symmetry, options.coverage, prints=options.prints, reduction=reduction)
    may_use_gpu = options.device is DeviceChoice.AUTO and not wants_compression(options)
    on_gpu = options.device is DeviceChoice.GPU or (may_use_gpu and is_there())
    transport = transport_of(options.ranks)
    _refuse_what_it_cannot(strategy, options, bool(emitted.liveness_count))
    kernels = None if on_gpu else _kernels_needed(strategy, options)
    clock = CompileClock(progress)

    notes, groups = emitted.notes, emitted.groups

    def compiled(watch: Watch) -> Native:
        return compile_model(
            emitted.source, notes=notes, groups=groups, kernels=kernels, keep_c=options.keep_c, watch=watch
        )

    try:
        if may_race(system, options):
            native = cached_model(emitted.source, notes=notes, groups=groups, kernels=kernels)
            if native is None:
                with Compilation(compiled) as compilation:
                    outcome = race(system, options, compilation, clock, reduction)
                    if outcome is not None:
                        return _interpreted(system, options, outcome, reduction)
                    native = compilation.result(clock)
        else:
            native = transport.first_of_each_machine(lambda: compiled(clock))
    except KeyboardInterrupt:
        if transport.size > 1:  # the other ranks must learn of it
            raise
        return EngineOutcome(_interrupted(system, reduction), time.monotonic() - started)
    compile_seconds = time.monotonic() - started
    compiler = next(iter(find_compiler().version.splitlines()), "")
    native.identity = identity(system, load, options, emitted.relations)
    compare_ranks(transport, native.identity, options)
    if system.product is not None:
        native.strength = str(system.product.strength)
    put = None if output is None else printer(emitted, output)
    layout = emitted.layout
    has_normal_form = needs_normalise(system, layout, symmetry)

    def canonical(state: State) -> State:
        return layout.unpack(native.normalise(layout.pack(state))) if has_normal_form else state

    run = strategy.function()
    context = Context(progress=progress, put=put)

    def on_host(options: CheckOptions) -> Outcome:
        given = context
        while True:
            try:
                outcome: Outcome = run(native, options, given)
                return outcome
            except Restart as restart:
                discard_checkpoint(restart.options, transport)
                options = restart.options
                given = dataclasses.replace(given, snapshot=restart.snapshot, seconds=restart.seconds)

    def runs(endings: Sequence[Ending]) -> list[ShortestRuns | None]:
        from outcrop.explorer.shortest import shortest_runs  # needed only for violations

        return shortest_runs(native, options, endings)

    if not on_gpu:
        return EngineOutcome(on_host(options), compile_seconds, canonical, compiler, shortest_runs=runs)
    # Few machines have a GPU.
    from outcrop.gpu.choose import search_somewhere
    from outcrop.gpu.search import Program

    outcome = search_somewhere(Program(system, emitted, native), options, context, on_host)
    return EngineOutcome(outcome, compile_seconds, canonical, compiler, shortest_runs=runs)
