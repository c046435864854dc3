"""What the user can choose."""

from __future__ import annotations

import math
from dataclasses import MISSING, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, TypeVar

from outcrop.declared import require_bounds, require_within
from outcrop.errors import UsageError
from outcrop.source import Span
from outcrop.strategies import OWN_OPTIONS

_Own = TypeVar("_Own")


class Engine(StrEnum):
    NATIVE = "native"
    INTERPRETER = "interpreter"


class DeviceChoice(StrEnum):
    """What searches."""

    AUTO = "auto"  #: a GPU, if there is one and the model is worth it
    CPU = "cpu"
    GPU = "gpu"


class Deadlock(StrEnum):
    """When a state counts as a deadlock."""

    STUTTERING = "stuttering"  #: no rule leads to a different state
    STUCK = "stuck"  #: no rule is enabled
    OFF = "off"


class Fair(StrEnum):
    """Which runs a formula must be true of."""

    NONE = "none"  #: all
    WEAK = "weak"  #: those in which whoever can move without a break moves again and again
    STRONG = "strong"  #: those in which whoever can move again and again does so


class Keep(StrEnum):
    """What a search past RAM keeps of each visited state."""

    STATES = "states"  #: all of it: exact
    SIGNATURES = "signatures"  #: a hash of --bits bits


@dataclass(frozen=True)
class FormulaText:
    """A formula that does not stand in the model, and expressions of the model's language that it may use by name."""

    name: str
    span: Span
    definitions: dict[str, Span] = field(default_factory=dict)


@dataclass(frozen=True)
class LoadOptions:
    """What changes the meaning of a model."""

    constants: dict[str, str] = field(default_factory=dict)  #: -D: name to text, read as the model's language has it
    own: tuple[Any, ...] = ()  #: options of the model's language: instances of the dataclasses that declare them
    formulas: tuple[FormulaText, ...] = ()  #: properties of runs beside those that the model declares
    invariants: tuple[Span, ...] = ()  #: ... and of states

    def of(self, kind: type[_Own]) -> _Own:
        """Returns the options that the language declares in ``kind``: the given ones, or else their defaults."""
        return next((each for each in self.own if isinstance(each, kind)), None) or kind()

    def language_options(self) -> dict[str, tuple[Any, Any]]:
        """Returns the options of the model's language by name, each with its value and its default."""
        return {
            declared.name: (getattr(each, declared.name), declared.default)
            for each in self.own
            for declared in fields(each)
        }


#: The least and the greatest value of options.
_BOUNDS: tuple[tuple[str, float, float], ...] = (
    *((name, 1, math.inf) for name in ("threads", "ranks", "memory", "states", "max_errors", "disk", "state_memory")),
    ("device_memory", 1, math.inf),
    *((name, 0, math.inf) for name in ("depth", "checkpoint_every")),
    ("bits", 4, 64),
)


