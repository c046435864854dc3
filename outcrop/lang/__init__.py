"""Front-ends: each reads one language and makes a System of it. The suffix of the file tells which."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from outcrop.errors import UsageError
from outcrop.ir.system import System
from outcrop.lang.murphi.lowering import lower
from outcrop.options import LoadOptions
from outcrop.source import Diagnostic, Source

FrontEnd = Callable[[Source, LoadOptions], tuple[System, list[Diagnostic]]]

_FRONT_ENDS: dict[str, FrontEnd] = {".m": lower}


def load(path: Path, options: LoadOptions) -> tuple[System, list[Diagnostic]]:
    """The System that a file describes, and the warnings about it; ``ModelError`` when the model is wrong."""
    _front_end(path.name)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        # Old models have Latin-1 comments; every byte string is a Latin-1 text.
        text = data.decode("latin-1")
    return load_text(text, str(path), options)


def load_text(text: str, name: str, options: LoadOptions) -> tuple[System, list[Diagnostic]]:
    """Like ``load``, for a text; ``name`` is what diagnostics call it, and its suffix tells the language."""
    return _front_end(name)(Source(name, text), options)


def _front_end(name: str) -> FrontEnd:
    suffix = Path(name).suffix.lower()
    if suffix not in _FRONT_ENDS:
        known = ", ".join(sorted(_FRONT_ENDS))
        raise UsageError(f"'{name}' is not a model that can be read: the suffix must be one of {known}")
    return _FRONT_ENDS[suffix]
