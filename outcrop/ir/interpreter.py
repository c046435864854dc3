"""The reference semantics of a System: start states, successors, and properties of states.

Slow and simple; every other engine is tested against it. A state is a tuple of leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from outcrop.ir.automaton import Automaton
from outcrop.ir.conditions import Condition, Instances
from outcrop.ir.execute import Execute, Executor, Returned
from outcrop.ir.faults import Abandoned, Fault, allow_deep_nesting
from outcrop.ir.layout import Leaf, State
from outcrop.ir.places import Store
from outcrop.ir.product import ProductSteps
from outcrop.ir.symmetry import Normaliser
from outcrop.ir.system import Property, PropertyKind, Rule, StartState, System

#: Largest number of characters of output that are kept of one firing.
_LONGEST_PRINTED = 100_000


@dataclass(frozen=True, slots=True)
class Firing:
    """The effect of one instance of a rule or startstate: it leads to a state, fails, or is abandoned.

    ``raw`` is the state after the body, ``successor`` its normal form. A firing that fails may also lead to the error
    state. In a product ``origin`` is the automaton if no rule is enabled, or if the automaton itself fails.
    """

    origin: Rule | StartState | Automaton
    arguments: tuple[int, ...]
    raw: State | None = None
    successor: State | None = None
    fault: Fault | None = None
    is_enabled: bool = True  #: False if evaluating the guard failed

    @property
    def is_abandoned(self) -> bool:
        return self.successor is None and self.fault is None

    @property
    def label(self) -> str:
        return self.origin.label(self.arguments)

    @property
    def rule(self) -> str:
        """The label without parameters."""
        return self.label if isinstance(self.origin, Automaton) else self.origin.name


@dataclass(frozen=True, slots=True)
class Failure:
    """A property instance that is false in a state, or cannot be evaluated there."""

    subject: Property
    arguments: tuple[int, ...]
    fault: Fault | None = None

    @property
    def label(self) -> str:
        return self.subject.label(self.arguments)


@dataclass(frozen=True, slots=True)
class Check:
    """The result of checking a state: whether the assumptions keep it, and the first property that fails."""

    is_kept: bool
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Active:
    """An instance whose guard is true in a state."""

    rule: Rule
    arguments: tuple[int, ...]
    fire: Callable[[], Firing]


class Interpreter:
    """Executes a System. ``put`` receives the output of the model; ``normalise`` replaces the normal form of states.

    Two counters grow with the execution: ``covered`` (per cover goal) and ``noted`` (see Property).
    """

    def __init__(
        self,
        system: System,
        symmetry: bool,
        put: Callable[[str], object] | None = None,
        normalise: Callable[[Sequence[Leaf]], State] | None = None,
    ) -> None:
        allow_deep_nesting()
        self.system = system
        self.normalise = normalise or Normaliser(system, symmetry)
        self.executor = Executor(system, put)
        self._start_states = [
            (each, Instances(each, self.executor), self.executor.block(each.body)) for each in system.start_states
        ]
        by_priority = sorted(system.rules, key=lambda rule: rule.priority)  # a stable sort keeps the declaration order
        self._rule_groups = [
            [self._compile_rule(rule) for rule in group]
            for _, group in groupby(by_priority, key=lambda rule: rule.priority)
        ]
        self._properties = {
            kind: [self._compile_property(each) for each in system.of_kind(kind)] for kind in PropertyKind
        }
        self.product_steps = None if system.product is None else ProductSteps(system, self.executor)
        self._error_state = None if system.error_state is None else self._run_start(system.error_state)
        #: Returns the firings of a state in place of those of all enabled instances.
        self.selection: Callable[[State], Iterator[Firing]] | None = None

    @property
    def covered(self) -> list[int]:
        return self.executor.covered

    @property
    def noted(self) -> set[int]:
        return self.executor.noted

    # --- States and their successors ---------------------------------------------------------------------------

    def start_states(self) -> Iterator[Firing]:
        """Yields the effect of each instance of each startstate."""
        for start, instances, body in self._start_states:
            for arguments, frame in instances:
                yield self._fire(start, arguments, frame, body, self._undefined)

    @property
    def _undefined(self) -> State:
        return (None,) * self.system.leaf_count

    def _run_start(self, start: StartState) -> State:
        """Returns the state that a startstate without parameters leads to."""
        working = list(self._undefined)
        self.executor.block(start.body)(working, Instances(start, self.executor).frame(()))
        return tuple(working)

    def printed(self, firing: Firing, before: State | None) -> str:
        """Returns the output of the body of a firing, up to its end or its failure. ``before`` is the state that it
        fires in, None for a startstate."""
        origin = firing.origin
        if isinstance(origin, Automaton) or not firing.is_enabled:
            return ""
        working, frame = list(before or self._undefined), Instances(origin, self.executor).frame(firing.arguments)
        with self.executor.recording() as texts, suppress(Fault, Abandoned):
            self.executor.block(origin.body)(working, frame)
        text = "".join(texts)
        more = len(text) - _LONGEST_PRINTED
        return f"{text[:_LONGEST_PRINTED]}\n... and {more:,} more characters\n" if more > 0 else text

    def handed(self, firing: Firing, before: State | None) -> list[tuple[int, int, str]]:
        """Returns the messages that a firing hands over: the numbers of the two processes in the rule, and the
        values."""
        rule, found = firing.origin, []
        if before is None or not isinstance(rule, Rule) or not rule.handed:
            return []
        working, frame = list(before), Instances(rule, self.executor).frame(firing.arguments)
        done = 0
        with self.executor.recording(), suppress(Fault, Abandoned):
            for each in rule.handed:
                self.executor.block(rule.body[done : each.after])(working, frame)
                done = each.after
                values = [self.executor.expression(value)(working, frame) for value in each.values]
                shown = [kind.show(value) for kind, value in zip(each.types, values, strict=True)]
                found.append((each.source, each.target, ", ".join(shown)))
        return found

    def successors(self, state: State) -> Iterator[Firing]:
        """Yields the effect of each enabled rule instance of the best priority. A guard that fails is a failing firing,
        but does not enable its priority. In a product the automaton moves along."""
        return self._moves(state) if self.product_steps is None else self._pairs(state, self.product_steps)

    def _pairs(self, state: State, product_steps: ProductSteps) -> Iterator[Firing]:
        """Yields every move of the system with every move of the automaton. A system without enabled rules stutters."""
        automaton = product_steps.product.automaton
        try:
            targets = product_steps.targets(state)
        except Fault as fault:
            yield Firing(automaton, (), fault=fault)
            return
        if not targets:
            return
        moves = list(self._moves(state))
        if all(move.is_abandoned for move in moves):
            moves = [Firing(automaton, (), state, state)]
        enabled = product_steps.sets_of((move.origin, move.arguments) for move in moves if self._is_kept(move))
        for move in moves:
            if move.raw is None or move.successor is None:
                yield move
                continue
            counter = product_steps.counter_after(
                state, enabled, product_steps.sets_of([(move.origin, move.arguments)])
            )
            for target in targets:
                raw, successor = (product_steps.entered(each, target, counter) for each in (move.raw, move.successor))
                yield Firing(move.origin, move.arguments, raw, successor, move.fault, move.is_enabled)

    def can_move(self, state: State) -> frozenset[int]:
        """Returns the fairness sets of a product that can move in a state."""
        assert self.product_steps is not None
        kept = (move for move in self._moves(state) if self._is_kept(move))
        return self.product_steps.sets_of((move.origin, move.arguments) for move in kept)

    def _is_kept(self, move: Firing) -> bool:
        """Returns whether a move leads to a state that no assumption drops."""
        if move.successor is None:
            return False
        failure = self._first_failure(PropertyKind.ASSUMPTION, move.successor)
        return failure is None or failure.fault is not None

    def _moves(self, state: State) -> Iterator[Firing]:
        if self.selection is None:
            for each in self.active(state):
                yield each if isinstance(each, Firing) else each.fire()
        else:
            yield from self.selection(state)

    def active(self, state: State) -> Iterator[Firing | Active]:
        """Yields the instances of the best priority whose guard is true, and failing firings for guards that fail."""
        working = list(state)
        for group in self._rule_groups:
            is_enabled = False
            for rule, instances, guard, body in group:
                for arguments, frame in instances:
                    try:
                        if guard is not None and not guard(working, frame):
                            continue
                    except Fault as fault:
                        yield self._failed(rule, arguments, fault, is_enabled=False)
                        continue
                    is_enabled = True
                    # The guard may have used locals of the frame; the body starts with undefined ones.
                    fire = partial(self._fire, rule, arguments, instances.frame(arguments), body, state)
                    yield Active(rule, arguments, fire)
            if is_enabled:
                return

    def fire(self, rule: Rule, arguments: tuple[int, ...], state: State) -> Firing | None:
        """Returns the firing of one instance of a rule, None if its guard is false or fails. Priorities are not looked
        at."""
        compiled = next(each for group in self._rule_groups for each in group if each[0] is rule)
        _, instances, guard, body = compiled
        try:
            if guard is not None and not guard(list(state), instances.frame(arguments)):
                return None
        except Fault:
            return None
        return self._fire(rule, arguments, instances.frame(arguments), body, state)

    def _compile_rule(self, rule: Rule) -> tuple[Rule, Instances, Condition | None, Execute]:
        guard = None if rule.guard is None else Condition(rule.guard, self.executor)
        return rule, Instances(rule, self.executor), guard, self._compiled_later(rule)

    def _compiled_later(self, rule: Rule) -> Execute:
        """Returns the body of a rule, which is compiled when it runs first: few rules fire on a short walk."""
        body: Execute | None = None

        def execute(state: Store, frame: Store) -> Returned:
            nonlocal body
            if body is None:
                body = self.executor.block(rule.body)
            return body(state, frame)

        return execute

    def _fire(
        self, origin: Rule | StartState, arguments: tuple[int, ...], frame: Store, body: Execute, state: State
    ) -> Firing:
        working = list(state)
        try:
            body(working, frame)
        except Abandoned:
            return Firing(origin, arguments)
        except Fault as fault:
            return self._failed(origin, arguments, fault)
        raw = tuple(working)
        return Firing(origin, arguments, raw, self.normalise(raw))

    def _failed(
        self, origin: Rule | StartState, arguments: tuple[int, ...], fault: Fault, is_enabled: bool = True
    ) -> Firing:
        if self._error_state is None or isinstance(origin, StartState):
            return Firing(origin, arguments, fault=fault, is_enabled=is_enabled)
        reported = None if self.system.forgives_failures else fault
        return Firing(origin, arguments, self._error_state, self._error_state, reported)

    # --- Properties of a state ---------------------------------------------------------------------------------

    def check(self, state: State) -> Check:
        """Checks a state: assumptions first, then the first failing invariant instance; then it counts cover goals."""
        assumption = self._first_failure(PropertyKind.ASSUMPTION, state)
        if assumption is not None:
            return Check(False) if assumption.fault is None else Check(True, assumption)
        failure = self._first_failure(PropertyKind.INVARIANT, state)
        cover_failure = self._count_covers(state)
        self._note_witnesses(state)
        return Check(True, failure or cover_failure)

    def failures(self, state: State) -> Iterator[Failure]:
        """Yields every invariant instance that is false in a state, and those of cover properties too that cannot be
        evaluated there."""
        for each, arguments, truth in self._evaluate(PropertyKind.INVARIANT, state):
            if truth is not True:
                yield Failure(each, arguments, truth if isinstance(truth, Fault) else None)
        for each, arguments, truth in self._evaluate(PropertyKind.COVER, state):
            if isinstance(truth, Fault):
                yield Failure(each, arguments, truth)

    def broken_assumption(self, state: State) -> Property | None:
        """Returns the first assumption that drops a state, None if there is none."""
        failure = self._first_failure(PropertyKind.ASSUMPTION, state)
        return failure.subject if failure is not None and failure.fault is None else None

    def _count_covers(self, state: State) -> Failure | None:
        """Adds the cover properties that are true in a state to ``covered``, those behind one that fails too. Returns
        the first one that fails."""
        failure: Failure | None = None
        for each, arguments, truth in self._evaluate(PropertyKind.COVER, state):
            if isinstance(truth, Fault):
                failure = failure or Failure(each, arguments, truth)
            elif truth:
                assert each.cover is not None
                self.covered[each.cover] += 1
        return failure

    def _note_witnesses(self, state: State) -> None:
        for each, _, truth in self._evaluate(PropertyKind.WITNESS, state):
            if truth is True:
                assert each.note is not None
                self.noted.add(each.note)

    def may_end(self, state: State) -> bool:
        """Returns whether a run may end in a state, which is then no deadlock."""
        return any(truth is True for _, _, truth in self._evaluate(PropertyKind.END, state))

    def liveness(self, state: State) -> list[bool] | Failure:
        """Returns the truth value of every instance of every liveness property, in order."""
        truths = []
        for each, arguments, truth in self._evaluate(PropertyKind.LIVENESS, state):
            if isinstance(truth, Fault):
                return Failure(each, arguments, truth)
            truths.append(truth)
        return truths

    def liveness_instance(self, number: int) -> tuple[Property, tuple[int, ...]]:
        """Returns the liveness property, with its arguments, at a position of the result of ``liveness``."""
        for each in self.system.of_kind(PropertyKind.LIVENESS):
            for arguments in each.instances():
                if number == 0:
                    return each, arguments
                number -= 1
        raise IndexError("there are fewer liveness properties")

    def _first_failure(self, kind: PropertyKind, state: State) -> Failure | None:
        for each, arguments, truth in self._evaluate(kind, state):
            if isinstance(truth, Fault):
                return Failure(each, arguments, truth)
            if not truth:
                return Failure(each, arguments)
        return None

    def _compile_property(self, each: Property) -> tuple[Property, Instances, Condition]:
        return each, Instances(each, self.executor), Condition(each.condition, self.executor)

    def _evaluate(self, kind: PropertyKind, state: State) -> Iterator[tuple[Property, tuple[int, ...], bool | Fault]]:
        """Yields every instance of the properties of one kind with its truth value; witnesses only until one is
        true."""
        working = list(state)
        for each, instances, condition in self._properties[kind]:
            for arguments, frame in instances:
                if each.note in self.noted:
                    break
                truth: bool | Fault
                try:
                    truth = condition(working, frame)
                except Fault as fault:
                    truth = fault
                yield each, arguments, truth
