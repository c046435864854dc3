"""The options of a validation."""

from __future__ import annotations

from dataclasses import dataclass, field

from outcrop.errors import UsageError
from outcrop.validate.mapping import EventMapping


@dataclass(frozen=True)
class ValidateOptions:
    """The meaning of lines, and the limits. None means no limit."""

    gap: int = 0  #: largest number of unlogged steps before a line
    internal: tuple[str, ...] = ()  #: rules that may fire unlogged; all if empty
    stutter: bool = False  #: whether a line without a rule may show the state of the line before
    clock: str | None = None  #: field by which logs are merged
    mapping: EventMapping = field(default_factory=EventMapping)
    width: int = 100_000  #: largest number of states that may agree with a line
    state_coverage: bool = False  #: whether to count the reachable states that no log shows
    time_limit: float | None = None  #: seconds

    def __post_init__(self) -> None:
        if self.gap < 0 or self.width < 1:
            raise UsageError("the gap must be at least 0, and the width at least 1")
