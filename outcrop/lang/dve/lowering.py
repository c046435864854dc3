"""The lowering of a DVE model, from text to System: parse, check, lower.

Each process becomes a variable for its state, with the name of the process, and its own variables. All variables have
initial values. A property process becomes the automaton of the System and takes no part in the model's own steps.
"""

from __future__ import annotations

from contextlib import suppress

from outcrop.errors import ModelError
from outcrop.ir.automaton import Automaton, Edge
from outcrop.ir.nodes import BinaryOperator, Expression, Frame, Local, Variable
from outcrop.ir.system import Property, PropertyKind, Rule, StartState, System
from outcrop.ir.types import Type
from outcrop.lang import build
from outcrop.lang.dve import syntax
from outcrop.lang.dve.language import DveOptions, Overflow
from outcrop.lang.dve.parser import parse, parse_expression
from outcrop.lang.dve.scope import ProcessSymbol, Scope
from outcrop.lang.dve.temporal import TemporalLowering
from outcrop.lang.dve.transitions import Move
from outcrop.lang.frames import FrameBuilder
from outcrop.lang.report import LowerExpression, Report, TooManyErrors, did_you_mean
from outcrop.options import LoadOptions
from outcrop.source import Diagnostic, Severity, Source, Span


def lower(source: Source, options: LoadOptions) -> tuple[System, list[Diagnostic]]:
    """Returns the System and the warnings. Raises ``ModelError`` with all diagnostics for an invalid model."""
    system, warnings, _ = lower_open(source, options)
    return system, warnings


def lower_open(source: Source, options: LoadOptions) -> tuple[System, list[Diagnostic], LowerExpression]:
    """Returns the System, the warnings, and a function that lowers expressions from outside the model."""
    try:
        tree, warnings = parse(source)
        lowering = _ModelLowering(source, options)
        with suppress(TooManyErrors):
            lowering.model(tree)
    except RecursionError:
        message = "the model is nested too deeply; split its largest expressions"
        raise ModelError([Diagnostic(Severity.ERROR, message)]) from None
    diagnostics = _in_text_order([*warnings, *lowering.report.diagnostics])
    if lowering.report.error_count:
        raise ModelError([each for each in diagnostics if each.severity is Severity.ERROR])
    return lowering.system(), diagnostics, lowering.standalone


