"""Recorded runs of random models, and what a naive reference says about them.

The reference steps the interpreter through sets of states and knows nothing of packed bits. A log is made of a random
walk, of which each line shows a random part, and is then damaged or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from random import Random
from typing import Any

from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import Leaf, State
from outcrop.ir.names import state_leaf_names
from outcrop.ir.system import Rule, System
from outcrop.ir.types import BOOLEAN, Array, Multiset, Range, Real, Record, Simple, Type

#: Longest log, and largest set of states that the reference follows.
LENGTH, MOST = 12, 300


@dataclass
class Line:
    """A line as the reference knows it: the instances that it may mean (None: any), and the leaves that it shows."""

    record: dict[str, Any]
    instances: set[tuple[int, tuple[int, ...]]] | None
    shown: dict[int, Leaf] = field(default_factory=dict)


class TooWide(Exception):
    """More states than the reference follows."""


class Reference:
    def __init__(self, system: System) -> None:
        self.system = system
        self.interpreter = Interpreter(system, symmetry=False)
        self.numbers = {id(rule): number for number, rule in enumerate(system.rules)}
        self._steps: dict[State, list[tuple[int, tuple[int, ...], State]]] = {}

    def starts(self) -> list[State]:
        firings = self.interpreter.start_states()
        return [each.successor for each in firings if each.successor is not None and self._is_kept(each.successor)]

    def _is_kept(self, state: State) -> bool:
        return self.interpreter.check(state).is_kept

    def steps(self, state: State) -> list[tuple[int, tuple[int, ...], State]]:
        if state not in self._steps:
            self._steps[state] = [
                (self.numbers[id(each.origin)], each.arguments, each.successor)
                for each in self.interpreter.successors(state)
                if each.successor is not None and self._is_kept(each.successor)
            ]
        return self._steps[state]

    def reachable(self) -> set[State]:
        found, left = set[State](), self.starts()
        while left:
            state = left.pop()
            if state not in found:
                found.add(state)
                left += [after for _, _, after in self.steps(state)]
            if len(found) > MOST:
                raise TooWide
        return found

    def any_state(self, line: Line) -> set[State]:
        """Returns all states that a line may show."""
        kinds = [None if at in line.shown else kind for at, kind in enumerate(self.system.leaf_types)]
        if prod(1 if kind is None else kind.cardinality + 1 for kind in kinds) > MOST:
            raise TooWide
        values = [
            [line.shown[at]] if kind is None else [None, *range(kind.low, kind.high + 1)]
            for at, kind in enumerate(kinds)
        ]
        return {state for state in product(*values) if self._is_kept(state)}

    def follow(
        self, lines: Sequence[Line], gap: int, internal: set[str], stutter: bool, start: str = "initial"
    ) -> tuple[int, list[int]]:
        """Returns how many lines agree, and the number of states possible after each."""
        states, widths = set(self.reachable() if start == "reachable" else self.starts()), list[int]()
        for number, line in enumerate(lines):
            if number == 0 and start == "any":
                states = self.any_state(line)
                widths.append(len(states))
                if not states:
                    return 0, []
                continue
            reached = set(states)
            level = set(states)
            for _ in range(gap):
                level = {
                    after for state in level for rule, _, after in self.steps(state) if self._hides(rule, internal)
                }
                reached |= level
                if len(reached) > MOST:
                    raise TooWide
            found = set()
            in_place = number == 0 and line.instances is None
            if in_place or (stutter and line.instances is None):
                found |= {state for state in reached if _agrees(state, line)}
            if not in_place:
                found |= {
                    after
                    for state in reached
                    for rule, arguments, after in self.steps(state)
                    if (line.instances is None or (rule, arguments) in line.instances) and _agrees(after, line)
                }
            if not found:
                return number, widths
            if len(found) > MOST:
                raise TooWide
            states = found
            widths.append(len(states))
        return len(lines), widths

    def _hides(self, rule: int, internal: set[str]) -> bool:
        return not internal or self.system.rules[rule].name in internal


def _agrees(state: State, line: Line) -> bool:
    return all(state[at] == value for at, value in line.shown.items())


# --- Logs ---------------------------------------------------------------------------------------------------------


def random_log(reference: Reference, random: Random, gap: int, internal: set[str]) -> list[Line] | None:
    """Returns a log of a random walk, in which up to ``gap`` steps before a line are hidden; None without a walk."""
    starts = reference.starts()
    if not starts:
        return None
    state, lines, hidden = random.choice(starts), list[Line](), 0
    if random.random() < 0.7:
        lines.append(_line(reference, random, None, state))
    for _ in range(LENGTH):
        steps = reference.steps(state)
        if not steps:
            break
        rule, arguments, state = random.choice(steps)
        if hidden < gap and reference._hides(rule, internal) and random.random() < 0.5:
            hidden += 1
            continue
        hidden = 0
        line = _line(reference, random, (rule, arguments), state)
        if not lines and line.instances is None:
            _name(line, reference.system, random, rule, arguments)  # otherwise it would mean a start state
        lines.append(line)
    return lines


def _line(reference: Reference, random: Random, fired: tuple[int, tuple[int, ...]] | None, state: State) -> Line:
    system = reference.system
    line = Line({}, None)
    share = random.choice([0.0, 0.3, 0.7, 1.0])
    if fired is not None and random.random() < 0.6:
        _name(line, system, random, *fired)
    names, shown = state_leaf_names(system), {}
    for variable in system.variables:
        leaves = range(variable.offset, variable.offset + variable.type.leaf_count)
        if any(isinstance(part, Multiset) for part in variable.type.parts()):
            if random.random() < share:
                shown[variable.name] = to_json(variable.type, [state[at] for at in leaves])
                line.shown.update((at, state[at]) for at in leaves)
            continue
        for at in leaves:
            if random.random() < share:
                shown[names[at]] = to_json(system.leaf_types[at], [state[at]])
                line.shown[at] = state[at]
    line.record["state"] = shown
    if not shown and line.instances is None:
        line.record["state"] = shown = {names[0]: to_json(system.leaf_types[0], [state[0]])} if _plain(system) else {}
        line.shown.update({0: state[0]} if shown else {})
        if not shown and fired is not None:
            _name(line, system, random, *fired)
    return line


def _plain(system: System) -> bool:
    return bool(system.variables) and not any(isinstance(part, Multiset) for part in system.variables[0].type.parts())


def _name(line: Line, system: System, random: Random, number: int, arguments: tuple[int, ...]) -> None:
    """Lets a line name its rule, with some of its arguments."""
    rule: Rule = system.rules[number]
    kept = [at for at in range(len(arguments)) if random.random() < 0.7]
    same_name = [(at, each) for at, each in enumerate(system.rules) if each.name == rule.name]
    if len(same_name) > 1:
        kept = []
    line.record.pop("arguments", None)
    line.record["rule"] = rule.name
    if kept:
        line.record["arguments"] = {
            rule.parameters[at].local.name: to_json(rule.parameters[at].type, [arguments[at]]) for at in kept
        }
    line.instances = {
        (at, values)
        for at, each in same_name
        for values in each.instances()
        if all(values[place] == arguments[place] for place in kept)
    }


def damaged(reference: Reference, random: Random, lines: list[Line]) -> list[Line]:
    """Returns a log with one change: a line less, two lines exchanged, another value, or another rule."""
    lines = [Line(dict(each.record), each.instances, dict(each.shown)) for each in lines]
    if not lines:
        return lines
    at = random.randrange(len(lines))
    match random.randrange(4):
        case 0 if at > 0:
            del lines[at]
        case 1 if at > 1:
            lines[at - 1], lines[at] = lines[at], lines[at - 1]
        case 2 if at > 0 and reference.system.rules:
            _name(lines[at], reference.system, random, *_any_instance(reference.system, random))
        case _:
            _change_value(reference.system, random, lines[at])
    return lines


def _any_instance(system: System, random: Random) -> tuple[int, tuple[int, ...]]:
    number = random.choice([at for at, rule in enumerate(system.rules) if rule.instance_count])
    return number, random.choice(list(system.rules[number].instances()))


def _change_value(system: System, random: Random, line: Line) -> None:
    names = state_leaf_names(system)
    simple = [at for at in line.shown if names[at] in line.record.get("state", {})]
    simple = [at for at in simple if not isinstance(system.leaf_types[at], Real)]
    if not simple:
        return
    at = random.choice(simple)
    kind = system.leaf_types[at]
    value = random.choice([None, *range(kind.low, min(kind.high, kind.low + 8) + 1)])
    line.record["state"] = {**line.record["state"], names[at]: to_json(kind, [value])}
    line.shown[at] = value


def to_json(kind: Type, row: Sequence[Leaf]) -> Any:
    """Returns a value as logs show it."""
    if isinstance(kind, Simple):
        if row[0] is None:
            return "undefined"
        if kind == BOOLEAN:
            return bool(row[0])
        return row[0] if isinstance(kind, Range | Real) else kind.show(row[0])
    if isinstance(kind, Record):
        return {
            name: to_json(each, row[at : at + each.leaf_count])
            for (name, each), at in zip(kind.fields, kind.offsets, strict=True)
        }
    if isinstance(kind, Array):
        size = kind.element.leaf_count
        return {
            kind.index.show(kind.index.low + at): to_json(kind.element, row[at * size : (at + 1) * size])
            for at in range(kind.index.cardinality)
        }
    assert isinstance(kind, Multiset)
    slots = [row[at : at + kind.slot_leaf_count] for at in range(0, len(row), kind.slot_leaf_count)]
    return [to_json(kind.element, slot[1:]) for slot in slots if slot[0] is not None]
