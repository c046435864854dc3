"""The native searches, compared with the interpreter's, over the corpus of small models."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import outcrop
from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.errors import ModelError
from outcrop.kernels import Native
from outcrop.options import CheckOptions, Deadlock
from outcrop.oracle import search as reference
from outcrop.outcome import Outcome
from outcrop.search import compact, ram

MODELS = sorted((Path(__file__).parent.parent / "models").glob("[!r]*.m")) + sorted(
    (Path(__file__).parent.parent / "models").glob("r[!e]*.m")
)


def compiled(path: Path, symmetry: bool) -> tuple[outcrop.Model, Native]:
    try:
        model = outcrop.load(path)
    except ModelError:
        pytest.skip("no model")
    emitted = emit(model.system, symmetry, coverage=True)
    return model, compile_model(emitted.source, notes=emitted.notes)


def comparable(outcome: Outcome) -> Outcome:
    return dataclasses.replace(outcome, seconds=0.0, peak_disk_bytes=0, omission_bound=0.0)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_same_outcome_as_the_reference(path: Path) -> None:
    model, native = compiled(path, symmetry=False)
    for max_errors in (1, None):
        options = CheckOptions(symmetry=False, max_errors=max_errors, states=20_000)
        expected = comparable(reference.search(model.system, options))
        for threads in (1, 2, 4):
            with_threads = dataclasses.replace(options, threads=threads)
            assert comparable(ram.search(native, with_threads)) == expected
        signatures = comparable(compact.search(native, dataclasses.replace(options, threads=2, bits=64)))
        assert signatures == dataclasses.replace(expected, deeper=None)  # the level of a signature is not known


@pytest.mark.parametrize("deadlock", list(Deadlock))
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_bounds_and_deadlock_rules(deadlock: Deadlock, depth: int) -> None:
    for name in ("deadlock_stuttering", "deadlock_stuck_found", "many_successors", "max_errors"):
        model, native = compiled(MODELS[0].parent / f"{name}.m", False)
        options = CheckOptions(symmetry=False, deadlock=deadlock, depth=depth, max_errors=3, threads=2)
        assert comparable(ram.search(native, options)) == comparable(reference.search(model.system, options))
