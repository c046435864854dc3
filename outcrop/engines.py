"""Runs a search: the interpreter's, or one of the native strategies on a compiled model."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from outcrop.errors import UsageError
from outcrop.ir.layout import State
from outcrop.ir.system import System
from outcrop.options import CheckOptions, Engine, LoadOptions, Where
from outcrop.search.outcome import Outcome, Progress

#: The module of each strategy of the native engine.
STRATEGIES = {
    "auto": "auto",
    "ram": "ram",
    "compact": "compact",
    "cached": "cached",
    "disk": "locality",
    "locality": "locality",
    "serial": "serial",
    "layered": "layered",
}
#: Those that look for runs that a formula forbids, and for nothing else.
CYCLE_STRATEGIES = {"ndfs": "ndfs", "owcty": "owcty"}
#: What looks for those that are fair, unless the product counts.
FAIR = "fair"

#: Maps a state to the representative of its orbit.
Canonical = Callable[[State], State]
ShowProgress = Callable[[Progress], None]
TakeOutput = Callable[[str], None]


@dataclass(frozen=True)
class Searched:
    """``canonical``: what the search took for the representative of a state (None: the interpreter's)."""

    outcome: Outcome
    compile_seconds: float = 0.0
    canonical: Canonical | None = None


def search(
    system: System,
    load: LoadOptions,
    options: CheckOptions,
    progress: ShowProgress | None = None,
    output: TakeOutput | None = None,
) -> Searched:
    """The search that the options name."""
    known = (*CYCLE_STRATEGIES, FAIR) if system.product is not None else STRATEGIES
    if options.strategy not in known:
        every = ", ".join([*STRATEGIES, *CYCLE_STRATEGIES])
        if options.strategy in CYCLE_STRATEGIES:
            raise UsageError(f"{options.strategy} looks for runs that violate a formula, and there is none: see --ltl")
        raise UsageError(f"strategy is one of {every}, not '{options.strategy}'")
    if options.engine is Engine.INTERPRETER:
        if system.product is None and options.strategy != "ram":
            raise UsageError(f"the interpreter has only the strategy ram, not {options.strategy}")
        if options.checkpoint is not None or options.resume is not None:
            raise UsageError("the interpreter keeps no checkpoints")
        if (options.ranks or 1) > 1:
            raise UsageError("the interpreter searches alone, not with several ranks")
        if options.device is Where.GPU:
            raise UsageError("the interpreter searches on the processor, not on a GPU")
        name = "reference" if system.product is None else "scc"
        interpreted = import_module(f"outcrop.search.{name}")
        return Searched(interpreted.search(system, options, progress=progress, output=output))
    return _search_native(system, load, options, progress, output)


def _needs_all_kernels(options: CheckOptions) -> bool:
    """Whether a search needs more than what most do; or probably will, because memory is limited or somebody wants to
    know more than the verdict."""
    if options.coverage or (options.ranks or 1) > 1:
        return True
    if options.strategy == "auto":
        return options.memory is not None or options.state_memory is not None
    return options.strategy not in ("ram", "compact", "owcty", FAIR) or (
        options.strategy == "owcty" and options.compact
    )


def _search_native(
    system: System,
    load: LoadOptions,
    options: CheckOptions,
    progress: ShowProgress | None,
    output: TakeOutput | None,
) -> Searched:
    from outcrop.codegen.c import emit
    from outcrop.codegen.compiler import compile_model
    from outcrop.codegen.identity import identity
    from outcrop.codegen.puts import PutFormatter
    from outcrop.codegen.symmetry import needs_normalise
    from outcrop.dist.compare import compare_ranks
    from outcrop.dist.exchange import exchange_of
    from outcrop.gpu.device import is_there
    from outcrop.kernels import Counts
    from outcrop.search.anew import BeginAnew

    started = time.monotonic()
    emitted = emit(system, options.symmetry and system.allows_symmetry, options.coverage)
    on_gpu = options.device is Where.GPU or (options.device is Where.AUTO and is_there())
    exchange = exchange_of(options.ranks)
    if emitted.liveness_count and not exchange.is_alone:
        raise UsageError(
            "liveness is not checked over several ranks; it is by one, with the strategies ram and compact"
        )
    native = exchange.first_of_each_machine(
        lambda: compile_model(
            emitted.source,
            notes=emitted.notes,
            keep_c=options.keep_c,
            all_kernels=on_gpu or _needs_all_kernels(options),
        )
    )
    compile_seconds = time.monotonic() - started
    if options.checkpoint is not None or options.resume is not None or not exchange.is_alone:
        native.identity = identity(system, load, options)
    if not exchange.is_alone:
        compare_ranks(exchange, native.identity, options)
    if system.product is not None:
        native.strength = str(system.product.strength)
    formatter = PutFormatter(emitted)

    def put(words: Counts) -> None:
        if output is not None:
            for text in formatter.texts(words.tolist()):
                output(text)

    layout = emitted.layout
    has_normal_form = needs_normalise(system, layout, options.symmetry and system.allows_symmetry)

    def canonical(state: State) -> State:
        return layout.unpack(native.normalise(layout.pack(state))) if has_normal_form else state

    modules = STRATEGIES | CYCLE_STRATEGIES | {FAIR: "fair"}
    strategy = import_module(f"outcrop.search.{modules[options.strategy]}")

    def on_host(options: CheckOptions) -> Outcome:
        seconds = 0.0
        while True:
            try:
                outcome: Outcome = strategy.search(native, options, progress, put)
                return dataclasses.replace(outcome, seconds=outcome.seconds + seconds)
            except BeginAnew as better:
                options = better.options(options)
                seconds += better.seconds

    if not on_gpu:
        return Searched(on_host(options), compile_seconds, canonical)
    from outcrop.gpu.choose import search_somewhere
    from outcrop.gpu.search import Program

    outcome = search_somewhere(Program(system, emitted, native), options, progress, put, on_host)
    return Searched(outcome, compile_seconds, canonical)
