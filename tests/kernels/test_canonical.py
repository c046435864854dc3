"""The compiled normal form against the brute-force one: equal for two states exactly when their orbits are."""

from __future__ import annotations

import ctypes
import random
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from type_trees import COLOUR, random_state, system_of, systems

import outcrop
from outcrop.codegen.symmetry import emit_normalise
from outcrop.ir.layout import Layout, State
from outcrop.ir.symmetry import Normaliser
from outcrop.ir.system import System
from outcrop.ir.types import BOOLEAN, Array, Multiset, Range, Real, Record, Scalarset, Type, Union

NATIVE = Path(outcrop.__file__).parent / "native"
PRELUDE = """
#define STATE_BYTES {size}
#define RULE_COUNT 0
#define COVER_COUNT 0
#define NOTE_COUNT 0
#define HAS_REALS 0
#define HAS_PUT 0
#include "state.h"
"""
BLOCK = """
void normalise_block(uint8_t *states, uint64_t count) {
  for (uint64_t number = 0; number < count; number++) model_normalise(states + number * STATE_BYTES);
}
"""
STRICT = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-std=c11"]


def compiled(system: System, symmetry: bool = True, *flags: str) -> Callable[[Sequence[State]], list[State]]:
    """The emitted normal form, as a function on rows of states."""
    layout = Layout(system)
    text = PRELUDE.format(size=layout.byte_count) + emit_normalise(system, layout, symmetry) + BLOCK
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "normal.c", Path(folder) / "normal.so"
        source.write_text(text)
        command = ["cc", "-O1", *STRICT, *flags, "-shared", "-fPIC", f"-I{NATIVE}", "-o", library, source]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:4000] + text
        block = ctypes.CDLL(str(library)).normalise_block

    def normalise(states: Sequence[State]) -> list[State]:
        size = layout.byte_count
        buffer = ctypes.create_string_buffer(b"".join(map(layout.pack, states)), len(states) * size + 8)
        block(buffer, ctypes.c_uint64(len(states)))
        return [layout.unpack(buffer.raw[at : at + size]) for at in range(0, len(states) * size, size)]

    return normalise


def check(system: System, seed: int, rows: int = 60, images: int = 3) -> None:
    """Random states and images of each: the same form if and only if the same orbit, and a form in the orbit."""
    generator = random.Random(seed)
    oracle, normalise = Normaliser(system, symmetry=True), compiled(system)
    states: list[State] = []
    for _ in range(rows):
        state = random_state(system, generator)
        states.append(state)
        for _ in range(images):
            permutation = tuple(tuple(generator.sample(range(s.size), s.size)) for s in system.scalarsets)
            states.append(oracle.permute(state, permutation))
    forms = normalise(states)
    orbits = [oracle(state) for state in states]
    assert [oracle(form) for form in forms] == orbits
    assert len(set(forms)) == len(set(orbits))
    assert normalise(forms) == forms


NODE = Scalarset("node", 4, 0)
VALUE = Scalarset("value", 3, 1)
HOME = Scalarset("home", 2, 2)
PLACE = Union((HOME, NODE))
POINTER = Record((("nil", BOOLEAN), ("to", NODE)))
MESSAGE = Record((("kind", COLOUR), ("from", PLACE), ("to", PLACE), ("value", VALUE)))

