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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from outcrop.engines import CYCLE_STRATEGIES, Searched, search
from outcrop.errors import InternalError, UsageError
from outcrop.ir.layout import Layout
from outcrop.ir.system import PropertyKind, System
from outcrop.ir.vacuity import Antecedent, Subject, Vacuity, vacuity
from outcrop.machine import peak_rss
from outcrop.options import (
    CheckOptions,
    Deadlock,
    Engine,
    Fair,
    FormulaText,
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
from outcrop.source import Diagnostic, Severity, Source, Span, whole

if TYPE_CHECKING:
    from outcrop.temporal import Checked, TemporalCheck

#: What stands before an arrow in a property and was never true.
Unmet = dict[Subject | None, list[Antecedent]]

#: Of a model or a file of formulas: what is read takes up to a hundred times as much memory.
MOST_BYTES = 5_000_000

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
    invariants: str | Iterable[str] = (),
    ltl: str | Iterable[str] = (),
    ltl_file: str | os.PathLike[str] | None = None,
    **named: object,
) -> Model:
    """Reads a model and type-checks it.

    ``constants``, and keywords with the names of constants, replace the values that the model gives them:
    ``load("ring.m", N=4)``. ``undefined`` says whether copying an undefined value is permitted (as in CMurphi) or an
    error (as in rumur); ``while_limit`` how often a ``while`` loop may turn, None for no limit; ``overflow`` whether
    storing a value outside the range of a DVE variable is an error or wraps around. Beside what the model declares,
    ``invariants`` are expressions of its language that must be true in every state, and ``ltl`` are formulas that every
    run must satisfy; more formulas stand in ``ltl_file``, or in the file with the suffix ``.ltl`` beside the model.

    Raises UsageError when the file cannot be read and ModelError, with every diagnostic, when it is no model.
    """
    texts = {name: _constant_text(name, value) for name, value in {**(constants or {}), **named}.items()}
    options = LoadOptions(
        texts,
        _choice(UndefinedReads, "undefined", undefined),
        while_limit,
        _choice(Overflow, "overflow", overflow),
        _formulas(path, _texts_of(ltl), ltl_file),
        given_invariants(invariants),
    )
    source = read_source(path)
    from outcrop.lang import front_end

    system, warnings = front_end(source.name)(source, options)
    return Model(system, tuple(warnings), options)


def given_invariants(given: str | Iterable[str]) -> tuple[Span, ...]:
    """Those that do not stand in a model."""
    return tuple(whole(Source("--invariant", text)) for text in _texts_of(given))


