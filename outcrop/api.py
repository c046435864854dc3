"""The Python API of Outcrop: load a model, and check it.

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
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outcrop.check.conclusion import conclude, violations_of
from outcrop.check.engines import EngineOutcome, search, settled
from outcrop.check.guesses import with_better_guesses
from outcrop.check.kept import keeping, write_kept
from outcrop.check.reducing import refuse_what_changes
from outcrop.check.refusals import refuse_invariants, refuse_unused_options
from outcrop.check.selection import formulas_with_vacuity, select
from outcrop.declared import choice, value_of
from outcrop.errors import UsageError
from outcrop.handle import Handle
from outcrop.ir.system import System
from outcrop.ir.vacuity import vacuity
from outcrop.lang import front_end, require_start_state
from outcrop.lang import load_class as lower_class
from outcrop.lang.registry import OPTIONS, read_options
from outcrop.options import (
    CheckOptions,
    Deadlock,
    DeviceChoice,
    Engine,
    Fair,
    FormulaText,
    Keep,
    LoadOptions,
    Reduce,
    TraceOrder,
    given_options,
    is_remote,
)
from outcrop.outcome import Event, Progress, Stop
from outcrop.reading import read_source as read_source
from outcrop.report.json import document
from outcrop.report.notebook import html, result_page, system_html
from outcrop.result import PropertyResult, Result, Violation
from outcrop.source import Diagnostic, Source, Span, whole
from outcrop.strategies import OWN_OPTIONS, names
from outcrop.sweeps import Sweep, nearest, sweep
from outcrop.units import parse_duration, parse_size

if TYPE_CHECKING:
    from outcrop.check.temporal import Checked, TemporalCheck

# Result must not import reports, but its users expect it to convert itself to JSON.
Result.make_document = document
Result.make_html = html
Result.make_page = result_page


def load(
    path: str | os.PathLike[str],
    /,
    constants: Mapping[str, object] | None = None,
    *,
    invariants: str | Iterable[str] = (),
    ltl: str | Iterable[str] = (),
    ltl_file: str | os.PathLike[str] | None = None,
    **named: object,
) -> Model:
    """Reads a model and type-checks it.

    Args:
        path: the model file; its suffix selects the language.
        constants: values that replace those of constants of the model.
        invariants: expressions in the language of the model that must be true in every state, in addition to its own.
        ltl: formulas that every run must satisfy, in addition to those of the model.
        ltl_file: file with further formulas (default: the model's path with the suffix ``.ltl``, if that file exists).
        named: constants by name, as in ``load("ring.m", N=4)``, and options of the model's language (``undefined``,
            ``while_limit``, ``overflow``; see ``outcrop check --help``). A constant with the name of an option must be
            given in ``constants``.

    Raises:
        UsageError: the file cannot be read.
        ModelError: the file is not a valid model, or has no start state; the error carries every diagnostic.

    Examples:
        >>> load("examples/ring_election.m", Size=3).system.constants["Size"]
        3
    """
    formulas = _formulas(path, _texts_of(ltl), ltl_file)
    own = {name: named.pop(name) for name in OPTIONS if name in named}
    return _loaded(read_source(path), {**(constants or {}), **named}, own, formulas, given_invariants(invariants))


def loads(
    text: str,
    name: str = "model.m",
    /,
    constants: Mapping[str, object] | None = None,
    *,
    invariants: str | Iterable[str] = (),
    ltl: str | Iterable[str] = (),
    **named: object,
) -> Model:
    """Reads a model from a text. ``name`` is the name that diagnostics print, and its suffix selects the language;
    the rest is as for ``load``."""
    own = {each: named.pop(each) for each in OPTIONS if each in named}
    formulas = _formulas("", _texts_of(ltl), None)
    return _loaded(Source(name, text), {**(constants or {}), **named}, own, formulas, given_invariants(invariants))


def _loaded(
    source: Source,
    constants: Mapping[str, object],
    own: Mapping[str, Any],
    formulas: tuple[FormulaText, ...],
    invariants: tuple[Span, ...],
) -> Model:
    texts = {name: _constant_text(name, value) for name, value in constants.items()}
    options = LoadOptions(texts, read_options(source.name, own), formulas, invariants)
    system, warnings = front_end(source.name)(source, options)
    require_start_state(system)

    def reload(others: Mapping[str, object], **options: object) -> Model:
        return _loaded(source, {**constants, **others}, {**own, **options}, formulas, invariants)

    return Model(system, tuple(warnings), options, reload)


def load_class(
    cls: type,
    constants: Mapping[str, object],
    *,
    invariants: str | Iterable[str] = (),
    ltl: str | Iterable[str] = (),
    **named: object,
) -> Model:
    """Compiles a model class (see outcrop/model.py); ``constants`` replace the values that it gives them."""
    own = {name: named.pop(name) for name in OPTIONS if name in named}
    for name in named:
        raise UsageError(f"load has no option '{name}'{nearest(name, OPTIONS)}")
    texts = {name: repr(value) for name, value in constants.items()}
    formulas = _formulas("", _texts_of(ltl), None)
    options = LoadOptions(texts, read_options("model.py", own), formulas, given_invariants(invariants))
    system, warnings = lower_class(cls, options)
    require_start_state(system)

    def reload(others: Mapping[str, object]) -> Model:
        return load_class(cls, {**constants, **others}, invariants=invariants, ltl=ltl, **own)

    return Model(system, tuple(warnings), options, reload)


def given_invariants(given: str | Iterable[str]) -> tuple[Span, ...]:
    """Returns the invariants from outside the model, as spans of their own sources."""
    return tuple(whole(Source("--invariant", text)) for text in _texts_of(given))


def _texts_of(given: str | Iterable[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def formula_file(model: str | os.PathLike[str]) -> Path | None:
    """Returns the file next to a model that holds its formulas, if there is one."""
    place = Path(model)
    try:
        return place.with_suffix(".ltl") if place.suffix and place.with_suffix(".ltl").is_file() else None
    except OSError as error:
        raise UsageError(f"cannot read '{os.fspath(model)}', or the .ltl file next to it: {error.strerror}") from None


def _formulas(
    model: str | os.PathLike[str], texts: list[str], file: str | os.PathLike[str] | None
) -> tuple[FormulaText, ...]:
    """Returns the formulas of the file, then those given as text, which may use the definitions of the file."""
    file = file or formula_file(model)
    if file is None and not texts:
        return ()
    from outcrop.ltl.file import formula_texts, parse_file  # few models have formulas

    read = None if file is None else parse_file(read_source(file))
    return formula_texts(read, [whole(Source("--ltl", text)) for text in texts])


@dataclass(frozen=True)
class Model:
    """A loaded model, which can be checked any number of times."""

    system: System
    warnings: tuple[Diagnostic, ...]  #: warnings of the front-end
    options: LoadOptions
    #: Loads the same model with other constants, and other options of its language by name.
    reload: Callable[..., Model] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        system = self.system
        return f"<Model {system.name}: {len(system.variables)} variables, {len(system.rules)} rules>"

    def _repr_html_(self) -> str:
        return system_html(self.system)

    def start(self, options: CheckOptions | None = None, **changes: Any) -> Handle[Result]:
        """Starts a check in a thread of its own; the handle can be asked for progress and cancelled."""
        return Handle(lambda progress: self.check(options, progress=progress, **changes))

    def sweep(self, axes: Mapping[str, Iterable[object]], **options: Any) -> Sweep:
        """Checks the model for each combination of constants: ``model.sweep({"N": range(2, 5)})``."""
        if self.reload is None:
            raise UsageError("this model has no source to load again with other constants; load it with outcrop.load")
        return sweep(self.reload, axes, options)

    def simulate(self, **options: Any) -> Any:
        """Takes random walks; keywords are the fields of outcrop.tools.simulate.SimulationOptions."""
        # By name, here and below: the tools import this module.
        tool = import_module("outcrop.tools.simulate")
        return tool.simulate(self, tool.SimulationOptions(**options))

    def locality(self, **options: Any) -> Any:
        """Measures how far transitions lead; keywords are fields of CheckOptions."""
        return import_module("outcrop.tools.distances").measure(self, _changed(CheckOptions(), options))

    def graph(self, states: int = 1000, depth: int | None = None, symmetry: bool = True) -> Any:
        """Returns the graph of the first states: ``graph.nodes`` and ``graph.edges``."""
        return import_module("outcrop.explore.graph").explore(self.system, symmetry, states, depth)

    def explore(self) -> Any:
        """Returns a session that steps through the model; see outcrop.explore.session."""
        return import_module("outcrop.explore.session").Session(self.system)

    def check(
        self,
        options: CheckOptions | None = None,
        *,
        progress: Callable[[Progress], None] | None = None,
        output: Callable[[str], object] | None = None,
        **changes: Any,
    ) -> Result:
        """Explores every reachable state, and checks every property of the model.

        Args:
            options: the options of the check.
            progress: called with a snapshot of the search from time to time.
            output: called with the output of the model's ``put`` statements, in no particular order, if ``prints=True``
                is given. The default writes it to standard output, from the first rank.
            changes: single options by name, with words and units as on the command line or with Python values:
                ``check(engine="interpreter", deadlock="off", memory="2G", max_errors=None)``.

        Examples:
            >>> load("examples/peterson.m").check(engine="interpreter", depth=3).kind
            'depth bound reached'
        """
        asked = _changed(options or CheckOptions(), changes)
        tell = partial(_tell, progress)
        return with_better_guesses(self, asked, tell, partial(Model._check_selected, progress=progress, output=output))

    def _check_selected(
        self,
        asked: CheckOptions,
        progress: Callable[[Progress], None] | None,
        output: Callable[[str], object] | None,
    ) -> Result:
        """Checks those properties of the model that the options name."""
        selection = select(self.system, asked.properties)
        chosen = dataclasses.replace(asked, properties=selection.formulas)
        model = dataclasses.replace(self, system=selection.system, warnings=(*self.warnings, *selection.notes()))
        run = partial(model._check, progress=progress, output=output or sys.stdout.write)
        if is_remote(chosen.checkpoint) or is_remote(chosen.resume):
            from outcrop.check.remote import check_remotely  # few checks need it

            result = check_remotely(chosen, run)
        else:
            result = run(chosen)
        result.properties += [
            PropertyResult(str(each.kind), each.name, each.span, "unknown") for each in selection.skipped
        ]
        result.options = given_options(self.options, asked)
        return result

    def _check(
        self,
        chosen: CheckOptions,
        progress: Callable[[Progress], None] | None,
        output: Callable[[str], object],
    ) -> Result:
        """Checks every property of the model, and of its formulas those that the options name."""
        if self.system.says_where_runs_end and chosen.deadlock is Deadlock.STUTTERING:
            chosen = dataclasses.replace(chosen, deadlock=Deadlock.STUCK)
        chosen, event = settled(keeping(chosen))
        if event is not None:
            _tell(progress, event)
        if chosen.engine is Engine.INTERPRETER and chosen.strategy in names(finds_cycles=True):
            raise UsageError(f"the interpreter has no strategy {chosen.strategy}; leave out --strategy")
        refuse_invariants(self.system, self.options, chosen)
        checks = self._temporal_checks(chosen)
        refuse_what_changes(self.system, checks, chosen)
        searched = None
        violations: list[Violation] = []
        witnesses = vacuity(self.system, formulas_with_vacuity(checks, chosen), chosen.prints)
        visits_all = not checks or (self.system.automaton is None and chosen.strategy not in names(finds_cycles=True))
        refuse_unused_options(chosen, bool(checks), visits_all)
        if visits_all:
            searched = search(witnesses.system, self.options, chosen, progress, output)
            violations = violations_of(self.system, chosen, searched)
            place = chosen.checkpoint or chosen.resume
            if place is not None and searched.outcome.stop.is_final and chosen.keep_states is None:
                # These import numpy, which the interpreter does not need.
                from outcrop.dist.parts import discard
                from outcrop.dist.transport import transport_of

                discard(place, transport_of(chosen.ranks))
        checked = self._check_temporal(checks, chosen, searched, violations, progress, output)
        result = conclude(self.system, self.warnings, chosen, searched, violations, checked, witnesses)
        result.events[:0] = [] if event is None else [event]
        if chosen.keep_states is not None and searched is not None and searched.outcome.has_begun:
            is_complete = searched.outcome.stop is Stop.COMPLETE
            write_kept(self.system, self.options, chosen, is_complete, result.guarantee, result.kind)
        return result

    def _temporal_checks(self, options: CheckOptions) -> list[TemporalCheck]:
        asked = options.fair is not Fair.NONE or options.properties
        if self.system.automaton is None and not self.system.temporal and not asked:
            return []
        from outcrop.check.temporal import plan  # few models have formulas

        return plan(self.system, options)

    def _check_temporal(
        self,
        checks: list[TemporalCheck],
        options: CheckOptions,
        searched: EngineOutcome | None,
        violations: list[Violation],
        progress: Callable[[Progress], None] | None,
        output: Callable[[str], object] | None,
    ) -> list[Checked]:
        """Checks the formulas, unless the search for bad states was inconclusive or has found enough violations."""
        if not checks:
            return []
        from outcrop.check.temporal import Checked, cycle_strategy, run_checks  # few models have formulas

        if searched is not None:
            enough = options.max_errors is not None and len(violations) >= options.max_errors
            if enough or not searched.outcome.stop.is_conclusive:
                return [Checked(each, cycle_strategy(options)) for each in checks]
            left = options.after(searched.outcome.seconds)
            # The search for bad states has already printed everything.
            options = dataclasses.replace(left, checkpoint=None, resume=None, keep_states=None, prints=False)
        return run_checks(checks, self.options, options, progress, output)


def _tell(progress: Callable[[Progress], None] | None, event: Event) -> None:
    """Reports an event that comes before a search."""
    if progress is not None:
        progress(Progress(level=0, states=0, rules_fired=0, frontier=0, seconds=0.0, event=event))


# --- Options -----------------------------------------------------------------------------------------------


def _constant_text(name: str, value: object) -> str:
    """Returns the text of a constant's value, in the syntax of models."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | str):
        return str(value)
    raise UsageError(f"constant {name} must be a number, a boolean or a string, not {type(value).__name__}")


def check_option_names() -> set[str]:
    """Returns the names of the options of ``Model.check``."""
    return {each.name for each in dataclasses.fields(CheckOptions)} - {"own"} | set(OWN_OPTIONS)


def _changed(options: CheckOptions, changes: dict[str, Any]) -> CheckOptions:
    """Returns ``options`` with some fields replaced. Words and units are converted to values."""
    known = check_option_names()
    for name in changes:
        if name not in known:
            raise UsageError(f"there is no option '{name}'{nearest(name, known)}")
    convert: dict[str, Callable[[str], Any]] = {
        **{name: partial(value_of, declared) for name, declared in OWN_OPTIONS.items()},
        "engine": lambda text: choice(Engine, "engine", text),
        "deadlock": lambda text: choice(Deadlock, "deadlock", text),
        "fair": lambda text: choice(Fair, "fair", text),
        "reduce": lambda text: choice(Reduce, "reduce", text),
        "trace_order": lambda text: choice(TraceOrder, "trace_order", text),
        "properties": lambda text: (text,),
        "keep": lambda text: choice(Keep, "keep", text),
        "device": lambda text: choice(DeviceChoice, "device", text),
        "device_memory": parse_size,
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
