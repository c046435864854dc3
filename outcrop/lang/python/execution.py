"""A model executed by CPython, on plain objects: the second oracle, and the way to debug a model.

States are instances of the model's class, whose fields hold the objects of checked.py.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

from outcrop.ir.layout import State
from outcrop.lang.python.checked import ModelFault, checked, from_leaves, to_leaves, values_of
from outcrop.lang.python.kinds import (
    BagKind,
    Kind,
    SetKind,
)
from outcrop.model import Chooser, Model, NotEnabled

#: Exceptions of CPython that correspond to runtime errors of the System.
_FAULTS = (ModelFault, AssertionError, ArithmeticError, LookupError, AttributeError, TypeError, ValueError)


# --- Running -----------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Step:
    """The effect of one instance of a rule: it leads to a state, or fails."""

    rule: str
    arguments: tuple[Any, ...]
    state: Model | None = None
    fault: str = ""


class Execution:
    """Runs the methods of a model's class on objects."""

    def __init__(self, cls: type[Model], fields: dict[str, Kind], parameters: dict[str, list[Kind]]) -> None:
        self.cls = cls
        self.fields = fields
        self.parameters = parameters  #: parameters of each method that has a role
        self._state_class = type(cls.__name__, (_StateMixin, cls), {"_fields": fields})
        self.methods = {
            name: getattr(cls, name) for name in dir(cls) if hasattr(getattr(cls, name, None), "outcrop_role")
        }

    def state(self, leaves: State) -> Any:
        """Returns the object of a state."""
        made: Any = object.__new__(self._state_class)
        rest = iter(leaves)
        for name, kind in self.fields.items():
            value = from_leaves(kind, rest)
            if value is not None or kind.optional:
                made.__dict__[name] = checked(kind, value, name)
        return made

    def leaves(self, state: Any) -> State:
        """Returns the leaves of a state, bags as they are: normalise them before comparing."""
        return tuple(leaf for name, kind in self.fields.items() for leaf in to_leaves(kind, state.__dict__.get(name)))

    def start_states(self) -> Iterator[Step]:
        """Runs every start state, or the defaults alone where there is none."""
        starts = [name for name, each in self.methods.items() if each.outcrop_role.name == "start"]
        for name in starts or [""]:
            kinds = self.parameters[name] if name else []
            for arguments in product(*map(values_of, kinds)):
                state = self._initial()
                yield from self._run(name, arguments, state) if name else [Step("start", (), state)]

    def _initial(self) -> Any:
        made: Any = object.__new__(self._state_class)
        for name, kind in self.fields.items():
            if hasattr(self.cls, name):
                made.__dict__[name] = checked(kind, copy.deepcopy(getattr(self.cls, name)), name)
            elif kind.optional:
                made.__dict__[name] = None
            elif isinstance(kind, SetKind | BagKind):
                made.__dict__[name] = checked(kind, (), name)
        return made

    def successors(self, state: Any) -> Iterator[Step]:
        """Runs every rule with all its arguments and choices; priorities apply."""
        roles = {name: each.outcrop_role for name, each in self.methods.items()}
        rules = [(role.priority, name) for name, role in roles.items() if role.name == "rule"]
        for priority in sorted({number for number, _ in rules}):
            steps = [
                step
                for number, name in rules
                if number == priority
                for arguments in product(*map(values_of, self.parameters[name]))
                for step in self._run(name, arguments, state)
            ]
            yield from steps
            if any(step.state is not None for step in steps):
                return

    def _run(self, name: str, arguments: tuple[Any, ...], state: Any) -> Iterator[Step]:
        """Runs a method once for each row of choices."""
        script: list[int] = []
        while True:
            working = copy.deepcopy(state)
            sizes: list[int] = []
            with _choosing(script, sizes):
                try:
                    self.methods[name](working, *arguments)
                    yield Step(name, arguments, working)
                except NotEnabled:
                    pass
                except _FAULTS as error:
                    yield Step(name, arguments, None, f"{type(error).__name__}: {error}")
            script = script + [0] * (len(sizes) - len(script))
            while script and script[-1] + 1 >= sizes[len(script) - 1]:
                script.pop()
            if not script:
                return
            script[-1] += 1

    def holds(self, name: str, state: Any, arguments: tuple[Any, ...] = ()) -> bool:
        """Evaluates a property."""
        return bool(self.methods[name](copy.deepcopy(state), *arguments))


@contextmanager
def _choosing(script: list[int], sizes: list[int]) -> Iterator[None]:
    """Makes ``choose`` follow a script, 0 after its end, and notes how many possibilities there were."""

    def pick(options: list[Any]) -> Any:
        at = len(sizes)
        sizes.append(len(options))
        return options[script[at] if at < len(script) else 0]

    before = Chooser.pick
    Chooser.pick = staticmethod(pick)
    try:
        yield
    finally:
        Chooser.pick = staticmethod(before)


class _StateMixin:
    """The behaviour of a state when a field is read or assigned."""

    _fields: dict[str, Kind]

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._fields:
            raise ModelFault(f"there is no field {name}")
        self.__dict__[name] = checked(self._fields[name], value, name)

    def __getattribute__(self, name: str) -> Any:
        fields = object.__getattribute__(self, "_fields")
        if name in fields and name not in object.__getattribute__(self, "__dict__"):
            raise ModelFault(f"{name} has no value yet")
        return object.__getattribute__(self, name)

    def __deepcopy__(self, memo: Any) -> Any:
        made = object.__new__(type(self))
        made.__dict__.update((name, copy.deepcopy(value, memo)) for name, value in self.__dict__.items())
        return made

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({shown})"