def _texts_of(given: str | Iterable[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def formula_file(model: str | os.PathLike[str]) -> Path | None:
    """The file beside a model that its formulas are read from, if there is one."""
    place = Path(model)
    return place.with_suffix(".ltl") if place.suffix and place.with_suffix(".ltl").is_file() else None


def _formulas(
    model: str | os.PathLike[str], texts: list[str], file: str | os.PathLike[str] | None
) -> tuple[FormulaText, ...]:
    """Those of the file, then those given as text, which may use the names that the file defines."""
    file = file or formula_file(model)
    if file is None and not texts:
        return ()
    from outcrop.ltl.file import formula_texts, parse_file

    read = None if file is None else parse_file(read_source(file))
    return formula_texts(read, [whole(Source("--ltl", text)) for text in texts])


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
        if chosen.engine is Engine.INTERPRETER and chosen.strategy in CYCLE_STRATEGIES:
            raise UsageError(f"the interpreter has no strategy {chosen.strategy}: it looks for runs in its own way")
        checks = self._temporal_checks(chosen)
        searched = None
        violations: list[Violation] = []
        # Of formulas that may not be those of the search that is gone on with, nothing is known until there.
        formulas = dict.fromkeys(each.judged.property for each in checks) if chosen.resume is None else ()
        witnesses = vacuity(self.system, [each for each in formulas if each is not None])
        if not checks or (self.system.automaton is None and chosen.strategy not in CYCLE_STRATEGIES):
            searched = search(witnesses.system, self.options, chosen, progress, output)
            violations = _violations(self.system, chosen, searched)
            place = chosen.checkpoint or chosen.resume
            if place is not None and searched.outcome.stop.is_conclusive:
                from outcrop.dist.exchange import exchange_of
                from outcrop.search.parts import discard

                discard(place, exchange_of(chosen.ranks))
        checked = self._check_temporal(checks, chosen, searched, violations, progress, output)
        return _conclude(self, chosen, searched, violations, checked, witnesses)

    def _temporal_checks(self, options: CheckOptions) -> list[TemporalCheck]:
        asked = options.fair is not Fair.NONE or options.properties
        if self.system.automaton is None and not self.system.temporal and not asked:
            return []
        from outcrop.temporal import plan

        return plan(self.system, options)

    def _check_temporal(
        self,
        checks: list[TemporalCheck],
        options: CheckOptions,
        searched: Searched | None,
        violations: list[Violation],
        progress: Callable[[Progress], None] | None,
        output: Callable[[str], None] | None,
    ) -> list[Checked]:
        """The formulas, after a search for bad states that found too few to stop, or none at all."""
        if not checks:
            return []
        from outcrop.temporal import Checked, cycle_strategy, run_checks

        if searched is not None:
            enough = options.max_errors is not None and len(violations) >= options.max_errors
            if enough or not searched.outcome.stop.is_conclusive:
                return [Checked(each, cycle_strategy(options)) for each in checks]
            options = dataclasses.replace(options.after(searched.outcome.seconds), checkpoint=None, resume=None)
            output = None  # it has printed already
        return run_checks(checks, self.options, options, progress, output)


def read_source(path: str | os.PathLike[str]) -> Source:
    """The text of a model. Bytes that are not UTF-8 are read as Latin-1, which old models are written in."""
    name = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise UsageError(f"there is no file '{name}'") from None
    except IsADirectoryError:
        raise UsageError(f"'{name}' is a directory, not a model") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot read '{name}': {reason}") from None
    if len(content) > MOST_BYTES:
        raise UsageError(f"'{name}' is too large: at most {MOST_BYTES:,} bytes of a model are read")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return Source(name, text.translate(_CONTROL))


# --- Options -----------------------------------------------------------------------------------------------

_Choice = TypeVar("_Choice", Engine, Deadlock, Fair, UndefinedReads, Overflow, Keep, Replacement, Where)


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
        "fair": lambda text: _choice(Fair, "fair", text),
        "properties": lambda text: (text,),
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


def _conclude(
    model: Model,
    options: CheckOptions,
    searched: Searched | None,
    violations: list[Violation],
    checked: list[Checked],
    witnesses: Vacuity,
) -> Result:
    """What all searches come to. The figures are those of the search for bad states, or if there was none, of the first
    search for a formula."""
    system, main = model.system, searched
    if main is None:
        assert checked[0].searched is not None
        system, main = checked[0].check.product, checked[0].searched
    outcome = main.outcome
    states_searched = _search_of_states(model.system, searched, checked)
    unmet = _unmet(witnesses, searched, checked)
    looked_at = "none" if states_searched is None else "all" if states_searched is searched else "product"
    every = [*([] if searched is None else [searched]), *(each.searched for each in checked if each.searched)]
    found = [*violations, *(violation for each in checked for violation in (*each.violations, *each.failures))]
    missing = [each.outcome.stop for each in every if not each.outcome.stop.is_conclusive]
    if found:
        verdict, kind = Verdict.VIOLATED, str(found[0].kind)
    elif missing or any(each.searched is None for each in checked):
        verdict, kind = Verdict.UNKNOWN, str(missing[0] if missing else Stop.TIME)
    else:
        verdict, kind = Verdict.HOLDS, ""
    return Result(
        verdict=verdict,
        kind=kind,
        guarantee=next((text for each in every if (text := _guarantee(each.outcome)) != "exact"), "exact"),
        model=system.name,
        constants=dict(system.constants),
        strategy=options.strategy,
        engine=str(options.engine),
        threads=_threads(options),
        states=outcome.states,
        states_visited=outcome.visited,
        rules_fired=outcome.rules_fired,
        levels=list(outcome.levels),
        seconds=sum(each.outcome.seconds for each in every),
        compile_seconds=sum(each.compile_seconds for each in every),
        state_bits=Layout(system).bits,
        peak_rss_bytes=sum(each.peak_rss_bytes for each in outcome.ranks) or peak_rss(),
        properties=[
            *_properties(model.system, states_searched if looked_at == "all" else None, found, unmet),
            *(each.row() | {"vacuous": _texts(unmet.get(each.check.judged.property))} for each in checked),
        ],
        coverage=_coverage(system, options, outcome),
        violations=found,
        ranks=max(1, len(outcome.ranks)),
        per_rank=[dataclasses.asdict(each) for each in outcome.ranks],
        notes=[
            *_notes(model, options, searched, checked),
            *(each.warning() for each in witnesses.antecedents if each in unmet.get(each.subject, ())),
        ],
        peak_disk_bytes=max(each.outcome.peak_disk_bytes for each in every),
        events=list(dict.fromkeys(event for each in every for event in each.outcome.events)),
        layers=layers_document(outcome),
        duplicates=outcome.duplicates,
        missed=outcome.missed_duplicates,
        collision_rate=outcome.collision_rate,
        samples=outcome.samples,
        variables=[{"name": each.name, "type": type_tree(each.type)} for each in system.variables],
        deadlock=str(options.deadlock if looked_at == "all" else Deadlock.OFF),
        states_checked=looked_at,
        device=outcome.device,
    )


def _notes(model: Model, options: CheckOptions, searched: Searched | None, checked: list[Checked]) -> list[Diagnostic]:
    notes = list(model.warnings)
    if searched is not None:
        notes += _undefined_note(model.system, searched.outcome)
        if options.symmetry and model.system.scalarsets and not model.system.allows_symmetry:
            text = "symmetry is off: a liveness property speaks of one value of a scalarset"
            notes.append(Diagnostic(Severity.NOTE, text))
    if checked:
        from outcrop.temporal import memory_notes, symmetry_notes

        notes += symmetry_notes([each.check for each in checked], options)
        notes += memory_notes(checked, options)
    return notes


def _threads(options: CheckOptions) -> int:
    if options.engine is Engine.INTERPRETER:
        return 1
    from outcrop.search.budget import worker_count

    return worker_count(options)


def _guarantee(outcome: Outcome) -> str:
    if not outcome.omission_bound:
        return "exact"
    bound = f"the probability that a state was missed is at most {outcome.omission_bound:.2g}"
    if outcome.signature_coverage is None:
        return bound
    return f"{bound}, expected coverage {outcome.signature_coverage:.2%}"


def _violations(system: System, options: CheckOptions, searched: Searched) -> list[Violation]:
    """Each finding, replayed and explained; then the cover goals that a complete search never met."""
    violations: list[Violation] = []
    outcome = searched.outcome
    if outcome.findings:
        from outcrop.trace.replay import Replay

        replay = Replay(system, options, searched.canonical)
        violations = [replay.explain(finding) for finding in outcome.findings]
    elif outcome.stop is Stop.VIOLATION:
        raise InternalError("the search stopped for a violation that it does not name")
    if outcome.stop is Stop.COMPLETE:
        violations += [
            Violation(ViolationKind.COVER, f'cover "{goal.name}" is never met', goal.span, None, goal.name)
            for goal, count in zip(system.covers, outcome.covered, strict=True)
            if not count
        ]
    return violations


def _search_of_states(system: System, searched: Searched | None, checked: list[Checked]) -> Searched | None:
    """The search that looked for bad states: one of its own, or that of the product with the model's property process.
    None where only runs were looked at."""
    beside = (each.searched for each in checked if each.check.product.automaton is system.automaton)
    return searched if searched is not None or system.automaton is None else next(beside, None)


def _properties(
    system: System,
    searched: Searched | None,
    violations: list[Violation],
    unmet: Unmet,
) -> list[dict[str, Any]]:
    """What was checked, and how each fared. An assumption is not checked: it narrows what is."""
    rows = []
    for each in system.properties:
        row: dict[str, Any] = {"kind": str(each.kind), "name": each.name, "position": position(each.span)}
        violated = any(
            str(violation.kind) in (str(each.kind), ViolationKind.RUNTIME) and violation.property == each.name
            for violation in violations
        )
        if each.kind is PropertyKind.ASSUMPTION:
            status = "assumed"
        elif violated:
            status = "violated"
        elif searched is not None and searched.outcome.stop is Stop.COMPLETE:
            status = "holds"
        else:
            status = "unknown"
        row["status"] = status
        if each.kind is PropertyKind.INVARIANT:
            row["vacuous"] = _texts(unmet.get(each))
        if each.cover is not None and searched is not None:
            row["met"] = searched.outcome.covered[each.cover]
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


def _unmet(witnesses: Vacuity, searched: Searched | None, checked: list[Checked]) -> Unmet:
    """What stands before an arrow and was never true, by property; of properties that are violated, or not searched
    for to the end, it is not known."""
    if searched is None or searched.outcome.stop is not Stop.COMPLETE or searched.outcome.findings:
        return {}
    violated = {each.check.judged.property for each in checked if each.violations or each.failures}
    rows: Unmet = {each: [] for each in witnesses.asked if each not in violated}
    for antecedent in witnesses.unmet(searched.outcome.noted):
        if antecedent.subject in rows:
            rows[antecedent.subject].append(antecedent)
    return rows


def _texts(unmet: list[Antecedent] | None) -> list[str] | None:
    return None if unmet is None else [each.text for each in unmet]


def _undefined_note(system: System, outcome: Outcome) -> list[Diagnostic]:
    """One note for all undefined values that were copied or compared: it names the first place in the source."""
    offsets = sorted({note for note in outcome.noted if note >= 0})
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
