"""Priorities of processes: a process moves only while none of a greater priority can.

The priority of a process is a constant of its proctype where all its processes begin with the same one and nothing
changes it. Otherwise it is the field ``_priority`` of the process.
"""

from __future__ import annotations

from collections.abc import Callable

from outcrop.ir.nodes import (
    Assign,
    BinaryOperator,
    Conditional,
    Error,
    Expression,
    If,
    LocalPlace,
    Quantified,
    Quantifier,
    Statement,
    TypeDomain,
)
from outcrop.ir.types import BOOLEAN, INTEGER
from outcrop.lang import build
from outcrop.lang.promela import syntax
from outcrop.lang.promela.control import Step
from outcrop.lang.promela.lifetimes import LifetimeLowering
from outcrop.lang.promela.scope import BYTE, ProctypeSymbol, Self, VariableSymbol
from outcrop.source import Span

FIELD = "_priority"


class PriorityLowering(LifetimeLowering):
    def any_enabled(self, steps: list[Step], span: Span) -> Expression:
        raise NotImplementedError

    def provided(self) -> list[Expression]:
        raise NotImplementedError

    # --- What a process may do ---------------------------------------------------------------------------------

    def allowed(self) -> list[Expression]:
        """Returns what ``self.process`` needs for any step: its ``provided`` condition, and its priority."""
        assert self.process is not None
        me, span = self.process, self.process.proctype.tree.span
        tests = self.provided()
        for proctype in self.proctypes.values():
            if proctype.variable is not None and self._may_outrank(proctype, me.proctype):
                tests.append(build.negation(self._outranked(me, proctype, span), span))
        self.process = me
        return tests

    def is_always_allowed(self, proctype: ProctypeSymbol) -> bool:
        """Returns whether the processes of a proctype never wait for a condition or for a greater priority."""
        others = (each for each in self.proctypes.values() if each.variable is not None)
        return proctype.tree.provided is None and not any(self._may_outrank(each, proctype) for each in others)

    def _may_outrank(self, other: ProctypeSymbol, mine: ProctypeSymbol) -> bool:
        if other.priority is None or mine.priority is None:
            return True
        return other.priority > mine.priority

    def _outranked(self, me: Self, proctype: ProctypeSymbol, span: Span) -> Expression:
        """Returns whether a process of a proctype can move, and has a greater priority."""

        def can(other: Self) -> list[Expression]:
            greater = build.binary(
                BinaryOperator.GREATER, self.priority_of(other, span), self.priority_of(me, span), span, BOOLEAN
            )
            return [greater, self.moves(other, span)]

        return self.some_process(proctype, can, span)

    def priority_of(self, process: Self, span: Span) -> Expression:
        """Returns the priority of a process that exists."""
        if process.proctype.priority is not None:
            return build.number(process.proctype.priority, span)
        node = syntax.Reference(syntax.Name(FIELD, span), span=span)
        place = self.place(node, process)
        assert place is not None
        return build.load(place)

    def some_process(
        self, proctype: ProctypeSymbol, tests: Callable[[Self], list[Expression]], span: Span
    ) -> Expression:
        """Returns whether some process of a proctype meets all tests."""
        several = len(proctype.pids) > 1
        pid: Expression = build.number(proctype.pids.start, span)
        if several:
            local = self.frame.add("other", proctype.pid_type)
            pid = build.load(LocalPlace(type=local.type, span=span, local=local))
        me = self.process
        one = build.conjunction(tests(self.self_of(proctype, pid, span))) or build.truth(True, span)
        self.process = me
        if several:
            domain = TypeDomain(type=proctype.pid_type)
            one = Quantified(span=span, quantifier=Quantifier.EXISTS, variable=local, domain=domain, body=one)
        return one

    def moves(self, process: Self, span: Span) -> Expression:
        """Returns whether a process could take a step from where it is. Priorities are not asked for."""
        self.process = process
        whole: Expression = build.truth(False, span)
        for location in process.proctype.graph.locations:
            here = self.is_at(process, [location.number + 1], span)
            enabled = build.conjunction([here, self.any_enabled(location.steps, span)]) or here
            whole = build.logical(BinaryOperator.OR, whole, enabled, span)
        return build.conjunction([*self.provided(), whole]) or whole

    # --- Statements and expressions ------------------------------------------------------------------------------

    def get_priority(self, node: syntax.Priority) -> Expression:
        """Returns the priority of the process with a number, 0 where there is none."""
        number, span = self.integer(node.process), node.span
        whole: Expression = build.number(0, span)
        for process, is_it in self._numbered(number, span):
            value = self.priority_of(process, span)
            whole = Conditional(type=INTEGER, span=span, condition=is_it, then=value, otherwise=whole)
        return whole

    def set_priority(self, node: syntax.SetPriority) -> list[Statement]:
        """Returns the change of a priority. Nothing happens where there is no such process."""
        span = node.span
        body: list[Statement] = []
        number, value = self.kept(self.integer(node.process), body), self.kept(self.integer(node.value), body)
        below = build.binary(BinaryOperator.LESS, value, build.number(1, span), span, BOOLEAN)
        above = build.binary(BinaryOperator.GREATER, value, build.number(255, span), span, BOOLEAN)
        wrong = build.logical(BinaryOperator.OR, below, above, span)
        error = Error(span=span, message="a priority is from 1 to 255")
        branches = []
        for process, is_it in self._numbered(number, span):
            place = self.place(syntax.Reference(syntax.Name(FIELD, span), span=span), process)
            assert place is not None
            store = Assign(span=span, target=place, value=build.reduced(value, BYTE))
            branches.append((is_it, (If(span=span, branches=((wrong, (error,)),)), store)))
        return [*body, If(span=span, branches=tuple(branches))] if branches else body

    def _numbered(self, number: Expression, span: Span) -> list[tuple[Self, Expression]]:
        """Returns all processes that can have a number, each with the test that it exists and has the number."""
        found = []
        known = getattr(number, "value", None)
        for proctype in self.proctypes.values():
            for pid in proctype.pids if proctype.variable is not None else ():
                if known is not None and known != pid:
                    continue
                process = self.self_of(proctype, build.number(pid, span), span)
                is_it = build.binary(BinaryOperator.EQUAL, number, build.number(pid, span), span, BOOLEAN)
                there = build.negation(self.is_at(process, [0], span), span)
                found.append((process, build.logical(BinaryOperator.AND, is_it, there, span)))
        return found

    # --- Declarations ------------------------------------------------------------------------------------------

    def set_priorities(self, started: list[syntax.Run], is_changed: bool) -> None:
        """Gives each proctype the priority of its processes, or a field for it where they may differ."""
        for proctype in self.proctypes.values():
            found = {each.priority for each in started if each.proctype.text == proctype.name}
            found |= {proctype.tree.priority} if proctype.active else set()
            if len(found) <= 1 and not is_changed:
                proctype.priority = min(found, default=1)
                continue
            proctype.priority, span = None, proctype.tree.name.span
            initial = syntax.Number(proctype.tree.priority, span=span)
            symbol = VariableSymbol(FIELD, BYTE, span, initial=initial)
            proctype.names[FIELD] = symbol
            proctype.fields.append(symbol)

    def begin_priority(self, node: syntax.Run, created: Self, span: Span) -> list[Statement]:
        """Returns the priority that ``run`` gives to a process."""
        if created.proctype.priority is not None:
            return []
        place = self.place(syntax.Reference(syntax.Name(FIELD, span), span=span), created)
        assert place is not None
        return [Assign(span=span, target=place, value=build.number(node.priority, span))]
