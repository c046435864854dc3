"""What `outcrop locality` shows: the distribution of transitions over distances, as a table with bars and a chart."""

from __future__ import annotations

from pathlib import PurePath

from outcrop.report.svg import Chart, Series
from outcrop.report.table import bar, table
from outcrop.tools.distances import Distance, Locality

_SIGMA = "\N{GREEK SMALL LETTER SIGMA}(k)"
_BAR_WIDTH = 32
#: Distances further back than this are taken together, in groups of growing size, unless all are asked for.
_NEAREST = -6


def text(locality: Locality, every: bool = False) -> str:
    """The whole report."""
    reduced = " (reduced by symmetry)" if locality.symmetry else ""
    loops = "counted" if locality.counts_loops else "not counted"
    figures = [
        f"{locality.model}: {locality.states:,} states{reduced} in {len(locality.levels):,} levels, "
        f"{locality.transitions:,} transitions",
        f"{locality.self_loops:,} rule instances lead from a state to itself ({loops}); "
        f"{locality.stuck:,} states have no transition",
    ]
    rows = [
        [label, mean, stddev, f"{transitions:,}", bar(part, _BAR_WIDTH)]
        for label, mean, stddev, transitions, part in _rows(locality, every)
    ]
    lines = table(["k", "E{Δ(k)}", _SIGMA, "transitions", "distribution"], rows, "lrrrl")
    ending = f"SumAvg = E{{Δ(-1)}} + E{{Δ(0)}} + E{{Δ(1)}} = {locality.sum_avg:.6g}"
    return "\n".join([*figures, "", *lines, "", ending])


def _rows(locality: Locality, every: bool) -> list[tuple[str, str, str, int, float]]:
    """Label, mean, standard deviation, transitions and length of the bar of each row."""
    near = [each for each in locality.distances if every or each.k >= _NEAREST]
    rows = [(f"{each.k}", f"{each.mean:.6g}", f"{each.stddev:.6g}", each.transitions, each.mean) for each in near]
    for group in _groups([each for each in locality.distances if not every and each.k < _NEAREST]):
        mean = sum(each.mean for each in group)
        label = f"{group[0].k}" if len(group) == 1 else f"{group[0].k}..{group[-1].k}"
        stddev = f"{group[0].stddev:.6g}" if len(group) == 1 else ""
        rows.append((label, f"{mean:.6g}", stddev, sum(each.transitions for each in group), mean))
    return rows


def _groups(distances: list[Distance]) -> list[list[Distance]]:
    groups, size = [], 4
    while distances:
        groups.append(distances[:size])
        distances = distances[size:]
        size *= 2
    return groups


def chart(locality: Locality) -> Chart:
    """The whole distribution, on a logarithmic scale so that its tail is seen."""
    return Chart(
        title=f"Transition locality of {PurePath(locality.model).name} ({locality.states:,} states)",
        x_label="k: levels from source to target",
        y_label="E{Δ(k)}",
        series=[Series("E{Δ(k)}", [(each.k, each.mean) for each in reversed(locality.distances)], bars=True)],
        log_y=True,
    )
