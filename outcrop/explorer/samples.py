"""Samples of the resources of a search over time, in a bounded number.

When there are too many, every other one is dropped and the interval doubles. The samples are therefore spread evenly.
After a few seconds their number stays between half of the bound and the bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from outcrop.outcome import Progress

#: Largest number of samples kept, including the first and the last.
MOST_SAMPLES = 240
#: First interval between samples, in seconds.
_SECONDS_BETWEEN = 0.05


@dataclass
class Samples:
    """The samples of one search. The interval between them grows."""

    taken: list[Progress] = field(default_factory=list)
    _interval: float = _SECONDS_BETWEEN

    def is_due(self, seconds: float) -> bool:
        return not self.taken or seconds - self.taken[-1].seconds >= self._interval

    def take(self, snapshot: Progress) -> None:
        if len(self.taken) >= MOST_SAMPLES:
            del self.taken[1::2]
            self._interval *= 2
        self.taken.append(snapshot)

    def columns(self) -> dict[str, list[float]]:
        """Returns the samples for the JSON document: a list of numbers for each quantity."""
        return {
            "seconds": [round(each.seconds, 3) for each in self.taken],
            "level": [each.level for each in self.taken],
            "states": [each.states for each in self.taken],
            "rss_bytes": [each.memory for each in self.taken],
            "disk_bytes": [each.disk for each in self.taken],
        }
