"""Compilation in tests: without optimisation unless it is asked for, since most models compile longer than they search.

Tests that run the command as a separate process compile as users do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from outcrop.codegen.compiler import FLAGS, compile_model

QUICK_FLAGS = (*(flag for flag in FLAGS if flag != "-O2"), "-O0")


def compile_quickly() -> None:
    """From now on in this process, and in those that it forks."""
    _default_to(QUICK_FLAGS)


@contextmanager
def optimised() -> Iterator[None]:
    """Models are compiled as users compile them."""
    _default_to(FLAGS)
    try:
        yield
    finally:
        compile_quickly()


def _default_to(flags: Sequence[str]) -> None:
    compile_model.__kwdefaults__["flags"] = flags
