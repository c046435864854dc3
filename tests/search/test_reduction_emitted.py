"""Emitted code that reduces against the interpreter, state by state, on random models."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "fuzz"))

from compare_emitted import emitted_disagreement
from generator.processes import generate_processes, generate_processes_dve
from generator.rare import generate_rare
from generator.wide import generate_wide

_MODELS: dict[str, tuple[str, Callable[[int], str], bool]] = {
    "rare m": ("m", lambda seed: generate_rare(Random(seed), "m"), False),
    "rare dve": ("dve", lambda seed: generate_rare(Random(seed), "dve"), False),
    "rare pml": ("pml", lambda seed: generate_rare(Random(seed), "pml"), False),
    "rare pml ltl": ("pml", lambda seed: generate_rare(Random(seed), "pml", True), True),
    "processes m": ("m", lambda seed: generate_processes(Random(seed)), False),
    "wide m": ("m", lambda seed: generate_wide(Random(seed), "m"), False),
    "wide dve": ("dve", lambda seed: generate_wide(Random(seed), "dve"), False),
    "wide pml": ("pml", lambda seed: generate_wide(Random(seed), "pml"), False),
    "processes dve ltl": ("dve", lambda seed: generate_processes_dve(Random(seed), True), True),
}


@pytest.mark.parametrize("kind", _MODELS)
def test_emitted_code_fires_what_the_interpreter_does(kind: str) -> None:
    suffix, generate, has_formulas = _MODELS[kind]
    assert emitted_disagreement(generate(8), f"model.{suffix}", 8, has_formulas) == ""


def test_emitted_code_that_reduces_has_no_undefined_behaviour() -> None:
    assert emitted_disagreement(generate_rare(Random(2), "m"), "model.m", 2, False, sanitize=True) == ""


def test_emitted_code_of_degenerate_models_compiles_without_a_warning() -> None:
    """A model without rules, and a formula whose negation has an automaton without edges."""
    stuck = "chan c = [0] of { bit }; active proctype A() { c?1 }"
    assert emitted_disagreement(stuck, "model.pml", 1, False, sanitize=True) == ""
    true = 'var x: 0..1; startstate begin x := 0; end; rule x = 0 ==> x := 1; end; ltl "f" : {x < 1} -> {x < 1};'
    assert emitted_disagreement(true, "model.m", 1, True, sanitize=True) == ""
