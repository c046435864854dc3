"""Load a model, check it: the Python side of the ``outcrop`` command.

>>> import outcrop
>>> model = outcrop.load("examples/peterson.m")
>>> result = model.check(engine="interpreter")
>>> result.verdict
<Verdict.HOLDS: 'holds'>
>>> result.states == sum(result.levels)
True
>>> result.trace is None
True
"""

from __future__ import annotations

import dataclasses
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from outcrop.errors import InternalError, UsageError
from outcrop.ir.layout import Layout, State
from outcrop.ir.system import PropertyKind, System
from outcrop.machine import peak_rss
from outcrop.options import (
    CheckOptions,
    Deadlock,
    Engine,
    Keep,
    LoadOptions,
    Overflow,
    Replacement,
    UndefinedReads,
    Where,
    parse_duration,
    parse_layers,
    parse_size,
)
from outcrop.report.json import position
from outcrop.report.layers import layers_document
from outcrop.report.types import type_tree
from outcrop.result import Result, Verdict, Violation, ViolationKind
from outcrop.search.outcome import Outcome, Progress, Stop
from outcrop.source import Diagnostic, Severity, Source, Span

#: Bytes of a model that a terminal would take for commands; NUL to US without tab and line ends, DEL, and C1.
_CONTROL = {code: "\ufffd" for code in (*range(32), 127, *range(128, 160)) if code not in (9, 10, 11, 12, 13)}


def load(
    path: str | os.PathLike[str],
    /,
    constants: Mapping[str, object] | None = None,
    *,
    undefined: UndefinedReads | str = UndefinedReads.PERMIT,
    while_limit: int | None = LoadOptions.while_limit,
    overflow: Overflow | str = LoadOptions.overflow,
    **named: object,
) -> Model:
    """Reads a model and type-checks it.

    ``constants``, and keywords with the names of constants, replace the values that the model gives them:
    ``load("ring.m", N=4)``. ``undefined`` says whether copying an undefined value is permitted (as in CMurphi) or an
    error (as in rumur); ``while_limit`` how often a ``while`` loop may turn, None for no limit; ``overflow`` whether
    storing a value outside the range of a DVE variable is an error or wraps around.

    Raises UsageError when the file cannot be read and ModelError, with every diagnostic, when it is no model.
    """
    texts = {name: _constant_text(name, value) for name, value in {**(constants or {}), **named}.items()}
    options = LoadOptions(
        texts,
        _choice(UndefinedReads, "undefined", undefined),
        while_limit,
        _choice(Overflow, "overflow", overflow),
    )
    source = read_source(path)
    from outcrop.lang import front_end

    system, warnings = front_end(source.name)(source, options)
    return Model(system, tuple(warnings), options)


@dataclass(frozen=True)
class Model:
    """A model, ready to be checked as often as you like."""

    system: System
    warnings: tuple[Diagnostic, ...]  #: what is probably a mistake in it
    options: LoadOptions

    def check(
        self,
        options: CheckOptions | None = None,
        *,
        progress: Callable[[Progress], None] | None = None,
        output: Callable[[str], None] | None = None,
        **changes: Any,
    ) -> Result:
        """Explores every reachable state.

        Keywords are the fields of CheckOptions, written as the command line writes them or as Python values:
        ``check(engine="interpreter", deadlock="off", memory="2G", max_errors=None)``. ``progress`` is called with a
        snapshot now and then, ``output`` with what the model's ``put`` statements print.
        """
        chosen = _changed(options or CheckOptions(), changes)
        if chosen.engine is Engine.INTERPRETER and chosen.strategy == "auto":
            chosen = dataclasses.replace(chosen, strategy="ram")
        outcome, compile_seconds, canonical = _search(self, chosen, progress, output)
        result = _conclude(self, chosen, outcome, compile_seconds, canonical)
        place = chosen.checkpoint or chosen.resume
        if place is not None and outcome.stop.is_conclusive:
            from outcrop.search.resume import discard

            discard(place)
        return result


def read_source(path: str | os.PathLike[str]) -> Source:
    """The text of a model. Bytes that are not UTF-8 are read as Latin-1, which old models are written in."""
    name = os.fspath(path)
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise UsageError(f"there is no file '{name}'") from None
    except IsADirectoryError:
        raise UsageError(f"'{name}' is a directory, not a model") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot read '{name}': {reason}") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return Source(name, text.translate(_CONTROL))


# --- Options -----------------------------------------------------------------------------------------------

_Choice = TypeVar("_Choice", Engine, Deadlock, UndefinedReads, Overflow, Keep, Replacement, Where)


def _choice(choices: type[_Choice], name: str, value: str) -> _Choice:
    try:
        return choices(value)
    except ValueError:
        raise UsageError(f"{name} is one of {', '.join(choices)}, not '{value}'") from None