class _ModelLowering(TemporalLowering):
    def __init__(self, source: Source, options: LoadOptions) -> None:
        super().__init__(source, options)
        self._start_frame = FrameBuilder()
        self._found_rules: list[Rule] = []
        self._properties: list[Property] = []
        self._automaton: Automaton | None = None

    def model(self, tree: syntax.Model) -> None:
        self.check_replacements(tree.declarations)
        for declaration in tree.declarations:
            self.declaration(declaration)
        automata = [each for each in tree.processes if _is_property(each, tree.property)]
        systems = [each for each in tree.processes if not _is_property(each, tree.property)]
        for process in systems:
            self.process(process)
        symbols = [self.processes[each.name.text] for each in systems]
        for symbol in symbols:
            self.scope = symbol.scope
            for transition in symbol.tree.transitions:
                if transition.sync is not None:
                    self.count_values(transition.sync)
        for channel in self.channels:
            if channel.capacity:
                self.make_buffer(channel)
        moves = [move for symbol in symbols for move in self._moves(symbol)]
        for symbol in symbols:
            self._assertions(symbol)
        if not self.report.error_count:
            self._found_rules = self.rules(moves)
        self._property_processes(tree, automata)
        for invariant in self.options.invariants:
            self._given_invariant(invariant)
        for formula in self.options.formulas:
            self.given_formula(formula)

    def standalone(self, span: Span) -> tuple[Expression, Frame]:
        """Returns an expression of any type. Raises ``ModelError`` for an invalid text."""
        node = parse_expression(span, "expression")
        self.report, self.scope = Report(), self.globals
        value = self.expression(node)
        if self.report.error_count:
            raise ModelError(self.report.diagnostics)
        return value, Frame()

    def start_local(self, kind: Type) -> Local:
        return self._start_frame.add("position", kind)

    def system(self) -> System:
        nowhere = Span(self.source, 0, 0)
        frame = self._start_frame.finish()
        start = StartState("initial state", (), frame, nowhere, self.start_body)
        has_error_state = self.options.of(DveOptions).overflow is Overflow.ERROR
        return System(
            name=self.source.name,
            source=self.source,
            constants=self.constants,
            variables=tuple(self.variables),
            functions=tuple(self.functions),
            start_states=(start,),
            rules=tuple(self._found_rules),
            properties=tuple(self._properties),
            covers=(),
            temporal=tuple(self.temporal),
            automaton=self._automaton,
            error_state=StartState("error state", (), frame, nowhere, self.error_body) if has_error_state else None,
        )

    def _moves(self, process: ProcessSymbol) -> list[Move]:
        self.scope = process.scope
        found = [self.move(process, each) for each in process.tree.transitions]
        self.scope = self.globals
        return [move for move in found if move is not None]

    def _assertions(self, process: ProcessSymbol) -> None:
        self.scope = process.scope
        for each in process.tree.assertions:
            state = self.state_of(process, each.state)
            condition = self.condition(each.condition)
            if state is not None:
                here = build.at_location(process.location, process.states, state, each.state.span)
                whole = build.logical(BinaryOperator.IMPLIES, here, condition, each.span)
                text = " ".join(each.condition.span.text.split())
                name = f"{process.name}.{each.state.text}: {text}"
                self._properties.append(Property(name, (), Frame(), each.span, PropertyKind.INVARIANT, whole))
        self.scope = self.globals

    def _given_invariant(self, span: Span) -> None:
        """Adds an invariant from outside the model."""
        self.scope = self.globals
        try:
            condition = self.condition(parse_expression(span, "expression"))
        except ModelError as error:
            self.report.take(error.diagnostics)
            return
        name = " ".join(span.text.split())
        self._properties.append(Property(name, (), Frame(), span, PropertyKind.INVARIANT, condition))

    # --- The property process ------------------------------------------------------------------------------

    def _property_processes(self, tree: syntax.Model, automata: list[syntax.Process]) -> None:
        if tree.property is not None and not any(each.name.text == tree.property.text for each in automata):
            hint = did_you_mean(tree.property.text, self.processes)
            self.report.error(f"there is no process '{tree.property.text}'", tree.property.span, hint)
        found = [self._property_process(each) for each in automata]
        chosen = [each for each in found if len(found) == 1 or (tree.property and each.name == tree.property.text)]
        self._automaton = chosen[0] if chosen else None

    def _property_process(self, node: syntax.Process) -> Automaton:
        states = self.states(node)
        # Not part of a state, since the automaton runs next to the system.
        location = Variable(node.name.text, states, 0, node.name.span)
        symbol = ProcessSymbol(node, states, location, Scope(parent=self.globals), frozenset(), node.name.span)
        self.scope = symbol.scope
        for declaration in node.declarations:
            if isinstance(declaration, syntax.VariableDeclaration) and declaration.is_constant:
                self.declaration(declaration, node.name.text)
            else:
                self.report.error(
                    "a property process can only declare constants", declaration.span, "declare variables outside of it"
                )
        edges = [edge for each in node.transitions if (edge := self._edge(symbol, each)) is not None]
        accepting = [self.state_of(symbol, each) for each in node.accepting]
        for each in node.committed:
            self.report.warning("'commit' has no effect in a property process", each.span, "delete it")
        self.scope = self.globals
        return Automaton(
            name=node.name.text,
            states=states.members,
            initial=self.initial_state(node, symbol),
            accepting=frozenset(each for each in accepting if each is not None),
            edges=tuple(edges),
            span=node.name.span,
        )

    def _edge(self, process: ProcessSymbol, node: syntax.Transition) -> Edge | None:
        if node.sync is not None:
            self.report.error(
                "a property process that synchronises is not supported", node.sync.span, "test variables in its guard"
            )
        for effect in node.effects:
            self.report.error(
                "a property process cannot have effects",
                effect.span,
                "assign in another process, and test the variable here",
            )
        source, target = self.state_of(process, node.source), self.state_of(process, node.target)
        guard = build.conjunction([self.condition(each) for each in node.guards])
        return None if source is None or target is None else Edge(source, target, guard, node.span)


def _is_property(process: syntax.Process, named: syntax.Name | None) -> bool:
    return process.is_property or (named is not None and process.name.text == named.text)


def _in_text_order(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    return sorted(diagnostics, key=lambda each: -1 if each.span is None else each.span.start)
