"""Matrices of tests: strategies by their capabilities, from the registry, and settings of their own as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from outcrop.strategies import names, takers

_Settings = TypeVar("_Settings")


def each_strategy(special: Mapping[str, _Settings], other: _Settings, **wanted: bool) -> dict[str, _Settings]:
    """Returns settings for every strategy that has the wanted capabilities.

    ``special``: those of single strategies; ``other``: those of the rest, a new strategy among them.
    """
    assert special.keys() <= set(names()), "settings of a strategy that is not in the registry"
    return {name: special.get(name, other) for name in names(**wanted)}


def taken(strategy: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options that a strategy takes; a check refuses the others."""
    return {name: value for name, value in options.items() if strategy in (takers(name) or (strategy,))}
