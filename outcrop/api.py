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
from typing import Any

from outcrop.check.course import Course
from outcrop.check.guesses import with_better_guesses
from outcrop.declared import choice, value_of
from outcrop.errors import UsageError
from outcrop.handle import Handle
from outcrop.ir.system import System
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
)
from outcrop.outcome import Progress
from outcrop.reading import read_source as read_source
from outcrop.report.json import document
from outcrop.report.notebook import html, result_page, system_html
from outcrop.result import Result
from outcrop.source import Diagnostic, Source, Span, whole
from outcrop.strategies import OWN_OPTIONS
from outcrop.sweeps import Sweep, nearest, sweep
from outcrop.units import parse_duration, parse_size

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
        printed = output or sys.stdout.write

        def check(model: Model, options: CheckOptions) -> Result:
            return Course(model.system, model.warnings, model.options, progress, printed).run(options)

        return with_better_guesses(self, asked, progress, check)


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
