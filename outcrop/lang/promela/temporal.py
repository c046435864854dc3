"""Formulas of temporal logic about Promela models, in the model or from outside, and never claims."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
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
from outcrop.lang.promela.words import words
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
        self._expanded: dict[str, set[str]] = {}  #: of a formula: texts of its expressions, and what they stand for

    def formulas(self, model: syntax.Model) -> None:
        if not self.options.of(PromelaOptions).claims:
            return
        for each in model.formulas:
            self.process, self.frame = None, FrameBuilder()
            self._expanded = {}
            for node in _expressions(each.formula):
                self._expanded.setdefault(" ".join(node.span.text.split()), set()).add(words(node))
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
            self.process, self.frame = None, FrameBuilder()
            self._warn_of_no_label("progress", "so every cycle is a violation")
            # A run that has ended is on no cycle.
            meaning = build.logical(BinaryOperator.AND, self.no_process_at("progress", span), self.can_move(span), span)
            formula = again[0](again[1](Formula(Operator.NOT, _NO_PROGRESS)))
            violation = "non-progress cycle: a run avoids all progress labels from some point on"
            self._cycle("progress", formula, {_NO_PROGRESS: meaning}, violation)
        if options.acceptance:
            self.process, self.frame = None, FrameBuilder()
            self._warn_of_no_label("accept", "so no cycle is a violation")
            formula = again[1](again[0](Formula(Operator.NOT, _ACCEPTING)))
            violation = "acceptance cycle: a run is at accept labels again and again"
            self._cycle("acceptance", formula, {_ACCEPTING: self._at_accept_label(span)}, violation)

    def _cycle(self, name: str, formula: Formula, meaning: dict[Formula, Expression], violation: str) -> None:
        span = Span(self.source, 0, 0)
        added = TemporalProperty(name, (), self.frame.finish(), span, formula, meaning, violation=violation)
        self.temporal.append(added)

    def _warn_of_no_label(self, kind: str, consequence: str) -> None:
        trees = [each.tree.body for each in self.proctypes.values()]
        trees += [] if self.event_trace is None else [self.event_trace.tree.body]
        labels = [node.label for node in syntax.walk(trees) if isinstance(node, syntax.Labelled)]
        if not any(each.text.startswith(kind) for each in labels):
            self.report.warning(f"the model has no label that begins with '{kind}', {consequence}", None)

    def warn_of_labels(self) -> None:
        """Warns where SPIN would also report cycles through accept labels of processes: where a formula is checked."""
        options = self.options.of(PromelaOptions)
        claims = [each for each in self.temporal if each.name not in ("progress", "acceptance")]
        label = self._labelled("accept")
        if claims and not options.acceptance and label is not None:
            message = "formulas are checked alone, while SPIN also reports cycles through this accept label"
            self.report.warning(message, label.span, "check those with --acceptance")

    def counts_accept_labels(self, tree: syntax.Model) -> bool:
        """Returns whether accept labels of processes matter."""
        options = self.options.of(PromelaOptions)
        return options.acceptance or (options.claims and tree.never is not None)

    def _at_accept_label(self, span: Span) -> Expression:
        """Returns whether a process is at an accept label, where a run that has ended stays for ever, or the last step
        of a run that has not ended passed one."""
        here = build.negation(self.no_process_at("accept", span), span)
        if self.passed is None:
            return here
        passed: Expression = build.load(build.place(self.passed, span))
        passed = build.logical(BinaryOperator.AND, passed, self.can_move(span), span)
        return build.logical(BinaryOperator.OR, here, passed, span)

    def _labelled(self, kind: str) -> Location | None:
        """Returns the first place of the processes and of the event trace at a label of a kind."""
        graphs = [each.graph for each in self.proctypes.values() if each.variable is not None]
        graphs += [] if self.event_trace is None else [self.event_trace.graph]
        return next((each for graph in graphs for each in graph.locations if kind in each.kinds), None)

    def _formula(self, node: syntax.Expression, meaning: dict[Formula, Expression]) -> Formula:
        if _is_temporal(node):
            if isinstance(node, syntax.Unary):
                return Formula(_OPERATORS[node.operator], self._formula(node.operand, meaning))
            assert isinstance(node, syntax.Binary)
            left, right = self._formula(node.left, meaning), self._formula(node.right, meaning)
            return Formula(_OPERATORS[node.operator], left, right)
        text = " ".join(node.span.text.split())
        if len(self._expanded[text]) > 1:  # several expressions that come from one macro
            text = words(node)
        proposition = proposition_of(text, verbatim=True)
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
        """Returns the automaton of a never claim. Its end accepts whatever follows. As in SPIN, it also accepts runs
        along the claim that visit accept labels of processes again and again."""
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
        claim = Automaton(
            name="never claim",
            states=names,
            initial=graph.start.number,
            accepting=frozenset(accepting | {end}),
            edges=tuple(edges),
            span=body.span,
        )
        if self._labelled("accept"):
            claim = _accepting_at(self._at_accept_label(body.span), claim)
        return replace(claim, frame=self.frame.finish())

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


def _accepting_at(visited: Expression, claim: Automaton) -> Automaton:
    """Returns the automaton that also accepts runs with infinitely many states in which ``visited`` is true. Each state
    that does not accept gets a copy that does, which is entered where ``visited`` is true."""
    others = [number for number in range(len(claim.states)) if number not in claim.accepting]
    copies = {number: len(claim.states) + place for place, number in enumerate(others)}
    edges = []
    for edge in claim.edges:
        guards: list[tuple[int, Expression | None]] = [(edge.target, edge.guard)]
        if edge.target in copies:
            tests = [] if edge.guard is None else [edge.guard]
            missed = build.negation(visited, edge.span)
            guards = [
                (edge.target, build.conjunction([*tests, missed])),
                (copies[edge.target], build.conjunction([*tests, visited])),
            ]
        for source in (edge.source, copies.get(edge.source)):
            if source is not None:
                edges += [Edge(source, target, guard, edge.span) for target, guard in guards]
    return replace(
        claim,
        states=(*claim.states, *(f"{claim.states[number]}, after an accept label" for number in others)),
        accepting=claim.accepting | frozenset(copies.values()),
        edges=tuple(edges),
    )


def _expressions(node: syntax.Expression) -> Iterator[syntax.Expression]:
    """Yields the expressions of the model in a formula."""
    if not _is_temporal(node):
        yield node
    elif isinstance(node, syntax.Unary):
        yield from _expressions(node.operand)
    elif isinstance(node, syntax.Binary):
        yield from _expressions(node.left)
        yield from _expressions(node.right)


def _is_temporal(node: syntax.Expression) -> bool:
    """Returns whether a formula is more than one expression of the model."""
    match node:
        case syntax.Unary():
            return node.operator in _TEMPORAL or (node.operator == "!" and _is_temporal(node.operand))
        case syntax.Binary():
            own = node.operator in _TEMPORAL
            return own or (node.operator in ("&&", "||") and (_is_temporal(node.left) or _is_temporal(node.right)))
    return False
