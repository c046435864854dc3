"""The control graph of a proctype: its locations, and the steps between them.

Locations and steps are those of SPIN's verifier with statement merging off, so that state spaces have the same size. A
step leads past ``goto``, ``break`` and the ends of choices; where one of these begins an option, or leaves an atomic
sequence, it is a step of its own. A location of a choice or a block has the steps of its first statements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from outcrop.lang.promela import syntax
from outcrop.lang.promela.elements import BLOCKS, SPECIAL_LABELS, Element, ElementBuilder, Goal, Kind, Numbers, Sequence
from outcrop.lang.report import Report
from outcrop.source import Span

#: An action: a statement that is one step, or None for a step that only moves on.
Action = syntax.Statement | None
#: Largest number of consecutive jumps without a statement between them.
_MOST_JUMPS = 500


@dataclass(eq=False)
class Location:
    """A place in the text of a proctype where a process can be. ``state`` is SPIN's number for it."""

    span: Span
    labels: list[str] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)  #: those of "accept", "end" and "progress" that its labels begin with
    steps: list[Step] = field(default_factory=list)  #: in the order in which SPIN tries them, escapes first
    number: int = 0
    is_end: bool = False  #: the process has ended, and waits for those that it started
    state: int = 0


@dataclass(eq=False)
class Step:
    """One statement. ``escape``: the state that an ``unless`` leads to with it, 0 without one."""

    source: Location
    target: Location
    action: Action
    span: Span
    stays_atomic: bool = False
    region: int | None = None  #: the atomic sequence that it is part of
    graph: Graph | None = None  #: the steps inside, for a d_step
    escape: int = 0
    identity: int = 0  #: SPIN's number for the statement, among those of all proctypes
    number: int = 0  #: SPIN's number for the statement, within its proctype

    def leaving(self, location: Location) -> Step:
        """Returns this step as one that leaves another location."""
        return self if self.source is location else replace(self, source=location)

    @property
    def earlier(self) -> list[Step]:
        """The steps of its location that are tried before it."""
        return self.source.steps[: self.source.steps.index(self)]

    @property
    def rivals(self) -> list[Step]:
        """The escapes that are taken in place of it."""
        return [each for each in self.earlier if each.escape not in (0, self.escape)]


@dataclass(eq=False)
class Graph:
    start: Location
    end: Location
    locations: list[Location]
    labels: dict[str, Location]
    declarations: list[tuple[syntax.Declaration, bool]]  #: and whether its values are set at the start
    elements: list[Element] = field(default_factory=list)

    def is_shared(self, span: Span) -> bool:
        """Returns whether several statements stand at a place: those of a macro, or of a ``for``."""
        return self._statements[span.start, span.end] > 1

    @cached_property
    def _statements(self) -> Counter[tuple[int, int]]:
        places = {each.identity: each.span for location in self.locations for each in location.steps}
        return Counter((each.start, each.end) for each in places.values())


