"""Labels: the names by which rules of two models are the same.

Names count as equal if they differ only in case and punctuation, as "take up request" and take_up_request do.
A rule that remains without a counterpart may get one: a rule of the other model that fires as often in every level.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, permutations, product

import numpy as np
from numpy.typing import NDArray

from outcrop.compare.graph import Graph
from outcrop.errors import UsageError
from outcrop.ir.system import System

#: Most renamings that are tried.
_MOST_TRIED = 24

#: The label of a rule whose steps the other model does not see.
HIDDEN = -1

LabelNumbers = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Labels:
    """The label of each rule of two models."""

    names: tuple[str, ...]  #: name of each label, in the first model if it has the label, otherwise in the second
    of_first: LabelNumbers  #: label of each rule of the first model
    of_second: LabelNumbers
    found: dict[str, str]  #: renamings of rules that were found, from the first model to the second


def plain(name: str) -> str:
    """Returns a name without case and punctuation.

    >>> plain("Take up request"), plain("take_up_request")
    ('take up request', 'take up request')
    """
    return " ".join(re.findall(r"[0-9a-z]+", name.lower())) or name


def labellings(
    systems: tuple[System, System], graphs: tuple[Graph, Graph], given: Mapping[str, str], hidden: Sequence[str]
) -> Iterator[Labels]:
    """Yields the ways to label the rules of two models, the most likely first. ``given``: renamings from the first to
    the second; ``hidden``: rules of the first that the second does not see."""
    first, second = ({plain(rule.name): rule.name for rule in system.rules} for system in systems)
    renamed = {_known(name, first, systems[0]): _known(other, second, systems[1]) for name, other in given.items()}
    invisible = {_known(name, first, systems[0]) for name in hidden}
    taken = set(renamed.values())
    for name in first:
        if name not in renamed and name not in invisible and name in second and name not in taken:
            renamed[name] = name
    left = [name for name in first if name not in renamed and name not in invisible]
    right = [name for name in second if name not in set(renamed.values())]
    for more in islice(_matches(systems, graphs, left, right), _MOST_TRIED):
        yield _labels(systems, renamed | more, invisible, {first[one]: second[other] for one, other in more.items()})


def _known(name: str, names: Mapping[str, str], system: System) -> str:
    if plain(name) not in names:
        raise UsageError(f"{system.name} has no rule '{name}'; it has {', '.join(list(names.values())[:12])}")
    return plain(name)


def _matches(
    systems: tuple[System, System], graphs: tuple[Graph, Graph], left: list[str], right: list[str]
) -> Iterator[dict[str, str]]:
    """Yields pairs of rules that fire equally often in every level."""
    groups: tuple[dict[bytes, list[str]], ...] = (defaultdict(list), defaultdict(list))
    for number, names in enumerate((left, right)):
        profiles = _profiles(systems[number], graphs[number]) if left and right else {}
        for name in names if profiles else ():
            groups[number][profiles[name]].append(name)
    both = [(groups[0][each], groups[1][each]) for each in groups[0] if len(groups[0][each]) == len(groups[1][each])]
    for orders in product(*(permutations(others) for _, others in both)):
        pairs = (zip(names, order, strict=True) for (names, _), order in zip(both, orders, strict=True))
        yield {one: other for each in pairs for one, other in each}


def _profiles(system: System, graph: Graph) -> dict[str, bytes]:
    """Returns, for each rule by its plain name, how often it fires in states of each level."""
    sources = np.repeat(graph.level_of, np.diff(graph.offsets)).astype(np.int64)
    levels = len(graph.levels)
    counts = np.bincount(graph.rules * np.int64(levels) + sources, minlength=levels * len(system.rules))
    rows = counts.reshape(len(system.rules), levels)
    names = [plain(rule.name) for rule in system.rules]
    # Levels without a step at the end depend on the other model too.
    return {
        name: np.trim_zeros(sum(rows[at] for at, each in enumerate(names) if each == name), "b").tobytes()
        for name in set(names)
    }


def _labels(
    systems: tuple[System, System], renamed: Mapping[str, str], invisible: set[str], found: dict[str, str]
) -> Labels:
    back = {other: name for name, other in renamed.items()}
    names: dict[str, int] = {}
    shown: list[str] = []

    def number(key: str, name: str) -> int:
        if key not in names:
            names[key] = len(names)
            shown.append(name)
        return names[key]

    of_first = [
        HIDDEN if plain(rule.name) in invisible else number(f"first {plain(rule.name)}", rule.name)
        for rule in systems[0].rules
    ]
    of_second = [
        number(
            f"first {back[plain(rule.name)]}" if plain(rule.name) in back else f"second {plain(rule.name)}", rule.name
        )
        for rule in systems[1].rules
    ]
    return Labels(tuple(shown), np.array(of_first, np.int32), np.array(of_second, np.int32), found)
