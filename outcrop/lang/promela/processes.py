"""The numbers that processes can have.

Active proctypes and ``init`` have theirs from the start, in the order of the text. Others come with ``run``: each
takes the next number, and a number becomes free again when the youngest process ends. Most models start all their
processes in ``init``, so its text is followed as long as only one thing can happen.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from outcrop.lang.promela import syntax
from outcrop.lang.promela.control import Graph, Location, Step

#: Steps of ``init`` that are followed.
_MOST_STEPS = 20_000


@dataclass
class Census:
    """``pids``: for each proctype, the least number that a process of it can have and the one past the greatest."""

    active: dict[str, range] = field(default_factory=dict)
    pids: dict[str, range] = field(default_factory=dict)
    most: int = 0  #: processes at a time
    is_guessed: bool = False


class Unknown(Exception):
    """The value of an expression depends on more than is followed here."""


def count_processes(
    graphs: dict[str, tuple[syntax.Proctype, Graph]], active: dict[str, int], constants: dict[str, int], limit: int
) -> Census:
    """Returns the numbers of all processes. ``limit``: processes at a time, where their number cannot be found."""
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
    exact: list[str] | None = None
    if starters == ["init"] and "init" in census.active:
        exact = _followed(graphs["init"][1], constants)
    if exact is not None:
        init = census.active["init"].start
        younger = [name for name, pids in census.active.items() if pids.start > init]
        keeps = _keeps_numbers(graphs, [*younger, *exact[:-1]], bool(younger))
        for number, name in enumerate(exact):
            low = at + number if keeps else init + 1
            before = census.pids.get(name, range(low, low))
            census.pids[name] = range(min(before.start, low), max(before.stop, at + number + 1))
        census.most = at + len(exact)
        return census
    most = _bound(graphs, runs, census.active, limit - at)
    census.is_guessed = most is None
    total = at + (limit - at if most is None else most)
    # A process only has older ones below it, so the first that it starts can take the number after its own.
    least = min((pids.start for name, pids in census.active.items() if runs[name]), default=at) + 1
    for name in sorted({each.proctype.text for found in runs.values() for each in found}):
        before = census.pids.get(name, range(total, total))
        census.pids[name] = range(min(before.start, least), total)
    census.most = total
    return census


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
    """Returns how many processes ``run`` starts at the most; None where it stands in a loop."""
    total = 0
    for name, (_, graph) in graphs.items():
        if not runs[name]:
            continue
        if name not in active or _has_run_in_loop(graph):
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


def _keeps_numbers(graphs: dict[str, tuple[syntax.Proctype, Graph]], others: list[str], some_are_active: bool) -> bool:
    """Returns whether no process that ``init`` does not wait for can end before the last one is started."""
    init = graphs["init"][1]
    regions = {step.region for each in init.locations for step in each.steps if _run_of(step) is not None}
    if len(regions) == 1 and None not in regions and not some_are_active:
        return True
    return not any(can_end(graphs[name][1]) for name in others)


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


# --- Following init ------------------------------------------------------------------------------------------------


def _followed(graph: Graph, constants: dict[str, int]) -> list[str] | None:
    """Returns the proctypes that ``init`` starts, in order; None where its text does not tell."""
    values: dict[str, int] = {}
    for declaration, is_first in graph.declarations:
        for each in declaration.declarators:
            if isinstance(each.initial, syntax.Expression) and is_first:
                try:
                    values[each.name.text] = _value(each.initial, values, constants)
                except Unknown:
                    return None
            elif each.initial is None:
                values[each.name.text] = 0
    started: list[str] = []
    here = graph.start
    own = set(values)
    for _ in range(_MOST_STEPS):
        if here.is_end or not _runs_after(here):
            return started
        try:
            step = _only_step(here, values, constants)
        except Unknown:
            return None
        run = _run_of(step)
        if run is not None:
            started.append(run.proctype.text)
        match step.action:
            case syntax.Assignment(target=target) if target.name.text in own and target.next is None:
                try:
                    values[target.name.text] = _value(step.action.value, values, constants)
                except Unknown:  # its value matters only if a later choice asks for it
                    values.pop(target.name.text, None)
            case syntax.Receive():
                return None
            case syntax.Block():
                if step.graph is not None and runs_of(step.graph):
                    return None
        here = step.target
    return None


def _runs_after(here: Location) -> bool:
    pending, seen = [here], {here}
    while pending:
        for step in pending.pop().steps:
            if _run_of(step) is not None or (step.graph is not None and runs_of(step.graph)):
                return True
            if step.target not in seen:
                seen.add(step.target)
                pending.append(step.target)
    return False


def _only_step(here: Location, values: dict[str, int], constants: dict[str, int]) -> Step:
    """Returns the step that is taken from a location, as far as the own variables of ``init`` decide that."""
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
            return _binary(node, values, constants)
    raise Unknown


def _binary(node: syntax.Binary, values: dict[str, int], constants: dict[str, int]) -> int:
    left, right = _value(node.left, values, constants), _value(node.right, values, constants)
    match node.operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" if right > 0 and left >= 0:
            return left // right
        case "%" if right > 0 and left >= 0:
            return left % right
        case "<":
            return int(left < right)
        case "<=":
            return int(left <= right)
        case ">":
            return int(left > right)
        case ">=":
            return int(left >= right)
        case "==":
            return int(left == right)
        case "!=":
            return int(left != right)
        case "&&":
            return int(bool(left and right))
        case "||":
            return int(bool(left or right))
    raise Unknown
