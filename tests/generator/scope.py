"""The scope of a piece of generated text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random

from generator.kinds import Array, Kind, Kinds, Multiset, Record


@dataclass(frozen=True)
class Name:
    """A variable, constant value or parameter."""

    text: str
    kind: Kind
    is_writable: bool = True
    is_defined: bool = False  #: whether it is defined in every state
    is_place: bool = True  #: whether it is a place and not only a value


@dataclass(frozen=True)
class Callable:
    """A function (``result``) or a procedure."""

    name: str
    formals: tuple[tuple[bool, Kind], ...]  #: (whether it is var, its kind)
    result: Kind | None


@dataclass(frozen=True)
class Path:
    """A path from a name to a part of it: pieces of text, with an index to fill in before each but the first."""

    pieces: tuple[str, ...]
    indices: tuple[Kind, ...]
    kind: Kind
    is_writable: bool
    is_defined: bool
    is_place: bool


@dataclass
class Scope:
    """A scope. ``result``: kind of its function; ``can_abandon``: whether ``assume`` or ``return`` may occur."""

    random: Random
    kinds: Kinds
    names: tuple[Name, ...] = ()
    callables: tuple[Callable, ...] = ()
    result: Kind | None = None
    can_abandon: bool = True
    counter: list[int] = field(default_factory=lambda: [0])

    def with_names(self, *names: Name) -> Scope:
        return replace(self, names=(*self.names, *names))

    def fresh(self, stem: str) -> str:
        self.counter[0] += 1
        return f"{stem}{self.counter[0]}"

    def paths(self) -> Iterator[Path]:
        for name in self.names:
            yield from _paths(Path((name.text,), (), name.kind, name.is_writable, name.is_defined, name.is_place))

    def multisets(self) -> list[Path]:
        return [path for path in self.paths() if isinstance(path.kind, Multiset)]


def _paths(path: Path) -> Iterator[Path]:
    yield path
    kind = path.kind
    if isinstance(kind, Record):
        for name, each in kind.fields:
            pieces = (*path.pieces[:-1], path.pieces[-1] + "." + name)
            yield from _paths(replace(path, pieces=pieces, kind=each))
    elif isinstance(kind, Array):
        pieces = (*path.pieces[:-1], path.pieces[-1] + "[", "]")
        yield from _paths(replace(path, pieces=pieces, indices=(*path.indices, kind.index), kind=kind.element))
