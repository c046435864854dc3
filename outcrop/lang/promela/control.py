"""The control graph of a proctype: its locations, and the steps between them.

Locations and steps are those of SPIN's verifier with statement merging off, so that state spaces have the same size:
``goto`` and ``break`` are steps of their own only where they are the first statement of an option.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from outcrop.lang.promela import syntax
from outcrop.lang.report import Report
from outcrop.source import Span

#: An action: a statement that is one step, or None for a step that only moves on.
Action = syntax.Statement | None


@dataclass(eq=False)
class Location:
    """A place in the text of a proctype where a process can be."""

    span: Span
    region: int | None = None  #: the atomic sequence that it lies in
    labels: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    escapes: list[Location] = field(default_factory=list)  #: first locations of ``unless`` parts, the innermost first
    copies: list[Location] = field(default_factory=list)  #: locations whose steps can be taken from here too
    number: int = 0
    is_end: bool = False  #: the process has ended, and waits for those that it started


@dataclass(eq=False)
class Step:
    """One statement. ``region``: the atomic sequence that it is part of."""

    source: Location
    target: Location
    action: Action
    span: Span
    region: int | None
    graph: Graph | None = None  #: the steps inside, for a d_step

    @property
    def stays_atomic(self) -> bool:
        return self.region is not None and self.target.region == self.region


@dataclass(eq=False)
class Graph:
    start: Location
    end: Location
    locations: list[Location]
    labels: dict[str, Location]
    declarations: list[tuple[syntax.Declaration, bool]]  #: and whether its values are set at the start


class GraphBuilder:
    """Builds a graph backwards: each statement is given the location that follows it."""

    def __init__(self, report: Report, parent: GraphBuilder | None = None) -> None:
        self.report = report
        self.labels: dict[str, Location] = {} if parent is None else parent.labels
        self._defined: set[str] = set() if parent is None else parent._defined
        self._wanted: dict[str, Span] = {} if parent is None else parent._wanted
        self.declarations: list[tuple[syntax.Declaration, bool]] = [] if parent is None else parent.declarations
        self._exits: list[Location] = []  #: where ``break`` leads
        self._escapes: list[Location] = []
        self._region: int | None = None
        self._regions = 0 if parent is None else 1 << 20

    def build(self, body: syntax.Block) -> Graph:
        end = Location(body.span, is_end=True)
        steps = self._flat(body.steps)
        self._is_inside = True
        start = self._entry_of(steps, end)
        for name, span in self._wanted.items():
            if name not in self._defined:
                self.report.error(f"there is no label '{name}'", span)
        return Graph(start, end, _reachable(start, end, self.labels), self.labels, self.declarations)

    # --- Sequences -----------------------------------------------------------------------------------------------

    def _flat(self, steps: tuple[syntax.Statement, ...]) -> list[syntax.Statement]:
        """Returns the statements without braces and declarations; a later initial value is an assignment."""
        flat: list[syntax.Statement] = []
        for each in steps:
            if isinstance(each, syntax.Block) and not each.kind:
                flat += self._flat(each.steps)
            elif isinstance(each, syntax.LocalDeclaration):
                is_first = not flat and not self._exits and self._region is None and not self._is_inside
                self.declarations.append((each.declaration, is_first))
                if not is_first:
                    flat += _initial_values(each.declaration)
            else:
                flat.append(each)
        return flat

    #: Whether the sequence at hand is part of another statement.
    _is_inside = False

    def _entry_of(self, steps: list[syntax.Statement], next_location: Location) -> Location:
        for each in reversed(steps):
            next_location = self._entry(each, next_location)
        return next_location

    def _location(self, span: Span) -> Location:
        return Location(span, self._region, escapes=list(self._escapes))

    def _entry(self, statement: syntax.Statement, following: Location) -> Location:
        """Returns the location at which a statement begins."""
        match statement:
            case syntax.Goto():
                return self._label(statement.label)
            case syntax.Break():
                return self._exit(statement)
            case syntax.Labelled():
                here = self._define(statement.label, statement.span)
                inner = statement.statement
                if isinstance(inner, syntax.Goto | syntax.Break):
                    self._steps_from(here, inner, following)
                else:
                    here.copies.append(self._entry(inner, following)) if _needs_own(inner) else self._steps_from(
                        here, inner, following
                    )
                return here
            case syntax.Block(kind=""):
                return self._entry_of(self._flat(statement.steps), following)
            case syntax.Block(kind="atomic"):
                return self._in_region(lambda: self._entry_of(self._flat(statement.steps), following))
            case syntax.Unless():
                return self._unless(statement, following)
        here = self._location(statement.span)
        self._steps_from(here, statement, following)
        return here

    def _in_region(self, make: object) -> Location:
        before = self._region
        if before is None:
            self._regions += 1
            self._region = self._regions
        try:
            return make()  # type: ignore[operator, no-any-return]
        finally:
            self._region = before

    def _unless(self, statement: syntax.Unless, following: Location) -> Location:
        escape = self._location(statement.escape.span)
        self._steps_from(escape, statement.escape, following)
        self._escapes.insert(0, escape)
        try:
            return self._entry(statement.main, following)
        finally:
            self._escapes.pop(0)

    # --- Steps ---------------------------------------------------------------------------------------------------

    def _steps_from(self, here: Location, statement: syntax.Statement, following: Location) -> None:
        """Adds the first steps of a statement to those that leave a location."""
        match statement:
            case syntax.Choice():
                self._choice(here, statement, following)
            case syntax.Block(kind="d_step"):
                self._d_step(here, statement, following)
            case syntax.Block():
                self._block(here, statement, following)
            case syntax.Labelled():
                own = self._entry(statement, following)
                here.copies.append(own)
            case syntax.Unless():
                here.copies.append(self._entry(statement, following))
            case syntax.Goto():
                self._add(here, None, self._label(statement.label), statement.span)
            case syntax.Break():
                self._add(here, None, self._exit(statement), statement.span)
            case _:
                self._add(here, statement, following, statement.span)

    def _add(self, here: Location, action: Action, target: Location, span: Span) -> None:
        here.steps.append(Step(here, target, action, span, self._region))

    def _block(self, here: Location, block: syntax.Block, following: Location) -> None:
        def add() -> Location:
            steps = self._flat(block.steps)
            if steps:
                self._steps_from(here, steps[0], self._entry_of(steps[1:], following))
            else:
                self._add(here, None, following, block.span)
            return here

        if block.kind == "atomic":
            self._in_region(add)
        else:
            add()

    def _choice(self, here: Location, choice: syntax.Choice, following: Location) -> None:
        if not choice.repeats:
            self._options(here, choice, following)
            return
        head = here
        if here.steps or here.copies:  # the first statement of an option of another choice
            head = self._location(choice.span)
            here.copies.append(head)
        self._exits.append(following)
        self._options(head, choice, head)
        self._exits.pop()

    def _options(self, here: Location, choice: syntax.Choice, following: Location) -> None:
        for option in choice.options:
            self._block(here, option, following)

    def _d_step(self, here: Location, block: syntax.Block, following: Location) -> None:
        inner = GraphBuilder(self.report, self)
        inner._is_inside = True
        end = Location(block.span, is_end=True)
        start = inner._entry_of(inner._flat(block.steps), end)
        graph = Graph(start, end, _reachable(start, end, {}), {}, [])
        here.steps.append(Step(here, following, block, block.span, self._region, graph))

    # --- Labels --------------------------------------------------------------------------------------------------

    def _label(self, name: syntax.Name) -> Location:
        self._wanted.setdefault(name.text, name.span)
        return self.labels.setdefault(name.text, Location(name.span))

    def _define(self, name: syntax.Name, span: Span) -> Location:
        here = self.labels.setdefault(name.text, Location(span))
        if name.text in self._defined:
            self.report.error(f"label '{name.text}' is defined twice", name.span)
        self._defined.add(name.text)
        here.span, here.region, here.escapes = span, self._region, list(self._escapes)
        here.labels.append(name.text)
        return here

    def _exit(self, statement: syntax.Break) -> Location:
        if not self._exits:
            self.report.error("'break' stands outside of any 'do' loop", statement.span)
            return Location(statement.span)
        return self._exits[-1]


def _needs_own(statement: syntax.Statement) -> bool:
    """Returns whether a labelled statement has a first location that others lead back to."""
    return isinstance(statement, syntax.Unless | syntax.Labelled)


def _initial_values(declaration: syntax.Declaration) -> Iterator[syntax.Statement]:
    for each in declaration.declarators:
        if isinstance(each.initial, syntax.Expression) and each.size is None:
            target = syntax.Reference(each.name, span=each.name.span)
            yield syntax.Assignment(target, each.initial, span=declaration.span)


def _reachable(start: Location, end: Location, labels: dict[str, Location]) -> list[Location]:
    """Returns all locations, numbered in the order of the text; steps of copied locations become their own."""
    found: dict[Location, None] = {}
    pending = [start, end, *labels.values()]
    while pending:
        here = pending.pop()
        if here in found:
            continue
        found[here] = None
        pending += here.copies
        pending += here.escapes
        pending += [each.target for each in here.steps]
    for here in found:
        _resolve(here, set())
    ordered = sorted(found, key=lambda each: (each.is_end, each.span.start))
    for number, here in enumerate(ordered):
        here.number = number
    return ordered


def _resolve(here: Location, active: set[Location]) -> list[Step]:
    """Gives a location the steps of those that it copies."""
    active.add(here)
    for other in here.copies:
        if other not in active:
            for step in _resolve(other, active):
                here.steps.append(Step(here, step.target, step.action, step.span, step.region, step.graph))
            here.escapes += [each for each in other.escapes if each not in here.escapes]
    here.copies = []
    active.discard(here)
    return here.steps
