"""The options of a check, and the options that change the meaning of a model."""

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
    """The engine that executes a model."""

    AUTO = "auto"  #: the interpreter while C is compiled, then native; without a C compiler the interpreter alone
    NATIVE = "native"  #: emitted C, compiled at run time
    INTERPRETER = "interpreter"  #: slow; needs no compiler, and is the oracle of all tests


class DeviceChoice(StrEnum):
    """The processor that searches."""

    AUTO = "auto"  #: a GPU, if there is one and the model is large enough to gain from it
    CPU = "cpu"
    GPU = "gpu"


class Deadlock(StrEnum):
    """The states that count as deadlocks."""

    STUTTERING = "stuttering"  #: no rule leads to a different state
    STUCK = "stuck"  #: no rule is enabled
    OFF = "off"


class TraceOrder(StrEnum):
    """The trace that is shown, among the shortest ones."""

    LANES = "lanes"  #: the one with the fewest switches between the lanes of its chart
    FOUND = "found"  #: the one that the search found


class Fair(StrEnum):
    """The runs on which formulas are checked."""

    NONE = "none"  #: all runs
    WEAK = "weak"  #: runs in which whatever is enabled at all times from some point on moves infinitely often
    STRONG = "strong"  #: runs in which whatever is enabled infinitely often moves infinitely often


class Reduce(StrEnum):
    """The reduction of the steps that a state takes."""

    OFF = "off"  #: all enabled rule instances
    POR = "por"  #: partial-order reduction: a subset whose order with all others does not matter


class Keep(StrEnum):
    """The contents of the visited set of a search past RAM."""

    STATES = "states"  #: whole states: exact
    SIGNATURES = "signatures"  #: hash values of --bits bits


@dataclass(frozen=True)
class FormulaText:
    """A formula from outside the model, with the expressions of the model's language that it may use by name."""

    name: str
    span: Span
    definitions: dict[str, Span] = field(default_factory=dict)


@dataclass(frozen=True)
class LoadOptions:
    """The options that change the meaning of a model."""

    #: Values given with -D, in the syntax of the model's language.
    constants: dict[str, str] = field(default_factory=dict)
    own: tuple[Any, ...] = ()  #: options of the model's language: instances of the dataclasses that declare them
    formulas: tuple[FormulaText, ...] = ()  #: properties of runs, in addition to those that the model declares
    invariants: tuple[Span, ...] = ()  #: properties of states, in addition to those that the model declares

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


#: Least and greatest values of options.
_BOUNDS: tuple[tuple[str, float, float], ...] = (
    *((name, 1, math.inf) for name in ("threads", "ranks", "memory", "states", "max_errors", "disk", "state_memory")),
    ("device_memory", 1, math.inf),
    *((name, 0, math.inf) for name in ("depth", "checkpoint_every")),
    ("bits", 4, 64),
)


def is_remote(place: str | None) -> bool:
    """Returns whether the place of a checkpoint is a URL, such as ``s3://bucket/ring``."""
    return place is not None and "://" in place


@dataclass(frozen=True, init=False)
class CheckOptions:
    """The options of a search. None means no limit, or the default that the comment of the field names.

    Options of single strategies (outcrop/strategies.py) are keywords too, and are stored in ``own``:

    >>> from outcrop.strategies import CachedOptions
    >>> CheckOptions(strategy="cached", chain=8).of(CachedOptions).chain
    8
    """

    engine: Engine = Engine.AUTO
    strategy: str = "auto"
    device: DeviceChoice = DeviceChoice.AUTO
    device_memory: int | None = None  #: bytes of GPU memory; default: nearly all that is free
    symmetry: bool = True
    reduce: Reduce = Reduce.OFF
    fair: Fair = Fair.NONE
    properties: tuple[str, ...] = ()  #: names or numbers of the formulas to check; empty: all of them
    deadlock: Deadlock = Deadlock.STUTTERING
    threads: int | None = None  #: default: all cores that the container may use
    ranks: int | None = None  #: number of processes of which this one is a rank; None: a single process
    owners: str = "auto"  #: partition of the states among ranks: "hash", masks in hexadecimal, or "auto"
    memory: int | None = None  #: bytes of peak RSS; default: 75% of what the container may use
    state_memory: int | None = None  #: bytes for tables, caches and queues in RAM, which grow with the states
    disk: int | None = None  #: bytes of files in the work directory
    depth: int | None = None  #: levels past the start states
    states: int | None = None
    time_limit: float | None = None  #: seconds
    max_errors: int | None = 1  #: stop after this many violations; None searches all states
    bits: int | None = None  #: width of signatures; default: 40 in RAM, 64 on disk, 32 with ``compact``
    seed: int = 0  #: seed of the signature hash and of all random choices
    coverage: bool = False  #: also count how often each rule is enabled and leads to new states
    prints: bool = False  #: show the output of ``put`` statements during the search
    keep_c: str | None = None  #: directory for the generated C
    workdir: str | None = None  #: directory for states that do not fit into memory; default: next to the cache
    checkpoint: str | None = None  #: directory or URL for checkpoints; default: that of ``resume``
    checkpoint_every: float = 600.0  #: seconds
    resume: str | None = None  #: directory or URL of the checkpoint to resume
    keep_states: str | None = None  #: directory in which the visited states stay after the search
    keep: Keep | None = None  #: default: states with ``cached``, signatures on disk
    trace_order: TraceOrder = TraceOrder.LANES
    own: dict[str, Any] = field(default_factory=dict)  #: options of single strategies, by name

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
        """Returns all options by name, including those of single strategies."""
        common = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "own"}
        return common | self.own

    def with_own(self, **changes: Any) -> CheckOptions:
        """Returns a copy in which some options of single strategies are changed."""
        return replace(self, own={**self.own, **changes})

    def of(self, kind: type[_Own]) -> _Own:
        """Returns the options of one strategy, as an object of its dataclass."""
        return kind(**{each.name: self.own[each.name] for each in fields(kind) if each.name in self.own})  # type: ignore[arg-type]

    def _validate(self) -> None:
        for name, least, most in _BOUNDS:
            require_within(name, getattr(self, name), least, most)
        for name, value in self.own.items():
            require_bounds(OWN_OPTIONS[name], value)
        if "" in (self.checkpoint, self.resume, self.keep_states, self.workdir):
            raise UsageError("the name of a directory is empty; use . for the current directory")
        layers = self.own.get("layers", "all")
        if not (layers in ("all", "auto") or (isinstance(layers, int) and layers >= 1)):
            raise UsageError(f"layers must be a positive number, all or auto, not {layers}")

    def after(self, seconds: float) -> CheckOptions:
        """Returns the options for a search that follows others, which have taken ``seconds``.

        >>> CheckOptions(time_limit=5.0).after(2.0).time_limit
        3.0
        """
        return self if self.time_limit is None else replace(self, time_limit=max(0.0, self.time_limit - seconds))


def given_options(load: LoadOptions, check: CheckOptions) -> dict[str, Any]:
    """Returns the options that differ from their defaults, by name, ready for JSON.

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
