"""Formulas of temporal logic about Promela models, in the model or from outside, and never claims."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from outcrop.errors import ModelError
from outcrop.ir.automaton import Automaton, Edge
from outcrop.ir.formula import Formula, Operator
from outcrop.ir.formula import proposition as proposition_of
from outcrop.ir.nodes import BinaryOperator, Expression
from outcrop.ir.system import TemporalProperty
from outcrop.lang import build
from outcrop.lang.formulas import expression_of, read_formula
from outcrop.lang.frames import FrameBuilder
from outcrop.lang.promela import syntax
from outcrop.lang.promela.control import GraphBuilder, Location, Step
from outcrop.lang.promela.declarations import DeclarationLowering
from outcrop.lang.promela.language import PromelaOptions
from outcrop.lang.promela.parser import parse_expression
from outcrop.lang.promela.preprocessor import Preprocessor
from outcrop.lang.promela.scope import VariableSymbol
from outcrop.ltl.parser import Binding
from outcrop.options import FormulaText, LoadOptions
from outcrop.source import Source, Span

_OPERATORS = {
    "!": Operator.NOT,
    "G": Operator.GLOBALLY,
    "F": Operator.FINALLY,
    "X": Operator.NEXT,
    "U": Operator.UNTIL,
    "W": Operator.WEAK_UNTIL,
    "R": Operator.RELEASE,
    "&&": Operator.AND,
    "||": Operator.OR,
    "->": Operator.IMPLIES,
    "<->": Operator.IFF,
}
_NO_PROGRESS = proposition_of("np_", verbatim=True)
_ACCEPTING = proposition_of("a process is at an accept label", verbatim=True)
#: Steps of an atomic sequence of a never claim.
_MOST_ATOMIC = 30
_TEMPORAL = frozenset("GFXUWR") | {"->", "<->"}


class TemporalLowering(DeclarationLowering):
    def __init__(self, source: Source, options: LoadOptions, preprocessor: Preprocessor) -> None:
        super().__init__(source, options, preprocessor)
        self.temporal: list[TemporalProperty] = []
        self.automaton: Automaton | None = None

    def formulas(self, model: syntax.Model) -> None:
        if not self.options.of(PromelaOptions).claims:
            return
        for each in model.formulas:
            self.process, self.frame = None, FrameBuilder()
            meaning: dict[Formula, Expression] = {}
            formula = self._formula(each.formula, meaning)
            frame = self.frame.finish()
            self.temporal.append(TemporalProperty(each.name, (), frame, each.span, formula, meaning))
        if model.never is not None:
            self.automaton = self._never(model.never)

    def cycles(self) -> None:
        """Adds the formulas of --progress and --acceptance."""
        options, span = self.options.of(PromelaOptions), Span(self.source, 0, 0)
        again = partial(Formula, Operator.GLOBALLY), partial(Formula, Operator.FINALLY)
        if options.progress:
            self._cycle("progress", again[0](again[1](Formula(Operator.NOT, _NO_PROGRESS))), _NO_PROGRESS, span)
        if options.acceptance:
            self._cycle("acceptance", again[1](again[0](Formula(Operator.NOT, _ACCEPTING))), _ACCEPTING, span)

    def _cycle(self, name: str, formula: Formula, proposition: Formula, span: Span) -> None:
        self.process, self.frame = None, FrameBuilder()
        if proposition is _ACCEPTING:
            # A run that has ended at an accept label stays there for ever.
            meaning = build.negation(self.no_process_at("accept", span), span)
        else:
            # A run that has ended is on no cycle.
            meaning = build.logical(BinaryOperator.AND, self.no_process_at("progress", span), self.can_move(span), span)
        frame = self.frame.finish()
        self.temporal.append(TemporalProperty(name, (), frame, span, formula, {proposition: meaning}))

    def _formula(self, node: syntax.Expression, meaning: dict[Formula, Expression]) -> Formula:
        if _is_temporal(node):
            if isinstance(node, syntax.Unary):
                return Formula(_OPERATORS[node.operator], self._formula(node.operand, meaning))
            assert isinstance(node, syntax.Binary)
            left, right = self._formula(node.left, meaning), self._formula(node.right, meaning)
            return Formula(_OPERATORS[node.operator], left, right)
        proposition = proposition_of(" ".join(node.span.text.split()), verbatim=True)
        meaning[proposition] = self.condition(node)
        return proposition

    def given_formula(self, text: FormulaText) -> None:
        self.process, self.frame = None, FrameBuilder()
        known = [name for name, symbol in self.globals.items() if isinstance(symbol, VariableSymbol)]
        found = read_formula(text, known, self.report, partial(self._meaning, text))
        if found is not None:
            frame = self.frame.finish()
            self.temporal.append(TemporalProperty(text.name, (), frame, text.span, *found))

    def _meaning(self, text: FormulaText, each: Formula, place: Span, _bound: Binding) -> Expression | None:
        errors = self.report.error_count
        where = expression_of(each, place, text.definitions)
        if where is None:
            node: syntax.Expression = syntax.Reference(syntax.Name(each.text, place), span=place)
        else:
            try:
                node = parse_expression(where, frozenset(self.proctypes), self.preprocessor)
            except ModelError as error:
                self.report.take(error.diagnostics)
                return None
        condition = self.condition(node)
        return condition if self.report.error_count == errors else None

    # --- Never claims ------------------------------------------------------------------------------------------------

    def _never(self, body: syntax.Block) -> Automaton:
        """Returns the automaton of a never claim. Its end accepts whatever follows."""
        graph = GraphBuilder(self.report).build(body)
        self.process, self.frame = None, FrameBuilder()
        edges: list[Edge] = []
        for location in graph.locations:
            for step in location.steps:
                for tests, target in self._claim_moves(step, []):
                    goal = graph.end if target is None else target
                    edges.append(Edge(location.number, goal.number, build.conjunction(tests), step.span))
        end = graph.end.number
        edges.append(Edge(end, end, None, body.span))
        accepting = {each.number for each in graph.locations if "accept" in each.kinds}
        names = tuple(each.labels[0] if each.labels else f"line {each.span.line}" for each in graph.locations)
        return Automaton(
            name="never claim",
            states=names,
            initial=graph.start.number,
            accepting=frozenset(accepting | {end}),
            edges=tuple(edges),
            span=body.span,
            frame=self.frame.finish(),
        )

    def _claim_moves(
        self, step: Step, tests: list[Expression], turns: int = 0
    ) -> Iterator[tuple[list[Expression], Location | None]]:
        """Yields the moves of a claim that begin with a step: their tests, and where they lead. None: an assertion of
        the claim fails. An atomic sequence is one move, and is not taken where it blocks, as in SPIN."""
        if turns > _MOST_ATOMIC:
            hint = "let its loops stand outside of 'atomic'"
            self.report.error("an atomic sequence of a never claim is too long", step.span, hint)
            return
        tests = [*tests, *self._claim_tests(step)]
        if isinstance(step.action, syntax.Assertion) and self.options.of(PromelaOptions).assertions:
            holds = self.condition(step.action.condition)
            yield [*tests, build.negation(holds, step.span)], None
            tests.append(holds)
        if not step.stays_atomic:
            yield tests, step.target
            return
        for following in step.target.steps:
            yield from self._claim_moves(following, tests, turns + 1)

    def _claim_tests(self, step: Step) -> list[Expression]:
        match step.action:
            case None | syntax.Assertion() | syntax.Print():
                return []
            case syntax.Test(condition=condition):
                return [self.condition(condition)]
            case syntax.Else():
                others = [each for each in step.source.steps if each is not step]
                tests = [build.conjunction(self._claim_tests(each)) or build.truth(True, step.span) for each in others]
                return [build.negation(each, step.span) for each in tests]
        self.report.error("a never claim can only test", step.span, "move assignments and messages into a process")
        return []


def _is_temporal(node: syntax.Expression) -> bool:
    """Returns whether a formula is more than one expression of the model."""
    match node:
        case syntax.Unary():
            return node.operator in _TEMPORAL or (node.operator == "!" and _is_temporal(node.operand))
        case syntax.Binary():
            own = node.operator in _TEMPORAL
            return own or (node.operator in ("&&", "||") and (_is_temporal(node.left) or _is_temporal(node.right)))
    return False
