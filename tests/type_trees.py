"""Systems made of variables alone, by hand and at random, for tests of layouts and normal forms."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from outcrop.ir.layout import Leaf, State
from outcrop.ir.nodes import Variable
from outcrop.ir.system import System
from outcrop.ir.types import (
    BOOLEAN,
    SLOT_FLAG,
    Array,
    Enum,
    Multiset,
    Range,
    Real,
    Record,
    Scalarset,
    Simple,
    Type,
    Union,
)
from outcrop.source import Source, Span

COLOUR = Enum(("red", "green", "blue"), "colour")


def system_of(*types: Type) -> System:
    """A System with one variable of each type and nothing else."""
    source = Source("made by hand", "")
    variables: list[Variable] = []
    offset = 0
    for number, kind in enumerate(types):
        variables.append(Variable(f"v{number}", kind, offset, Span(source, 0, 0)))
        offset += kind.leaf_count
    return System("handmade", source, {}, tuple(variables), (), (), (), (), ())


def simple_values(kind: Simple) -> st.SearchStrategy[Leaf]:
    if isinstance(kind, Real):
        return st.none() | st.sampled_from([0.0, -1.5, 2.0])
    return st.none() | st.integers(kind.low, kind.high)


def values(kind: Type) -> st.SearchStrategy[State]:
    """Rows of leaves of a type. Slots of multisets are free or in use at random; free ones are undefined."""
    if isinstance(kind, Simple):
        return simple_values(kind).map(lambda value: (value,))
    if isinstance(kind, Record):
        return st.tuples(*(values(each) for _, each in kind.fields)).map(_joined)
    if isinstance(kind, Array):
        count = kind.index.cardinality
        return st.lists(values(kind.element), min_size=count, max_size=count).map(_joined)
    assert isinstance(kind, Multiset)
    free = st.just((None,) * kind.slot_leaf_count)
    used = values(kind.element).map(lambda leaves: (SLOT_FLAG.low, *leaves))
    return st.lists(free | used, min_size=kind.capacity, max_size=kind.capacity).map(_joined)


def states(system: System) -> st.SearchStrategy[State]:
    return st.tuples(*(values(variable.type) for variable in system.variables)).map(_joined)


def random_state(system: System, generator: random.Random) -> State:
    """Like ``states``, but quick, and with many values alike so that orbits have symmetric states."""
    variety = generator.choice([0.2, 0.5, 1.0])

    def simple(kind: Simple) -> Leaf:
        if generator.random() > variety:
            return None
        if isinstance(kind, Real):
            return generator.choice([0.0, -1.5, 2.0])
        return generator.randint(kind.low, kind.high)

    def leaves(kind: Type) -> State:
        if isinstance(kind, Simple):
            return (simple(kind),)
        if isinstance(kind, Record):
            return _joined([leaves(each) for _, each in kind.fields])
        if isinstance(kind, Array):
            return _joined([leaves(kind.element) for _ in range(kind.index.cardinality)])
        assert isinstance(kind, Multiset)
        free: State = (None,) * kind.slot_leaf_count
        return _joined(
            [(SLOT_FLAG.low, *leaves(kind.element)) if generator.random() < 0.7 else free for _ in range(kind.capacity)]
        )

    return _joined([leaves(variable.type) for variable in system.variables])


def _joined(rows: tuple[State, ...] | list[State]) -> State:
    return tuple(leaf for row in rows for leaf in row)


@st.composite
def systems(draw: st.DrawFn, largest_scalarset: int = 3, most_scalarsets: int = 2, most_leaves: int = 60) -> System:
    """Random type trees over a few scalarsets; at least one variable uses the first of them."""
    count = draw(st.integers(1, most_scalarsets))
    scalarsets = [Scalarset(f"s{uid}", draw(st.integers(2, largest_scalarset)), uid) for uid in range(count)]
    union = Union((draw(st.sampled_from(scalarsets)), COLOUR))
    both = Union(tuple(scalarsets)) if count > 1 else union
    indices = [*scalarsets, *scalarsets, union, both, Range(3, 4)]
    leaves = [*scalarsets, *scalarsets, *scalarsets, union, both, BOOLEAN, COLOUR, Range(-2, 9), Scalarset("", 2, 99)]
    kinds = st.recursive(
        st.sampled_from(leaves),
        lambda inner: st.one_of(
            st.builds(Array, st.sampled_from(indices), inner),
            st.builds(Array, st.sampled_from(scalarsets), inner),
            st.builds(Multiset, st.integers(1, 3), inner),
            st.lists(inner, min_size=1, max_size=3).map(
                lambda types: Record(tuple((f"f{number}", each) for number, each in enumerate(types)))
            ),
        ),
        max_leaves=5,
    )
    chosen = draw(st.lists(kinds.filter(lambda kind: kind.leaf_count <= most_leaves), min_size=1, max_size=3))
    return system_of(*chosen, scalarsets[0])
