"""The record of a layered search: sizes of layers, back edges, and an estimate of the number of different states."""

from __future__ import annotations

from outcrop.explorer.sketch import Sketch
from outcrop.kernels import Search, States
from outcrop.kernels.tables import hash_block
from outcrop.outcome import LayerReport, LayerRow

#: Relative growth of the number of states from which a layer counts as progress.
_PROGRESS = 0.02
#: Smallest number of layers that ``--layers auto`` keeps as they are. It keeps one more than the longest back edge
#: needs, and 1/_MARGIN_PART of that length in addition.
LEAST_LAYERS = 4
_MARGIN_PART = 4


class LayerRecord:
    """The complete layers. ``counts``: estimate the number of different states, because layers are deleted."""

    def __init__(self, search: Search, counts: bool) -> None:
        self._search = search
        self._sketch = Sketch() if counts else None
        self._longest = 0  #: length of the longest back edge in levels, plus one
        self._rows: list[LayerRow] = []
        self._progress = (0, 0.0)  #: the last layer that made progress, and the estimate then

    def count(self, states: States) -> None:
        """Counts visited states."""
        if self._sketch is not None:
            self._sketch.add(hash_block(self._search, states))

    def note_age(self, age: int) -> int:
        """Records the longest back edge of a layer. Returns how many layers should be kept as they are."""
        self._longest = max(self._longest, age)
        return max(LEAST_LAYERS, self._longest + self._longest // _MARGIN_PART + 1)

    def add(self, row: LayerRow) -> None:
        self._rows.append(row)
        estimate = 0.0 if self._sketch is None else self._sketch.estimate()
        if estimate > (1 + _PROGRESS) * self._progress[1]:
            self._progress = row.level, estimate

    @property
    def estimate(self) -> int:
        """Estimated number of different visited states."""
        return 0 if self._sketch is None else round(self._sketch.estimate())

    def has_stalled(self, visited: int, kept: int) -> bool:
        """Returns whether more states were visited since the last progress than Theorem 3 of the paper allows."""
        level, estimate = self._progress
        return visited > estimate * max(2.0, level / kept)

    def report(self, layers: int | str, forget: bool, kept: int | None, has_forgotten: bool) -> LayerReport:
        estimate = self.estimate if has_forgotten else None
        return LayerReport(layers, forget, kept, max(0, self._longest - 1), estimate, self._rows)
