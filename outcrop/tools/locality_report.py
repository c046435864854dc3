"""The report of `outcrop locality`: the distribution of transitions over distances, as a table and as a chart."""

from __future__ import annotations

from pathlib import PurePath
from textwrap import wrap

from outcrop.report.svg import Chart, Series
from outcrop.report.table import bar, table
from outcrop.tools.distances import Distance, Locality

_SIGMA = "\N{GREEK SMALL LETTER SIGMA}(k)"
_BAR_WIDTH = 32
#: Smallest width of bars, in characters. With less space the column of transitions is dropped, then the bars.
_LEAST_BAR_WIDTH = 8
_HEAD = ["k", "E{Δ(k)}", _SIGMA, "transitions"]
#: Farthest distance with a row of its own. Farther ones are grouped, in groups of growing size, unless all are asked
#: for.
_NEAREST = -6


def text(locality: Locality, every: bool = False, columns: int = 200) -> str:
    """Returns the whole report, for a terminal of ``columns`` columns."""
    reduced = " (reduced by symmetry)" if locality.symmetry else ""
    loops = "counted" if locality.counts_loops else "not counted"
    figures = [
        f"{locality.model}: {locality.states:,} states{reduced} in {len(locality.levels):,} levels, "
        f"{locality.transitions:,} transitions",
        f"{locality.self_loops:,} rule instances lead from a state to itself ({loops}); {locality.stuck:,} states "
        "have no transition",
    ]
    ending = f"SumAvg = E{{Δ(-1)}} + E{{Δ(0)}} + E{{Δ(1)}} = {locality.sum_avg:.6g}"
    if len(ending) > columns:
        ending = f"SumAvg = {locality.sum_avg:.6g}"
    lines = [line for each in figures for line in wrap(each, columns, break_long_words=False)]
    return "\n".join([*lines, "", *_drawn(_rows(locality, every), columns), "", ending])


def _drawn(rows: list[tuple[str, str, str, int, float]], columns: int) -> list[str]:
    """Returns the table, with bars of the width that is left."""
    figures = [[label, mean, stddev, f"{transitions:,}"] for label, mean, stddev, transitions, _ in rows]
    head, room = _HEAD, columns - _width([_HEAD, *figures])
    if room < _LEAST_BAR_WIDTH:
        head, figures = head[:3], [row[:3] for row in figures]
        room = columns - _width([head, *figures])
    if room < _LEAST_BAR_WIDTH:
        return table(head, figures, "lr")
    longest = min(room, _BAR_WIDTH)
    with_bars = [[*row, bar(part, longest)] for row, (*_, part) in zip(figures, rows, strict=True)]
    title = "distribution" if longest >= len("distribution") else "part"
    return table([*head, title], with_bars, "lrrrl" if len(head) == len(_HEAD) else "lrrl")


def _width(rows: list[list[str]]) -> int:
    """Returns the width of columns with a gap after each."""
    return sum(max(map(len, column)) + 2 for column in zip(*rows, strict=True))


def _rows(locality: Locality, every: bool) -> list[tuple[str, str, str, int, float]]:
    """Returns the label, mean, standard deviation, transitions and bar length of each row."""
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
    """Returns a chart of the whole distribution, on a logarithmic scale that shows its tail."""
    return Chart(
        title=f"Transition locality of {PurePath(locality.model).name} ({locality.states:,} states)",
        x_label="k: levels from source to target",
        y_label="E{Δ(k)}",
        series=[Series("E{Δ(k)}", [(each.k, each.mean) for each in reversed(locality.distances)], bars=True)],
        log_y=True,
    )
