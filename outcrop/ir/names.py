"""The names of the leaves of a state: ``node[Node_2].state``, ``net[0].dst``.

A multiset slot is written like an array element, by its number; the flag of slot 0 is ``used(net[0])``.
"""

from __future__ import annotations

from outcrop.ir.system import System
from outcrop.ir.types import Array, Multiset, Record, Simple, Type


def leaf_names(kind: Type, name: str) -> list[str]:
    """Returns the names of the leaves of a part of the state that has the type ``kind`` and the name ``name``.

    >>> from outcrop.ir.types import BOOLEAN, Range
    >>> leaf_names(Array(Range(1, 2), Record((("full", BOOLEAN), ("level", Range(0, 3))))), "cup")
    ['cup[1].full', 'cup[1].level', 'cup[2].full', 'cup[2].level']
    """
    if isinstance(kind, Simple):
        return [name]
    if isinstance(kind, Record):
        return [leaf for field, each in kind.fields for leaf in leaf_names(each, f"{name}.{field}")]
    if isinstance(kind, Array):
        indices = range(kind.index.low, kind.index.high + 1)
        return [leaf for index in indices for leaf in leaf_names(kind.element, f"{name}[{kind.index.show(index)}]")]
    assert isinstance(kind, Multiset)
    slots = [f"{name}[{number}]" for number in range(kind.capacity)]
    return [leaf for slot in slots for leaf in (f"used({slot})", *leaf_names(kind.element, slot))]


def state_leaf_names(system: System) -> tuple[str, ...]:
    """Returns the name of each leaf of a state."""
    return tuple(leaf for variable in system.variables for leaf in leaf_names(variable.type, variable.name))
