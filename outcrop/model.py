"""Names that a model written in Python imports.

>>> from outcrop.model import Model, Range, rule, when
>>> class Counter(Model):
...     count: Range[0, 3] = 0
...     @rule
...     def step(self) -> None:
...         when(self.count < 3)
...         self.count += 1

The methods are compiled from their syntax trees. CPython can execute them too, on plain objects: that is how a model
is debugged, and how the compiler is tested.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Generic, NoReturn, TypeVar, overload

if TYPE_CHECKING:
    from outcrop.api import Model as Loaded
    from outcrop.result import Result

__all__ = [
    "Array",
    "Bag",
    "Model",
    "NotEnabled",
    "Range",
    "Symmetric",
    "assume",
    "choose",
    "cover",
    "invariant",
    "liveness",
    "ltl",
    "rule",
    "start",
    "when",
]

_T = TypeVar("_T")
_F = TypeVar("_F", bound=Callable[..., Any])


# --- Types -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Range:
    """The integers from ``low`` to ``high``, both included: ``Range[0, 7]`` is ``Annotated[int, Range(0, 7)]``."""

    low: int
    high: int

    def __class_getitem__(cls, bounds: tuple[int, int]) -> Any:
        if not isinstance(bounds, tuple) or len(bounds) != 2:
            raise TypeError("a range has two bounds, both included: Range[0, 7]")
        return Annotated[int, cls(*bounds)]


@dataclass(frozen=True)
class Holding:
    """Element type and size of an ``Array`` or a ``Bag``, as they stand in its brackets."""

    element: Any
    size: int | None


def _held(container: type, arguments: object) -> Any:
    element, size = arguments if isinstance(arguments, tuple) and len(arguments) == 2 else (arguments, None)
    return Annotated[container, Holding(element, size)]


class Array(Generic[_T]):
    """A fixed number of elements: ``Array[bool, 3]``. Indices are counted from 0 and never negative."""

    def __init__(self, elements: Iterable[_T]) -> None:
        self._elements = list(elements)

    def __class_getitem__(cls, arguments: object) -> Any:
        return _held(cls, arguments)

    def __getitem__(self, index: int) -> _T:
        return self._elements[self._checked(index)]

    def __setitem__(self, index: int, value: _T) -> None:
        self._elements[self._checked(index)] = value

    def _checked(self, index: int) -> int:
        if not 0 <= index < len(self._elements):
            raise IndexError(f"index {index} is outside 0..{len(self._elements) - 1}")
        return index

    def __iter__(self) -> Iterator[_T]:
        return iter(self._elements)

    def __len__(self) -> int:
        return len(self._elements)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Array) and self._elements == other._elements

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Array({self._elements!r})"


class Bag(Generic[_T]):
    """A multiset of limited size: ``Bag[Message, 4]``. An element may occur more than once."""

    def __init__(self, elements: Iterable[_T] = ()) -> None:
        self._elements = list(elements)

    def __class_getitem__(cls, arguments: object) -> Any:
        return _held(cls, arguments)

    def add(self, element: _T) -> None:
        """Adds an element. Adding to a full bag is a runtime error of the model."""
        self._elements.append(element)

    def remove(self, element: _T) -> None:
        """Removes one equal element. Without one it is a runtime error of the model."""
        self._elements.remove(element)

    def count(self, element: _T) -> int:
        """Returns the number of elements that are equal to this one."""
        return self._elements.count(element)

    def clear(self) -> None:
        self._elements.clear()

    def __iter__(self) -> Iterator[_T]:
        return iter(list(self._elements))

    def __contains__(self, element: object) -> bool:
        return element in self._elements

    def __len__(self) -> int:
        return len(self._elements)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bag) and Counter(self._elements) == Counter(other._elements)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Bag({self._elements!r})"


class SymmetricType(type):
    """The class of interchangeable values: it has a size and can be iterated over."""

    members: tuple[Any, ...]

    def __iter__(cls: type[_T]) -> Iterator[_T]:
        return iter(cls.members)  # type: ignore[attr-defined]

    def __len__(cls) -> int:
        return len(cls.members)

    def __call__(cls, *arguments: object, **keywords: object) -> NoReturn:
        raise TypeError(
            f"values of {cls.__name__} are interchangeable: none can be named or made. "
            "Use None, a parameter of a start method or choose(...)"
        )


class Symmetric(metaclass=SymmetricType):
    """Interchangeable values: ``class Node(Symmetric, size=3): ...``. States that differ by a renaming of such values
    are explored once."""

    index: int
    members = ()

    def __init_subclass__(cls, size: int) -> None:
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise TypeError(f"the size of {cls.__name__} must be a number from 1 on, not {size!r}")
        members = []
        for index in range(size):
            member = object.__new__(cls)
            member.index = index
            members.append(member)
        cls.members = tuple(members)

    def __repr__(self) -> str:
        return f"{type(self).__name__}_{self.index + 1}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _member, (type(self), self.index)


def _member(kind: type[Symmetric], index: int) -> Symmetric:
    member: Symmetric = kind.members[index]
    return member


# --- Parts of a model --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Role:
    """The role of a decorated method in its model."""

    name: str
    priority: int = 0


@dataclass(frozen=True)
class Ltl:
    """A formula of linear temporal logic about the runs of a model."""

    formula: str


def _mark(function: _F, role: Role) -> _F:
    function.outcrop_role = role  # type: ignore[attr-defined]
    return function


@overload
def rule(function: _F, /) -> _F: ...
@overload
def rule(*, priority: int = 0) -> Callable[[_F], _F]: ...
def rule(function: _F | None = None, /, *, priority: int = 0) -> _F | Callable[[_F], _F]:
    """Makes a method a rule, one for each combination of its parameters' values. Among the enabled rules of a state
    only those with the smallest ``priority`` fire."""
    role = Role("rule", priority)
    return (lambda each: _mark(each, role)) if function is None else _mark(function, role)


def start(function: _F, /) -> _F:
    """Makes a method a start state: it gives the fields their first values."""
    return _mark(function, Role("start"))


def invariant(function: _F, /) -> _F:
    """Makes a method an invariant: it returns True in every reachable state."""
    return _mark(function, Role("invariant"))


def assume(function: _F, /) -> _F:
    """Makes a method an assumption: states in which it returns False are excluded."""
    return _mark(function, Role("assume"))


def cover(function: _F, /) -> _F:
    """Makes a method a goal: it returns True in some reachable state."""
    return _mark(function, Role("cover"))


def liveness(function: _F, /) -> _F:
    """Makes a method a liveness property: from every reachable state one can reach a state in which it is True."""
    return _mark(function, Role("liveness"))


def ltl(formula: str) -> Ltl:
    """Returns a property of every run, as in ``served = ltl("G (waiting -> F served)")``."""
    return Ltl(formula)


class NotEnabled(Exception):
    """Raised by ``when`` if a rule is not enabled."""


def when(condition: object) -> None:
    """Restricts a rule to states in which a condition is true. It must be at the beginning of the rule."""
    if not condition:
        raise NotEnabled


class Chooser:
    """Decides what ``choose`` returns when CPython executes a model: at random, unless a caller decides otherwise."""

    pick: Callable[[list[Any]], Any] = staticmethod(random.choice)


def choose(values: Iterable[_T]) -> _T:
    """Returns any one of the values, so that the rule has a successor for each; it stands at the beginning of a rule.
    Where there is none the rule is not enabled."""
    options = list(values)
    if not options:
        raise NotEnabled
    chosen: _T = Chooser.pick(options)
    return chosen


class Model:
    """A model: annotated attributes are its state, other attributes its constants, decorated methods its rules and
    properties. Keywords replace constants: ``Lock(size=4).check()``."""

    def __init__(self, **constants: object) -> None:
        self.__dict__["_constants"] = constants

    def load(self, **options: Any) -> Loaded:
        """Compiles the model; options are those of ``outcrop.load``."""
        # By name: the front-end imports this file.
        load_class = import_module("outcrop.api").load_class
        loaded: Loaded = load_class(type(self), self.__dict__["_constants"], **options)
        return loaded

    def check(self, **options: Any) -> Result:
        """Explores every reachable state; options are those of ``outcrop.Model.check``."""
        return self.load().check(**options)
