"""The product of a System and an automaton: a System whose runs are those of both, step by step.

Hidden variables at the end of the state hold the state of the automaton and sometimes, with fairness, a counter. A step
leaves a state s by an enabled rule, or stutters if none is enabled. At the same time the automaton leaves its state by
an edge whose guard is true in s. If there is no such edge, the state has no successors.

Weak fairness can be part of the product: the counter waits for an accepting state of the automaton, then for each
fairness set in turn, and starts again. A state is accepting if the state of the automaton is and the counter is 0.
Without a counter fairness is left to the search (search/fair.py). Strong fairness always is, because it would make the
product exponentially larger.
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

#: Name of the counter; no name of a model has parentheses.
COUNTER = "(fairness)"


def product(system: System, automaton: Automaton, fairness: Fairness | None = None, *, counts: bool = True) -> System:
    """Returns the System whose accepting runs are those runs of ``system`` that the automaton accepts. With ``counts``,
    only weakly fair ones, if ``fairness`` is given.

    It has only assumptions as properties, and invariants if the automaton is that of the model. Other properties
    concern the system alone, and the product need not reach all of its states.
    """
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
        # Before the body, which may return early, and cannot write a variable that it cannot name.
        start_states=tuple(replace(each, body=(*first, *each.body)) for each in system.start_states),
        error_state=system.error_state and replace(system.error_state, body=(*first, *system.error_state.body)),
        properties=tuple(each for each in system.properties if each.kind in kinds),
        automaton=automaton,
        product=Product(automaton, location, fairness, counter),
    )


def weak_fairness(system: System) -> Fairness:
    """Returns weak fairness for the processes of the model, if it has any, otherwise for the rule instances."""
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
    """The steps of the automaton and of the counter of a product, for the interpreter."""

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
        """Returns the state of the automaton."""
        return _number(state[self.product.location.offset])

    def counter(self, state: State) -> int:
        return 0 if self.product.counter is None else _number(state[self.product.counter.offset])

    def is_accepting(self, state: State) -> bool:
        return self.location(state) in self.product.automaton.accepting and self.counter(state) == 0

    def targets(self, state: State) -> list[int]:
        """Returns the next states of the automaton when the system leaves ``state``. Raises Fault if a guard fails."""
        working = list(state)
        return [
            target
            for target, guards in self._leaving[self.location(state)].items()
            if any(guard is None or guard(working, self._frame.copy()) for guard in guards)
        ]

    def entered(self, state: State, target: int, counter: int) -> State:
        """Returns the state with new values of the hidden variables."""
        leaves: list[Leaf] = list(state)
        leaves[self.product.location.offset] = target
        if self.product.counter is not None:
            leaves[self.product.counter.offset] = counter
        return tuple(leaves)

    def sets_of(self, steps: Iterable[tuple[Rule | StartState | Automaton, tuple[int, ...]]]) -> frozenset[int]:
        """Returns the fairness sets that some rule instances belong to."""
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
        """Returns the counter after a step of the sets ``moving`` from a state in which those in ``enabled`` can
        move."""
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
