"""The elements of a proctype: its statements, linked and numbered as SPIN's verifier does.

A state of a process in SPIN is the number of an element. The number of states of a model therefore depends on which
elements exist, on those that ``goto`` and ``break`` skip, and on the order in which they get their numbers. This file
makes the elements from the tree; control.py makes locations and steps from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from outcrop.lang.promela import syntax
from outcrop.lang.report import Report, did_you_mean
from outcrop.source import Span


class Kind(StrEnum):
    STEP = "step"  #: a statement that is one step
    GOTO = "goto"  #: ``goto`` or ``break``
    JOIN = "join"  #: the point behind a choice, or before the options of a loop
    EXIT = "exit"  #: the point behind a loop, where ``break`` leads
    CHOICE = "choice"  #: ``if`` or ``do``
    UNLESS = "unless"
    BLOCK = "block"  #: braces, and what was ``atomic`` within another atomic sequence
    ATOMIC = "atomic"
    D_STEP = "d_step"
    END = "end"  #: the closing brace of a proctype


#: Kinds that hold one sequence of elements.
BLOCKS = frozenset((Kind.BLOCK, Kind.ATOMIC, Kind.D_STEP))
#: Prefixes of labels with a meaning of their own.
SPECIAL_LABELS = ("accept", "end", "progress")


@dataclass(eq=False)
class Element:
    """A statement or jump of a proctype. ``number``: SPIN's number of its state, within the proctype; ``identity``: its
    number among all elements."""

    kind: Kind
    span: Span
    number: int
    identity: int
    action: syntax.Statement | None = None
    sequences: list[Sequence] = field(default_factory=list)  #: options, or the main part of ``unless`` and its escape
    following: Element | None = None
    escapes: list[Sequence] = field(default_factory=list)  #: ``unless`` parts, the outermost first
    labels: list[str] = field(default_factory=list)
    goal: Goal | str | None = None  #: for GOTO, where it leads: behind a loop, or to a label
    is_atomic: bool = False  #: the process goes on alone after it
    ends_atomic: bool = False  #: it is the last of an atomic sequence
    in_d_step: bool = False
    region: int | None = None  #: the atomic sequence that it is part of
    leads: Element | None = None  #: for a choice or block, where the first statement of its last option leads
    begins_with_jump: bool = False  #: for a choice or block, whether its first statement is a jump out of it


@dataclass(eq=False)
class Sequence:
    """Elements from ``first`` on. ``extent``: the last of its own text; ``last`` may be a JOIN behind it."""

    first: Element | None = None
    last: Element | None = None
    extent: Element | None = None

    def add(self, element: Element) -> None:
        if self.last is None:
            self.first = element
        else:
            self.last.following = element
        self.last = element

    def walk(self, last: Element | None) -> Iterator[Element]:
        here = self.first
        while here is not None:
            following = here.following
            yield here
            if here is last:
                return
            here = following


@dataclass(eq=False)
class Goal:
    """The exit of a loop, known when the loop has been read."""

    element: Element | None = None


@dataclass(eq=False)
class _Read:
    """A statement whose inner sequences have elements already, but which has none itself."""

    kind: Kind
    span: Span
    action: syntax.Statement | None = None
    sequences: list[Sequence] = field(default_factory=list)
    goal: Goal | str | None = None
    labels: list[str] = field(default_factory=list)  #: the innermost first
    repeats: bool = False


@dataclass
class Numbers:
    """Numbers of elements in the whole model."""

    next: int = 0

    def take(self) -> int:
        self.next += 1
        return self.next - 1


class ElementBuilder:
    """Makes the elements of one proctype, in the order in which SPIN's parser does."""

    def __init__(self, report: Report, numbers: Numbers) -> None:
        self.report = report
        self.elements: list[Element] = []
        self.labels: dict[str, Element] = {}
        self.declarations: list[tuple[syntax.Declaration, bool]] = []  #: and whether its values are set at the start
        self._numbers = numbers
        self._current = Sequence()
        self._goals: list[Goal] = []
        self._sets_at_start = True
        self._regions = 0
        self._wanted: dict[str, Span] = {}
        self._defined: set[str] = set()

    def build(self, body: syntax.Block) -> Sequence:
        for each in body.steps:
            self._step(each)
        self._current.add(self._new(Kind.END, Span(body.span.source, body.span.end - 1, body.span.end)))
        self._current.extent = self._current.last
        for name, span in self._wanted.items():
            if name not in self.labels:
                self.report.error(f"there is no label '{name}'", span, did_you_mean(name, self.labels))
        return self._current

    # --- Statements --------------------------------------------------------------------------------------------

    def _step(self, statement: syntax.Statement) -> None:
        """Reads a statement of the current sequence."""
        if isinstance(statement, syntax.LocalDeclaration):
            if statement.is_silent and any(_same(statement.declaration, each) for each, _ in self.declarations):
                return
            self.declarations.append((statement.declaration, self._sets_at_start))
            if not (self._sets_at_start or statement.is_silent):
                for each in _initial_values(statement.declaration):
                    self._current.add(self._new(Kind.STEP, each.span, each))
            return
        if isinstance(statement, syntax.Scoped):
            for each in statement.steps:
                self._step(each)
        elif not isinstance(statement, syntax.Exclusive):
            self._append(self._read(statement))

    def _read(self, statement: syntax.Statement) -> _Read:
        span = statement.span
        match statement:
            case syntax.Labelled():
                inner = self._read(statement.statement)
                name = statement.label
                inner.labels.append(name.text)
                if name.text in self._defined:
                    self.report.error(f"label '{name.text}' is defined twice", name.span, "rename one of the two")
                self._defined.add(name.text)
                return inner
            case syntax.Goto():
                self._wanted.setdefault(statement.label.text, statement.label.span)
                found = _Read(Kind.GOTO, span, statement, goal=statement.label.text)
            case syntax.Break():
                if not self._goals:
                    self.report.error(
                        "'break' stands outside of any 'do' loop", span, "use 'skip', or 'goto' and a label"
                    )
                found = _Read(Kind.GOTO, span, statement, goal=self._goals[-1] if self._goals else Goal())
            case syntax.Choice():
                found = self._read_choice(statement)
            case syntax.Block():
                found = _Read(_BLOCK_KINDS[statement.kind], span, statement, [self._sequence(statement.steps, span)])
                if found.kind is not Kind.BLOCK:
                    self._regions += 1
                    _make_atomic(found.sequences[0], self._regions, found.kind is Kind.D_STEP)
            case syntax.Spliced():
                for each in statement.before:
                    self._step(each)
                found = self._read(statement.last)
            case syntax.Unless():
                found = self._read_unless(statement)
            case _:
                found = _Read(Kind.STEP, span, statement)
        self._sets_at_start = False
        return found

    def _sequence(self, steps: tuple[syntax.Statement, ...], place: Span) -> Sequence:
        outer, self._current = self._current, Sequence()
        self._sets_at_start = False
        for each in steps:
            self._step(each)
        made, self._current = self._current, outer
        if made.last is None:  # SPIN refuses an empty sequence; ours has nothing to do
            made.add(self._skip(place))
        made.extent = made.last
        return made

    def _read_choice(self, statement: syntax.Choice) -> _Read:
        goal = Goal()
        if statement.repeats:
            self._goals.append(goal)
        options = [self._sequence(each.steps, each.span) for each in statement.options]
        if statement.repeats:
            self._goals.pop()
        for each in options:
            _drop_skips(each)
        if statement.is_reversed:
            options.reverse()
        options.sort(key=lambda each: each.first is not None and isinstance(each.first.action, syntax.Else))
        return _Read(Kind.CHOICE, statement.span, statement, options, goal, repeats=statement.repeats)

    def _read_unless(self, statement: syntax.Unless) -> _Read:
        main, escape = self._read(statement.main), self._read(statement.escape)
        escapes = escape.sequences[0] if escape.kind is Kind.BLOCK else self._alone(escape)
        if main.kind in BLOCKS and main.labels:  # the label belongs to the whole
            labels, main.labels = main.labels, []
            inner = _Read(Kind.UNLESS, statement.span, statement, [main.sequences[0], escapes])
            return _Read(main.kind, statement.span, statement, [self._alone(inner)], labels=labels)
        mains = main.sequences[0] if main.kind is Kind.BLOCK else self._alone(main)
        return _Read(Kind.UNLESS, statement.span, statement, [mains, escapes])

    def _alone(self, read: _Read) -> Sequence:
        outer, self._current = self._current, Sequence()
        self._append(read)
        made, self._current = self._current, outer
        made.extent = made.last
        return made

    # --- Elements ----------------------------------------------------------------------------------------------

    def _append(self, read: _Read) -> None:
        """Gives a statement its element, and adds that to the current sequence."""
        if read.kind is Kind.CHOICE:
            element = self._choice(read)
        elif read.kind is Kind.UNLESS:
            element = self._unless(read)
        else:
            element = self._new(read.kind, read.span, read.action)
            element.sequences, element.goal = read.sequences, read.goal
            self._label(element, read.labels)
            if element.kind is Kind.GOTO and any(each.startswith(SPECIAL_LABELS) for each in element.labels):
                self._current.add(self._moved_label(element))
            self._current.add(element)
            return
        self._label(element, read.labels)

    def _label(self, element: Element, labels: list[str]) -> None:
        for each in labels:
            element.labels.append(each)
            self.labels[each] = element

    def _moved_label(self, element: Element) -> Element:
        """Returns a step before a ``goto`` that has the label of the ``goto``."""
        skip = self._skip(element.span)
        self._label(skip, [element.labels.pop()])
        return skip

    def _choice(self, read: _Read) -> Element:
        element = self._new(Kind.CHOICE, read.span, read.action)
        join = self._new(Kind.JOIN, read.span)
        element.sequences = read.sequences
        for each in element.sequences:
            each.add(join)
        last = join
        if read.repeats:
            self._current.add(join)
            last = self._new(Kind.EXIT, read.span)
            assert isinstance(read.goal, Goal)
            read.goal.element = last
        self._current.add(element)
        self._current.add(last)
        return element

    def _unless(self, read: _Read) -> Element:
        element = self._new(Kind.UNLESS, read.span, read.action)
        join = self._new(Kind.JOIN, read.span)
        element.sequences = read.sequences
        for each in element.sequences:
            each.add(join)
        _attach_escape(*element.sequences)
        self._current.add(element)
        self._current.add(join)
        return element

    def _new(self, kind: Kind, span: Span, action: syntax.Statement | None = None) -> Element:
        element = Element(kind, span, len(self.elements) + 1, self._numbers.take(), action)
        self.elements.append(element)
        return element

    def _skip(self, span: Span) -> Element:
        return self._new(Kind.STEP, span, syntax.Test(syntax.Number(1, span=span), span=span))

    def insert_skip(self, label: str) -> None:
        """Puts a step before a ``goto`` whose label another process refers to: no process is ever at a ``goto``."""
        element = self.labels.get(label)
        if element is None or element.kind is not Kind.GOTO:
            return
        goto = self._new(Kind.GOTO, element.span, element.action)
        goto.goal, goto.following = element.goal, element.following
        element.kind, element.goal, element.following = Kind.STEP, None, goto
        element.action = syntax.Test(syntax.Number(1, span=element.span), span=element.span)


