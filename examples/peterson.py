"""Peterson's mutual exclusion for two processes: the twin of peterson.m.

A process that wants to enter its critical section raises its flag, steps back in favour of the other, and waits until
the other has lowered its flag or has stepped back later. The processes are interchangeable, so that half of the states
need not be visited.
"""

from enum import Enum

from outcrop.model import Model, Symmetric, invariant, liveness, rule, when


class Process(Symmetric, size=2): ...


class Location(Enum):
    IDLE = 0
    RAISED = 1
    WAITING = 2
    CRITICAL = 3


class Peterson(Model):
    location: dict[Process, Location] = dict.fromkeys(Process, Location.IDLE)
    flag: dict[Process, bool] = dict.fromkeys(Process, False)
    last: Process | None = None  # the one that stepped back last

    @rule
    def raise_flag(self, p: Process) -> None:
        when(self.location[p] is Location.IDLE)
        self.flag[p] = True
        self.location[p] = Location.RAISED

    @rule
    def step_back(self, p: Process) -> None:
        when(self.location[p] is Location.RAISED)
        self.last = p
        self.location[p] = Location.WAITING

    @rule
    def enter(self, p: Process) -> None:
        when(self.location[p] is Location.WAITING)
        when(self.last != p or not any(self.flag[q] for q in Process if q != p))
        self.location[p] = Location.CRITICAL

    @rule
    def leave(self, p: Process) -> None:
        when(self.location[p] is Location.CRITICAL)
        self.flag[p] = False
        self.location[p] = Location.IDLE

    @invariant
    def mutual_exclusion(self) -> bool:
        return sum(self.location[p] is Location.CRITICAL for p in Process) <= 1

    @liveness
    def somebody_can_always_get_in(self) -> bool:
        return any(self.location[p] is Location.CRITICAL for p in Process)
