"""What a model needs of the kernels, on a processor and on a GPU."""

from __future__ import annotations

from collections.abc import Set
from enum import Enum


class Feature(Enum):
    """Something that a model needs. The value is its constant in C: 1 for a model that does, otherwise 0."""

    ASSUMPTIONS = "HAS_ASSUMPTIONS"
    INVARIANTS = "HAS_INVARIANTS"
    COVER_PROPERTIES = "HAS_COVER_PROPERTIES"
    LIVENESS = "HAS_LIVENESS"
    NORMALISE = "HAS_NORMALISE"  #: states are brought into a normal form
    PRINTING = "HAS_PUT"
    COVERAGE = "HAS_COVERAGE"  #: what Search.coverage gives is counted
    REALS = "HAS_REALS"
    WIDE_INTEGERS = "HAS_WIDE_INTEGERS"  #: arithmetic with more than 64 bits
    AUTOMATON = "HAS_AUTOMATON"
    FAIRNESS = "HAS_FAIRNESS"
    FAIRNESS_COUNTER = "HAS_FAIRNESS_COUNTER"  #: weak fairness, by a counter in the state
    MOVERS = "HAS_MOVERS"  #: fairness by the sets whose step each successor is


def definitions(features: Set[Feature]) -> dict[str, int]:
    """Returns the constants in C of all features."""
    return {each.value: int(each in features) for each in Feature}
