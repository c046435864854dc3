"""Breadth-first search with the interpreter: the oracle for every other search.

Exact. Each level is completed before the next one, so that counts do not depend on the order within a level. Every
state is a Python tuple: some kilobytes per state, tens of thousands of rule evaluations per second.

The states of a level are expanded in the order of their packed bytes, and each records its first predecessor. That is
the least predecessor in the previous level, so that all engines agree on the path to a state.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from outcrop.explorer.samples import Samples
from outcrop.interrupts import causes
from outcrop.ir.interpreter import Failure, Interpreter
from outcrop.ir.layout import Layout, State
from outcrop.ir.system import PropertyKind, System
from outcrop.machine import resident_bytes
from outcrop.options import CheckOptions, Deadlock
from outcrop.outcome import Event, EventKind, Finding, FindingKind, Outcome, Progress, Stop, are_enough, most_found
from outcrop.reduction.interpreted import ReducedMoves
from outcrop.reduction.stubborn import Reduction

#: Seconds between two calls of the progress callback.
_SECONDS_BETWEEN_REPORTS = 0.05

_KIND_ORDER = {kind: position for position, kind in enumerate(FindingKind)}


def search(
    system: System,
    options: CheckOptions,
    progress: Callable[[Progress], None] | None = None,
    output: Callable[[str], object] | None = None,
    reduction: Reduction | None = None,
) -> Outcome:
    """Searches the reachable states. ``output`` receives the output of ``put`` statements."""
    return ReferenceSearch(system, options, progress or (lambda snapshot: None), output, reduction).run()


class _TimeIsUp(Exception):
    pass


class ReferenceSearch:
    def __init__(
        self,
        system: System,
        options: CheckOptions,
        progress: Callable[[Progress], None],
        output: Callable[[str], object] | None,
        reduction: Reduction | None,
    ) -> None:
        self.options = options
        self.progress = progress
        self.interpreter = Interpreter(system, options.symmetry and system.allows_symmetry, output)
        self.reduced = None if reduction is None else ReducedMoves(self.interpreter, reduction)
        self.interpreter.selection = self.reduced
        self.layout = Layout(system)
        self.rule_numbers: dict[object, int] = {rule: number for number, rule in enumerate(system.rules)}
        self.is_product = system.product is not None  # in a product, deadlocks stutter
        self.has_liveness = bool(system.of_kind(PropertyKind.LIVENESS))
        self.keeps_predecessors = self.has_liveness or self.is_product
        #: Each visited state, in order of discovery, with its first predecessor.
        self.parents: dict[State, State | None] = {}
        self.predecessors: dict[State, list[State]] = {}
        self.lassos: list[Finding] = []
        self.levels: list[list[State]] = []
        # One more than the number of rules: the last entry counts steps of the automaton alone.
        self.fired, self.enabled, self.deeper = ([0] * (len(system.rules) + 1) for _ in range(3))
        self.generated: list[int] = []  #: per level, the number of successors among which it was found
        self.newest: set[State] = set()  #: the latest level
        self.samples = Samples()
        self.found: dict[tuple[FindingKind, State | None, int | None], None] = {}
        self.started = time.monotonic()
        self.next_report = self.started + _SECONDS_BETWEEN_REPORTS

    # --- The search --------------------------------------------------------------------------------------------

    def run(self) -> Outcome:
        self.samples.take(self._snapshot())
        try:
            stop = self._explore()
            if stop is Stop.COMPLETE and not self.found and self.has_liveness:
                self._check_liveness()
            if stop is Stop.COMPLETE and not self.found:
                self.check_cycles()
        except KeyboardInterrupt:
            stop = Stop.INTERRUPTED
        except _TimeIsUp:
            stop = Stop.TIME
        if stop is Stop.COMPLETE and self._has_enough_findings():
            stop = Stop.VIOLATION
        self._report_progress()
        self.samples.take(self._snapshot())
        return Outcome(
            stop=stop,
            levels=[len(level) for level in self.levels if level],
            fired=self.fired[:-1],
            covered=[*self.interpreter.covered, *(() if self.reduced is None else self.reduced.counters)],
            noted=sorted(self.interpreter.noted),
            findings=self._findings(),
            seconds=time.monotonic() - self.started,
            generated=list(self.generated),
            enabled=self.enabled[:-1],
            deeper=self.deeper[:-1],
            samples=self.samples.columns(),
            events=[Event(EventKind.INTERRUPTED, each) for each in causes()] if stop is Stop.INTERRUPTED else [],
        )

    def _explore(self) -> Stop:
        self._begin_level()
        self._start()
        while self.levels[-1]:
            if self._has_enough_findings():
                return Stop.VIOLATION
            if self.options.depth is not None and len(self.levels) > self.options.depth:
                return Stop.DEPTH
            if self.options.states is not None and len(self.parents) >= self.options.states:
                return Stop.STATES
            level = sorted(self.levels[-1], key=self.layout.pack)
            self._begin_level()
            for state in level:
                self._expand(state)
            self._report_progress()
        return Stop.COMPLETE

    def _begin_level(self) -> None:
        self.levels.append([])
        self.generated.append(0)
        self.newest = set()

    def _start(self) -> None:
        for firing in self.interpreter.start_states():
            if firing.fault is not None:
                self._find(FindingKind.START, None)
            elif firing.successor is not None:
                self._insert(firing.successor, None)

    def _expand(self, state: State) -> None:
        limit, now = self.options.time_limit, time.monotonic()
        if limit is not None and now - self.started >= limit:
            raise _TimeIsUp
        if now >= self.next_report:
            self._report_progress()
            self.next_report = now + _SECONDS_BETWEEN_REPORTS
        is_enabled = is_moving = has_failed = False
        for firing in self.interpreter.successors(state):
            rule = self.rule_numbers.get(firing.origin, -1)
            self.enabled[rule] += firing.is_enabled
            if firing.fault is not None:
                has_failed = True
            if firing.successor is not None:
                is_enabled = True
                is_moving = is_moving or firing.raw != state
                self.fired[rule] += 1
                self._insert(firing.successor, state)
                self.deeper[rule] += firing.successor in self.newest
        if has_failed:
            self._find(FindingKind.RULE, state)
        elif not self.is_product and self._is_deadlock(state, is_enabled, is_moving):
            self._find(FindingKind.DEADLOCK, state)

    def _is_deadlock(self, state: State, is_enabled: bool, is_moving: bool) -> bool:
        return is_deadlock(self.options.deadlock, is_enabled, is_moving) and not self.interpreter.may_end(state)

    def _insert(self, state: State, parent: State | None) -> None:
        if state not in self.parents:
            check = self.interpreter.check(state)
            if not check.is_kept:
                return
            self.parents[state] = parent
            self.levels[-1].append(state)
            self.newest.add(state)
            if check.failure is not None:
                self._find(FindingKind.STATE, state)
        self.generated[-1] += 1
        if self.keeps_predecessors and parent is not None:
            self.predecessors.setdefault(state, []).append(parent)

    # --- Liveness: AG EF, backwards from the states that satisfy it --------- -------------------------------------

    def _check_liveness(self) -> None:
        satisfied: dict[State, list[bool]] = {}
        for state in self.parents:
            truths = self.interpreter.liveness(state)
            if isinstance(truths, Failure):
                self._find(FindingKind.STATE, state)
            else:
                satisfied[state] = truths
        if self.found:
            return
        for number in range(len(next(iter(satisfied.values()), []))):
            reaching = self._backward_closure([state for state, truths in satisfied.items() if truths[number]])
            for level in self.levels:
                stuck = [state for state in level if state not in reaching]
                if stuck:
                    self._find(FindingKind.LIVENESS, min(stuck, key=self.layout.pack), number)
                    break

    def _backward_closure(self, states: list[State]) -> set[State]:
        closure, pending = set(states), list(states)
        while pending:
            for predecessor in self.predecessors.get(pending.pop(), ()):
                if predecessor not in closure:
                    closure.add(predecessor)
                    pending.append(predecessor)
        return closure

    def check_cycles(self) -> None:
        """Searches for accepting cycles of a product; see cycles.py."""

    # --- Findings and progress ---------------------------------------------------------------------------------

    def _find(self, kind: FindingKind, state: State | None, liveness: int | None = None) -> None:
        self.found[kind, state, liveness] = None

    def _has_enough_findings(self) -> bool:
        return are_enough(len(self.found) + len(self.lassos), self.options)

    def _findings(self) -> list[Finding]:
        findings = [Finding(kind, self.path(state), liveness) for kind, state, liveness in self.found]
        findings.sort(key=lambda each: (len(each.path), _KIND_ORDER[each.kind], each.path[-1:], each.liveness or 0))
        return [*findings, *self.lassos][: most_found(self.options)]

    def path(self, state: State | None) -> tuple[bytes, ...]:
        path: list[bytes] = []
        while state is not None:
            path.append(self.layout.pack(state))
            state = self.parents[state]
        return tuple(reversed(path))

    def _report_progress(self) -> None:
        snapshot = self._snapshot()
        if self.samples.is_due(snapshot.seconds):
            self.samples.take(snapshot)
        self.progress(snapshot)

    def _snapshot(self) -> Progress:
        return Progress(
            level=max(0, len(self.levels) - 1),
            states=len(self.parents),
            rules_fired=sum(self.fired[:-1]),
            frontier=len(self.levels[-1]) if self.levels else 0,
            seconds=time.monotonic() - self.started,
            generated=sum(self.generated),
            memory=resident_bytes(),
        )


def is_deadlock(definition: Deadlock, is_enabled: bool, is_moving: bool) -> bool:
    """Returns whether a state is a deadlock. ``is_enabled``: some rule ran to its end; ``is_moving``: one changed
    it."""
    if definition is Deadlock.OFF:
        return False
    return not (is_moving if definition is Deadlock.STUTTERING else is_enabled)
