"""What the user can choose, and the units in which it is written ("8G", "30m")."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from enum import StrEnum

from outcrop.errors import UsageError
from outcrop.source import Span


class Engine(StrEnum):
    NATIVE = "native"
    INTERPRETER = "interpreter"


class Where(StrEnum):
    """What searches."""

    AUTO = "auto"  #: a GPU, if there is one and the model is worth it
    CPU = "cpu"
    GPU = "gpu"


class Deadlock(StrEnum):
    """When a state counts as a deadlock."""

    STUTTERING = "stuttering"  #: no rule leads to a different state
    STUCK = "stuck"  #: no rule is enabled
    OFF = "off"


class UndefinedReads(StrEnum):
    """What copying an undefined simple value, or comparing an undefined scalarset or union, means."""

    PERMIT = "permit"  #: as in CMurphi: it goes through, with a note
    ERROR = "error"  #: as in rumur: a runtime error


class Overflow(StrEnum):
    """What storing a value outside the range of a DVE variable means."""

    ERROR = "error"  #: a runtime error
    WRAP = "wrap"  #: it is reduced modulo the number of values, as in C


class Fair(StrEnum):
    """Which runs a formula must be true of."""

    NONE = "none"  #: all
    WEAK = "weak"  #: those in which whoever can move without a break moves again and again
    STRONG = "strong"  #: those in which whoever can move again and again does so; not supported


class Keep(StrEnum):
    """What a search past RAM keeps of each visited state."""

    STATES = "states"  #: all of it: exact
    SIGNATURES = "signatures"  #: a hash of --bits bits


class Replacement(StrEnum):
    """What a full cache overwrites."""

    IDLE = "idle"  #: at random, something that was not met lately
    RANDOM = "random"  #: anything, as published


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
    undefined: UndefinedReads = UndefinedReads.PERMIT
    while_limit: int | None = 1_000_000
    overflow: Overflow = Overflow.ERROR
    formulas: tuple[FormulaText, ...] = ()  #: properties of runs beside those that the model declares
    invariants: tuple[Span, ...] = ()  #: ... and of states


#: The least and the greatest value of options.
_BOUNDS: tuple[tuple[str, float, float], ...] = (
    *((name, 1, math.inf) for name in ("threads", "ranks", "memory", "states", "max_errors", "disk", "state_memory")),
    ("device_memory", 1, math.inf),
    *((name, 1, math.inf) for name in ("blocks", "block_size", "calibration", "block_states")),
    *((name, 0, math.inf) for name in ("depth", "speedup", "reset_after", "checkpoint_every")),
    *((name, 0, 1) for name in ("collision_limit", "threshold", "slowdown", "cloud", "beta_high", "beta_low")),
    *((name, 0, 1) for name in ("reset_above", "reset_chance")),
    ("bits", 4, 64),
    ("chain", 2, 64),
)


@dataclass(frozen=True)
class CheckOptions:
    """How to search. None means no limit, or the default that the field's comment names."""

    engine: Engine = Engine.NATIVE
    strategy: str = "auto"
    device: Where = Where.AUTO
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
    squeeze: bool = True  #: ``auto`` and ``layered`` drop bits that never change when memory ends
    disk: int | None = None  #: bytes of files in the work directory
    depth: int | None = None  #: levels past the start states
    states: int | None = None
    time_limit: float | None = None  #: seconds
    max_errors: int | None = 1  #: stop after so many violations; None goes on to the end
    bits: int | None = None  #: of signatures; 40 in RAM, 64 on disk, 32 with ``compact``
    compact: bool = False  #: ``owcty`` keeps signatures instead of states
    seed: int = 0  #: of the signature hash, and of all that is random
    coverage: bool = False  #: count also how often each rule is enabled and leads to new states
    keep_c: str | None = None  #: a directory to leave the generated C in
    workdir: str | None = None  #: next to the cache
    checkpoint: str | None = None  #: a directory to save the search in; with ``resume``, that one
    checkpoint_every: float = 600.0  #: seconds
    resume: str | None = None  #: a directory with a checkpoint to go on from
    keep: Keep | None = None  #: states with ``cached``, signatures on disk
    layers: int | str = "all"  #: how many ``layered`` keeps as they are; or "all", or "auto"
    forget: bool = False  #: ``layered`` deletes older layers

    # The constants of the papers, where these give them.
    replacement: Replacement = Replacement.RANDOM
    chain: int = 16  #: entries of the cache among which a state may go
    collision_limit: float = 0.9  #: past which ``cached`` gives up
    threshold: float = 0.1  #: collision rate at which ``serial`` goes to disk
    blocks: int = 100  #: N: of file D
    block_size: int = 10_000  #: B: keys in a block of D, at the least
    calibration: int = 10  #: checks from one calibration to the next
    speedup: float = 0.15  #: growth of a disk cloud that misses too much
    slowdown: float = 0.15  #: shrinking of one that misses little
    cloud: float = 1.0  #: the part of D that the first cloud is
    curve: tuple[tuple[float, float], tuple[float, float]] = ((0.4, 0.4), (0.7, 0.6))  #: (a1, b1), (a2, b2)
    beta_high: float = 0.03  #: the part of old states that a cloud may miss before it grows
    beta_low: float = 0.01  #: ... and below which it shrinks
    reset_above: float = 0.9  #: a cloud larger than this, for more than
    reset_after: int = 5  #: ... so many calibrations, is reset to its first size
    reset_chance: float = 0.5  #: ... with this probability
    block_states: int | None = None  #: expanded at a time; None is as many as is fast

    def __post_init__(self) -> None:
        for name, least, most in _BOUNDS:
            value = getattr(self, name)
            if value is None or least <= value <= most:
                continue
            wanted = f"at least {least}" if most == math.inf else f"from {least} to {most}"
            raise UsageError(f"{name.replace('_', ' ')} must be {wanted}, not {value}")
        if "" in (self.checkpoint, self.resume, self.workdir):
            raise UsageError("a directory must have a name: use . for this one")
        if not (self.layers in ("all", "auto") or (isinstance(self.layers, int) and self.layers >= 1)):
            raise UsageError(f"layers must be a number from 1 on, all or auto, not {self.layers}")

    def after(self, seconds: float) -> CheckOptions:
        """For a search that follows others, which have taken so long.

        >>> CheckOptions(time_limit=5.0).after(2.0).time_limit
        3.0
        """
        return self if self.time_limit is None else replace(self, time_limit=max(0.0, self.time_limit - seconds))


_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d)?", re.IGNORECASE)


def parse_layers(text: str) -> int | str:
    """A number, or a word.

    >>> parse_layers("10"), parse_layers("auto")
    (10, 'auto')
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text


def parse_size(text: str) -> int:
    """Bytes, in units of 1024.

    >>> parse_size("8G") == 8 * 2**30
    True
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"'{text}' is not a size; write it like 500M or 8G")
    exponent = " KMGT".index(match[2].upper() or " ")
    return int(float(match[1]) * 1024**exponent)


def parse_duration(text: str) -> float:
    """Seconds.

    >>> parse_duration("1.5h")
    5400.0
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"'{text}' is not a duration; write it like 90s, 30m or 2h")
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[(match[2] or "s").lower()]
