"""Rules, startstates and properties, with the rulesets, aliases and chooses around them.

Every rule has its own frame, so that enclosing constructs are lowered again for each rule. Parameters become the first
locals of the frame. An alias is bound once around the guard, and again at the start of the body. ``choose`` becomes a
parameter that numbers slots, and a first conjunct of the guard that tests whether the slot is in use.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from outcrop.errors import ModelError
from outcrop.ir.nodes import (
    Binary,
    BinaryOperator,
    Bind,
    Constant,
    Expression,
    Let,
    Load,
    Local,
    LocalPlace,
    Place,
    SlotUsed,
    StepDomain,
    TypeDomain,
)
from outcrop.ir.system import CoverGoal, Parameter, Property, PropertyKind, Rule, StartState
from outcrop.ir.types import BOOLEAN, Multiset, Range, Simple, Type
from outcrop.lang.murphi import syntax
from outcrop.lang.murphi.declarations import DeclarationLowering
from outcrop.lang.murphi.parser import parse_expression
from outcrop.lang.murphi.scope import LocalSymbol, UnknownSymbol
from outcrop.options import LoadOptions
from outcrop.source import Source, Span

MAX_INSTANCES = 10**8
_TEST_IN_GUARD = "use constant bounds, and test the variable in the guard"
_TITLES = {
    PropertyKind.INVARIANT: "Invariant",
    PropertyKind.ASSUMPTION: "Assumption",
    PropertyKind.COVER: "Cover",
    PropertyKind.LIVENESS: "Liveness",
}

Enclosing = syntax.QuantifierSyntax | syntax.AliasBinding | syntax.ChooseRule


class Surroundings:
    """The constructs around one rule, lowered into its frame."""

    def __init__(self) -> None:
        self.parameters: list[Parameter] = []
        #: Aliases, and tests of slots, outermost first.
        self.layers: list[Bind | SlotUsed] = []
        self.is_complete = True

    @property
    def bindings(self) -> tuple[Bind, ...]:
        return tuple(layer for layer in self.layers if isinstance(layer, Bind))

    def around_guard(self, guard: Expression | None) -> Expression | None:
        return self._around(guard, BinaryOperator.AND)

    def around_condition(self, condition: Expression, kind: PropertyKind) -> Expression:
        # An instance for a free slot is trivially true; for a cover goal it must not count.
        joined_by = BinaryOperator.AND if kind is PropertyKind.COVER else BinaryOperator.IMPLIES
        wrapped = self._around(condition, joined_by)
        assert wrapped is not None
        return wrapped

    def _around(self, inner: Expression | None, joined_by: BinaryOperator) -> Expression | None:
        for layer in reversed(self.layers):
            if isinstance(layer, SlotUsed):
                if inner is None or (isinstance(inner, Constant) and inner.value == 1):
                    inner = layer
                else:
                    inner = Binary(type=BOOLEAN, span=inner.span, operator=joined_by, left=layer, right=inner)
            elif isinstance(inner, Let):
                inner = Let(type=inner.type, span=inner.span, bindings=(layer, *inner.bindings), body=inner.body)
            elif inner is not None:
                inner = Let(type=inner.type, span=inner.span, bindings=(layer,), body=inner)
        return inner


class RuleLowering(DeclarationLowering):
    def __init__(self, source: Source, options: LoadOptions, declared_later: dict[str, Span]) -> None:
        super().__init__(source, options, declared_later)
        self.rules: list[Rule] = []
        self.start_states: list[StartState] = []
        self.properties: list[Property] = []
        self.enclosing: list[Enclosing] = []

    # --- Nesting -------------------------------------------------------------------------------------------

    def rule_item(self, node: syntax.RuleItem) -> None:
        if isinstance(node, syntax.RuleSyntax):
            self._rule(node)
        elif isinstance(node, syntax.StartStateSyntax):
            self._start_state(node)
        elif isinstance(node, syntax.PropertySyntax):
            self._property_item(node)
        elif isinstance(node, syntax.LtlSyntax):
            self.temporal_item(node)
        else:
            added: list[Enclosing]
            if isinstance(node, syntax.RuleSet):
                added = list(node.quantifiers)
            elif isinstance(node, syntax.AliasRule):
                added = list(node.bindings)
            else:
                added = [node]
            self.enclosing += added
            if not node.rules:
                with self.instantiated():
                    pass
            for each in node.rules:
                self.rule_item(each)
            del self.enclosing[len(self.enclosing) - len(added) :]

    # Provided by the layer above.
    def temporal_item(self, node: syntax.LtlSyntax) -> None:
        raise NotImplementedError

    @contextmanager
    def instantiated(self) -> Iterator[Surroundings]:
        """Opens a frame and a scope in which the enclosing parameters and aliases are declared."""
        outer = self.scope
        surroundings = Surroundings()
        with self.fresh_frame():
            try:
                for node in self.enclosing:
                    with self.without_side_effects("an alias or bound around rules"):
                        self._enter(node, surroundings)
                self._limit_instances(surroundings)
                with self.block():
                    yield surroundings
            finally:
                self.scope = outer

    def _enter(self, node: Enclosing, surroundings: Surroundings) -> None:
        # Each construct opens a scope, since an inner parameter may hide an outer one.
        self.scope = type(self.scope)(self.scope)
        if isinstance(node, syntax.AliasBinding):
            binding = self.bind_alias(node)
            if binding is not None:
                surroundings.layers.append(binding)
        elif isinstance(node, syntax.ChooseRule):
            self._enter_choose(node, surroundings)
        else:
            self._enter_quantifier(node, surroundings)

    def _enter_choose(self, node: syntax.ChooseRule, surroundings: Surroundings) -> None:
        place = self.multiset_place(node.multiset, writing=False)
        if place is None:
            self.declare(node.name, UnknownSymbol(node.name.span))
            surroundings.is_complete = False
            return
        assert isinstance(place.type, Multiset)
        local = self.bind_slot(node.name, place.type, is_parameter=True)
        surroundings.parameters.append(Parameter(local, range(place.type.capacity)))
        surroundings.layers.append(_slot_used(place, local, node.name.span))

    def _enter_quantifier(self, node: syntax.QuantifierSyntax, surroundings: Surroundings) -> None:
        found = self.parameter_values(node)
        if found is None:
            self.declare(node.name, UnknownSymbol(node.name.span))
            surroundings.is_complete = False
            return
        kind, values = found
        local = self.frame.add(node.name.text, kind, is_parameter=True)
        self.constant_locals.add(local)
        self.declare(node.name, LocalSymbol(local, node.name.span, "a ruleset parameter"))
        surroundings.parameters.append(Parameter(local, values))

    def parameter_values(self, node: syntax.QuantifierSyntax) -> tuple[Type, range] | None:
        domain = self.domain(node)
        if domain is None:
            return None
        kind, values = domain
        if isinstance(values, TypeDomain):
            assert isinstance(kind, Simple)
            return kind, range(kind.low, kind.high + 1)
        assert isinstance(values, StepDomain) and isinstance(kind, Range)
        bounds = [values.first, values.last, *([] if values.step is None else [values.step])]
        numbers = []
        for bound in bounds:
            if not isinstance(bound, Constant) or not isinstance(bound.value, int):
                self.report.error("the bounds of a ruleset must be constants", bound.span, _TEST_IN_GUARD)
                return None
            numbers.append(bound.value)
        first, last, step = (*numbers, 1)[:3]
        return kind, range(first, last + (1 if step > 0 else -1), step)

    def _limit_instances(self, surroundings: Surroundings) -> None:
        count = 1
        for parameter in surroundings.parameters:
            values = parameter.values
            # len() fails on ranges over 2**63
            count *= max(0, (values.stop - values.start + values.step - (1 if values.step > 0 else -1)) // values.step)
        if count > MAX_INSTANCES:
            span = self.enclosing[-1].name.span
            message = f"rules here would have {count:,} instances; at most {MAX_INSTANCES:,} are possible"
            self.report.error(message, span, "use fewer or smaller ruleset parameters")
            surroundings.is_complete = False

    # --- Contents ---------- --------------------------------------------------------------------------------

    def _rule(self, node: syntax.RuleSyntax) -> None:
        with self.instantiated() as around:
            priority = 0
            if node.priority is not None:
                priority = self.constant_integer(node.priority, "the priority of a rule") or 0
            guard = None
            if node.guard is not None:
                with self.without_side_effects("a guard"):
                    guard = self.condition(node.guard, "the guard of a rule")
                if isinstance(guard, Constant) and guard.value == 1:
                    guard = None
            self.declarations(node.declarations)
            body = (*around.bindings, *self.statements(node.body))
            frame = self.frame.finish()
        rule = Rule(
            name=node.name or f"Rule {len(self.rules) + 1}",
            parameters=tuple(around.parameters) if around.is_complete else (),
            frame=frame,
            span=node.span,
            guard=around.around_guard(guard),
            body=body,
            priority=priority,
        )
        self.rules.append(rule)

    def _start_state(self, node: syntax.StartStateSyntax) -> None:
        if any(isinstance(each, syntax.ChooseRule) for each in self.enclosing):
            message = "a startstate cannot choose from a multiset: all are empty before it runs"
            self.report.error(message, node.span, "move the startstate out of 'choose'")
        with self.instantiated() as around:
            self.declarations(node.declarations)
            body = (*around.bindings, *self.statements(node.body))
            frame = self.frame.finish()
        start = StartState(
            name=node.name or f"Startstate {len(self.start_states) + 1}",
            parameters=tuple(around.parameters) if around.is_complete else (),
            frame=frame,
            span=node.span,
            body=body,
        )
        self.start_states.append(start)

    def given_invariant(self, span: Span) -> None:
        """Adds an invariant from outside the model."""
        try:
            condition = parse_expression(span)
        except ModelError as error:
            self.report.take(error.diagnostics)
            return
        self._property_item(syntax.PropertySyntax(span, "invariant", " ".join(span.text.split()), condition))

    def _property_item(self, node: syntax.PropertySyntax) -> None:
        kind = PropertyKind(node.kind)
        with self.instantiated() as around:
            title = _TITLES[kind].lower()
            with self.without_side_effects(f"{'an' if title[0] in 'ai' else 'a'} {title}"):
                condition = self.condition(node.condition, f"the condition of '{node.kind}'")
            frame = self.frame.finish()
        position = sum(each.kind is kind for each in self.properties) + 1
        name = node.name or f"{_TITLES[kind]} {position}"
        cover = None
        if kind is PropertyKind.COVER:
            cover = len(self.covers)
            self.covers.append(CoverGoal(name, node.span))
        self.properties.append(
            Property(
                name=name,
                parameters=tuple(around.parameters) if around.is_complete else (),
                frame=frame,
                span=node.span,
                kind=kind,
                condition=around.around_condition(condition, kind),
                cover=cover,
            )
        )


def _slot_used(place: Place, slot: Local, span: Span) -> SlotUsed:
    index = Load(type=slot.type, span=span, place=LocalPlace(type=slot.type, span=span, local=slot))
    return SlotUsed(type=BOOLEAN, span=span, place=place, index=index)
