"""The numbers that processes can have.

Active proctypes and ``init`` have theirs from the start, in the order of the text. Others come with ``run``: each
takes the next number, and a number becomes free again when the youngest process ends. Most models start all their
processes in ``init``, or in another single process, so its text is followed as long as only one thing can happen.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from outcrop.ir.types import Range
from outcrop.lang.promela import syntax
from outcrop.lang.promela.control import Graph, Location, Step
from outcrop.lang.promela.mtypes import is_mtype
from outcrop.lang.promela.scope import BYTE, NUMBERS, VariableSymbol
from outcrop.lang.promela.values import Unknown, binary_value

#: Steps of one process that are followed.
_MOST_STEPS = 20_000


@dataclass
class Census:
    """The numbers of all processes. ``pids``: for each proctype, the least number of its processes, and the one past
    the greatest."""

    active: dict[str, range] = field(default_factory=dict)
    pids: dict[str, range] = field(default_factory=dict)
    most: int = 0  #: processes at a time
    is_guessed: bool = False


def count_processes(
    graphs: dict[str, tuple[syntax.Proctype, Graph]],
    active: dict[str, int],
    constants: dict[str, int],
    common: dict[str, VariableSymbol],
    limit: int,
    *,
    has_priorities: bool,
) -> Census:
    """Returns the numbers of all processes. ``common``: global variables. ``limit``: processes at a time, where their
    number cannot be found. ``has_priorities``: a process may outrank another inside an atomic sequence."""
    census = Census()
    at = 0
    for name, count in active.items():
        if count:
            census.active[name] = range(at, at + count)
            at += count
    runs = {name: runs_of(graph) for name, (_, graph) in graphs.items()}
    starters = [name for name, found in runs.items() if found]
    census.pids = dict(census.active)
    census.most = at
    if not starters:
        return census
    root = _root(runs, census.active)
    started = _Started()
    if root is not None:
        tree, graph = graphs[root]
        is_kept = tree.provided is None and not has_priorities
        started = _followed(tree, graph, constants, common if at == 1 else {}, is_kept=is_kept)
    if root is not None and started.is_all and starters == [root]:
        first = census.active[root].start
        younger = [name for name, pids in census.active.items() if pids.start > first]
        keeps = not any(can_end(graphs[name][1]) for name in younger)
        keeps = keeps and (
            started.numbered == len(started.names)
            or not any(name in graphs and can_end(graphs[name][1]) for name in started.names[:-1])
        )
        for number, name in enumerate(started.names):
            low = at + number if keeps else first + 1
            _add(census.pids, name, range(low, at + number + 1))
        census.most = at + len(started.names)
        return census
    most = _bound(graphs, runs, census.active, limit - at)
    census.is_guessed = most is None
    census.most = at + (limit - at if most is None else most)
    _guess(census, graphs, runs, root, started)
    return census


@dataclass(frozen=True)
class _Started:
    """Proctypes that a process starts, in order. ``is_all``: it starts no others. ``numbered``: how many of them, from
    the first on, it starts before any process that it has started can end; ``here``: where it is then."""

    names: list[str] = field(default_factory=list)
    is_all: bool = False
    numbered: int = 0
    here: Location | None = None


def _root(runs: dict[str, list[syntax.Run]], active: dict[str, range]) -> str | None:
    """Returns the proctype, with one process, whose process is the first to start others."""
    roots = [name for name in active if runs[name]]
    started = {each.proctype.text for found in runs.values() for each in found}
    return roots[0] if len(roots) == 1 and len(active[roots[0]]) == 1 and roots[0] not in started else None


def _add(pids: dict[str, range], name: str, more: range) -> None:
    before = pids.get(name, more)
    pids[name] = range(min(before.start, more.start), max(before.stop, more.stop))


def _guess(
    census: Census,
    graphs: dict[str, tuple[syntax.Proctype, Graph]],
    runs: dict[str, list[syntax.Run]],
    root: str | None,
    first: _Started,
) -> None:
    """Adds the numbers that processes may have. A process has only older ones below it, so what it starts has a number
    above its own. ``first``: what the root starts."""
    at = sum(map(len, census.active.values()))
    rest = {name: [each.proctype.text for each in found] for name, found in runs.items()}
    if root is not None:
        begin = census.active[root].start
        if not any(can_end(graphs[name][1]) for name, pids in census.active.items() if pids.start > begin):
            for number, name in enumerate(first.names[: first.numbered]):
                _add(census.pids, name, range(at + number, at + number + 1))
            if first.here is not None:
                rest[root] = [each.proctype.text for each in _runs_after(first.here)]
    changes = True
    while changes:
        before = dict(census.pids)
        for name in [each for each in before if rest.get(each)]:
            for started in rest[name]:
                _add(census.pids, started, range(census.pids[name].start + 1, census.most))
        changes = census.pids != before
    for found in rest.values():  # by processes that nothing starts
        for started in found:
            census.pids.setdefault(started, range(at + 1, census.most))


def _run_of(step: Step) -> syntax.Run | None:
    match step.action:
        case syntax.Test(condition=syntax.Run() as run) | syntax.Assignment(value=syntax.Run() as run):
            return run
    return None


def runs_of(graph: Graph) -> list[syntax.Run]:
    """Returns every ``run`` of a graph."""
    found = [run for location in graph.locations for step in location.steps if (run := _run_of(step)) is not None]
    inner = [step.graph for location in graph.locations for step in location.steps if step.graph is not None]
    return found + [run for each in inner for run in runs_of(each)]


def _bound(
    graphs: dict[str, tuple[syntax.Proctype, Graph]],
    runs: dict[str, list[syntax.Run]],
    active: dict[str, range],
    most: int,
) -> int | None:
    """Returns how many processes ``run`` starts at the most; None where it stands in a loop, or in what it starts."""
    total = 0
    started = {each.proctype.text for found in runs.values() for each in found}
    for name, (_, graph) in graphs.items():
        if not runs[name]:
            continue
        if name not in active or name in started or _has_run_in_loop(graph):
            return None
        total += len(active[name]) * len(runs[name])
    return total if total <= most else None


def _has_run_in_loop(graph: Graph) -> bool:
    for location in graph.locations:
        for step in location.steps:
            if _run_of(step) is not None or (step.graph is not None and runs_of(step.graph)):
                pending, seen = [step.target], set[Location]()
                while pending:
                    here = pending.pop()
                    if here is location:
                        return True
                    if here not in seen:
                        seen.add(here)
                        pending += [each.target for each in here.steps]
    return False


def can_end(graph: Graph) -> bool:
    """Returns whether a way leads to the end of a proctype."""
    pending, seen = [graph.start], {graph.start}
    while pending:
        here = pending.pop()
        for following in (step.target for step in here.steps):
            if following not in seen:
                seen.add(following)
                pending.append(following)
    return graph.end in seen


# --- Following a process -------------------------------------------------------------------------------------------


def _followed(
    tree: syntax.Proctype, graph: Graph, constants: dict[str, int], common: dict[str, VariableSymbol], *, is_kept: bool
) -> _Started:
    """Returns the proctypes that a process starts, as far as its text tells. ``common``: global variables, whose values
    are known until others may move. ``is_kept``: no others move inside its atomic sequences, unless it waits there."""
    shared = {name: value for name, symbol in common.items() if (value := _first_value(symbol)) is not None}
    own, values = _own_values(tree, graph, shared, constants)
    started: list[str] = []
    numbered, after = 0, graph.start
    is_alone = True  # whether no other process has been able to move since the first run
    here = graph.start
    shared = {name: value for name, value in shared.items() if name not in own}
    for _ in range(_MOST_STEPS):
        if here.is_end or not _runs_after(here):
            return _Started(started, is_all=True, numbered=numbered, here=after)
        try:
            step = _only_step(here, shared | values, constants)
        except Unknown:
            first = None if started else _first_run(here)
            if first is None:
                break
            step, values, shared = first, {}, {}
        run = _run_of(step)
        if started and _may_wait(step, shared | values, constants):
            is_alone = False
        if run is not None:
            started.append(run.proctype.text)
            if is_alone:
                numbered, after = numbered + 1, step.target
        if started and not (is_kept and step.stays_atomic):
            is_alone = False
        before = shared | values
        match step.action:
            case syntax.Assignment(target=target) if target.next is None and target.index is None:
                name = target.name.text
                kept, kind = (values, own[name]) if name in own else (shared, _kind_of(common.get(name)))
                kept.pop(name, None)
                with suppress(Unknown):  # its value matters only if a later choice asks for it
                    value = _value(step.action.value, before, constants)
                    if _fits(value, kind):
                        kept[name] = value
            case syntax.Receive() | syntax.Block():
                if step.graph is not None and runs_of(step.graph):
                    break
                for name in syntax.stored_names(step.action):
                    values.pop(name, None)
                    shared.pop(name, None)
        if not is_alone:
            shared = {}
        here = step.target
    return _Started(started, is_all=False, numbered=numbered, here=after)


def _own_values(
    tree: syntax.Proctype, graph: Graph, shared: dict[str, int], constants: dict[str, int]
) -> tuple[dict[str, Range | None], dict[str, int]]:
    """Returns the types of the own variables of a process, None for those that are not followed, and the values with
    which it begins."""
    own: dict[str, Range | None] = {each.name.text: None for one in tree.parameters for each in one.declarators}
    values: dict[str, int] = {}
    for declaration, is_first in graph.declarations:
        for each in declaration.declarators:
            name = each.name.text
            kind = BYTE if is_mtype(declaration.type) else NUMBERS.get(declaration.type.text)
            own[name] = kind if each.size is None else None
            known = {other: value for other, value in shared.items() if other not in own} | values
            with suppress(Unknown):
                value = 0
                if is_first and isinstance(each.initial, syntax.Expression):
                    value = _value(each.initial, known, constants)
                if _fits(value, own[name]):
                    values[name] = value
    return own, values


def _first_value(symbol: VariableSymbol) -> int | None:
    """Returns the initial value of a number."""
    value = 0 if symbol.initial is None else symbol.initial.value if isinstance(symbol.initial, syntax.Number) else None
    return value if _fits(value, _kind_of(symbol)) else None


def _kind_of(symbol: VariableSymbol | None) -> Range | None:
    return symbol.type if symbol is not None and isinstance(symbol.type, Range) else None


def _fits(value: int | None, kind: Range | None) -> bool:
    return value is not None and kind is not None and kind.low <= value <= kind.high


def _may_wait(step: Step, values: dict[str, int], constants: dict[str, int]) -> bool:
    """Returns whether a step may have to wait for other processes."""
    match step.action:
        case syntax.Test(condition=syntax.Run()):
            return False
        case syntax.Test(condition=condition):
            try:
                return not _value(condition, values, constants)
            except Unknown:
                return True
    return isinstance(step.action, syntax.Send | syntax.Receive | syntax.Block)


def _runs_after(here: Location) -> list[syntax.Run]:
    """Returns every ``run`` that can come after a place."""
    pending, seen = [here], {here}
    found = []
    while pending:
        for step in pending.pop().steps:
            if (run := _run_of(step)) is not None:
                found.append(run)
            elif step.graph is not None:
                found += runs_of(step.graph)
            if step.target not in seen:
                seen.add(step.target)
                pending.append(step.target)
    return found


def _first_run(here: Location) -> Step | None:
    """Returns the step that starts a process before any other does so, whichever way is taken from a place."""
    pending, seen = [here], {here}
    found: set[Step] = set()
    while pending:
        for step in pending.pop().steps:
            if step.graph is not None and runs_of(step.graph):
                return None
            if _run_of(step) is not None:
                found.add(step)
            elif step.target not in seen:
                seen.add(step.target)
                pending.append(step.target)
    return found.pop() if len(found) == 1 else None


def _only_step(here: Location, values: dict[str, int], constants: dict[str, int]) -> Step:
    """Returns the step that is taken from a location, as far as its own variables decide that."""
    if len(here.steps) == 1:
        return here.steps[0]
    possible = []
    for step in here.steps:
        match step.action:
            case syntax.Test(condition=condition):
                if _value(condition, values, constants):
                    possible.append(step)
            case syntax.Else():
                pass
            case _:
                raise Unknown
    if not possible:
        possible = [step for step in here.steps if isinstance(step.action, syntax.Else)]
    if len(possible) != 1:
        raise Unknown
    return possible[0]


def _value(node: syntax.Expression, values: dict[str, int], constants: dict[str, int]) -> int:
    match node:
        case syntax.Number():
            return node.value
        case syntax.Reference(index=None, next=None):
            name = node.name.text
            if name in values:
                return values[name]
            if name in constants:
                return constants[name]
        case syntax.Unary(operator=operator):
            operand = _value(node.operand, values, constants)
            return {"-": -operand, "+": operand, "!": int(not operand), "~": ~operand}[operator]
        case syntax.Binary():
            left, right = _value(node.left, values, constants), _value(node.right, values, constants)
            return binary_value(node.operator, left, right)
    raise Unknown
