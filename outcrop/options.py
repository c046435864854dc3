"""What the user can choose, and the units in which it is written ("8G", "30m")."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

from outcrop.errors import UsageError


class Engine(StrEnum):
    NATIVE = "native"
    INTERPRETER = "interpreter"


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


@dataclass(frozen=True)
class LoadOptions:
    """What changes the meaning of a model."""

    constants: dict[str, str] = field(default_factory=dict)  #: -D: name to text, read as the model's language has it
    undefined: UndefinedReads = UndefinedReads.PERMIT
    while_limit: int | None = 1_000_000
    overflow: Overflow = Overflow.ERROR


@dataclass(frozen=True)
class CheckOptions:
    """How to search. None means no limit, or the default that the field's comment names."""

    engine: Engine = Engine.NATIVE
    strategy: str = "ram"
    symmetry: bool = True
    deadlock: Deadlock = Deadlock.STUTTERING
    threads: int | None = None  #: all cores that the container may use
    memory: int | None = None  #: bytes of peak RSS; 75% of what the container may use
    state_memory: int | None = None  #: bytes of what grows with the states: tables, caches, queues in RAM
    disk: int | None = None  #: bytes of files in the work directory
    depth: int | None = None  #: levels past the start states
    states: int | None = None
    time_limit: float | None = None  #: seconds
    max_errors: int | None = 1  #: stop after so many violations; None goes on to the end
    bits: int = 40  #: signature bits of ``compact``
    seed: int = 0  #: of the signature hash
    keep_c: str | None = None  #: a directory to leave the generated C in
    workdir: str | None = None

    def __post_init__(self) -> None:
        for name, least in (
            ("threads", 1),
            ("memory", 1),
            ("state_memory", 1),
            ("disk", 1),
            ("depth", 0),
            ("states", 1),
            ("max_errors", 1),
        ):
            value = getattr(self, name)
            if value is not None and value < least:
                raise UsageError(f"{name.replace('_', ' ')} must be at least {least}, not {value}")
        if not 8 <= self.bits <= 64:
            raise UsageError(f"bits must be from 8 to 64, not {self.bits}")


_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d)?", re.IGNORECASE)


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