@dataclass(frozen=True, init=False)
class CheckOptions:
    """How to search. None means no limit, or the default that the field's comment names.

    Options that strategies have of their own (outcrop/strategies.py) are keywords too, and kept in ``own``:

    >>> from outcrop.strategies import CachedOptions
    >>> CheckOptions(strategy="cached", chain=8).of(CachedOptions).chain
    8
    """

    engine: Engine = Engine.NATIVE
    strategy: str = "auto"
    device: DeviceChoice = DeviceChoice.AUTO
    device_memory: int | None = None  #: bytes of a GPU's memory; nearly all that is free
    symmetry: bool = True
    fair: Fair = Fair.NONE
    properties: tuple[str, ...] = ()  #: names or numbers of the formulas to check; none: all of them
    deadlock: Deadlock = Deadlock.STUTTERING
    threads: int | None = None  #: all cores that the container may use
    ranks: int | None = None  #: processes that search together, of which this is one; None is alone
    owners: str = "auto"  #: by what states find theirs among these: "hash", masks in hexadecimal, or what is better
    memory: int | None = None  #: bytes of peak RSS; 75% of what the container may use
    state_memory: int | None = None  #: bytes of what grows with the states: tables, caches, queues in RAM
    disk: int | None = None  #: bytes of files in the work directory
    depth: int | None = None  #: levels past the start states
    states: int | None = None
    time_limit: float | None = None  #: seconds
    max_errors: int | None = 1  #: stop after so many violations; None goes on to the end
    bits: int | None = None  #: of signatures; 40 in RAM, 64 on disk, 32 with ``compact``
    seed: int = 0  #: of the signature hash, and of all that is random
    coverage: bool = False  #: count also how often each rule is enabled and leads to new states
    prints: bool = False  #: what ``put`` statements print during the search is shown
    keep_c: str | None = None  #: a directory to leave the generated C in
    workdir: str | None = None  #: next to the cache
    checkpoint: str | None = None  #: a directory to save the search in; with ``resume``, that one
    checkpoint_every: float = 600.0  #: seconds
    resume: str | None = None  #: a directory with a checkpoint to go on from
    keep: Keep | None = None  #: states with ``cached``, signatures on disk
    own: dict[str, Any] = field(default_factory=dict)  #: options that strategies have of their own, by name

    def __init__(self, **given: Any) -> None:
        own = {**given.pop("own", {}), **{name: given.pop(name) for name in OWN_OPTIONS if name in given}}
        given["own"] = {name: value for name, value in own.items() if value != OWN_OPTIONS[name].default}
        for each in fields(self):
            default = each.default if each.default_factory is MISSING else each.default_factory()
            object.__setattr__(self, each.name, given.pop(each.name, default))
        if given:
            raise TypeError(f"CheckOptions has no field {', '.join(given)}")
        self._validate()

    def flat(self) -> dict[str, Any]:
        """Returns all options by name, those of strategies among them."""
        common = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "own"}
        return common | self.own

    def with_own(self, **changes: Any) -> CheckOptions:
        """Returns the same options but for some that strategies have of their own."""
        return replace(self, own={**self.own, **changes})

    def of(self, kind: type[_Own]) -> _Own:
        """Returns the options that a strategy has of its own."""
        return kind(**{each.name: self.own[each.name] for each in fields(kind) if each.name in self.own})  # type: ignore[arg-type]

    def _validate(self) -> None:
        for name, least, most in _BOUNDS:
            require_within(name, getattr(self, name), least, most)
        for name, value in self.own.items():
            require_bounds(OWN_OPTIONS[name], value)
        if "" in (self.checkpoint, self.resume, self.workdir):
            raise UsageError("a directory must have a name: use . for this one")
        layers = self.own.get("layers", "all")
        if not (layers in ("all", "auto") or (isinstance(layers, int) and layers >= 1)):
            raise UsageError(f"layers must be a number from 1 on, all or auto, not {layers}")

    def after(self, seconds: float) -> CheckOptions:
        """For a search that follows others, which have taken so long.

        >>> CheckOptions(time_limit=5.0).after(2.0).time_limit
        3.0
        """
        return self if self.time_limit is None else replace(self, time_limit=max(0.0, self.time_limit - seconds))


def given_options(load: LoadOptions, check: CheckOptions) -> dict[str, Any]:
    """The options that are not the default, by name, ready for JSON.

    >>> given_options(LoadOptions({"N": "3"}), CheckOptions(memory=1024, deadlock=Deadlock.OFF))
    {'constants': {'N': '3'}, 'deadlock': 'off', 'memory': 1024}
    """
    given: dict[str, Any] = {"constants": load.constants} if load.constants else {}
    given |= {name: value for name, (value, default) in load.language_options().items() if value != default}
    given["invariants"] = [each.text for each in load.invariants]
    given["ltl"] = [each.span.text for each in load.formulas if each.span.source.name == "--ltl"]
    given["ltl_file"] = next((name for each in load.formulas if (name := each.span.source.name) != "--ltl"), None)
    given = {name: value for name, value in given.items() if value or name not in ("invariants", "ltl", "ltl_file")}
    default = CheckOptions().flat()
    for name, value in check.flat().items():
        if value != default.get(name, None) or name in check.own:
            given[name] = list(value) if isinstance(value, tuple) else value
    return {name: str(value) if isinstance(value, StrEnum) else value for name, value in given.items()}
