"""The explanation of a line that no state agrees with: what the model could do instead, and what comes nearest.

A rule instance that the line may mean is compared in two ways: the conjuncts of its guard that are false, and the
values after its body that differ from those in the line. The fewer of both there are, the nearer it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from outcrop.ir.conditions import Instances
from outcrop.ir.faults import Abandoned, Fault
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import Layout, Leaf, State, decode
from outcrop.ir.names import state_leaf_names
from outcrop.ir.system import Rule, System
from outcrop.kernels.observe import Label
from outcrop.trace.explain import FalseConjunct, false_conjuncts
from outcrop.validate.encode import Line
from outcrop.validate.options import Start, ValidateOptions

#: Largest number of states and of near rules that are explained, and of comparisons that are made for them.
MOST_STATES, MOST_NEAREST, _MOST_COMPARED = 8, 5, 20_000
#: Distance of a rule whose body fails, in false conjuncts.
_FAILS = 3


@dataclass(frozen=True)
class Possible:
    """A state that agrees with all lines before, and the rule instances that it enables."""

    state: State
    enabled: tuple[str, ...]


@dataclass(frozen=True)
class Nearest:
    """A rule instance that almost fits: ``state`` is the number of the possible state in which it would fire."""

    label: str
    state: int
    false: tuple[FalseConjunct, ...]
    differing: tuple[tuple[str, str, str], ...]  #: name, value in the model, value in the log
    fails: bool = False  #: whether its body cannot run in this state
    is_state: bool = False  #: whether it is a state that the first line may show, and not a rule

    @property
    def distance(self) -> int:
        return len(self.false) + len(self.differing) + _FAILS * self.fails

    @property
    def text(self) -> str:
        """One sentence that says what would have to be different."""
        wishes = " and ".join(f"`{each.wish}`" for each in self.false)
        leads = "; ".join(f"{name} is {ours}, and the log shows {theirs}" for name, ours, theirs in self.differing[:4])
        more = f"; and {len(self.differing) - 4} more values differ" if len(self.differing) > 4 else ""
        if self.is_state:
            return f"{self.label} does not fit: {leads}{more}"
        if self.fails:
            return f"{self.label}: its body fails in this state"
        if not self.false:
            return f"{self.label} is possible, but afterwards {leads}{more}"
        if not self.differing:
            return f"{self.label} would fit if {wishes}"
        return f"{self.label} would be possible if {wishes}, but afterwards {leads}{more}"


@dataclass(frozen=True)
class Explanation:
    """Why no state agrees with a line."""

    possible: tuple[Possible, ...]
    nearest: tuple[Nearest, ...]
    impossible: str = ""  #: a value in the line that no state of the model has


class Explainer:
    """Explains lines by the interpreter."""

    def __init__(self, system: System, options: ValidateOptions, hidden: set[int]) -> None:
        self._system = system
        self._options = options
        self._hidden = hidden
        self._interpreter = Interpreter(system, symmetry=False)
        self._names = state_leaf_names(system)
        self._leaves = Layout(system).leaves
        self.instances = [(rule, arguments) for rule in system.rules for arguments in rule.instances()]
        self._numbers = {(id(rule), arguments): at for at, (rule, arguments) in enumerate(self.instances)}

    def steps(self, state: State) -> Iterator[tuple[int, State]]:
        """Yields the successors of a state that assumptions keep, each with the number of its instance."""
        for firing in self._interpreter.successors(state):
            if firing.successor is not None and self._interpreter.check(firing.successor).is_kept:
                yield self._numbers[id(firing.origin), firing.arguments], firing.successor

    def reached(self, states: list[State]) -> list[State]:
        """Returns states, and those after hidden steps from them, in the order of their distance."""
        found = dict.fromkeys(states)
        level = list(found)
        for _ in range(self._options.gap):
            following = dict.fromkeys(
                after for state in level for number, after in self.steps(state) if number in self._hidden
            )
            level = [each for each in following if each not in found][:_MOST_COMPARED]
            found.update(dict.fromkeys(level))
        return list(found)

    def shown(self, line: Line, masks: list[int]) -> dict[int, Leaf]:
        """Returns the leaves that a line shows."""
        mask, values = masks[line.mask], int.from_bytes(line.values, "little")
        shown = {}
        for number, (bit, width, kind) in enumerate(self._leaves):
            if mask >> bit & 1:
                shown[number] = decode(kind, values >> bit & (1 << width) - 1)
        return shown

    def agrees(self, state: State, shown: dict[int, Leaf]) -> bool:
        return all(state[number] == value for number, value in shown.items())

    def differing(self, state: State, shown: dict[int, Leaf]) -> tuple[tuple[str, str, str], ...]:
        """Returns the names of the leaves that differ, with their values in the model and in the log."""
        kinds = self._system.leaf_types
        return tuple(
            (self._names[at], kinds[at].show(state[at]), kinds[at].show(value))
            for at, value in shown.items()
            if state[at] != value
        )

    def explain(self, states: list[State], line: Line, shown: dict[int, Leaf], label: Label | None) -> Explanation:
        """Explains why no state agrees with a line. ``label`` is None for a line that shows a state as it is."""
        possible = tuple(self._possible(each) for each in states[:MOST_STATES])
        if line.impossible:
            return Explanation(possible, (), line.impossible)
        if label is None:
            kind = "the start state" if self._options.start is Start.INITIAL else "a reachable state"
            differing = ((at, self.differing(each, shown)) for at, each in _few(states))
            near = [Nearest(kind, at, (), each, is_state=True) for at, each in differing]
            return Explanation(possible, _nearest(near))
        numbers = label.only or range(label.first, label.end)
        pairs = ((at, state, number) for at, state in _few(self.reached(states)) for number in numbers)
        near = [self._compare(at, state, number, shown) for at, state, number in islice(pairs, _MOST_COMPARED)]
        return Explanation(possible, _nearest(near))

    def _possible(self, state: State) -> Possible:
        return Possible(state, tuple(each.label for each in self._interpreter.successors(state) if each.is_enabled))

    def _compare(self, at: int, state: State, number: int, shown: dict[int, Leaf]) -> Nearest:
        rule, arguments = self.instances[number]
        after = self._after(rule, arguments, state)
        return Nearest(
            rule.label(arguments),
            at,
            false_conjuncts(self._interpreter, rule, arguments, state),
            () if after is None else self.differing(after, shown),
            after is None,
        )

    def _after(self, rule: Rule, arguments: tuple[int, ...], state: State) -> State | None:
        """Returns the state after the body of a rule, whatever its guard; None if it fails."""
        working, executor = list(state), self._interpreter.executor
        try:
            executor.block(rule.body)(working, Instances(rule, executor).frame(arguments))
        except (Fault, Abandoned):
            return None
        return self._interpreter.normalise(working)


def _few(states: list[State]) -> Iterator[tuple[int, State]]:
    return enumerate(states[: 4 * MOST_STATES])


def _nearest(near: list[Nearest]) -> tuple[Nearest, ...]:
    """Returns the nearest ones, of those with the same text only the first."""
    found: dict[str, Nearest] = {}
    for each in sorted(near, key=lambda each: each.distance):
        found.setdefault(each.text, each)
        if len(found) == MOST_NEAREST:
            break
    return tuple(found.values())
