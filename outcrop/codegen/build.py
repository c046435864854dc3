"""Compilation of a System to a loaded library in one step, for users of the model other than a check."""

from __future__ import annotations

from outcrop.codegen.c import Emitted, emit
from outcrop.codegen.compiler import compile_model
from outcrop.ir.system import System
from outcrop.kernels import Native


def build(
    system: System, symmetry: bool, keep_c: str | None = None, coverage: bool = False, prints: bool = False
) -> tuple[Native, Emitted]:
    """Returns the compiled model, and the meaning of its numbers."""
    emitted = emit(system, symmetry, coverage, prints=prints)
    return compile_model(emitted.source, notes=emitted.notes, groups=emitted.groups, keep_c=keep_c), emitted
