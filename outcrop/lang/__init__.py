"""Front-ends: each reads one language and makes a System of it. The suffix of the file tells which."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

from outcrop.errors import UsageError
from outcrop.ir.system import System
from outcrop.lang.report import LowerExpression
from outcrop.options import LoadOptions
from outcrop.source import Diagnostic, Source

FrontEnd = Callable[[Source, LoadOptions], tuple[System, list[Diagnostic]]]

#: The module that reads each language; only the one that is needed is imported.
_FRONT_ENDS = {".m": "outcrop.lang.murphi.lowering", ".dve": "outcrop.lang.dve.lowering"}
_REFUSED = {
    ".mdve": "it is a template; run m4 on it first and check what that writes, as NAME.dve",
    ".probdve": "probabilistic models are not supported",
}


def load_text(text: str, name: str, options: LoadOptions) -> tuple[System, list[Diagnostic]]:
    """The System that a text describes, and the warnings about it; ``ModelError`` when the model is wrong.

    ``name`` is what diagnostics call it, and its suffix tells the language.
    """
    return front_end(name)(Source(name, text), options)


def front_end(name: str) -> FrontEnd:
    """What reads a file of this name. A name without a suffix (``/dev/stdin``) is taken for a Murphi model."""
    lower: FrontEnd = _module(name).lower
    return lower


def load_open(source: Source, options: LoadOptions) -> tuple[System, list[Diagnostic], LowerExpression]:
    """The System, the warnings, and what makes expressions of the model of text that does not stand in it."""
    opened: tuple[System, list[Diagnostic], LowerExpression] = _module(source.name).lower_open(source, options)
    return opened


def _module(name: str) -> ModuleType:
    suffix = Path(name).suffix.lower()
    if suffix in _REFUSED:
        raise UsageError(f"'{name}' cannot be read: {_REFUSED[suffix]}")
    if suffix not in _FRONT_ENDS and suffix:
        known = ", ".join(sorted(_FRONT_ENDS))
        raise UsageError(f"'{name}' is not a model that can be read: the suffix must be one of {known}")
    return import_module(_FRONT_ENDS[suffix or ".m"])
