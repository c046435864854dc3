"""The replay of findings: it turns each into a violation with a trace of real states.

The interpreter follows the path, so that every trace is confirmed before it is shown. Under symmetry a path consists of
orbit representatives, which need not be successors of one another. The replay goes from a real state to a real
successor whose representative is the next one in the path, and so produces a trace of the model as it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from outcrop.errors import InternalError
from outcrop.ir.automaton import Automaton
from outcrop.ir.faults import Fault, FaultKind
from outcrop.ir.interpreter import Failure, Firing, Interpreter
from outcrop.ir.layout import Layout, State
from outcrop.ir.symmetry import Normaliser
from outcrop.ir.system import PropertyKind, Rule, StatementLine, System
from outcrop.options import CheckOptions, Deadlock
from outcrop.outcome import Finding, FindingKind
from outcrop.result import Argument, Message, Step, Trace, Violation, ViolationKind, fault_of
from outcrop.source import Span
from outcrop.trace.explain import because
from outcrop.trace.processes import processes_in, waiting

#: Calls around an error that are listed; a recursion may have a thousand.
_MOST_CALLS = 20

_INVALID_END = "if a run may end there, put a label that begins with 'end' before the statement, or use --deadlock off"
_FAULTS = {FaultKind.ASSERTION: ViolationKind.ASSERTION, FaultKind.ERROR: ViolationKind.ERROR}


def explain(
    system: System,
    finding: Finding,
    options: CheckOptions,
    canonical: Callable[[State], State] | None = None,
) -> Violation:
    """Returns the violation of a finding."""
    return Replay(system, options, canonical).explain(finding)


class Replay:
    """Explains the findings of one search, whose paths often share most states. ``canonical`` maps a state to its
    representative, by default that of the interpreter; the search may have chosen others."""

    def __init__(
        self, system: System, options: CheckOptions, canonical: Callable[[State], State] | None = None
    ) -> None:
        self._system = system
        self._options = options
        self._canonical = canonical or Normaliser(system, options.symmetry and system.allows_symmetry)
        self._interpreter = Interpreter(system, symmetry=False)
        self._layout = Layout(system)
        #: Step from a state (None: the beginning) to the real state for a packed state of a path.
        self._steps: dict[tuple[State | None, bytes], Step] = {}

    def explain(self, finding: Finding) -> Violation:
        """Returns the violation, with a trace along the path of the finding."""
        if finding.kind is FindingKind.START:
            firing = _first_failing(self._interpreter.start_states())
            return _failed(self._interpreter, firing, None)
        return self._violation(finding, self._run(finding.path))

    def explain_run(self, finding: Finding, firings: Sequence[Firing]) -> Violation:
        """Returns the violation at the end of another run, which leads to a finding of the same kind."""
        before: list[State | None] = [None, *(each.successor for each in firings[:-1])]
        steps = [replayed(self._interpreter, each, state) for each, state in zip(firings, before, strict=True)]
        return self._violation(finding, steps)

    def fault_at(self, finding: Finding, packed: bytes) -> object:
        """Returns what is at fault in a state that has a finding of the same kind; see fault_of."""
        state = self._layout.unpack(packed)
        return fault_of(self._violation(finding, [Step("", state, Span(self._system.source, 0, 0))]))

    def _violation(self, finding: Finding, steps: Sequence[Step]) -> Violation:
        interpreter, last = self._interpreter, steps[-1].state
        trace = Trace(self._system, tuple(steps))
        match finding.kind:
            case FindingKind.DEADLOCK:
                return _deadlock(interpreter, last, trace, self._options.deadlock)
            case FindingKind.RULE:
                firing = _first_failing(interpreter.successors(last))
                return _failed(interpreter, firing, trace)
            case FindingKind.LIVENESS:
                return _liveness(interpreter, last, trace, finding.liveness)
            case _:
                return _state(interpreter, last, trace)

    def beside(self, finding: Finding) -> Iterator[Violation]:
        """Yields all violations of the kind of a finding in its state. A search reports one of them."""
        if finding.kind not in (FindingKind.STATE, FindingKind.RULE):
            return
        interpreter, steps = self._interpreter, self._run(finding.path)
        trace, last = Trace(self._system, tuple(steps)), steps[-1].state
        if finding.kind is FindingKind.STATE:
            yield from (_of_failure(interpreter, each, last, trace) for each in interpreter.failures(last))
        else:
            failing = (each for each in interpreter.successors(last) if each.fault is not None)
            yield from (_failed(interpreter, each, trace) for each in failing)

    def _run(self, path: tuple[bytes, ...]) -> list[Step]:
        """Returns real states whose representatives form the path, each with the first rule instance that leads to
        it."""
        steps: list[Step] = []
        for packed in path:
            key = steps[-1].state if steps else None, packed
            if key not in self._steps:
                self._steps[key] = self._step(*key)
            steps.append(self._steps[key])
        if not steps:
            raise InternalError("a finding has no path")
        return steps

    def _step(self, state: State | None, packed: bytes) -> Step:
        target = self._canonical(self._layout.unpack(packed))
        interpreter = self._interpreter
        firings = interpreter.start_states() if state is None else interpreter.successors(state)
        firing = step_to(target, firings, self._canonical)
        return replayed(interpreter, firing, state)


def replayed(interpreter: Interpreter, firing: Firing, before: State | None) -> Step:
    """Returns a firing in a state as a step of a trace, with its output and the messages that it hands over."""
    messages = tuple(Message(*each) for each in interpreter.handed(firing, before))
    return replace(step_of(firing, interpreter.printed(firing, before)), messages=messages)


def step_of(firing: Firing, printed: str) -> Step:
    """Returns a firing that leads to a state, as a step of a trace."""
    assert firing.successor is not None
    origin = firing.origin
    if isinstance(origin, Automaton):
        return Step(firing.label, firing.successor, origin.span, printed=printed)
    processes = origin.processes if isinstance(origin, Rule) else ()
    statements = tuple(statements_of(firing))
    arguments = arguments_of(firing)
    return Step(firing.label, firing.successor, origin.span, (), printed, arguments, processes, (), statements)


def statements_of(firing: Firing) -> Iterator[StatementLine]:
    """Yields the statements that a firing executes, with the numbers of their processes. One that fails executes them
    up to the one that does."""
    if not isinstance(firing.origin, Rule):
        return
    values = {each.name: int(each.value) if each.value.isdigit() else None for each in arguments_of(firing)}
    failing = None if firing.fault is None else firing.fault.span
    for each in firing.origin.statements:
        yield replace(each, process=values.get(each.process)) if isinstance(each.process, str) else each
        if failing is not None and _contains(each.span, failing):
            return


def _contains(whole: Span, part: Span) -> bool:
    return whole.source is part.source and whole.start <= part.start and part.end <= whole.end


def arguments_of(firing: Firing) -> tuple[Argument, ...]:
    """Returns the parameters of the rule that fires, with their values."""
    if isinstance(firing.origin, Automaton):
        return ()
    return tuple(
        Argument(each.local.name, str(each.type), each.type.show(value))
        for each, value in zip(firing.origin.parameters, firing.arguments, strict=True)
    )


def step_to(target: State, firings: Iterable[Firing], canonical: Callable[[State], State]) -> Firing:
    """Returns the first firing that leads to a state that ``target`` represents."""
    tried: set[State] = set()
    for firing in firings:
        state = firing.successor
        if state is None or state in tried:
            continue
        if state == target or canonical(state) == target:
            return firing
        tried.add(state)
    raise InternalError("a trace does not replay: no rule leads to its next state")


def _first_failing(firings: Iterable[Firing]) -> Firing:
    for firing in firings:
        if firing.fault is not None:
            return firing
    raise InternalError("a trace does not replay: no rule fails in its last state")


def _failed(interpreter: Interpreter, firing: Firing, trace: Trace | None) -> Violation:
    """Returns the violation of a failing rule at the end of a trace, or of a failing startstate."""
    assert firing.fault is not None
    violation = _of_fault(firing.fault, trace)
    printed = interpreter.printed(firing, None if trace is None else trace.steps[-1].state)
    return replace(violation, failing_step=firing.label, failing=tuple(statements_of(firing)), printed=printed)


def _of_fault(fault: Fault, trace: Trace | None, name: str = "") -> Violation:
    kind = _FAULTS.get(fault.kind, ViolationKind.RUNTIME)
    return Violation(kind, fault.message, fault.span, trace, name, calls=tuple(fault.calls[:_MOST_CALLS]))


def _deadlock(interpreter: Interpreter, last: State, trace: Trace, definition: Deadlock) -> Violation:
    firings = [firing for firing in interpreter.successors(last) if not firing.is_abandoned]
    has_way_out = any(
        firing.fault is not None or definition is Deadlock.STUCK or firing.raw != last for firing in firings
    )
    if has_way_out or interpreter.may_end(last):
        raise InternalError("a trace does not replay: its last state is not a deadlock")
    processes = [each for each in processes_in(interpreter.system, trace.steps[-1].state) if not each.stop.may_end]
    if processes and not firings:
        message = f"deadlock (invalid end state): {waiting(interpreter.system, processes)}"
        return Violation(ViolationKind.DEADLOCK, message, processes[0].stop.span, trace, hint=_INVALID_END)
    message = "deadlock: no rule leads to a different state" if firings else "deadlock: no rule is enabled"
    return Violation(ViolationKind.DEADLOCK, message, None, trace, hint=_deadlock_hint(definition, bool(firings)))


def _deadlock_hint(definition: Deadlock, is_enabled: bool) -> str:
    """Returns a hint for the case that a run may end in this state."""
    if is_enabled:
        way = "--deadlock stuck, which only requires that some rule is enabled"
    elif definition is Deadlock.STUTTERING:
        way = "add a rule that changes nothing in this state and use --deadlock stuck"
    else:
        way = "add a rule that changes nothing in this state"
    return f"if this is an intended end, use --deadlock off, or {way}"


def _state(interpreter: Interpreter, last: State, trace: Trace) -> Violation:
    failure = interpreter.check(last).failure
    if failure is None:
        truths = interpreter.liveness(last)
        if not isinstance(truths, Failure):
            raise InternalError("a trace does not replay: every property holds in its last state")
        failure = truths
    return _of_failure(interpreter, failure, last, trace)


def _of_failure(interpreter: Interpreter, failure: Failure, last: State, trace: Trace) -> Violation:
    subject = failure.subject
    if failure.fault is not None:
        return _of_fault(failure.fault, trace, name=subject.name)
    message = f'{subject.kind} "{subject.name}" is false' + _instance(failure)
    parts = because(interpreter, subject, failure.arguments, last)
    return Violation(
        ViolationKind.INVARIANT,
        message,
        subject.span,
        trace,
        subject.name,
        because=tuple(part.text for part in parts),
        condition=subject.condition.span,
        false_parts=tuple(part.span for part in parts),
    )


def _liveness(interpreter: Interpreter, last: State, trace: Trace, number: int | None) -> Violation:
    if number is None:
        raise InternalError("a liveness finding names no property")
    subject, arguments = interpreter.liveness_instance(number)
    truths = interpreter.liveness(last)
    if isinstance(truths, Failure) or truths[number]:
        raise InternalError("a trace does not replay: its last state satisfies the liveness property")
    instance = _instance(Failure(subject, arguments))
    message = f'liveness "{subject.name}" is violated{instance}: no state that satisfies it can be reached'
    assert subject.kind is PropertyKind.LIVENESS
    return Violation(ViolationKind.LIVENESS, message, subject.span, trace, subject.name)


def _instance(failure: Failure) -> str:
    """Returns `` for i: 2`` if the property has parameters."""
    values = failure.label.removeprefix(failure.subject.name).removeprefix(", ")
    return f" for {values}" if values else ""
