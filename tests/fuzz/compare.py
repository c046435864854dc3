"""Comparison of all searches for bad states on one model: the interpreter, and the compiled code with every strategy
and several numbers of threads."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from random import Random

from expectations import TINY

from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.explorer.context import Context
from outcrop.explorer.tuning import Tuning
from outcrop.ir.nodes import Call, Cover
from outcrop.ir.system import PropertyKind, System
from outcrop.ir.vacuity import vacuity
from outcrop.ir.walk import walk
from outcrop.kernels import Native
from outcrop.lang import load_text
from outcrop.lang.murphi.language import MurphiOptions, UndefinedReads
from outcrop.lang.while_limit import LoopOptions
from outcrop.options import CheckOptions, Deadlock, LoadOptions
from outcrop.oracle import search as reference
from outcrop.outcome import EventKind, Outcome, Stop
from outcrop.search import auto, compact, layered, ram
from outcrop.strategies import STRATEGIES, Compression, names

#: Number of levels of symmetric models that the interpreter, which is slow on them, explores.
_DEPTH = 6
_MOST_STATES = 3_000
#: The strategies past RAM.
_PAST_RAM = [STRATEGIES[name] for name in names(past_ram=True)]

#: Fraction of models that are also searched with squeezed states, because each is then compiled several times. States
#: are squeezed so early, and with so few spare places, that they soon become too wide.
_SQUEEZED_PART = 0.5
_SQUEEZED = Tuning(
    least_states=4,
    spare_places=0,
    bits_a_spare_place=8,
    least_spare_places=0,
    bytes_step=1,
    least_gain=1.01,
    seconds_to_compile=1000.0,
    least_states_a_worker=64,
)

#: Number of comparisons of each search, for statistics.
compared: Counter[str] = Counter()


def disagreement(text: str, name: str, seed: int) -> str:
    """Returns what the searches of a model disagree about; "" if they agree. The same seed tries the same options."""
    random = Random(seed)
    options = LoadOptions(own=(MurphiOptions(random.choice(list(UndefinedReads))), LoopOptions(100)))
    system, _ = load_text(text, name, options)
    system = vacuity(system, system.temporal).system
    for symmetry in sorted({False, bool(system.scalarsets) and system.allows_symmetry}):
        emitted = emit(system, symmetry, coverage=True, prints=seed % 2 == 0)
        native = compile_model(emitted.source, notes=emitted.notes)
        for max_errors, deadlock in ((1, Deadlock.STUTTERING), (None, random.choice(list(Deadlock)))):
            chosen = CheckOptions(symmetry=symmetry, max_errors=max_errors, deadlock=deadlock)
            squeezes = random.random() < _SQUEEZED_PART
            for found in (*_against_interpreter(system, native, chosen), *_past_ram(system, native, chosen, squeezes)):
                return f"{found} with {options} and {chosen}"
    return ""


def _against_interpreter(system: System, native: Native, options: CheckOptions) -> Iterator[str]:
    options, free = dataclasses.replace(options, depth=_DEPTH), _assumptions_count(system)
    expected = _comparable(reference.search(system, options), options.symmetry, free)
    for name, search, more in (
        ("ram, 1 thread", ram.search, {"threads": 1}),
        ("ram, 2 threads", ram.search, {"threads": 2}),
        ("ram, 4 threads", ram.search, {"threads": 4}),
        ("compact", compact.search, {"threads": 2, "bits": 64}),
    ):
        compared[name] += 1
        got = _comparable(search(native, dataclasses.replace(options, **more)), options.symmetry, free)
        if not _same(got, expected):
            yield f"{name}: {got} is not the interpreter's {expected}"
    for compression in (Compression.TREE, Compression.QUOTIENT):
        compared[f"ram, {compression}"] += 1
        chosen = dataclasses.replace(options, threads=2).with_own(compress=compression)
        got = _comparable(ram.search(native, chosen), options.symmetry, free)
        if not _same(got, expected):
            yield f"ram, {compression}: {got} is not the interpreter's {expected}"


def _past_ram(system: System, native: Native, options: CheckOptions, squeezes: bool) -> Iterator[str]:
    if native.liveness_count:
        return  # the search needs all states at once
    options, free = dataclasses.replace(options, states=_MOST_STATES), _assumptions_count(system)
    expected = ram.search(native, options)
    if expected.stop is Stop.STATES:
        return
    for strategy in _PAST_RAM:
        tiny = dataclasses.replace(options, strategy=strategy.name, threads=2, bits=64, **TINY)
        got: Outcome = strategy.function()(native, tiny)
        if got.stop in (Stop.COLLISIONS, Stop.STATES):
            continue  # too many revisits to end
        compared[strategy.name] += 1
        if not strategy.revisits:
            same = _same(_comparable(got, False, free), _comparable(expected, False, free))
        else:
            same = (got.stop, got.findings, got.visited >= (expected.states or 0)) == (
                expected.stop,
                expected.findings,
                True,
            ) and [count > 0 for count in got.fired] == [count > 0 for count in expected.fired]
        if not same:
            yield f"{strategy.name}: {got} is not the {expected} of ram"
    yield from _undecided(native, options)
    for search in (auto.search, layered.search) if squeezes else ():
        got = search(native, dataclasses.replace(options, threads=1, **TINY), Context(tuning=_SQUEEZED))
        is_squeezed = any(event.kind is EventKind.SQUEEZED for event in got.events)
        compared["squeezed" if is_squeezed else "not squeezed"] += 1
        if not _same(_comparable(got, False, free), _comparable(expected, False, free)):
            yield f"{search.__module__}, squeezed: {got} is not the {expected} of ram"


def _undecided(native: Native, options: CheckOptions) -> Iterator[str]:
    """Yields false claims of strategies that may miss states: their violations must be real, and they never hold."""
    everything = ram.search(native, dataclasses.replace(options, max_errors=None))
    if everything.stop is Stop.STATES:
        return
    real = {(each.kind, each.path[-1:]) for each in everything.findings}
    for strategy in (STRATEGIES[name] for name in names(decides=False)):
        for memory in (None, TINY["state_memory"]):
            chosen = dataclasses.replace(options, strategy=strategy.name, threads=2, state_memory=memory)
            got: Outcome = strategy.function()(native, chosen)
            compared[strategy.name] += 1
            found = {(each.kind, each.path[-1:]) for each in got.findings}
            if got.stop is Stop.COMPLETE or got.visited > everything.visited or not found <= real:
                yield f"{strategy.name} with {memory} bytes: {got} claims more than {everything} of ram"


def _same(one: Outcome, other: Outcome) -> bool:
    """Returns whether two outcomes agree. Counts that only some searches have are compared if both have them."""
    common = {
        name: None
        for name in ("generated", "missed", "enabled", "deeper")
        if getattr(one, name) is None or getattr(other, name) is None
    }
    return dataclasses.replace(one, **common) == dataclasses.replace(other, **common)  # type: ignore[arg-type]


def _comparable(outcome: Outcome, symmetry: bool, counts_are_free: bool) -> Outcome:
    """Returns an outcome without what may differ: times, sizes, and under symmetry the representatives of orbits."""
    outcome = dataclasses.replace(outcome, seconds=0.0, peak_disk_bytes=0, omission_bound=0.0, events=[])
    if symmetry:
        outcome.findings = []
    if counts_are_free:
        outcome.covered = [min(1, count) for count in outcome.covered]
    return outcome


def _assumptions_count(system: System) -> bool:
    """Returns whether assumptions contain cover statements. How often a search evaluates them is not defined."""
    return any(
        isinstance(node, Cover)
        for each in system.of_kind(PropertyKind.ASSUMPTION)
        for call in walk(each.condition)
        if isinstance(call, Call)
        for function in system.functions[: system.functions.index(call.function) + 1]
        for node in walk(function.body)
    )
