"""Layered drawing of a small graph: a row for each distance, nodes ordered so that few links cross.

Rows are ordered by barycentres (Sugiyama, Tagawa, Toda 1981), a few sweeps up and down. Graphs of some hundred nodes
come out readable; Graphviz does better on larger ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_SWEEPS = 6
_GAP_X, _GAP_Y = 64, 84


@dataclass(frozen=True)
class Box:
    """The position of a node: its top left corner and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


def layered(layers: Sequence[int], links: Sequence[tuple[int, int]], sizes: Sequence[tuple[float, float]]) -> list[Box]:
    """Returns a box for each node. ``layers`` has the row of each, ``sizes`` its width and height."""
    rows: dict[int, list[int]] = {}
    for node, layer in enumerate(layers):
        rows.setdefault(layer, []).append(node)
    order = [rows[layer] for layer in sorted(rows)]
    around: list[list[int]] = [[] for _ in layers]
    for source, target in links:
        if layers[source] != layers[target]:
            around[source].append(target)
            around[target].append(source)
    for sweep in range(_SWEEPS):
        _sweep(order if sweep % 2 == 0 else order[::-1], around)
    return _placed(order, sizes, len(layers))


def _sweep(rows: list[list[int]], around: Sequence[Sequence[int]]) -> None:
    """Orders each row by the positions of its neighbours in the previous row."""
    before: dict[int, float] = {}
    for row in rows:
        known = {node: [before[each] for each in around[node] if each in before] for node in row}
        at = {node: index / max(1, len(row) - 1) for index, node in enumerate(row)}
        row.sort(key=lambda node: sum(known[node]) / len(known[node]) if known[node] else at[node])
        before = {node: index / max(1, len(row) - 1) for index, node in enumerate(row)}


def _placed(rows: Sequence[Sequence[int]], sizes: Sequence[tuple[float, float]], count: int) -> list[Box]:
    widths = [sum(sizes[node][0] + _GAP_X for node in row) - _GAP_X for row in rows]
    widest = max(widths, default=0)
    boxes: list[Box] = [Box(0, 0, 0, 0)] * count
    y = 0.0
    for row, width in zip(rows, widths, strict=True):
        x = (widest - width) / 2
        for node in row:
            boxes[node] = Box(x, y, *sizes[node])
            x += sizes[node][0] + _GAP_X
        y += max(sizes[node][1] for node in row) + _GAP_Y
    return boxes
