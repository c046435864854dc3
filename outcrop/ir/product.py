"""The product of a System and an automaton: again a System, whose runs are those of both, step by step.

Hidden variables at the end of the state hold the automaton's state and sometimes, with fairness, a counter. A step
leaves a state s by an enabled rule, or stays there if none is enabled; at the same time the automaton leaves its state
by an edge whose guard is true in s. Where there is no such edge, the state has no successors.

Weak fairness may become part of what the product accepts: the counter waits for an accepting state of the automaton,
then for each fairness set in turn, and begins anew. A state is accepting if the automaton's state is and the counter is
0. Without a counter fairness is left to the search (search/fair.py); strong fairness always is, because to make it part
of the product would make that exponentially larger.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from outcrop.ir.automaton import Automaton, Fairness, Product
from outcrop.ir.conditions import Condition, Instances
from outcrop.ir.execute import Executor
from outcrop.ir.layout import Leaf, State
from outcrop.ir.nodes import Assign, Constant, GlobalPlace, Statement, Variable
from outcrop.ir.system import Instantiable, PropertyKind, Rule, StartState, System
from outcrop.ir.types import Enum, Range, Simple

#: No name of a model has brackets.
COUNTER = "(fairness)"


def product(system: System, automaton: Automaton, fairness: Fairness | None = None, *, counts: bool = True) -> System:
    """The System whose accepting runs are those of the system that the automaton accepts; with ``counts``, weakly fair
    ones if asked.

    It has no properties but assumptions, and the invariants if the automaton is the model's own: others are a matter of
    the system alone, and the product need not reach all of its states."""
    kinds = {PropertyKind.ASSUMPTION} | ({PropertyKind.INVARIANT} if automaton is system.automaton else set())
    states = Enum(automaton.states)
    location = Variable(automaton.name, states, system.leaf_count, automaton.span)
    hidden, first = [location], [_assignment(location, automaton.initial)]
    counter = None
    if fairness is not None and counts and not fairness.is_strong:
        counter = Variable(COUNTER, Range(0, len(fairness.sets)), system.leaf_count + 1, automaton.span)
        hidden.append(counter)
        first.append(_assignment(counter, 0))
    return replace(
        system,
        variables=(*system.variables, *hidden),
        # Before the body, which may return early, and cannot touch what it has no name for.
        start_states=tuple(replace(each, body=(*first, *each.body)) for each in system.start_states),
        error_state=system.error_state and replace(system.error_state, body=(*first, *system.error_state.body)),
        properties=tuple(each for each in system.properties if each.kind in kinds),
        automaton=automaton,
        product=Product(automaton, location, fairness, counter),
    )


def weak_fairness(system: System) -> Fairness:
    """By the processes of the model, if it has any, else by the instances of rules."""
    processes = tuple(dict.fromkeys(name for rule in system.rules for name in rule.processes))
    if processes:
        of_rules = tuple(tuple(map(processes.index, rule.processes)) for rule in system.rules)
        return Fairness(processes, of_rules, by_instance=False)
    names: list[str] = []
    first = []
    for rule in system.rules:
        first.append((len(names),))
        names += [rule.label(arguments) for arguments in rule.instances()]
    return Fairness(tuple(names), tuple(first), by_instance=True)


def strong_fairness(system: System) -> Fairness:
    return replace(weak_fairness(system), is_strong=True)


def _assignment(variable: Variable, value: int) -> Statement:
    assert isinstance(variable.type, Simple)
    target = GlobalPlace(type=variable.type, span=variable.span, variable=variable)
    return Assign(
        span=variable.span, target=target, value=Constant(type=variable.type, span=variable.span, value=value)
    )


class ProductSteps:
    """What the automaton and the counter of a product do, for the interpreter."""

    def __init__(self, system: System, executor: Executor) -> None:
        assert system.product is not None
        self.product = system.product
        automaton = self.product.automaton
        owner = Instantiable(automaton.name, automaton.parameters, automaton.frame, automaton.span)
        self._frame = Instances(owner, executor).frame(automaton.arguments)
        self._leaving = [
            {
                target: [None if guard is None else Condition(guard, executor) for guard in guards]
                for target, guards in automaton.leaving(state).items()
            }
            for state in range(len(automaton.states))
        ]
        self._rules = {rule: number for number, rule in enumerate(system.rules)}
        self._instances = {
            rule: {arguments: number for number, arguments in enumerate(rule.instances())}
            for rule in system.rules
            if self.product.fairness is not None
        }

    def location(self, state: State) -> int:
        """The state of the automaton."""
        return _number(state[self.product.location.offset])

    def counter(self, state: State) -> int:
        return 0 if self.product.counter is None else _number(state[self.product.counter.offset])

    def is_accepting(self, state: State) -> bool:
        return self.location(state) in self.product.automaton.accepting and self.counter(state) == 0

    def targets(self, state: State) -> list[int]:
        """Where the automaton may go when the system leaves the state; raises Fault where a guard fails."""
        working = list(state)
        return [
            target
            for target, guards in self._leaving[self.location(state)].items()
            if any(guard is None or guard(working, self._frame.copy()) for guard in guards)
        ]

    def entered(self, state: State, target: int, counter: int) -> State:
        """The state with those values of the hidden variables."""
        leaves: list[Leaf] = list(state)
        leaves[self.product.location.offset] = target
        if self.product.counter is not None:
            leaves[self.product.counter.offset] = counter
        return tuple(leaves)

    def sets_of(self, steps: Iterable[tuple[Rule | StartState | Automaton, tuple[int, ...]]]) -> frozenset[int]:
        """The fairness sets that some rule instances belong to."""
        fairness = self.product.fairness
        if fairness is None:
            return frozenset()
        return frozenset(
            number
            for rule, arguments in steps
            if isinstance(rule, Rule)
            for number in fairness.sets_of(self._rules[rule], self._instances[rule][arguments])
        )

    def counter_after(self, state: State, enabled: frozenset[int], moving: frozenset[int]) -> int:
        """The counter after a step of the sets ``moving`` from a state where those in ``enabled`` could move."""
        fairness, counter = self.product.fairness, self.counter(state)
        if fairness is None or self.product.counter is None:
            return 0
        if counter == 0 and self.location(state) not in self.product.automaton.accepting:
            return 0
        waiting = max(counter, 1)
        while waiting <= len(fairness.sets) and (waiting - 1 in moving or waiting - 1 not in enabled):
            waiting += 1
        return waiting if waiting <= len(fairness.sets) else 0


def _number(leaf: Leaf) -> int:
    assert isinstance(leaf, int)
    return leaf