_BLOCK_KINDS = {"": Kind.BLOCK, "atomic": Kind.ATOMIC, "d_step": Kind.D_STEP}


def _initial_values(declaration: syntax.Declaration) -> Iterator[syntax.Statement]:
    """Yields the assignments of a declaration that follows a statement; of an array only the first element is set."""
    for each in declaration.declarators:
        span = each.name.span
        if isinstance(each.initial, syntax.ChannelValue):
            continue
        first = each.initial[0] if isinstance(each.initial, tuple) else each.initial
        value = first or syntax.Number(0, span=span)
        index = None if each.size is None else syntax.Number(0, span=span)
        yield syntax.Assignment(syntax.Reference(each.name, index, span=span), value, span=declaration.span)


def _same(one: syntax.Declaration, other: syntax.Declaration) -> bool:
    """Returns whether two declarations are of the same variables."""
    return [each.name.text for each in one.declarators] == [each.name.text for each in other.declarators]


def _is_skip(element: Element) -> bool:
    action = element.action
    if isinstance(action, syntax.Print):
        return True
    return isinstance(action, syntax.Test) and getattr(action.condition, "value", None) == 1


def _drop_skips(option: Sequence) -> None:
    """Takes a ``skip`` that follows another one, or a ``printf``, out of an option."""
    count, before = 0, None
    for each in option.walk(option.extent):
        if each.kind is Kind.STEP and _is_skip(each) and not each.labels:
            count += 1
            is_edge = each in (option.first, option.last, option.extent)
            if count > 1 and not isinstance(each.action, syntax.Print) and not is_edge:
                assert before is not None
                before.following = each.following
                continue
        else:
            count = 0
        before = each