def _constant_text(name: str, value: object) -> str:
    """A Python value as a Murphi constant."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | str):
        return str(value)
    raise UsageError(f"constant {name} must be a number, a boolean or a string, not {type(value).__name__}")


def _changed(options: CheckOptions, changes: dict[str, Any]) -> CheckOptions:
    """``options`` with some fields replaced, words and units turned into values."""
    known = {field.name for field in dataclasses.fields(CheckOptions)}
    for name in changes:
        if name not in known:
            raise UsageError(f"check has no option '{name}'; it has {', '.join(sorted(known))}")
    convert: dict[str, Callable[[str], Any]] = {
        "engine": lambda text: _choice(Engine, "engine", text),
        "deadlock": lambda text: _choice(Deadlock, "deadlock", text),
        "keep": lambda text: _choice(Keep, "keep", text),
        "replacement": lambda text: _choice(Replacement, "replacement", text),
        "device": lambda text: _choice(Where, "device", text),
        "device_memory": parse_size,
        "layers": parse_layers,
        "memory": parse_size,
        "state_memory": parse_size,
        "disk": parse_size,
        "time_limit": parse_duration,
        "checkpoint_every": parse_duration,
    }
    values = {
        name: convert[name](value) if name in convert and isinstance(value, str) else value
        for name, value in changes.items()
    }
    return dataclasses.replace(options, **values)


# --- Searching and concluding ------------------------------------------------------------------------------

#: The module of each strategy of the native engine.
_STRATEGIES = {
    "auto": "auto",
    "ram": "ram",
    "compact": "compact",
    "cached": "cached",
    "disk": "locality",
    "locality": "locality",
    "serial": "serial",
    "layered": "layered",
}

#: Maps a state to the representative of its orbit.
_Canonical = Callable[[State], State]


def _search(
    model: Model,
    options: CheckOptions,
    progress: Callable[[Progress], None] | None,
    output: Callable[[str], None] | None,
) -> tuple[Outcome, float, _Canonical | None]:
    """Runs the search that the options name. Also gives the seconds spent compiling, and what the search took for the
    representative of a state (None: the interpreter's)."""
    if options.strategy not in _STRATEGIES:
        raise UsageError(f"strategy is one of {', '.join(_STRATEGIES)}, not '{options.strategy}'")
    if options.engine is Engine.INTERPRETER:
        if options.strategy != "ram":
            raise UsageError(f"the interpreter has only the strategy ram, not {options.strategy}")
        if options.checkpoint is not None or options.resume is not None:
            raise UsageError("the interpreter keeps no checkpoints")
        if (options.ranks or 1) > 1:
            raise UsageError("the interpreter searches alone, not with several ranks")
        from outcrop.search import reference

        return reference.search(model.system, options, progress=progress, output=output), 0.0, None
    return _search_native(model, options, progress, output)


def _search_native(
    model: Model,
    options: CheckOptions,
    progress: Callable[[Progress], None] | None,
    output: Callable[[str], None] | None,
) -> tuple[Outcome, float, _Canonical]:
    from outcrop.codegen.c import emit
    from outcrop.codegen.compiler import compile_model
    from outcrop.codegen.identity import identity
    from outcrop.codegen.puts import PutFormatter
    from outcrop.dist.compare import compare_ranks
    from outcrop.dist.exchange import exchange_of
    from outcrop.gpu.device import is_there
    from outcrop.kernels import Counts

    started = time.monotonic()
    system = model.system
    emitted = emit(system, options.symmetry and system.allows_symmetry, options.coverage)
    exchange = exchange_of(options.ranks)
    native = exchange.first_of_each_machine(
        lambda: compile_model(emitted.source, note_offsets=emitted.note_offsets, keep_c=options.keep_c)
    )
    compile_seconds = time.monotonic() - started
    if options.checkpoint is not None or options.resume is not None or not exchange.is_alone:
        native.identity = identity(system, model.options, options)
    if not exchange.is_alone:
        compare_ranks(exchange, native.identity, options)
    formatter = PutFormatter(emitted)

    def put(words: Counts) -> None:
        if output is not None:
            for text in formatter.texts(words.tolist()):
                output(text)

    strategy = import_module(f"outcrop.search.{_STRATEGIES[options.strategy]}")
    layout = emitted.layout

    def canonical(state: State) -> State:
        return layout.unpack(native.normalise(layout.pack(state)))

    def on_host(options: CheckOptions) -> Outcome:
        outcome: Outcome = strategy.search(native, options, progress, put)
        return outcome

    if options.device is Where.CPU or (options.device is Where.AUTO and not is_there()):
        return on_host(options), compile_seconds, canonical
    from outcrop.gpu.choose import search_somewhere
    from outcrop.gpu.search import Program

    outcome = search_somewhere(Program(system, emitted, native), options, progress, put, on_host)
    return outcome, compile_seconds, canonical


def _conclude(
    model: Model, options: CheckOptions, outcome: Outcome, compile_seconds: float, canonical: _Canonical | None
) -> Result:
    system = model.system
    violations = _violations(system, options, outcome, canonical)
    if violations:
        verdict, kind = Verdict.VIOLATED, str(violations[0].kind)
    elif outcome.stop is Stop.COMPLETE:
        verdict, kind = Verdict.HOLDS, ""
    else:
        verdict, kind = Verdict.UNKNOWN, str(outcome.stop)
    return Result(
        verdict=verdict,
        kind=kind,
        guarantee=_guarantee(outcome),
        model=system.name,
        constants=dict(system.constants),
        strategy=options.strategy,
        engine=str(options.engine),
        threads=_threads(options),
        states=outcome.states,
        states_visited=outcome.visited,
        rules_fired=outcome.rules_fired,
        levels=list(outcome.levels),
        seconds=outcome.seconds,
        compile_seconds=compile_seconds,
        state_bits=Layout(system).bits,
        peak_rss_bytes=sum(each.peak_rss_bytes for each in outcome.ranks) or peak_rss(),
        properties=_properties(system, outcome, violations),
        coverage=_coverage(system, options, outcome),
        violations=violations,
        ranks=max(1, len(outcome.ranks)),
        per_rank=[dataclasses.asdict(each) for each in outcome.ranks],
        notes=[*model.warnings, *_undefined_note(system, outcome)],
        peak_disk_bytes=outcome.peak_disk_bytes,
        events=outcome.events,
        layers=layers_document(outcome),
        duplicates=outcome.duplicates,
        missed=outcome.missed_duplicates,
        samples=outcome.samples,
        variables=[{"name": each.name, "type": type_tree(each.type)} for each in system.variables],
        deadlock=str(options.deadlock),
        device=outcome.device,
    )


def _threads(options: CheckOptions) -> int:
    if options.engine is Engine.INTERPRETER:
        return 1
    from outcrop.search.driver import worker_count

    return worker_count(options)


def _guarantee(outcome: Outcome) -> str:
    if not outcome.omission_bound:
        return "exact"
    return f"the probability that a state was missed is at most {outcome.omission_bound:.2g}"


def _violations(
    system: System, options: CheckOptions, outcome: Outcome, canonical: _Canonical | None
) -> list[Violation]:
    """Each finding, replayed and explained; then the cover goals that a complete search never met."""
    violations: list[Violation] = []
    if outcome.findings:
        from outcrop.trace.replay import explain

        violations = [explain(system, finding, options, canonical) for finding in outcome.findings]
    elif outcome.stop is Stop.VIOLATION:
        raise InternalError("the search stopped for a violation that it does not name")
    if outcome.stop is Stop.COMPLETE:
        violations += [
            Violation(ViolationKind.COVER, f'cover "{goal.name}" is never met', goal.span, None, goal.name)
            for goal, count in zip(system.covers, outcome.covered, strict=True)
            if not count
        ]
    return violations


def _properties(system: System, outcome: Outcome, violations: list[Violation]) -> list[dict[str, Any]]:
    """What was checked, and how each fared. An assumption is not checked: it narrows what is."""
    rows = []
    for each in system.properties:
        row: dict[str, Any] = {"kind": str(each.kind), "name": each.name, "position": position(each.span)}
        violated = any(
            str(violation.kind) == str(each.kind) and violation.property == each.name for violation in violations
        )
        if each.kind is PropertyKind.ASSUMPTION:
            status = "assumed"
        elif violated:
            status = "violated"
        elif outcome.stop is Stop.COMPLETE:
            status = "holds"
        else:
            status = "unknown"
        row["status"] = status
        if each.cover is not None:
            row["met"] = outcome.covered[each.cover]
        rows.append(row)
    return rows


def _coverage(system: System, options: CheckOptions, outcome: Outcome) -> list[dict[str, Any]]:
    """How each rule fared."""
    rows: list[dict[str, Any]] = [
        {"name": rule.name, "position": position(rule.span), "instances": rule.instance_count, "fired": fired}
        for rule, fired in zip(system.rules, outcome.fired, strict=True)
    ]
    if options.coverage:
        for number, row in enumerate(rows):
            row["enabled"] = outcome.enabled[number] if outcome.enabled else None
            row["new"] = outcome.deeper[number] if outcome.deeper else None
    return rows


def _undefined_note(system: System, outcome: Outcome) -> list[Diagnostic]:
    """One note for all undefined values that were copied or compared: it names the first place in the source."""
    offsets = sorted(set(outcome.undefined_reads))
    if not offsets:
        return []
    word = re.compile(r"\w+").match(system.source.text, offsets[0])
    span = Span(system.source, offsets[0], word.end() if word else offsets[0] + 1)
    more = len(offsets) - 1
    others = f", and at {more} more place{'s' if more > 1 else ''}" if more else ""
    return [
        Diagnostic(
            Severity.NOTE,
            f"an undefined value is read here{others}",
            span,
            hint="this is permitted, as in CMurphi; --undefined error makes it an error",
        )
    ]
