"""The report of `outcrop compare`, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from outcrop import __version__
from outcrop.compare.comparison import Comparison, Relation
from outcrop.compare.labels import HIDDEN
from outcrop.compare.runs import Difference
from outcrop.report.text import Paint
from outcrop.result import Verdict
from outcrop.trace.itf import trace_document
from outcrop.trace.render import TraceStyle, render

_WORDS = {Verdict.HOLDS: "SAME", Verdict.VIOLATED: "DIFFERENT", Verdict.UNKNOWN: "UNKNOWN"}
_INCLUDED = {Verdict.HOLDS: "INCLUDED", Verdict.VIOLATED: "NOT INCLUDED", Verdict.UNKNOWN: "UNKNOWN"}

#: Most values or labels that a line names.
_MOST_VALUES = 6


def text(comparison: Comparison, paint: Paint, style: TraceStyle) -> str:
    """Returns the whole report."""
    return "\n".join(_lines(comparison, paint, style))


def _lines(comparison: Comparison, paint: Paint, style: TraceStyle) -> Iterator[str]:
    words = _WORDS if comparison.relation is Relation.BISIMULATION else _INCLUDED
    yield f"{paint.verdict(comparison.verdict, words[comparison.verdict])}: {_sentence(comparison)}"
    yield ""
    for system, graph in zip(comparison.models, comparison.graphs, strict=True):
        yield f"  {system.name}: {graph.states:,} states, {graph.edges:,} steps, {len(graph.levels):,} levels"
    for one, other in comparison.labels.found.items():
        yield f"  renaming found: {one} = {other}"
    for number in range(2):
        alone = _alone(comparison, number)
        if alone:
            more = f" and {len(alone) - _MOST_VALUES:,} more" if len(alone) > _MOST_VALUES else ""
            yield f"  only {comparison.models[number].name} has steps named: {'; '.join(alone[:_MOST_VALUES])}{more}"
    yield from _run(comparison, style)


def _sentence(comparison: Comparison) -> str:
    one, other = (system.name for system in comparison.models)
    difference = comparison.difference
    owner = comparison.models[comparison.owner].name
    if comparison.verdict is Verdict.UNKNOWN:
        return f"{one} and {other}: {comparison.reason}."
    if comparison.relation is Relation.INCLUSION:
        quantity = "every" if difference is None else "not every"
        return f"{quantity} run of {one} is a run of {other}{_agreement(comparison)} (exact)."
    if comparison.verdict is Verdict.HOLDS:
        agreement = f"corresponding states permit the same rules{_agreement(comparison)}"
        return f"{one} and {other} are bisimilar: {agreement} (exact)."
    if difference is None or difference.is_branching:
        return f"{one} and {other} are not bisimilar, although they have the same runs."
    if not difference.labels:
        return f"{one} and {other} are not bisimilar: they begin with different values."
    return f"{one} and {other} are not bisimilar: only {owner} has a run of {_steps(difference)}."


def _steps(difference: Difference) -> str:
    count = len(difference.labels)
    return f"{count:,} step{'' if count == 1 else 's'}"


def _agreement(comparison: Comparison) -> str:
    observed = ", ".join(comparison.observation.texts)
    if not observed:
        return ""
    return f" and agree in {observed}" if comparison.relation is Relation.BISIMULATION else f" with the same {observed}"


def _alone(comparison: Comparison, number: int) -> list[str]:
    """Returns the labels of steps that only one model has."""
    labels = comparison.labels.of_first, comparison.labels.of_second
    mine, other = (set(each.tolist()) for each in (labels[number], labels[1 - number]))
    if mine <= other | {HIDDEN}:
        return []
    taken = set(labels[number][comparison.graphs[number].fired].tolist())
    return [comparison.labels.names[label] for label in sorted(taken - other - {HIDDEN})]


def _run(comparison: Comparison, style: TraceStyle) -> Iterator[str]:
    difference = comparison.difference
    if difference is None:
        return
    names = [_name(comparison, label) for label in difference.labels]
    yield ""
    if comparison.trace is not None and style is not TraceStyle.OFF:
        owner = comparison.models[comparison.owner].name
        yield f"Run of {'both' if difference.is_branching else owner} ({_steps(difference)})"
        yield from render(comparison.trace, style)
    else:
        yield f"Run: {', '.join(names) or 'none'}"
    if difference.others:
        yield from _values(comparison, difference)
        return
    possible = ", ".join(_name(comparison, label) for label in difference.possible) or "nothing"
    if difference.is_branching:
        yield f"Here only one of them can be in a state that permits exactly: {possible}."
    else:
        other = comparison.models[1 - comparison.owner].name
        yield f"Instead of the last step, {other} permits: {possible}."


def _values(comparison: Comparison, difference: Difference) -> Iterator[str]:
    """Yields the observed values that differ after a run."""
    shown = comparison.observation.shown
    mine, others = shown[difference.observed[-1]], [shown[each] for each in difference.others]
    other = comparison.models[1 - comparison.owner].name
    for text, value in mine.items():
        values = list(dict.fromkeys(each[text] for each in others))
        if values != [value]:
            yield f"Here {text} is {value}, but in {other} {' or '.join(values[:_MOST_VALUES])}."


def _name(comparison: Comparison, label: int) -> str:
    return "(hidden)" if label == HIDDEN else comparison.labels.names[label]


def document(comparison: Comparison) -> dict[str, Any]:
    """Returns everything in the report, ready for ``json.dumps``."""
    difference = comparison.difference
    return {
        "version": __version__,
        "verdict": str(comparison.verdict),
        "relation": str(comparison.relation),
        "reason": comparison.reason,
        "models": [
            {
                "model": system.name,
                "states": graph.states,
                "steps": graph.edges,
                "levels": list(graph.levels),
                "only": _alone(comparison, number),
            }
            for number, (system, graph) in enumerate(zip(comparison.models, comparison.graphs, strict=True))
        ],
        "renamed": comparison.labels.found,
        "difference": None
        if difference is None
        else {
            "model": comparison.models[comparison.owner].name,
            "kind": "branching" if difference.is_branching else "run",
            "rules": [_name(comparison, label) for label in difference.labels],
            "observed": _observed(comparison, difference.observed),
            "others": _observed(comparison, difference.others),
            "possible": [_name(comparison, label) for label in difference.possible],
            "trace": None if comparison.trace is None else trace_document(comparison.trace),
        },
        "seconds": round(comparison.seconds, 6),
    }


def _observed(comparison: Comparison, classes: tuple[int, ...]) -> list[dict[str, str]]:
    """Returns the observed values of classes of states; none if nothing is observed."""
    shown = comparison.observation.shown
    return [shown[each] for each in classes] if shown else []
