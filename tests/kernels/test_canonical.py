"""The compiled normal form, compared with the brute-force one: equal for two states exactly if their orbits are."""

from __future__ import annotations

import random
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from type_trees import COLOUR, random_state, system_of, systems

import outcrop
from outcrop.codegen.symmetry import emit_normalise
from outcrop.ir.layout import Layout, State
from outcrop.ir.symmetry import Normaliser, Permutation
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
MAIN = """
#include <stdio.h>
static uint8_t state[STATE_BYTES + 8];
int main(void) {
  while (fread(state, STATE_BYTES, 1, stdin) == 1) {
    model_normalise(state);
    fwrite(state, STATE_BYTES, 1, stdout);
  }
  return 0;
}
"""
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
SANITIZED = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

Normalise = Callable[[Sequence[State]], list[State]]


@contextmanager
def compiled(system: System, symmetry: bool = True, flags: Sequence[str] = ("-O0",)) -> Iterator[Normalise]:
    """Yields the emitted normal form as a function on rows of states."""
    layout = Layout(system)
    size = layout.byte_count
    text = PRELUDE.format(size=size) + emit_normalise(system, layout, symmetry) + MAIN
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "normal.c"), Path(folder, "normal")
        source.write_text(text)
        command = ["cc", *STRICT, *flags, f"-I{NATIVE}", "-o", program, source]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:4000] + text

        def normalise(states: Sequence[State]) -> list[State]:
            run = subprocess.run([program], input=b"".join(map(layout.pack, states)), capture_output=True, check=False)
            assert run.returncode == 0, run.stderr.decode()
            return [layout.unpack(run.stdout[at : at + size]) for at in range(0, len(run.stdout), size)]

        yield normalise


def shuffled(system: System, generator: random.Random) -> Permutation:
    return tuple(tuple(generator.sample(range(each.size), each.size)) for each in system.scalarsets)


def check(system: System, seed: int, rows: int, flags: Sequence[str]) -> None:
    """Asserts, for random states and their images: same form if and only if same orbit, with the form in it."""
    generator = random.Random(seed)
    oracle = Normaliser(system, symmetry=True)
    states: list[State] = []
    for _ in range(rows):
        state = random_state(system, generator)
        states += [state, *(oracle.permute(state, shuffled(system, generator)) for _ in range(3))]
    orbits = [oracle(state) for state in states]
    with compiled(system, flags=flags) as normalise:
        forms = normalise(states)
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
    check(system_of(*BY_HAND[name]), seed=1, rows=60, flags=SANITIZED)


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(systems(), st.integers(0, 2**30))
def test_at_random(system: System, seed: int) -> None:
    check(system, seed, rows=25, flags=["-O0"])


@pytest.mark.parametrize("name", ["multiset of messages", "nested multisets", "wide slots", "multisets in an array"])
def test_multisets_are_sorted_as_defined_without_symmetry(name: str) -> None:
    system = system_of(*BY_HAND[name])
    generator = random.Random(2)
    states = [random_state(system, generator) for _ in range(200)]
    oracle = Normaliser(system, symmetry=False)
    with compiled(system, symmetry=False, flags=SANITIZED) as normalise:
        assert normalise(states) == [oracle(state) for state in states]


def check_images(system: System, states: Sequence[State], seed: int = 4) -> list[State]:
    """Asserts that all images of a state have one form, for groups too large to enumerate. Returns the forms."""
    generator = random.Random(seed)
    oracle = Normaliser(system, symmetry=True)
    images = [[oracle.permute(state, shuffled(system, generator)) for _ in range(8)] for state in states]
    with compiled(system, flags=["-O1"]) as normalise:
        forms = [set(normalise(row)) for row in images]
    assert [len(each) for each in forms] == [1] * len(states)
    return [form for each in forms for form in each]


@pytest.mark.parametrize("size", [9, 16, 17, 40])
def test_large_scalarsets(size: int) -> None:
    node = Scalarset("node", size, 0)
    system = system_of(Array(node, COLOUR), Array(node, node), Array(Range(0, 3), node))
    generator = random.Random(3)
    states = [random_state(system, generator) for _ in range(10)]
    forms = check_images(system, states)
    assert len(set(forms)) == len(states)
    # Leaves that a permutation moves but does not rename are the same leaves in another order.
    assert [sorted(form[:size], key=str) for form in forms] == [sorted(state[:size], key=str) for state in states]


def test_eight_scalarsets() -> None:
    kinds = [Scalarset(f"s{uid}", 2 + uid % 3, uid) for uid in range(8)]
    arrays = [Array(kind, other) for kind, other in zip(kinds, [*kinds[1:], kinds[0]], strict=True)]
    system = system_of(*arrays, Array(kinds[2], Array(kinds[5], BOOLEAN)))
    generator = random.Random(7)
    check_images(system, [random_state(system, generator) for _ in range(20)])


def cycles(*lengths: int) -> State:
    """Returns a permutation of 0, 1, ... with cycles of these lengths."""
    image: list[int] = []
    for length in lengths:
        start = len(image)
        image += [start + (number + 1) % length for number in range(length)]
    return tuple(image)


def test_ties_that_only_a_search_can_break() -> None:
    """Refinement cannot tell cycles of different lengths apart."""
    system = system_of(Array(Scalarset("node", 6, 0), Scalarset("node", 6, 0)))
    forms = check_images(system, [cycles(6), cycles(3, 3), cycles(2, 2, 2), cycles(4, 2), cycles(1, 5)])
    assert len(set(forms)) == 5


@pytest.mark.parametrize("lengths", [(2,) * 8, (3, 3, 6, 4), (1,) * 16, (5, 5, 6), (2, 2, 3, 3, 3, 3)])
def test_cycles_do_not_cost_a_factorial(lengths: tuple[int, ...]) -> None:
    node = Scalarset("node", 16, 0)
    check_images(system_of(Array(node, node)), [cycles(*lengths)])


def test_matched_pairs_do_not_cost_a_factorial() -> None:
    """Every node holds its own value: swapping two nodes is undone only by swapping their values too."""
    node, value = Scalarset("node", 12, 0), Scalarset("value", 12, 1)
    check_images(system_of(Array(node, value)), [tuple(range(12))])


def test_a_graph_that_refinement_cannot_begin_to_split() -> None:
    """In the four-dimensional cube every node has the same number of neighbours."""
    node = Scalarset("node", 16, 0)
    matrix = [int((a ^ b).bit_count() == 1) for a in range(16) for b in range(16)]
    check_images(system_of(Array(node, Array(node, BOOLEAN))), [tuple(matrix)])
