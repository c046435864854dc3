"""The claims of reduction about single rule instances hold in unreachable states, and false claims are noticed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from reduced_models import model_of

sys.path.insert(0, str(Path(__file__).parent.parent / "fuzz"))

from compare_reduced import reduced_disagreement
from generator.rare import generate_rare
from generator.sharing import generate_sharing
from generator.staged_python import generate_staged_python
from traced_effects import Claims

from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import State
from outcrop.ir.system import System
from outcrop.reduction.boxes import Box, widest_box
from outcrop.reduction.instances import Instance
from outcrop.reduction.leaves import Effects, Stored

_MODEL = """
var a: array [0..2] of 0..3; x: 0..2; y: 0..3; z: 0..3;
startstate begin for i: 0..2 do a[i] := 0; end; x := 0; y := 0; z := 0; end;
rule "reads" a[x] = y & z < 3 ==> z := z + 1; y := 2; end;
rule "turns" x < 2 ==> x := x + 1; end;
rule "stores" y > 0 ==> a[x] := y; end;
rule "goes back" x = 2 ==> x := 0; y := (y + 1) % 4; end;
"""
_A, _X, _Y, _Z = range(3), 3, 4, 5


def _states(system: System) -> list[State]:
    interpreter = Interpreter(system, False)
    states = [each.successor for each in interpreter.start_states() if each.successor is not None]
    for state in states[:]:
        states += [each.successor for each in interpreter.successors(state) if each.successor is not None]
    return states


def _problem(lie: Callable[[list[Instance]], None]) -> str:
    """Returns what is wrong with the claims about a model after a lie."""
    system = model_of(_MODEL).system
    box = widest_box(system)
    lie(box.instances)
    return _first_problem(system, box)


def _first_problem(system: System, box: Box) -> str:
    claims, random, states = Claims(system, box, Interpreter(system, False), False), Random(0), _states(system)
    problems = (claims.broken(random.choice(states), random) for _ in range(300))
    return next(filter(None, problems), "")


def test_the_truth_is_accepted() -> None:
    assert _problem(lambda instances: None) == ""


def _set(number: int, **changed: object) -> Callable[[list[Instance]], None]:
    def lie(instances: list[Instance]) -> None:
        instances[number] = replace(instances[number], **changed)  # type: ignore[arg-type]

    return lie


def _effects(number: int, *, reads: int = 0, writes: int = 0, store: tuple[int, Stored] | None = None) -> Callable:  # type: ignore[type-arg]
    """Returns a lie that leaves out reads and writes, or tells a wrong store."""

    def lie(instances: list[Instance]) -> None:
        before = instances[number].effects
        stores = before.stores | ({} if store is None else {store[0]: store[1]})
        after = Effects(before.reads & ~reads, before.writes & ~writes, stores, before.indices)
        instances[number] = replace(instances[number], effects=after)

    return lie


_LIES = {
    "a guard reads less": (_set(0, guard_reads=0b111 | 1 << _Y | 1 << _Z), "the guard is"),
    "a guard demands more": (_set(0, demands={_Z: 0b110}), "demands otherwise"),
    "a guard fails with other values only": (_set(1, unless_false={_X: 0b10}), "with leaf 3"),
    "a body reads less": (_effects(2, reads=1 << _X), "into leaf"),
    "a body reads less than its guard": (_effects(2, reads=1 << _Y), "that it does not read"),
    "a body writes less": (_effects(3, writes=1 << _Y), "it changes leaf 4"),
    "another value is stored": (_effects(3, store=(_X, Stored(frozenset([1]), True))), "not one of"),
    "a counter goes the other way": (_effects(1, store=(_X, Stored(None, True, -1))), "not by -1"),
}


@pytest.mark.parametrize("lie", _LIES)
def test_a_lie_is_noticed(lie: str) -> None:
    told, answer = _LIES[lie]
    assert answer in _problem(told)


def test_an_instance_that_is_said_to_be_dead_is_noticed() -> None:
    system = model_of(_MODEL).system
    assert "not alive" in _first_problem(system, replace(widest_box(system), live=0b1110))


def test_a_value_outside_of_the_box_is_noticed() -> None:
    system = model_of(_MODEL).system
    box = widest_box(system)
    values = (*box.values[:_X], frozenset([0, 1]), *box.values[_X + 1 :])
    assert "not in the box" in _first_problem(system, replace(box, values=values))


@pytest.mark.parametrize("seed", range(3))
def test_models_in_python_are_decided_the_same(seed: int) -> None:
    assert reduced_disagreement(generate_staged_python(Random(seed)), "model.py", seed, native=False) == ""


@pytest.mark.parametrize("language", ["m", "dve", "pml"])
def test_claims_about_random_models_hold(language: str) -> None:
    assert reduced_disagreement(generate_rare(Random(3), language), f"model.{language}", 3, native=False) == ""


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("language", ["dve", "pml"])
def test_claims_about_steps_that_share_variables_hold(language: str, seed: int) -> None:
    text = generate_sharing(Random(seed), language)
    assert reduced_disagreement(text, f"model.{language}", seed, native=False) == ""
