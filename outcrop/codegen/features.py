"""The features that a model needs of the kernels, on a processor and on a GPU."""

from __future__ import annotations

from collections.abc import Set
from enum import Enum


class Feature(Enum):
    """A feature that a model may need. The value is its constant in C: 1 if the model needs it, otherwise 0."""

    ASSUMPTIONS = "HAS_ASSUMPTIONS"
    INVARIANTS = "HAS_INVARIANTS"
    COVER_PROPERTIES = "HAS_COVER_PROPERTIES"
    LIVENESS = "HAS_LIVENESS"
    ENDS = "HAS_ENDS"  #: some states without successors are not deadlocks
    NORMALISE = "HAS_NORMALISE"  #: states are converted to a normal form
    PRINTING = "HAS_PUT"
    COVERAGE = "HAS_COVERAGE"  #: the counts that Search.coverage returns
    REALS = "HAS_REALS"
    WIDE_INTEGERS = "HAS_WIDE_INTEGERS"  #: arithmetic with more than 64 bits
    AUTOMATON = "HAS_AUTOMATON"
    FAIRNESS = "HAS_FAIRNESS"
    FAIRNESS_COUNTER = "HAS_FAIRNESS_COUNTER"  #: weak fairness, by a counter in the state
    INSTANCES = "HAS_INSTANCES"  #: each successor names the rule instance that made it
    MOVERS = "HAS_MOVERS"  #: fairness by sets: each successor names the sets of its step


def definitions(features: Set[Feature]) -> dict[str, int]:
    """Returns the constants in C of all features."""
    return {each.value: int(each in features) for each in Feature}
