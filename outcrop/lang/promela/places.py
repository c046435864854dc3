"""Places in the text of proctypes: what SPIN lists as unreached, and which of them a rule leads to."""

from __future__ import annotations

from collections.abc import Iterator

from outcrop.ir.system import ProcessText, Stop, TextPlace
from outcrop.lang.promela import syntax
from outcrop.lang.promela.atomic import Way
from outcrop.lang.promela.control import Step, first_of
from outcrop.lang.promela.elements import BLOCKS, Element, Kind
from outcrop.lang.promela.scope import ProctypeSymbol

#: Elements that a process only passes.
_PASSED = frozenset((Kind.GOTO, Kind.JOIN, Kind.EXIT, Kind.UNLESS))


def process_text(proctype: ProctypeSymbol) -> ProcessText:
    """Returns the text of a proctype with the places that SPIN lists where no process reaches them.

    The first statement of an option or a block belongs to the place of the whole. SPIN never lists jumps, ``skip``,
    what stands inside a d_step, and choices that begin with ``break``. It takes a choice or a block for reached if it
    does so for the state to which the first statement of its last option leads.
    """
    graph = proctype.graph
    first = {each for whole in graph.elements for each in _parts(whole)}

    def is_listed(each: Element) -> bool:
        return each not in first and each.kind not in _PASSED and not each.in_d_step and not _is_skip(each)

    places = tuple(
        TextPlace(each.number, each.span, tuple(_statements(each)), None if each.leads is None else each.leads.number)
        for each in graph.elements
        if is_listed(each) and not each.begins_with_jump and (each.leads is None or is_listed(each.leads))
    )
    starts = bool(proctype.active)
    title = proctype_title(proctype)
    stops = tuple(Stop(each.state, each.span, each.is_end or "end" in each.kinds) for each in graph.locations)
    more = (proctype.pids, title, proctype.priority or 1, stops)
    return ProcessText(proctype.name, len(graph.elements), graph.start.state, starts, places, *more)


def proctype_title(proctype: ProctypeSymbol) -> str:
    """Returns the name of a proctype in SPIN's traces."""
    return f":{proctype.name}:" if proctype.tree.is_init else proctype.name


def _parts(whole: Element) -> Iterator[Element]:
    """Yields the elements with which the options of a choice, a block, or the escape of an ``unless`` begin.

    A loop is not among them: its turns lead back to it. Neither is a choice or a block with which an ``unless`` begins.
    """
    sequences = whole.sequences if whole.kind is Kind.CHOICE or whole.kind in BLOCKS else whole.sequences[1:]
    for each in sequences:
        if each.first is not None:
            inner = first_of(each.first)
            begins_unless = each.first.kind is Kind.UNLESS and whole.kind is not Kind.UNLESS
            is_apart = begins_unless and bool(inner.sequences) and inner.kind is not Kind.D_STEP
            found = (each.first,) if is_apart else (each.first, inner)
            yield from (one for one in found if not getattr(one.action, "repeats", False))


def _statements(element: Element) -> Iterator[str]:
    """Yields the statements that a process can execute at an element, escapes first."""
    for escape in reversed(element.escapes):
        if escape.first is not None:
            yield from _statements(first_of(escape.first))
    inner = element.sequences if element.kind is not Kind.D_STEP else []
    for each in inner:
        if each.first is not None:
            yield from _statements(first_of(each.first))
    if not inner:
        yield "-end-" if element.kind is Kind.END else " ".join(element.span.text.split())


def _is_skip(element: Element) -> bool:
    """Returns whether an element only passes time."""
    condition = getattr(element.action, "condition", None)
    return isinstance(element.action, syntax.Test) and getattr(condition, "value", None) == 1


def reached(way: Way, proctypes: dict[str, ProctypeSymbol]) -> Iterator[tuple[str, int]]:
    """Yields where a way leads processes, step by step: the proctype and SPIN's number of the state."""
    for taken in way.taken:
        moved = [(taken.actor, each) for each in taken.loop or (taken.step,)]
        if taken.met is not None and taken.other is not None:
            moved.append((taken.other, taken.met))
        for actor, step in moved:
            yield way.actors[actor].name, step.target.state
            for name in _started(step):
                if name in proctypes:
                    yield name, proctypes[name].graph.start.state


def _started(step: Step) -> Iterator[str]:
    """Yields the proctypes that a step starts processes of."""
    match step.action:
        case syntax.Test(condition=syntax.Run() as run) | syntax.Assignment(value=syntax.Run() as run):
            yield run.proctype.text
    if step.graph is not None:
        for location in step.graph.locations:
            for inner in location.steps:
                yield from _started(inner)
