"""Front-ends, one for each language: they translate a text to a System. The suffix of the file selects the language."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from outcrop.errors import ModelError, UsageError
from outcrop.garbage import uncollected
from outcrop.lang.murphi.language import UndefinedReads as UndefinedReads  # public API
from outcrop.lang.registry import language_of
from outcrop.options import LoadOptions
from outcrop.source import Diagnostic, Severity, Source, Span

if TYPE_CHECKING:
    from outcrop.ir.system import System
    from outcrop.lang.editing import Editing
    from outcrop.lang.report import LowerExpression

    FrontEnd = Callable[[Source, LoadOptions], tuple[System, list[Diagnostic]]]


def load_text(text: str, name: str, options: LoadOptions) -> tuple[System, list[Diagnostic]]:
    """Returns the System that a text describes, and the warnings about it. Raises ModelError for an invalid model.

    ``name`` is the name that diagnostics print; its suffix selects the language.
    """
    return front_end(name)(Source(name, text), options)


def front_end(name: str) -> FrontEnd:
    """Returns the front-end for a file of this name."""
    lower: FrontEnd = uncollected()(_module(name).lower)
    return lower


def load_open(source: Source, options: LoadOptions) -> tuple[System, list[Diagnostic], LowerExpression]:
    """Returns the System, the warnings, and a function that lowers expressions from outside the model."""
    opened: tuple[System, list[Diagnostic], LowerExpression] = _module(source.name).lower_open(source, options)
    return opened


def require_start_state(system: System) -> None:
    """Raises ModelError if a model has no start state, since a search of it would check nothing."""
    if any(each.instance_count for each in system.start_states):
        return
    module, _, function = language_of(system.source.name).explain_no_start.partition(":")
    if module:
        raise ModelError([getattr(import_module(module), function)(system)])
    raise ModelError([Diagnostic(Severity.ERROR, "the model has no start state", Span(system.source, 0, 0))])


def _module(name: str) -> ModuleType:
    return import_module(language_of(name).front_end)


def editor_services(name: str) -> Editing | None:
    """Returns the services for editors of the language of a file; None if it has none."""
    module, _, value = language_of(name).editing.partition(":")
    found: Editing | None = getattr(import_module(module), value) if module else None
    return found


def arranged(text: str, name: str) -> str:
    """Returns a text with the layout of its language. Raises ModelError for a text that is not a model, UsageError if
    the language has no layout."""
    services = editor_services(name)
    if services is None or services.layout is None:
        language = language_of(name).name
        raise UsageError(f"'{name}' stays as it is: there is no layout for {language}; use a tool for {language}")
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    made = services.layout(Source(name, text.removeprefix(mark).replace("\r\n", "\n")))
    return mark + (made.replace("\n", "\r\n") if "\r\n" in text else made)


def load_class(cls: type, options: LoadOptions) -> tuple[System, list[Diagnostic]]:
    """Returns the System that a class describes, and the warnings about it. Raises ModelError for an invalid model."""
    made: tuple[System, list[Diagnostic]] = import_module("outcrop.lang.python.lowering").lower_loaded(cls, options)
    return made
