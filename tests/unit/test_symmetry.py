"""The definition of the normal form: it counts orbits correctly, and permutations act as defined."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from type_trees import COLOUR, states, system_of, systems

from outcrop.ir.symmetry import Normaliser
from outcrop.ir.system import System
from outcrop.ir.types import BOOLEAN, Array, Enum, Multiset, Range, Record, Scalarset, Union

NODE = Scalarset("node", 3, 0)
VALUE = Scalarset("value", 2, 1)


def all_normal_forms(system: System, *, undefined: bool = True) -> int:
    """Returns the number of orbits, by normalising every state of a small System."""
    normalise = Normaliser(system, symmetry=True)
    choices = [[*([None] if undefined else []), *range(kind.low, kind.high + 1)] for kind in system.leaf_types]
    return len({normalise(state) for state in product(*choices)})


def test_functions_from_a_scalarset_to_itself() -> None:
    assert all_normal_forms(system_of(Array(NODE, NODE)), undefined=False) == 7


def test_arrays_of_booleans_are_counted_by_how_many_are_true() -> None:
    assert all_normal_forms(system_of(Array(NODE, BOOLEAN)), undefined=False) == 4


def test_a_union_moves_its_scalarset_part_only() -> None:
    system = system_of(Array(Union((VALUE, Enum(("A",)))), BOOLEAN))
    assert all_normal_forms(system, undefined=False) == 6


def test_two_scalarsets_move_independently() -> None:
    system = system_of(Array(NODE, Array(VALUE, BOOLEAN)))
    # 3x2 matrices of bits up to permutation of rows and columns
    assert all_normal_forms(system, undefined=False) == 13


def test_anonymous_and_single_scalarsets_carry_no_symmetry() -> None:
    system = system_of(Array(Scalarset("", 3, 0), BOOLEAN), Array(Scalarset("one", 1, 1), BOOLEAN))
    normalise = Normaliser(system, symmetry=True)
    assert normalise.is_identity
    assert normalise((1, 0, 1, None)) == (1, 0, 1, None)


def test_undefined_values_stay_undefined() -> None:
    system = system_of(NODE, Array(NODE, VALUE))
    assert Normaliser(system, symmetry=True)((2, None, 1, None)) == (0, None, None, 0)


def test_multisets_are_sorted_without_symmetry_used_slots_first() -> None:
    system = system_of(Multiset(4, Range(0, 9)))
    normalise = Normaliser(system, symmetry=False)
    assert normalise((None, None, 0, 7, 0, None, 0, 2)) == (0, None, 0, 2, 0, 7, None, None)


def test_free_slots_are_cleared() -> None:
    normalise = Normaliser(system_of(Multiset(2, Range(0, 9))), symmetry=False)
    assert normalise((None, 5, None, 4)) == (None,) * 4


def test_inner_multisets_are_sorted_before_outer_ones() -> None:
    system = system_of(Multiset(2, Multiset(2, Range(0, 9))))
    normalise = Normaliser(system, symmetry=False)
    first, second = (0, 0, 3, 0, 1), (0, 0, 2, 0, 1)
    assert normalise(first + second) == (0, 0, 1, 0, 2, 0, 0, 1, 0, 3)


def test_orbit_size_divides_the_group() -> None:
    system = system_of(Array(NODE, COLOUR))
    normalise = Normaliser(system, symmetry=True)
    assert [normalise.orbit_size(state) for state in [(0, 0, 0), (0, 1, 0), (0, 1, 2)]] == [1, 3, 6]


def test_permute_renames_values_and_moves_elements() -> None:
    system = system_of(Array(NODE, NODE), Array(Union((NODE, COLOUR)), BOOLEAN))
    normalise = Normaliser(system, symmetry=True)
    state = (1, 2, None, 0, 1, None, 0, 0, 1)
    assert normalise.permute(state, ((1, 2, 0),)) == (None, 2, 0, None, 0, 1, 0, 0, 1)


@settings(max_examples=60)
@given(st.data())
def test_the_form_is_one_for_the_whole_orbit(data: st.DataObject) -> None:
    system = data.draw(systems())
    normalise = Normaliser(system, symmetry=True)
    state = data.draw(states(system))
    form = normalise(state)
    group = list(normalise.permutations())
    assert form in {normalise.permute(state, each) for each in group}
    assert normalise(form) == form
    moved = normalise.permute(state, data.draw(st.sampled_from(group)))
    assert normalise(moved) == form
    assert normalise.group_order % normalise.orbit_size(state) == 0


@settings(max_examples=60)
@given(st.data())
def test_candidate_permutations_tell_the_same_orbits_apart(data: st.DataObject) -> None:
    system = data.draw(systems())
    by_definition = Normaliser(system, symmetry=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("outcrop.ir.symmetry.LARGEST_GROUP", 0)
        by_candidates = Normaliser(system, symmetry=True)
    one, other = data.draw(states(system)), data.draw(states(system))
    moved = by_definition.permute(one, data.draw(st.sampled_from(list(by_definition.permutations()))))
    assert by_candidates(moved) == by_candidates(one)
    assert by_definition(by_candidates(one)) == by_definition(one)
    assert (by_candidates(one) == by_candidates(other)) == (by_definition(one) == by_definition(other))


def test_ten_thousand_times_more_permutations_than_can_be_tried() -> None:
    many = Scalarset("many", 12, 0)
    normalise = Normaliser(system_of(Array(many, BOOLEAN), many), symmetry=True)
    assert len({normalise((*(i < n for i in range(12)), m)) for n in range(13) for m in range(12)}) == 24


def test_records_in_multisets_follow_their_scalarset_fields() -> None:
    message = Record((("to", NODE), ("value", VALUE)))
    system = system_of(Multiset(2, message), NODE)
    normalise = Normaliser(system, symmetry=True)
    one = normalise((0, 2, 1, 0, 0, 1, 2))
    other = normalise((0, 1, 0, 0, 2, 0, 1))
    assert one == other
    assert one != normalise((0, 2, 1, 0, 0, 1, 1))
