"""Models, compiled for tests that search them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import outcrop
from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.kernels import Native


@cache
def compiled(text: str) -> Native:
    """The model of a Murphi text."""
    with TemporaryDirectory() as directory:
        path = Path(directory, "model.m")
        path.write_text(text)
        return native_of(path)


def native_of(path: Path) -> Native:
    emitted = emit(outcrop.load(path).system, False)
    return compile_model(emitted.source, notes=emitted.notes)
