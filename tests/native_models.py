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
def compiled(text: str, kernels: tuple[str, ...] | None = None) -> Native:
    """The model of a Murphi text, with all kernels or with some."""
    with TemporaryDirectory() as directory:
        path = Path(directory, "model.m")
        path.write_text(text)
        return native_of(path, kernels)


def native_of(path: Path, kernels: tuple[str, ...] | None = None) -> Native:
    emitted = emit(outcrop.load(path).system, False)
    return compile_model(emitted.source, notes=emitted.notes, kernels=kernels)