class GraphBuilder:
    """Makes the graph of a proctype. ``referred``: labels that other processes ask for."""

    def __init__(self, report: Report, numbers: Numbers | None = None, referred: Iterable[str] = ()) -> None:
        self._elements = ElementBuilder(report, numbers or Numbers())
        self._referred = tuple(referred)
        self._locations: dict[Element, Location] = {}
        self._inside: Element | None = None  #: the d_step whose graph is being made

    def build(self, body: syntax.Block) -> Graph:
        sequence = self._elements.build(body)
        for label in self._referred:
            self._elements.insert_skip(label)
        elements = self._elements.elements
        self._check_jumps(elements)
        for each in reversed(elements):
            if each.kind in BLOCKS:
                last = each.sequences[0].last
                assert last is not None
                last.following = each.following
        for each in elements:
            if each.kind in BLOCKS:
                self._mend_jumps(each.sequences[0])
        assert sequence.first is not None and sequence.last is not None
        start = self._at(self._past(sequence.first, sequence.first.is_atomic))
        end = self._at(sequence.last)
        end.is_end = True
        labels = {
            name: self._at(first_of(element))
            for name, element in self._elements.labels.items()
            if element.kind is not Kind.GOTO
        }
        locations = self._ordered([start, end, *labels.values()])
        self._spread_labels(elements)
        self._add_escapes(locations)
        for each in elements:
            if each.kind in (Kind.CHOICE, Kind.BLOCK, Kind.ATOMIC):
                firsts = list(self._plain(each))
                each.leads = self._led(firsts[-1]) if firsts else None
                each.begins_with_jump = (
                    bool(firsts) and _is_unnamed_jump(firsts[0]) and not any(one.escapes for one in firsts)
                )
        return Graph(start, end, locations, labels, self._elements.declarations, elements)

    def _check_jumps(self, elements: list[Element]) -> None:
        """Reports jumps into a ``d_step`` and out of one."""
        for each in elements:
            goal = self._goal(each) if each.kind is Kind.GOTO else None
            if goal is not None and (each.in_d_step or goal.in_d_step) and each.region != goal.region:
                hint = "let the sequence end where the jump is, or use 'atomic'"
                self._elements.report.error("no jump can lead into or out of a 'd_step'", each.span, hint)

    def _mend_jumps(self, sequence: Sequence) -> None:
        """Makes a ``goto`` out of an atomic sequence end it, and one into another sequence continue it."""
        for each in sequence.walk(sequence.extent):
            if each.kind is not Kind.GOTO:
                if each.kind not in BLOCKS:
                    for inner in each.sequences:
                        self._mend_jumps(inner)
                continue
            goal = self._goal(each)
            if goal is None:
                continue
            is_inside = each.is_atomic or each.ends_atomic
            if is_inside and not (goal.is_atomic or goal.ends_atomic):
                each.is_atomic, each.ends_atomic = False, True
            if each.ends_atomic and (goal.is_atomic or goal.ends_atomic):
                each.is_atomic, each.ends_atomic = True, False

    # --- Where steps lead ----------------------------------------------------------------------------------------

    def _goal(self, jump: Element) -> Element | None:
        if isinstance(jump.goal, Goal):
            return jump.goal.element
        return self._elements.labels.get(jump.goal or "")

    def _past(self, element: Element, is_atomic: bool, *, reports: bool = True) -> Element:
        """Returns the element where a process is that goes on to ``element``."""
        for _ in range(_MOST_JUMPS):
            following: Element | None = None
            if element.kind is Kind.GOTO:
                following = self._goal(element)
            elif element.kind in (Kind.JOIN, Kind.EXIT):
                following = element.following
            elif element.kind is Kind.UNLESS:
                assert element.sequences[0].first is not None
                following = self._past(element.sequences[0].first, is_atomic, reports=reports)
            if following is None or (is_atomic and not following.is_atomic):
                return element
            element = following
        if reports:
            hint = "let one of the jumps do something"
            self._elements.report.error("this jump leads in a circle", element.span, hint)
        return element

    def _led(self, element: Element) -> Element | None:
        """Returns where a step leads that may stand in code that no process comes to."""
        goal = self._goal(element) if element.kind is Kind.GOTO else element.following
        return None if goal is None else self._past(goal, element.is_atomic, reports=False)

    def _following(self, element: Element) -> Location:
        goal = self._goal(element) if element.kind is Kind.GOTO else element.following
        goal = goal or element.following  # a jump to nowhere has been reported
        assert goal is not None
        return self._at(self._past(goal, element.is_atomic))

    # --- Locations -----------------------------------------------------------------------------------------------

    def _at(self, element: Element) -> Location:
        if self._inside is not None and not self._is_inside(element):
            element = self._inside
        if element not in self._locations:
            kinds = {each for each in SPECIAL_LABELS for name in element.labels if name.startswith(each)}
            self._locations[element] = Location(element.span, list(element.labels), kinds, state=element.number)
        return self._locations[element]

    def _is_inside(self, element: Element) -> bool:
        return element.in_d_step and element.region == self._region

    _region: int | None = None

    def _ordered(self, pending: list[Location]) -> list[Location]:
        """Returns all locations that can be reached, numbered in the order of SPIN's states."""
        elements = {location: element for element, location in self._locations.items()}
        done: set[Location] = set()
        while pending:
            here = pending.pop()
            if here in done:
                continue
            done.add(here)
            element = elements.get(here) or self._element_of(here, elements)
            here.steps = list(self._steps(here, element))
            pending += [each.target for each in here.steps]
            pending += [self._at(each) for step in self._plain(element) for each in self._escapes_of(step)]
        ordered = sorted(done, key=lambda each: (each.is_end, each.state))
        for number, each in enumerate(ordered):
            each.number = number
        return ordered

    def _element_of(self, location: Location, known: dict[Location, Element]) -> Element:
        known.update((each, element) for element, each in self._locations.items())
        return known[location]

    # --- Steps ---------------------------------------------------------------------------------------------------

    def _plain(self, element: Element) -> Iterator[Element]:
        """Yields the elements whose steps a process can take at an element."""
        if element.kind is Kind.CHOICE:
            for each in element.sequences:
                assert each.first is not None
                first = first_of(each.first)
                if not (_is_never(first) and not first.escapes):
                    yield from self._plain(first)
        elif element.kind in (Kind.BLOCK, Kind.ATOMIC):
            assert element.sequences[0].first is not None
            yield from self._plain(first_of(element.sequences[0].first))
        elif element is not self._inside:
            yield element

    def _steps(self, here: Location, element: Element) -> Iterator[Step]:
        for each in self._plain(element):
            if each.kind is Kind.END:
                continue
            action = each.action if each.kind in (Kind.STEP, Kind.D_STEP) else None
            graph = self._d_step(each) if each.kind is Kind.D_STEP else None
            target = self._following(each)
            numbers = {"identity": each.identity, "number": each.number}
            yield Step(here, target, action, each.span, each.is_atomic, each.region, graph, **numbers)

    def _d_step(self, element: Element) -> Graph:
        """Returns the graph inside a d_step. Its end is whatever lies outside."""
        outer = self._locations, self._inside, self._region
        first = element.sequences[0].first
        assert first is not None
        self._locations, self._inside, self._region = {}, element, first.region
        start = self._at(first_of(first))
        end = self._at(element)
        end.is_end = True
        locations = self._ordered([start, end])
        self._locations, self._inside, self._region = outer
        return Graph(start, end, locations, {}, [])

    # --- Labels of first statements, and escapes -------------------------------------------------------------------

    def _spread_labels(self, elements: list[Element]) -> None:
        """Gives the meaning of a label at the first statement of an option to where that statement leads, as SPIN."""
        for each in elements:
            if each.kind is not Kind.CHOICE and each.kind not in (Kind.BLOCK, Kind.ATOMIC):
                continue
            for first in self._plain(each):
                kinds = {kind for kind in SPECIAL_LABELS for name in first.labels if name.startswith(kind)}
                if kinds and first.kind is not Kind.END:
                    self._following(first).kinds.update(kinds)

    def _escapes_of(self, element: Element) -> list[Element]:
        """Returns where the ``unless`` parts around an element begin, the innermost first."""
        found = []
        for each in reversed(element.escapes):
            assert each.first is not None
            found.append(self._past(each.first, element.is_atomic))
        return found

    def _add_escapes(self, locations: list[Location]) -> None:
        """Puts the first steps of ``unless`` parts before those that they interrupt."""
        elements = {location: element for element, location in self._locations.items()}
        for here in sorted(locations, key=lambda each: each.state):
            for plain in list(self._plain(elements[here])):
                for each in self._escapes_of(plain):
                    escape = self._at(each)
                    for step in escape.steps:
                        if all(step.identity != known.identity for known in here.steps):
                            here.steps.insert(0, replace(step, source=here, escape=escape.state))


def first_of(element: Element) -> Element:
    """Returns the element where a sequence begins."""
    while True:
        if element.kind is Kind.JOIN and element.following is not None:
            element = element.following
        elif element.kind is Kind.UNLESS:
            assert element.sequences[0].first is not None
            element = element.sequences[0].first
        else:
            return element


def _is_never(element: Element) -> bool:
    action = element.action
    return (
        element.kind is Kind.STEP
        and isinstance(action, syntax.Test)
        and isinstance(action.condition, syntax.Number)
        and action.condition.value == 0
    )


def _is_unnamed_jump(element: Element) -> bool:
    """Returns whether an element is a ``break``, or the end of a choice."""
    return element.kind in (Kind.JOIN, Kind.EXIT) or isinstance(element.goal, Goal)


def location_names(locations: list[Location]) -> list[str]:
    """Returns a name for each place: its label or line, and a number where another place has that name."""
    names: list[str] = []
    for each in locations:
        name = "end" if each.is_end else each.labels[0] if each.labels else f"line {each.span.line}"
        if each.is_end and name in names:  # a label has this name
            name = "-end-"
        if name in names:
            name = next(f"{name}.{number}" for number in range(2, 10_000) if f"{name}.{number}" not in names)
        names.append(name)
    return names
