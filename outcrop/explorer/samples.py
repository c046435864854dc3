"""What a search took of the machine over time: a bounded number of snapshots, whatever it takes.

When there are too many, every other one is dropped and the next ones are taken half as often. So the samples of a run
are spread evenly over it, and are between half of the bound and all of it once it has run for some seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from outcrop.outcome import Progress

#: So many are kept, the first and the last included.
MOST_SAMPLES = 240
_SECONDS_BETWEEN = 0.05


@dataclass
class Samples:
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
        """For the JSON document: one row of numbers for each thing that was measured."""
        return {
            "seconds": [round(each.seconds, 3) for each in self.taken],
            "level": [each.level for each in self.taken],
            "states": [each.states for each in self.taken],
            "rss_bytes": [each.memory for each in self.taken],
            "disk_bytes": [each.disk for each in self.taken],
        }
