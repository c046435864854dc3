"""Values of two models that count as equal: members of enumerations by name, numbers and truth values by value,
scalarset values by index."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass

from outcrop.ir.layout import Leaf
from outcrop.ir.types import BOOLEAN, Array, Enum, Range, Real, Record, Scalarset, Simple, Type, Union

#: A value that can be compared with those of another model.
Token = Hashable


class NoMatchError(Exception):
    """Raised when the values of two types cannot be matched."""


@dataclass(frozen=True)
class Pair:
    """Two leaves whose values must agree, by their positions within the values of both models."""

    positions: tuple[int, int]
    tokens: tuple[Callable[[Leaf], Token], Callable[[Leaf], Token]]


def pairs(one: Type, other: Type, at: tuple[int, int] = (0, 0)) -> Iterator[Pair]:
    """Yields the pairs of leaves of two types. Raises NoMatchError if they do not match."""
    if isinstance(one, Simple) and isinstance(other, Simple):
        yield Pair(at, _matched(one, other))
    elif isinstance(one, Record) and isinstance(other, Record):
        fields, others = ({same_name(name): at for at, (name, _) in enumerate(each.fields)} for each in (one, other))
        if set(fields) != set(others):
            raise NoMatchError
        for name, number in fields.items():
            here = at[0] + one.offsets[number], at[1] + other.offsets[others[name]]
            yield from pairs(one.fields[number][1], other.fields[others[name]][1], here)
    elif isinstance(one, Array) and isinstance(other, Array):
        if one.index.cardinality != other.index.cardinality:
            raise NoMatchError
        for number in range(one.index.cardinality):
            here = at[0] + number * one.element.leaf_count, at[1] + number * other.element.leaf_count
            yield from pairs(one.element, other.element, here)
    else:
        raise NoMatchError


def same_name(name: str) -> str:
    """Returns what two names that count as equal have in common.

    >>> same_name("GRANT_SHARED") == same_name("GrantShared")
    True
    """
    return re.sub(r"[^0-9a-z]", "", name.lower()) or name


def _matched(one: Simple, other: Simple) -> tuple[Callable[[Leaf], Token], Callable[[Leaf], Token]]:
    """Returns the token of each value of two simple types."""
    kinds = one, other
    if any(isinstance(each, Scalarset) for each in kinds) and any(isinstance(each, Range) for each in kinds):
        if one.cardinality != other.cardinality:
            raise NoMatchError
        return _index(one), _index(other)
    identities, names = [_identities(each) for each in kinds], [_names(each) for each in kinds]
    are_numbers = all(isinstance(each, Range | Real) or each == BOOLEAN for each in kinds)
    if identities[0] != identities[1] or not (identities[0] or are_numbers or names[0] & names[1]):
        raise NoMatchError
    return _token(one), _token(other)


def _identities(kind: Simple) -> list[int]:
    members = kind.members if isinstance(kind, Union) else (kind,)
    return [each.size for each in members if isinstance(each, Scalarset)]


def _names(kind: Simple) -> set[str]:
    if isinstance(kind, Union):
        return {name for each in kind.members for name in _names(each)}
    if isinstance(kind, Enum) and kind != BOOLEAN:
        return set(map(same_name, kind.members))
    return set(map(same_name, kind.labels)) if isinstance(kind, Range) else set()


def _index(kind: Simple) -> Callable[[Leaf], Token]:
    return lambda leaf: None if leaf is None else leaf - kind.low


def _token(kind: Simple) -> Callable[[Leaf], Token]:
    """Returns the function that gives the token of a value: a number, a name, or the index of an identity."""

    def token(leaf: Leaf) -> Token:
        if leaf is None or kind == BOOLEAN or isinstance(kind, Real):
            return leaf
        number = int(leaf)
        if isinstance(kind, Range):
            return same_name(kind.show(leaf)) if number - kind.lower < len(kind.labels) else number
        if isinstance(kind, Scalarset):
            return "index", 0, number
        if isinstance(kind, Enum):
            return same_name(kind.members[number])
        assert isinstance(kind, Union)
        member, ordinal = kind.member_of(number)
        if isinstance(member, Scalarset):
            return "index", [each for each in kind.members if isinstance(each, Scalarset)].index(member), ordinal
        return _token(member)(ordinal)

    return token
