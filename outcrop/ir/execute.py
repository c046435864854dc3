"""The execution of statements.

The closure of a statement returns None if it ran to its end, and a tuple of one if it met a ``return``. Faults and
false ``assume`` statements raise exceptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from outcrop.ir.evaluate import Evaluator
from outcrop.ir.faults import Abandoned, Fault, FaultKind
from outcrop.ir.names import leaf_names
from outcrop.ir.nodes import (
    Assert,
    Assign,
    Assume,
    Bind,
    CallStatement,
    Clear,
    Cover,
    Error,
    Expression,
    For,
    If,
    MultisetAdd,
    MultisetRemove,
    MultisetRemoveIf,
    Place,
    Put,
    Return,
    Statement,
    Switch,
    Undefine,
    While,
)
from outcrop.ir.places import Store, source_text
from outcrop.ir.system import System
from outcrop.ir.types import Array, Multiset, Record, Simple, Type

Returned = tuple[Any] | None
Execute = Callable[[Store, Store], Returned]


def cleared(kind: Type) -> list[int | None]:
    """Returns the leaves that ``clear`` assigns: the least value everywhere, multisets empty."""
    if isinstance(kind, Simple):
        return [kind.low]
    if isinstance(kind, Record):
        return [leaf for _, each in kind.fields for leaf in cleared(each)]
    if isinstance(kind, Array):
        return cleared(kind.element) * kind.index.cardinality
    return [None] * kind.leaf_count


class Executor(Evaluator):
    """Compiles the statements of one System, and executes them. ``put`` receives the output of the model. If it is
    None, the arguments of ``put`` statements are evaluated, since that may fail, but nothing is formatted."""

    def __init__(self, system: System, put: Callable[[str], object] | None = None) -> None:
        super().__init__(system)
        self.put = put
        self.covered = [0] * len(system.covers)
        for function in system.functions:
            self.bodies[function] = self.block(function.body)

    @contextmanager
    def recording(self) -> Iterator[list[str]]:
        """Collects the output of the model while the context is open, piece by piece."""
        before, texts = self.put, list[str]()
        self.put = texts.append
        try:
            yield texts
        finally:
            self.put = before

    def block(self, statements: Sequence[Statement]) -> Execute:
        executes = [self.statement(statement) for statement in statements]
        if len(executes) == 1:
            return executes[0]

        def execute(state: Store, frame: Store) -> Returned:
            for execute_one in executes:
                returned = execute_one(state, frame)
                if returned is not None:
                    return returned
            return None

        return execute

    def statement(self, node: Statement) -> Execute:
        match node:
            case Assign():
                return self._assign(node)
            case Bind():
                return self.bind(node)
            case If():
                return self._if(node)
            case Switch():
                return self._switch(node)
            case For():
                return self._for(node)
            case While():
                return self._while(node)
            case CallStatement():
                return self._call_statement(node)
            case Clear():
                return self._fill(node.target, cleared(node.target.type))
            case Undefine():
                return self._fill(node.target, [None] * node.target.type.leaf_count)
            case Error():
                return self._error(node)
            case Assert():
                return self._assert(node)
            case Assume():
                return self._assume(node)
            case Cover():
                return self._cover(node)
            case Put():
                return self._put(node)
            case Return():
                return self._return(node)
            case MultisetAdd():
                return self._multiset_add(node)
            case MultisetRemove():
                return self._multiset_remove(node)
            case MultisetRemoveIf():
                return self._multiset_remove_if(node)
        raise TypeError(f"not a statement: {node}")

    def _assign(self, node: Assign) -> Execute:
        value, target, write = self.expression(node.value), self.place(node.target), self.writer(node.target)

        def execute(state: Store, frame: Store) -> None:
            stored = value(state, frame)
            write(state, target(state, frame), stored)

        return execute

    def _fill(self, target: Place, leaves: Sequence[Any]) -> Execute:
        locate = self.place(target)

        def execute(state: Store, frame: Store) -> None:
            store, start = locate(state, frame)
            store[start : start + len(leaves)] = leaves

        return execute

    def _if(self, node: If) -> Execute:
        branches = [(self.defined(condition), self.block(body)) for condition, body in node.branches]
        otherwise = self.block(node.otherwise)

        def execute(state: Store, frame: Store) -> Returned:
            for condition, body in branches:
                if condition(state, frame):
                    return body(state, frame)
            return otherwise(state, frame)

        return execute

    def _switch(self, node: Switch) -> Execute:
        selector = self.expression(node.selector)
        cases = [(self.expression(label), self.block(body)) for labels, body in node.cases for label in labels]
        otherwise = self.block(node.otherwise)

        def execute(state: Store, frame: Store) -> Returned:
            selected = selector(state, frame)
            for label, body in cases:
                if label(state, frame) == selected:
                    return body(state, frame)
            return otherwise(state, frame)

        return execute

    def _for(self, node: For) -> Execute:
        offset = self.offsets[node.variable]
        domain, body = self.domain(node.domain), self.block(node.body)

        def execute(state: Store, frame: Store) -> Returned:
            for value in domain(state, frame):
                frame[offset] = value
                returned = body(state, frame)
                if returned is not None:
                    return returned
            return None

        return execute

    def _while(self, node: While) -> Execute:
        condition, body = self.defined(node.condition), self.block(node.body)

        def execute(state: Store, frame: Store) -> Returned:
            iterations = 0
            while condition(state, frame):
                if iterations == node.limit:
                    text = f"the loop runs more than {node.limit:,} times"
                    raise Fault(FaultKind.WHILE_LIMIT, text, node.span)
                iterations += 1
                returned = body(state, frame)
                if returned is not None:
                    return returned
            return None

        return execute

    def _call_statement(self, node: CallStatement) -> Execute:
        call = self.expression(node.call)

        def execute(state: Store, frame: Store) -> None:
            call(state, frame)

        return execute

    def _error(self, node: Error) -> Execute:
        def execute(state: Store, frame: Store) -> None:
            raise Fault(FaultKind.ERROR, node.message, node.span)

        return execute

    def _assert(self, node: Assert) -> Execute:
        condition = self.defined(node.condition)
        text = f"assertion failed: {node.message or source_text(node.condition.span)}"

        def execute(state: Store, frame: Store) -> None:
            if not condition(state, frame):
                raise Fault(FaultKind.ASSERTION, text, node.span)

        return execute

    def _assume(self, node: Assume) -> Execute:
        condition = self.defined(node.condition)

        def execute(state: Store, frame: Store) -> None:
            if not condition(state, frame):
                raise Abandoned

        return execute

    def _cover(self, node: Cover) -> Execute:
        condition = self.defined(node.condition)

        def execute(state: Store, frame: Store) -> None:
            if condition(state, frame):
                self.covered[node.cover] += 1

        return execute

    def _put(self, node: Put) -> Execute:
        argument = node.argument
        if isinstance(argument, str):
            return self._put_text(argument)
        return self._put_place(argument) if isinstance(argument, Place) else self._put_value(argument)

    def _put_text(self, text: str) -> Execute:
        def execute(state: Store, frame: Store) -> None:
            if self.put is not None:
                self.put(text)

        return execute

    def _put_place(self, place: Place) -> Execute:
        locate, kinds = self.place(place), list(place.type.leaves())
        names = leaf_names(place.type, source_text(place.span))

        def execute(state: Store, frame: Store) -> None:
            store, start = locate(state, frame)
            if self.put is None:
                return
            first = self.describe(place, (store, start), state) if place.type.is_simple else ""
            for position, kind in enumerate(kinds):
                name = first or (self.leaf_names[start + position] if store is state else names[position])
                value = store[start + position]
                self.put(f"{name}:{kind.undefined.capitalize() if value is None else kind.show(value)}\n")

        return execute

    def _put_value(self, node: Expression) -> Execute:
        evaluate, kind = self.expression(node), node.type
        assert isinstance(kind, Simple)

        def execute(state: Store, frame: Store) -> None:
            value = evaluate(state, frame)
            if self.put is not None:
                self.put(kind.undefined.capitalize() if value is None else kind.show(value))

        return execute

    def _return(self, node: Return) -> Execute:
        if node.value is None:
            return lambda state, frame: (None,)
        value = self.expression(node.value)
        return lambda state, frame: (value(state, frame),)

    def _multiset_add(self, node: MultisetAdd) -> Execute:
        multiset = node.target.type
        assert isinstance(multiset, Multiset)
        value, locate = self.expression(node.value), self.place(node.target)
        element = multiset.element
        write = self.write(element, node.span, lambda location, state: source_text(node.target.span))

        def execute(state: Store, frame: Store) -> None:
            added = value(state, frame)
            store, start = locate(state, frame)
            for flag in range(start, start + multiset.leaf_count, multiset.slot_leaf_count):
                if store[flag] is None:
                    store[flag] = 0
                    write(state, (store, flag + 1), added)
                    return
            elements = "1 element" if multiset.capacity == 1 else f"{multiset.capacity:,} elements"
            text = f"{source_text(node.target.span)} is full: it holds {elements}"
            raise Fault(FaultKind.MULTISET_FULL, text, node.span)

        return execute

    def _multiset_remove(self, node: MultisetRemove) -> Execute:
        multiset = node.target.type
        assert isinstance(multiset, Multiset)
        locate, size = self.place(node.target), multiset.slot_leaf_count
        position = self.position(node.index, multiset.index, node.target)

        def execute(state: Store, frame: Store) -> None:
            store, start = locate(state, frame)
            slot = position(state, frame)
            flag = start + slot * size
            if store[flag] is None:
                raise Fault(FaultKind.FREE_SLOT, f"slot {slot} of {source_text(node.target.span)} is free", node.span)
            store[flag : flag + size] = [None] * size

        return execute

    def _multiset_remove_if(self, node: MultisetRemoveIf) -> Execute:
        multiset = node.target.type
        assert isinstance(multiset, Multiset)
        locate, condition = self.place(node.target), self.defined(node.condition)
        variable, capacity, size = self.offsets[node.variable], multiset.capacity, multiset.slot_leaf_count

        def execute(state: Store, frame: Store) -> None:
            store, start = locate(state, frame)
            for slot in range(capacity):
                flag = start + slot * size
                frame[variable] = slot
                if store[flag] is not None and condition(state, frame):
                    store[flag : flag + size] = [None] * size

        return execute
