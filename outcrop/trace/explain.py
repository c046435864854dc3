"""The explanation of a failed invariant: the parts of it that are false.

The condition is split along its connectives and quantifiers in the order of evaluation: a conjunction into the operand
that decided it, a disjunction into both, a ``forall`` into the first failing instance. Each part comes with the values
that it read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from outcrop.ir.faults import Abandoned, Fault
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import State
from outcrop.ir.nodes import (
    Binary,
    BinaryOperator,
    Conditional,
    Expression,
    Let,
    Load,
    Local,
    LocalPlace,
    MultisetCount,
    Quantified,
    Quantifier,
    Unary,
    UnaryOperator,
)
from outcrop.ir.places import Store, blank_frame, source_text
from outcrop.ir.system import Property, Rule
from outcrop.ir.types import Simple
from outcrop.ir.walk import walk, writes_state
from outcrop.source import Span
from outcrop.trace.values import is_channel, items

#: Longest text of a part, in characters.
_LONGEST_TEXT = 160
#: Largest number of parts of a property, and of values of a part, that are listed.
_MOST_PARTS, _MOST_VALUES = 100, 100


@dataclass(frozen=True)
class FalsePart:
    """A false part of a property: its text with the values that it read, and its place."""

    text: str
    span: Span


def because(
    interpreter: Interpreter, failed: Property, arguments: tuple[int, ...], state: State
) -> tuple[FalsePart, ...]:
    """Returns the false parts of a property that is false in ``state``, outermost first."""
    if writes_state(failed.condition):
        return ()  # splitting it would evaluate parts on a state that other parts have changed
    frame = blank_frame(failed.frame)
    for parameter, value in zip(failed.parameters, arguments, strict=True):
        frame[interpreter.executor.offsets[parameter.local]] = value
    parts = _Explanation(interpreter, list(state), frame).false_parts(failed.condition)
    shown = tuple(islice(parts, _MOST_PARTS))
    more = sum(1 for _ in parts)
    return (*shown, FalsePart(f"... and {more:,} more", failed.condition.span)) if more else shown


def guard_parts(
    interpreter: Interpreter, rule: Rule, arguments: tuple[int, ...], state: State
) -> tuple[FalsePart, ...]:
    """Returns the conjuncts of a guard that is true in ``state``, each with the values that make it true."""
    if rule.guard is None or writes_state(rule.guard):
        return ()
    frame = blank_frame(rule.frame)
    for parameter, value in zip(rule.parameters, arguments, strict=True):
        frame[interpreter.executor.offsets[parameter.local]] = value
    explanation = _Explanation(interpreter, list(state), frame)
    return tuple(islice(explanation.true_parts(rule.guard), _MOST_PARTS))


@dataclass(frozen=True)
class FalseConjunct:
    """A conjunct of a guard that is false: its parts, and, if it only compares a variable, what would make it true."""

    parts: tuple[FalsePart, ...]
    wish: str  #: ``granted[2] = true``, or the text of the conjunct


def false_conjuncts(
    interpreter: Interpreter, rule: Rule, arguments: tuple[int, ...], state: State
) -> tuple[FalseConjunct, ...]:
    """Returns every conjunct of a guard that is false in ``state``, or cannot be evaluated."""
    if rule.guard is None:
        return ()
    frame = blank_frame(rule.frame)
    for parameter, value in zip(rule.parameters, arguments, strict=True):
        frame[interpreter.executor.offsets[parameter.local]] = value
    if writes_state(rule.guard):
        text = source_text(rule.guard.span)
        return (FalseConjunct((FalsePart(text, rule.guard.span),), text),)
    return tuple(_Explanation(interpreter, list(state), frame).false_conjuncts(rule.guard))


class _Explanation:
    def __init__(self, interpreter: Interpreter, state: Store, frame: Store) -> None:
        self._executor = interpreter.executor
        self._system = interpreter.system
        self._state = state
        self._frame = frame
        self._bindings: list[str] = []  #: quantifier variables bound since the last part, with their values

    def false_parts(self, node: Expression) -> Iterator[FalsePart]:
        """Yields the smallest parts that make ``node`` false."""
        match node:
            case Binary(operator=BinaryOperator.AND):
                yield from self.false_parts(node.right if self._is_true(node.left) else node.left)
            case Binary(operator=BinaryOperator.OR):
                yield from self.false_parts(node.left)
                yield from self.false_parts(node.right)
            case Binary(operator=BinaryOperator.IMPLIES):
                yield self._part(node, self._evidence(node.left, True))
                yield from self.false_parts(node.right)
            case Quantified(quantifier=Quantifier.FORALL):
                self._bind_first(node, False)
                yield from self.false_parts(node.body)
            case Conditional():
                yield from self.false_parts(node.then if self._is_true(node.condition) else node.otherwise)
            case Let():
                self._bind_aliases(node)
                yield from self.false_parts(node.body)
            case _:
                yield self._part(node, self._evidence(node, False))

    def true_parts(self, node: Expression) -> Iterator[FalsePart]:
        """Yields the conjuncts of ``node``, which is true."""
        match node:
            case Binary(operator=BinaryOperator.AND):
                yield from self.true_parts(node.left)
                yield from self.true_parts(node.right)
            case Let():
                self._bind_aliases(node)
                yield from self.true_parts(node.body)
            case _:
                yield self._part(node, self._evidence(node, True))

    def false_conjuncts(self, node: Expression) -> Iterator[FalseConjunct]:
        """Yields the conjuncts of ``node`` that are false, or cannot be evaluated."""
        match node:
            case Binary(operator=BinaryOperator.AND):
                yield from self.false_conjuncts(node.left)
                yield from self.false_conjuncts(node.right)
            case Let():
                self._bind_aliases(node)
                yield from self.false_conjuncts(node.body)
            case _:
                try:
                    if not self._is_true(node):
                        yield FalseConjunct(tuple(islice(self.false_parts(node), _MOST_PARTS)), self._wish(node))
                except (Fault, Abandoned):
                    yield FalseConjunct((self._part(node, list(self._values(node))),), source_text(node.span))

    def _wish(self, node: Expression) -> str:
        """Returns the value of a variable that would make ``node`` true, if that is all it needs."""
        match node:
            case Load():
                return self._equation(node, "true") or source_text(node.span)
            case Unary(operator=UnaryOperator.NOT, operand=Load() as load):
                return self._equation(load, "false") or source_text(node.span)
            case Binary(operator=BinaryOperator.EQUAL, left=Load() as load, right=wanted):
                if isinstance(load.type, Simple) and not isinstance(wanted, Load):
                    value = self._executor.defined(wanted)(self._state, self._frame)
                    return self._equation(load, load.type.show(value)) or source_text(node.span)
        return source_text(node.span)

    def _equation(self, load: Load, value: str) -> str | None:
        store, offset = self._executor.place(load.place)(self._state, self._frame)
        return f"{self._name(offset)} = {value}" if store is self._state else None

    def _name(self, offset: int) -> str:
        """Returns the name of a leaf; for the length of a channel, Promela's expression for it."""
        name = self._executor.leaf_names[offset]
        channel = name.removesuffix(".length")
        if channel != name and any(each.offset == offset and is_channel(each.type) for each in items(self._system)):
            return f"len({channel})"
        return name

    def _part(self, node: Expression, values: list[str]) -> FalsePart:
        text = source_text(node.span)
        if len(text) > _LONGEST_TEXT:
            text = text[: _LONGEST_TEXT - 3] + "..."
        bindings, self._bindings = self._bindings, []
        listed = list(dict.fromkeys([*bindings, *values]))
        shown = ", ".join(listed[:_MOST_VALUES] + ["..."] * (len(listed) > _MOST_VALUES))
        return FalsePart(f"{text} ({shown})" if shown else text, node.span)

    def _evidence(self, node: Expression, truth: bool) -> list[str]:
        """Returns the values, and the witnesses of quantifiers, that give ``node`` this truth value."""
        match node:
            case Unary(operator=UnaryOperator.NOT):
                return self._evidence(node.operand, not truth)
            case Binary(operator=BinaryOperator.AND | BinaryOperator.OR as operator):
                decides = operator is BinaryOperator.OR
                if truth is not decides:
                    return self._evidence(node.left, truth) + self._evidence(node.right, truth)
                return self._evidence(node.left if self._is_true(node.left) is decides else node.right, truth)
            case Quantified() if truth is (node.quantifier is Quantifier.EXISTS):
                self._bind_first(node, truth)
                return self._evidence(node.body, truth)
            case Let():
                self._bind_aliases(node)
                return self._evidence(node.body, truth)
            case _:
                return list(self._values(node))

    def _values(self, node: Expression) -> Iterator[str]:
        """Yields ``name = value`` for each simple variable that a part reads outside inner binders."""
        bound: set[Local] = set()
        for each in walk(node):
            if isinstance(each, Quantified | MultisetCount):
                bound.add(each.variable)
            elif isinstance(each, Let):
                bound.update(binding.local for binding in each.bindings)
        for each in walk(node):
            if isinstance(each, Load) and isinstance(each.type, Simple) and not _is_bound(each, bound):
                try:
                    store, offset = self._executor.place(each.place)(self._state, self._frame)
                except (Fault, Abandoned):
                    continue  # a connective kept it from being evaluated
                if store is self._state:
                    yield f"{self._name(offset)} = {each.type.show(store[offset])}"

    def _is_true(self, node: Expression) -> bool:
        return bool(self._executor.defined(node)(self._state, self._frame))

    def _bind_first(self, node: Quantified, truth: bool) -> None:
        """Gives the variable of a quantifier the first value for which the body has this truth value."""
        offset = self._executor.offsets[node.variable]
        for value in self._executor.domain(node.domain)(self._state, self._frame):
            self._frame[offset] = value
            if self._is_true(node.body) is truth:
                break
        assert isinstance(node.variable.type, Simple)
        self._bindings.append(f"{node.variable.name}: {node.variable.type.show(self._frame[offset])}")

    def _bind_aliases(self, node: Let) -> None:
        for binding in node.bindings:
            self._executor.bind(binding)(self._state, self._frame)


def _is_bound(load: Load, bound: set[Local]) -> bool:
    return any(isinstance(each, LocalPlace) and each.local in bound for each in walk(load))