BY_HAND: dict[str, tuple[Type, ...]] = {
    "local only": (Array(NODE, COLOUR), Array(NODE, Range(0, 7)), Array(Range(0, 3), NODE)),
    "pointers": (Array(NODE, COLOUR), Array(NODE, POINTER), Array(NODE, POINTER), POINTER),
    "graph": (Array(NODE, Array(NODE, BOOLEAN)),),
    "pointers alone": (Array(NODE, NODE),),
    "two scalarsets": (Array(NODE, Record((("data", VALUE), ("state", COLOUR)))), VALUE, NODE),
    "pairs": (Array(NODE, VALUE), Array(VALUE, NODE)),
    "network by place": (Array(PLACE, Array(PLACE, Record((("n", Range(0, 2)), ("m", Array(Range(0, 1), VALUE)))))),),
    "multiset of messages": (Multiset(4, MESSAGE), Array(NODE, COLOUR)),
    "multiset alone": (Multiset(3, Record((("a", NODE), ("b", NODE)))),),
    "multisets in an array": (Array(NODE, Multiset(3, Record((("to", NODE), ("kind", COLOUR))))), NODE),
    "plain multisets in an array": (Array(NODE, Multiset(2, Range(0, 2))), Array(NODE, BOOLEAN)),
    "nested multisets": (Multiset(3, Record((("to", NODE), ("more", Multiset(2, NODE))))),),
    "array in a multiset": (Multiset(2, Array(NODE, VALUE)), NODE),
    "wide": (Array(NODE, Array(Range(0, 3), Range(0, 10**6))), Array(NODE, Real(6, 99)), Array(NODE, NODE)),
    "wide without relations": (Array(NODE, Array(Range(0, 3), Range(0, 10**6))), NODE),
    "wide slots": (Multiset(2, Record((("x", Real(6, 99)), ("y", Array(NODE, Range(0, 3**30)))))), NODE),
    "three deep": (Array(NODE, Array(VALUE, Array(HOME, PLACE))),),
    "large plain array": (Array(Range(0, 40), NODE), Array(NODE, Array(Range(0, 30), VALUE))),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str) -> None:
    check(system_of(*BY_HAND[name]), seed=1)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(systems(), st.integers(0, 2**30))
def test_at_random(system: System, seed: int) -> None:
    check(system, seed, rows=25)


@pytest.mark.parametrize("name", ["multiset of messages", "nested multisets", "wide slots", "multisets in an array"])
def test_multisets_are_sorted_as_defined_without_symmetry(name: str) -> None:
    system = system_of(*BY_HAND[name])
    generator = random.Random(2)
    states = [random_state(system, generator) for _ in range(200)]
    oracle = Normaliser(system, symmetry=False)
    assert compiled(system, symmetry=False)(states) == [oracle(state) for state in states]


def images_agree(system: System, states: Sequence[State], seed: int) -> None:
    """For groups too large to enumerate: all images of a state have one form, and it is one of them."""
    generator = random.Random(seed)
    oracle, normalise = Normaliser(system, symmetry=True), compiled(system)
    for state in states:
        permutations = [
            tuple(tuple(generator.sample(range(s.size), s.size)) for s in system.scalarsets) for _ in range(8)
        ]
        forms = normalise([oracle.permute(state, each) for each in permutations])
        assert len(set(forms)) == 1
        assert sorted(map(str, forms[0])) != [] and normalise(forms) == forms


@pytest.mark.parametrize("size", [9, 16, 17, 40])
def test_large_scalarsets(size: int) -> None:
    node = Scalarset("node", size, 0)
    system = system_of(Array(node, COLOUR), Array(node, node), Array(Range(0, 3), node))
    generator = random.Random(3)
    states = [random_state(system, generator) for _ in range(10)]
    images_agree(system, states, seed=4)


def test_ties_that_only_a_search_can_break() -> None:
    """Cycles look alike to refinement: two of length three against one of length six."""
    node = Scalarset("node", 6, 0)
    system = system_of(Array(node, node))
    normalise = compiled(system)
    one, two = (1, 2, 3, 4, 5, 0), (1, 2, 0, 4, 5, 3)
    forms = normalise([one, two])
    assert forms[0] != forms[1]
    images_agree(system, [one, two, (1, 0, 3, 2, 5, 4)], seed=5)


def test_matched_pairs_do_not_cost_a_factorial() -> None:
    """Every node holds a value of its own: swapping two nodes is undone only by swapping their values too."""
    node, value = Scalarset("node", 12, 0), Scalarset("value", 12, 1)
    system = system_of(Array(node, value))
    images_agree(system, [tuple(range(12))], seed=6)
