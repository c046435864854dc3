"""Statements. Each is lowered to a list, because an alias is a binding followed by the statements inside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from outcrop.ir.nodes import (
    Assert,
    Assign,
    Assume,
    Bind,
    CallStatement,
    Clear,
    Constant,
    Cover,
    Error,
    Expression,
    For,
    If,
    Load,
    MultisetAdd,
    MultisetRemove,
    MultisetRemoveIf,
    Place,
    Put,
    Return,
    Statement,
    Switch,
    Undefine,
    Undefined,
    While,
)
from outcrop.ir.system import CoverGoal
from outcrop.ir.types import Multiset, Range, Real
from outcrop.lang.murphi import syntax
from outcrop.lang.murphi.expressions import ExpressionLowering
from outcrop.lang.murphi.language import MurphiOptions, UndefinedReads
from outcrop.lang.murphi.places import is_fixed
from outcrop.lang.murphi.scope import UNKNOWN, LocalSymbol, PlaceSymbol, UnknownSymbol, ValueSymbol, describe
from outcrop.lang.murphi.types import has_scalarset
from outcrop.lang.murphi.undefined import converts_unread, is_same_type, returns_unread
from outcrop.lang.murphi.warnings import warn_dependent_iterations
from outcrop.lang.while_limit import LoopOptions
from outcrop.options import LoadOptions
from outcrop.source import Source, Span

Statements = list[Statement]


class StatementLowering(ExpressionLowering):
    def __init__(self, source: Source, options: LoadOptions, declared_later: dict[str, Span]) -> None:
        super().__init__(source, options, declared_later)
        self.covers: list[CoverGoal] = []
        self._statements: dict[type, Callable[[Any], Statements]] = {
            syntax.AssignStatement: self._assign,
            syntax.IfStatement: self._if,
            syntax.SwitchStatement: self._switch,
            syntax.ForStatement: self._for,
            syntax.WhileStatement: self._while,
            syntax.AliasStatement: self._alias,
            syntax.CallStatement: self._call_statement,
            syntax.ClearStatement: self._clear,
            syntax.UndefineStatement: self._undefine,
            syntax.ErrorStatement: lambda node: [Error(span=node.span, message=node.message)],
            syntax.PropertyStatement: self._property,
            syntax.PutStatement: self._put,
            syntax.ReturnStatement: self._return,
            syntax.MultisetAddStatement: self._multiset_add,
            syntax.MultisetRemoveStatement: self._multiset_remove,
            syntax.MultisetRemovePredStatement: self._multiset_remove_if,
        }

    def statements(self, body: Sequence[syntax.Statement]) -> tuple[Statement, ...]:
        lowered: Statements = []
        for node in body:
            lowered += self._statements[type(node)](node)
        return tuple(lowered)

    # --- Assignment and the like ---------------------------------------------------------------------------

    def _assign(self, node: syntax.AssignStatement) -> Statements:
        target = self.target(node.target, "assigned")
        if self.is_undefined_literal(node.value):
            return [] if target is None else [Undefine(span=node.span, target=target)]
        value = self.expression(node.value)
        if target is None:
            return []
        what = f"the value for '{node.target.span.text}'"
        relax = self.relaxed if self.is_variable(node.value, value) else self.relaxed_unread
        value = relax(self.fitted(value, target.type, what), self.lenient)
        kind = target.type
        if isinstance(value, Constant) and isinstance(kind, Range) and isinstance(value.value, int):
            self.warn_outside(value.value, kind, value.span)
        return [Assign(span=node.span, target=target, value=value)]

    def _clear(self, node: syntax.ClearStatement) -> Statements:
        target = self.target(node.target, "cleared")
        if target is None:
            return []
        if has_scalarset(target.type):
            message = f"clearing '{node.target.span.text}' would single out one value of a scalarset"
            hint = "assign its other components one by one, and 'undefine' those of a scalarset type"
            if self.options.of(MurphiOptions).undefined is UndefinedReads.PERMIT:
                self.report.error(message, node.span, hint)
            else:
                self.report.warning(message, node.span, hint)
        return [Clear(span=node.span, target=target)]

    def _undefine(self, node: syntax.UndefineStatement) -> Statements:
        target = self.target(node.target, "undefined")
        return [] if target is None else [Undefine(span=node.span, target=target)]

    def _put(self, node: syntax.PutStatement) -> Statements:
        if isinstance(node.argument, str):
            return [Put(span=node.span, argument=node.argument)]
        designated = self.designate(node.argument)
        if isinstance(designated, tuple):
            place = designated[0]
            if place.type is not UNKNOWN and not self.is_value(place):
                return [Put(span=node.span, argument=place)]
            value: Expression = Load(type=place.type, span=node.argument.span, place=place)
        else:
            value = self.unknown(node.span) if designated is None else self.settled(designated)
        if value.type is UNKNOWN:
            return []
        if not value.type.is_simple:
            message = f"only variables and simple values can be printed, not {describe(value.type)}"
            self.report.error(message, node.span, "print its components one by one")
            return []
        return [Put(span=node.span, argument=self.relaxed(value, Undefined.ALLOW))]

    # --- Control flow --------------------------------------------------------------------------------------

    def _if(self, node: syntax.IfStatement) -> Statements:
        branches = tuple(
            (self.condition(condition, "the condition of 'if'"), self.statements(body))
            for condition, body in node.branches
        )
        return [If(span=node.span, branches=branches, otherwise=self.statements(node.otherwise or []))]

    def _switch(self, node: syntax.SwitchStatement) -> Statements:
        selector = self.expression(node.selector)
        kind = selector.type
        if kind is not UNKNOWN and (not kind.is_simple or isinstance(kind, Real)):
            self.report.error(
                f"'switch' cannot select by {describe(kind)}", selector.span, "write if ... elsif ... end"
            )
            selector = self.unknown(selector.span)
        lenient = converts_unread(selector.type)
        if lenient:
            selector = self.relaxed_unread(selector, self.lenient)
        seen: dict[int | float, Span] = {}
        cases = []
        for labels, body in node.cases:
            lowered = tuple(self._label(label, selector, seen) for label in labels)
            if lenient:
                lowered = tuple(self.relaxed_unread(label, self.lenient) for label in lowered)
            cases.append((lowered, self.statements(body)))
        otherwise = self.statements(node.otherwise or [])
        return [Switch(span=node.span, selector=selector, cases=tuple(cases), otherwise=otherwise)]

    def _label(self, node: syntax.Expression, selector: Expression, seen: dict[int | float, Span]) -> Expression:
        label = self.fitted(self.expression(node), selector.type, "the label")
        if isinstance(label, Constant) and label.value is not None:
            earlier = seen.setdefault(label.value, node.span)
            if earlier is not node.span:
                note = ("the first one", earlier)
                self.report.warning(
                    "an earlier case has the same label; this one is never chosen", node.span, "delete one", note
                )
        return label

    def _for(self, node: syntax.ForStatement) -> Statements:
        with self.block():
            return self._for_from(node, 0)

    def _for_from(self, node: syntax.ForStatement, position: int) -> Statements:
        if position == len(node.quantifiers):
            return list(self.statements(node.body))
        quantifier = node.quantifiers[position]
        domain = self.domain(quantifier)
        if domain is None:
            self.declare(quantifier.name, UnknownSymbol(quantifier.name.span))
            return self._for_from(node, position + 1)
        variable = self.bind_loop_variable(quantifier.name, domain[0], "a loop variable")
        body = tuple(self._for_from(node, position + 1))
        loop = For(span=node.span, variable=variable, domain=domain[1], body=body)
        warn_dependent_iterations(loop, self.report)
        return [loop]

    def _while(self, node: syntax.WhileStatement) -> Statements:
        condition = self.condition(node.condition, "the condition of 'while'")
        body = self.statements(node.body)
        return [While(span=node.span, condition=condition, body=body, limit=self.options.of(LoopOptions).while_limit)]

    def _alias(self, node: syntax.AliasStatement) -> Statements:
        with self.block():
            bindings: Statements = []
            for each in node.bindings:
                binding = self.bind_alias(each)
                if binding is not None:
                    bindings.append(binding)
            return [*bindings, *self.statements(node.body)]

    def bind_alias(self, node: syntax.AliasBinding) -> Bind | None:
        """Declares an alias. A constant, or a place that never changes, needs no binding at run time."""
        name = node.name
        designated = self.designate(node.value)
        if designated is None or (not isinstance(designated, tuple) and designated.type is UNKNOWN):
            self.declare(name, UnknownSymbol(name.span))
            return None
        if isinstance(designated, tuple):
            return self._bind_place(node, *designated)
        value = self.settled(designated)
        if isinstance(value, Constant):
            self.declare(name, ValueSymbol(value, name.span))
            return None
        local = self.frame.add(name.text, value.type)
        self.declare(name, LocalSymbol(local, name.span, "an alias of a value"))
        return Bind(span=node.span, local=local, target=value)

    def _bind_place(self, node: syntax.AliasBinding, place: Place, read_only: str) -> Bind | None:
        name = node.name
        if place.type is UNKNOWN:
            self.declare(name, UnknownSymbol(name.span))
            return None
        if is_fixed(place, self.constant_locals):
            self.declare(name, PlaceSymbol(place, name.span, read_only))
            return None
        if self.is_value(place):
            local = self.frame.add(name.text, place.type)
            self.declare(name, LocalSymbol(local, name.span, "an alias of a value"))
            return Bind(span=node.span, local=local, target=Load(type=place.type, span=node.value.span, place=place))
        local = self.frame.add(name.text, place.type, is_reference=True)
        self.aliased_parts.add(local)
        self.take_reference(place)
        if self.reaches_state(place):
            self.references_to_state.add(local)
        self.declare(name, LocalSymbol(local, name.span, read_only))
        return Bind(span=node.span, local=local, target=place)

    def _call_statement(self, node: syntax.CallStatement) -> Statements:
        call = self.call(node.call)
        if call is None:
            return []
        # The result is dropped, undefined or not.
        return [CallStatement(span=node.span, call=replace(call, undefined=Undefined.ALLOW))]

    def _return(self, node: syntax.ReturnStatement) -> Statements:
        function = self.function
        if node.value is None:
            if function is not None and function.result is not None:
                self.report.error(
                    f"'{function.name}' is a function: 'return' needs a value", node.span, "write return x"
                )
            return [Return(span=node.span)]
        value = self.expression(node.value)
        if function is None or function.result is None:
            where = "a rule or startstate" if function is None else f"the procedure '{function.name}'"
            self.report.error(f"'return' in {where} cannot have a value", node.value.span, "write 'return' alone")
            return []
        passes = is_same_type(value.type, function.result) and returns_unread(function.result)
        value = self.fitted(value, function.result, f"the value returned by '{function.name}'")
        return [Return(span=node.span, value=self.relaxed(value, self.lenient) if passes else value)]

    # --- Properties as statements --------------------------------------------------------------------------

    def _property(self, node: syntax.PropertyStatement) -> Statements:
        condition = self.condition(node.condition, f"the condition of '{node.kind}'")
        message = node.message or node.condition.span.text
        if node.kind == "assume":
            return [Assume(span=node.span, condition=condition, message=message)]
        if node.kind == "cover":
            self.covers.append(CoverGoal(node.message or f"Cover {len(self.covers) + 1}", node.span))
            return [Cover(span=node.span, condition=condition, cover=len(self.covers) - 1)]
        if node.kind == "liveness":
            self.report.error(
                "'liveness' is a property of the model, not a statement", node.span, "write it outside of rules"
            )
            return []
        return [Assert(span=node.span, condition=condition, message=message)]

    # --- Multisets -----------------------------------------------------------------------------------------

    def _multiset_add(self, node: syntax.MultisetAddStatement) -> Statements:
        value = self.expression(node.value)
        target = self.multiset_place(node.multiset, writing=True)
        if target is None:
            return []
        assert isinstance(target.type, Multiset)
        value = self.relaxed_unread(self.fitted(value, target.type.element, "the element"), self.lenient)
        return [MultisetAdd(span=node.span, value=value, target=target)]

    def _multiset_remove(self, node: syntax.MultisetRemoveStatement) -> Statements:
        target = self.multiset_place(node.multiset, writing=True)
        if target is None:
            return []
        assert isinstance(target.type, Multiset)
        index = self.slot_number(node.index, target.type)
        return [] if index is None else [MultisetRemove(span=node.span, target=target, index=index)]

    def _multiset_remove_if(self, node: syntax.MultisetRemovePredStatement) -> Statements:
        target = self.multiset_place(node.multiset, writing=True)
        if target is None:
            return []
        assert isinstance(target.type, Multiset)
        with self.block():
            variable = self.bind_slot(node.name, target.type)
            condition = self.condition(node.condition, "the condition of 'multisetremovepred'")
        return [MultisetRemoveIf(span=node.span, variable=variable, target=target, condition=condition)]
