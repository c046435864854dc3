"""Labels: the texts by which steps of two models are the same.

The label of a step is the name of its rule or, if parameters count, the rule instance as traces print it. A mapping
file translates labels. Labels of two models correspond if they are equal, or else if they differ only in case and
punctuation, as "take up request" and take_up_request do. A label that remains without a counterpart may get one: a
label of the other model that occurs as often in every level.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice, permutations, product

import numpy as np
from numpy.typing import NDArray

from outcrop.compare.graph import Graph
from outcrop.compare.mapping import LabelMapping
from outcrop.errors import UsageError
from outcrop.ir.system import Rule, System, has_symmetry

#: Most renamings that are tried.
_MOST_TRIED = 24

#: The label of a step that the other model does not see.
HIDDEN = -1

LabelNumbers = NDArray[np.int32]
Texts = list[str | None]  #: the label of each rule instance of a model; None: hidden


class LabelKind(StrEnum):
    """The parts of a step that its label consists of."""

    NAMES = "names"  #: the name of the rule
    INSTANCES = "instances"  #: the name of the rule and the values of its parameters

    def names_values(self, system: System) -> bool:
        """Returns whether labels name single values of scalarsets, which symmetry would confuse with others."""
        parameters = (each.type for rule in system.rules for each in rule.parameters)
        return self is LabelKind.INSTANCES and any(map(has_symmetry, parameters))


@dataclass(frozen=True)
class LabelOptions:
    """The correspondence of labels."""

    kind: LabelKind = LabelKind.NAMES
    renamed: Mapping[str, str] = field(default_factory=dict)  #: rules of the first model, by those of the second
    hidden: Sequence[str] = ()  #: rules of the first model that the second does not see
    mapping: LabelMapping = field(default_factory=LabelMapping)


@dataclass(frozen=True, eq=False)
class Labels:
    """The label of each rule instance of two models."""

    names: tuple[str, ...]  #: name of each label, in the first model if it has the label, otherwise in the second
    of_first: LabelNumbers  #: label of each rule instance of the first model
    of_second: LabelNumbers
    found: dict[str, str]  #: renamings that were found, from the first model to the second


def plain(name: str) -> str:
    """Returns a name without case and punctuation; signs of numbers stay.

    >>> plain("Take up request"), plain("take_up_request"), plain("step, by: -1")
    ('take up request', 'take up request', 'step by -1')
    """
    return " ".join(re.findall(r"(?<![0-9a-z])-[0-9]+|[0-9a-z]+", name.lower())) or name


def labellings(systems: tuple[System, System], graphs: tuple[Graph, Graph], options: LabelOptions) -> Iterator[Labels]:
    """Yields the ways to label the steps of two models, the most likely first."""
    first, second = _texts(systems, options)
    known = _corresponding(first, second)
    left, right = _without(first, known), _without(second, known.values())
    for more in islice(_matches(graphs, (first, second), left, right), _MOST_TRIED):
        yield _labels(first, second, known | more, more)


# --- Texts --------------------------------------------------------------------------------------------------------


def _texts(systems: tuple[System, System], options: LabelOptions) -> tuple[Texts, Texts]:
    """Returns the label of each rule instance of both models, after renaming, hiding and translation."""
    names, others = ([rule.name for rule in system.rules] for system in systems)
    renamed = {
        _known(name, names, systems[0]): _known(other, others, systems[1]) for name, other in options.renamed.items()
    }
    hidden = {_known(name, names, systems[0]) for name in options.hidden}
    first = [text for rule in systems[0].rules for text in _rule_texts(rule, options.kind, renamed, hidden)]
    second = [text for rule in systems[1].rules for text in _rule_texts(rule, options.kind, {}, ())]
    mapping = options.mapping
    return mapping.translated(first, mapping.first, systems[0]), mapping.translated(second, mapping.second, systems[1])


def _rule_texts(
    rule: Rule, kind: LabelKind, renamed: Mapping[str, str], hidden: Collection[str]
) -> Iterator[str | None]:
    """Yields the label of each instance of a rule."""
    name = renamed.get(rule.name, rule.name)
    for arguments in rule.instances():
        values = rule.label(arguments)[len(rule.name) :] if kind is LabelKind.INSTANCES else ""
        yield None if rule.name in hidden else name + values


def _known(name: str, names: list[str], system: System) -> str:
    """Returns the rule of a model that a name means."""
    if name in names:
        return name
    for each in names:
        if plain(each) == plain(name):
            return each
    raise UsageError(f"{system.name} has no rule '{name}'; it has {', '.join(list(dict.fromkeys(names))[:12])}")


# --- Correspondence -----------------------------------------------------------------------------------------------


def _corresponding(first: Texts, second: Texts) -> dict[str, str]:
    """Returns the labels of the first model that have a counterpart in the second: an equal one, or else the only one
    that differs in case and punctuation alone."""
    there = dict.fromkeys(each for each in second if each is not None)
    known = {each: each for each in first if each is not None and each in there}
    left, right = (_by_plain_name(each) for each in (_without(first, known), _without(second, known)))
    for name, labels in left.items():
        if len(labels) == len(right.get(name, ())) == 1:
            known[labels[0]] = right[name][0]
    return known


def _by_plain_name(labels: list[str]) -> dict[str, list[str]]:
    found = defaultdict(list)
    for each in labels:
        found[plain(each)].append(each)
    return found


def _without(texts: Texts, known: Iterable[str]) -> list[str]:
    """Returns the different labels that are not known."""
    taken = set(known)
    return [each for each in dict.fromkeys(texts) if each is not None and each not in taken]


def _matches(
    graphs: tuple[Graph, Graph], texts: tuple[Texts, Texts], left: list[str], right: list[str]
) -> Iterator[dict[str, str]]:
    """Yields pairs of labels that occur equally often in every level."""
    groups: tuple[dict[bytes, list[str]], ...] = (defaultdict(list), defaultdict(list))
    for number, names in enumerate((left, right)):
        profiles = _profiles(texts[number], graphs[number]) if left and right else {}
        for name in names if profiles else ():
            groups[number][profiles[name]].append(name)
    both = [(groups[0][each], groups[1][each]) for each in groups[0] if len(groups[0][each]) == len(groups[1][each])]
    for orders in product(*(permutations(others) for _, others in both)):
        pairs = (zip(names, order, strict=True) for (names, _), order in zip(both, orders, strict=True))
        yield {one: other for each in pairs for one, other in each}


def _profiles(texts: Texts, graph: Graph) -> dict[str | None, bytes]:
    """Returns, for each label, how often it occurs in states of each level."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    of_instance = np.array([numbers[text] for text in texts], dtype=np.int64)
    sources = np.repeat(graph.level_of, np.diff(graph.offsets).astype(np.int64))
    levels = len(graph.levels)
    counts = np.bincount(of_instance[graph.instances] * levels + sources, minlength=levels * len(numbers))
    # Levels without a step at the end depend on the other model too.
    rows = zip(numbers, counts.reshape(len(numbers), levels), strict=True)
    return {text: np.trim_zeros(row, "b").tobytes() for text, row in rows}


def _labels(first: Texts, second: Texts, known: Mapping[str, str], found: dict[str, str]) -> Labels:
    """Returns numbers for labels. Those that correspond have one number, and the name that the first model has."""
    numbers: dict[tuple[str, bool], int] = {}  # by the text, and whether it is the second model's
    names: list[str] = []

    def number(text: str | None, key: tuple[str, bool]) -> int:
        if text is None:
            return HIDDEN
        if key not in numbers:
            numbers[key] = len(names)
            names.append(text)
        return numbers[key]

    of_first = [number(text, (known.get(text or "", text or ""), text in known)) for text in first]
    of_second = [number(text, (text or "", True)) for text in second]
    return Labels(tuple(names), np.array(of_first, np.int32), np.array(of_second, np.int32), found)
