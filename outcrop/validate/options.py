"""The options of a validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from outcrop.errors import UsageError
from outcrop.validate.mapping import EventMapping


class Start(StrEnum):
    """The states that a log may begin with."""

    INITIAL = "initial"  #: the start states of the model
    REACHABLE = "reachable"  #: all reachable states
    ANY = "any"  #: all states that agree with the first line


@dataclass(frozen=True)
class ValidateOptions:
    """The meaning of lines, and the limits. None means no limit."""

    gap: int = 0  #: largest number of unlogged steps before a line
    internal: tuple[str, ...] = ()  #: rules that may fire unlogged; all if empty
    stutter: bool = False  #: whether a line without a rule may show the state of the line before
    start: Start = Start.INITIAL
    clock: str | None = None  #: field of the clock by which logs are merged
    real_time: str | None = None  #: field of the time by which logs are merged
    skew: float = 0.0  #: largest difference between the clocks of writers, in seconds
    mapping: EventMapping = field(default_factory=EventMapping)
    width: int = 100_000  #: largest number of states that may agree with a line
    state_coverage: bool = False  #: whether to count the reachable states that no log shows
    time_limit: float | None = None  #: seconds

    @property
    def merges(self) -> bool:
        """Whether all logs together are one run."""
        return self.clock is not None or self.real_time is not None

    def __post_init__(self) -> None:
        if self.gap < 0 or self.width < 1:
            raise UsageError("the gap must be at least 0, and the width at least 1")
        if self.skew and self.real_time is None:
            raise UsageError("--skew is about the times that --real-time names; add that option, or leave out --skew")
