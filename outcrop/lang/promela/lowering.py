"""From the text of a Promela model to a System: parse, check, lower.

The processes of a proctype become a record, or an array of records by their numbers: where each is, its parameters and
its variables. A process that does not exist is nowhere, and all of it is zero. Channels with a buffer become records;
a rendezvous is one rule for each pair of statements that can meet.
"""

from __future__ import annotations

from contextlib import suppress

from outcrop.errors import ModelError
from outcrop.ir.nodes import BinaryOperator, Expression, Frame, Quantifier
from outcrop.ir.system import Property, PropertyKind, Rule, StartState, System
from outcrop.ir.types import BOOLEAN
from outcrop.lang import build
from outcrop.lang.frames import FrameBuilder
from outcrop.lang.promela import syntax
from outcrop.lang.promela.atomic import Ending
from outcrop.lang.promela.control import Location, Step
from outcrop.lang.promela.holding import Holding
from outcrop.lang.promela.parser import parse, parse_expression
from outcrop.lang.promela.places import process_text
from outcrop.lang.promela.processes import can_end
from outcrop.lang.promela.rules import passes_accept_label
from outcrop.lang.promela.temporal import TemporalLowering
from outcrop.lang.report import LowerExpression, Report, TooManyErrors, did_you_mean
from outcrop.options import LoadOptions
from outcrop.source import Diagnostic, Severity, Source, Span


def lower(source: Source, options: LoadOptions) -> tuple[System, list[Diagnostic]]:
    """Returns the System and the warnings. Raises ModelError with all diagnostics where the model is wrong."""
    system, warnings, _ = lower_open(source, options)
    return system, warnings


def lower_open(source: Source, options: LoadOptions) -> tuple[System, list[Diagnostic], LowerExpression]:
    """Returns the System, the warnings, and a function that lowers expressions from outside the model."""
    try:
        tree, preprocessor, warnings = parse(source, options.constants)
        lowering = _ModelLowering(source, options, preprocessor)
        system = None
        with suppress(TooManyErrors):
            system = lowering.model(tree)
    except RecursionError:
        message = "the model is nested too deeply: split its largest expressions"
        raise ModelError([Diagnostic(Severity.ERROR, message)]) from None
    diagnostics = [*warnings, *lowering.report.diagnostics]
    if system is None or lowering.report.error_count:
        raise ModelError([each for each in diagnostics if each.severity is Severity.ERROR])
    return system, diagnostics, lowering.standalone


class _ModelLowering(TemporalLowering):
    _rules: list[Rule]
    _properties: list[Property]

    def model(self, tree: syntax.Model) -> System | None:
        """Returns the System. None, or a System of no use, if the report has errors."""
        self._check_replacements()
        self._rules, self._properties = [], []
        self._looked_at = set()
        if not tree.proctypes:
            self.report.error("the model has no process", None, "add 'init { ... }' or an active proctype")
            return None
        self.types(tree)
        self.find_written(tree)
        self.declare_globals(tree)
        self.declare_proctypes(tree)
        if self.report.error_count:
            return None
        self.number_channels()
        self.holding = Holding(self.globals, self.proctypes, self.channels)
        self.holding.find()
        self.make_variables(tree)
        self.find_claims(self.written)
        self._end_steps()
        ways = self.all_ways()
        if any(each.ending is Ending.PRIVILEGED for each in ways):
            self.make_privilege()
        if self.counts_accept_labels(tree) and any(map(passes_accept_label, ways)):
            self.make_passed()
        self._rules = self.rules_of_all(ways)
        self.formulas(tree)
        self.cycles()
        for invariant in self.options.invariants:
            self._given_invariant(invariant)
        for formula in self.options.formulas:
            self.given_formula(formula)
        self.warn_of_labels()
        return self._system()

    def _check_replacements(self) -> None:
        """Reports each -D that names no macro of the model."""
        for name in self.options.constants:
            if name not in self.preprocessor.mentioned:
                hint = did_you_mean(name, self.preprocessor.mentioned)
                self.report.error(f"-D {name}: the model has no macro of that name", None, hint)
        for name, macro in self.preprocessor.macros.items():
            if macro.parameters is None and len(macro.body) == 1 and macro.body[0].text.isdigit():
                self.constants[name] = int(macro.body[0].text)

    def _end_steps(self) -> None:
        """Gives every proctype that can end the step with which its processes go."""
        for proctype in self.proctypes.values():
            if can_end(proctype.graph):
                end = proctype.graph.end
                gone = Location(end.span, number=-1)
                last = proctype.graph.elements[-1]
                end.steps = [Step(end, gone, None, end.span, identity=last.identity, number=last.number)]

    def _given_invariant(self, span: Span) -> None:
        self.process, self.frame = None, FrameBuilder()
        node = parse_expression(span, frozenset(self.proctypes), self.preprocessor)
        condition = self.condition(node)
        frame = self.frame.finish()
        self._properties.append(Property(span.text, (), frame, span, PropertyKind.INVARIANT, condition))

    def standalone(self, span: Span) -> tuple[Expression, Frame]:
        """Returns an expression of any type. Raises ModelError if the text is not an expression."""
        node = parse_expression(span, frozenset(self.proctypes), self.preprocessor)
        self.report, self.process, self.frame = Report(), None, FrameBuilder()
        value = self.expression(node)
        if self.report.error_count:
            raise ModelError(self.report.diagnostics)
        return value, self.frame.finish()

    def may_end(self) -> tuple[Expression, Frame]:
        """Returns whether every process is at a valid end: gone, at its end, or at a label that begins with "end"."""
        self.process, self.frame = None, FrameBuilder()
        span = Span(self.source, 0, 0)
        whole: Expression = build.truth(True, span)
        for proctype in self.proctypes.values():
            if proctype.variable is None:
                continue
            valid = [0, *(each.number + 1 for each in proctype.graph.locations if _is_valid_end(each))]
            there = self.quantified(Quantifier.FORALL, proctype, valid, span)
            whole = build.logical(BinaryOperator.AND, whole, there, span)
        for test in self.event_trace_at("end", span):  # SPIN does not ask where all processes have gone
            assert self.process_count is not None
            count = build.load(build.place(self.process_count, span))
            is_empty = build.binary(BinaryOperator.EQUAL, count, build.number(0, span), span, BOOLEAN)
            complete = build.logical(BinaryOperator.OR, is_empty, test, span)
            whole = build.logical(BinaryOperator.AND, whole, complete, span)
        return whole, self.frame.finish()

    def _system(self) -> System:
        nowhere = Span(self.source, 0, 0)
        self.frame = FrameBuilder()
        body = tuple(self.start_body())
        start = StartState("initial state", (), self.frame.finish(), nowhere, body)
        condition, end_frame = self.may_end()
        end = Property("valid end states", (), end_frame, nowhere, PropertyKind.END, condition)
        return System(
            name=self.source.name,
            source=self.source,
            constants=self.constants,
            variables=tuple(self.variables),
            functions=(),
            start_states=(start,),
            rules=tuple(self._rules),
            properties=(*self._properties, end),
            covers=(),
            temporal=tuple(self.temporal),
            automaton=self.automaton,
            texts=tuple(map(process_text, self.proctypes.values())),
            guess=self.guess,
            included=tuple(self.preprocessor.included),
        )


def _is_valid_end(location: Location) -> bool:
    return location.is_end or "end" in location.kinds