def _attach_escape(main: Sequence, escape: Sequence) -> None:
    for each in main.walk(main.extent):
        _escape(each, escape)


def _escape(element: Element, escape: Sequence) -> None:
    if escape in element.escapes:
        return
    for each in element.escapes:
        _attach_escape(each, escape)
    element.escapes.insert(0, escape)
    if element.kind is Kind.UNLESS:
        _attach_escape(element.sequences[0], escape)
    elif element.kind is Kind.D_STEP:
        first = element.sequences[0].first
        assert first is not None
        _escape(first, escape)
    else:
        for each in element.sequences:
            _attach_escape(each, escape)


def _make_atomic(sequence: Sequence, region: int, is_d_step: bool) -> None:
    _walk_atomic(sequence, region, is_d_step)
    last = sequence.last
    assert last is not None
    if last.kind in (Kind.BLOCK, Kind.ATOMIC) or last.kind is Kind.UNLESS:
        _make_atomic(last.sequences[0], region, is_d_step)
    else:
        last.is_atomic, last.ends_atomic = False, True


def _walk_atomic(sequence: Sequence, region: int, is_d_step: bool) -> None:
    for each in sequence.walk(sequence.last):
        each.is_atomic, each.region = True, region
        each.in_d_step = each.in_d_step or is_d_step
        if each.kind is Kind.ATOMIC or (each.kind is Kind.D_STEP and is_d_step):
            each.kind = Kind.BLOCK
        if each.kind is not Kind.D_STEP:
            for inner in each.sequences:
                _walk_atomic(inner, region, is_d_step)
