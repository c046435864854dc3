"""A message chart as text, with box characters: lifelines from top to bottom, messages across."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from outcrop.trace.changes import Change
from outcrop.trace.chart import Arrow, ArrowKind, Chart, Row

_LEAST_LANE, _MOST_LANE, _MOST_RULE = 12, 34, 30
#: Largest number of changes of a lane that are written out per step.
_MOST_CHANGES = 6
#: Largest number of rows of a trace that is drawn whole. Longer ones show their beginning and end.
_MOST_ROWS = 400


def chart_text(chart: Chart, width: int = 120) -> str:
    """Returns the chart, at most ``width`` columns wide where its lanes allow that."""
    shown = chart.folded()
    if not shown.rows:
        return ""
    grid = _Grid.fitting(shown, width)
    lines = [*grid.heading(shown.lanes)]
    skipped = len(shown.rows) - _MOST_ROWS
    for row in shown.rows:
        if skipped > 0 and _MOST_ROWS // 2 <= row.step < _MOST_ROWS // 2 + skipped:
            if row.step == _MOST_ROWS // 2:
                lines.append(f"{'':>{grid.margin}}  ... {skipped:,} steps ...")
            continue
        if row.step == shown.loop_start:
            lines.append(f"{'':>{grid.margin}}╭╴the cycle starts here")
        lines += grid.row(row, str(row.step), shown.loop_start is not None and row.step >= shown.loop_start)
    if shown.closing is not None:
        lines += grid.row(shown.closing, "", True)
        lines.append(f"{'':>{grid.margin}}╰╴back to {shown.loop_start}, and so forever")
    lines.append(f"{'':>{grid.margin}}  ✗ {shown.ending}")
    if chart.idle:
        lines.append(
            f"Not drawn, because nothing happens there: {', '.join(chart.lanes[each] for each in chart.idle)}."
        )
    if any(arrow.kind is ArrowKind.SENT for row in shown.rows for arrow in row.arrows):
        lines.append("┄┄▷ sent   ──▶ received   ──✗ taken out by another")
    return "\n".join(line.rstrip() for line in lines)


@dataclass(frozen=True)
class _Grid:
    """The geometry of a text chart: a margin for numbers, a column for rules, then one for each lane."""

    margin: int
    rule: int
    lane: int
    count: int

    @classmethod
    def fitting(cls, chart: Chart, width: int) -> _Grid:
        rows = [*chart.rows, *([] if chart.closing is None else [chart.closing])]
        margin = len(str(len(rows) - 1))
        rule = min(_MOST_RULE, max(len(row.rule) for row in rows))
        texts = [len(change.text) + 3 for row in rows for change in row.changes]
        texts += [len(arrow.text) + 6 for row in rows for arrow in row.arrows] + [len(name) + 2 for name in chart.lanes]
        room = (width - margin - rule - 6) // max(1, len(chart.lanes))
        lane = max(_LEAST_LANE, min(_MOST_LANE, max(texts, default=_LEAST_LANE), room))
        return cls(margin, rule, lane, len(chart.lanes))

    def heading(self, lanes: Sequence[str]) -> Iterator[str]:
        yield self._left("", "") + "".join(f"{_cut(name, self.lane - 1):<{self.lane}}" for name in lanes)

    def row(self, row: Row, number: str, in_loop: bool) -> Iterator[str]:
        """Yields the lines of a step: the rule with a mark at each actor, then messages, then changes."""
        mark = "│" if in_loop else " "
        names = _wrapped(row.rule, self.rule)
        points = self._points()
        for actor in row.actors:
            points[actor * self.lane] = "●"
        texts = [*self._changes(row)]
        arrows = [self._arrow(arrow) for arrow in row.arrows]
        first = self._with(points, texts[0]) if texts and not arrows else "".join(points)
        below = [*arrows, *("".join(self._with(self._points(), text)) for text in (texts if arrows else texts[1:]))]
        yield self._left(number, names[0], mark) + "".join(first)
        for name, line in zip_longest(names[1:], below, fillvalue=None):
            yield self._left("", name or "", mark) + ("".join(self._points()) if line is None else line)

    def _left(self, number: str, name: str, mark: str = " ") -> str:
        return f"{number:>{self.margin}}{mark} {name:<{self.rule}}   "

    def _points(self) -> list[str]:
        line = [" "] * (self.count * self.lane)
        for lane in range(self.count):
            line[lane * self.lane] = "│"
        return line

    def _changes(self, row: Row) -> Iterator[dict[int, str]]:
        """Texts by lane, line by line."""
        columns: dict[int, list[str]] = {}
        for change in row.changes:
            columns.setdefault(change.lane, []).append(self._change(change))
        for lane, texts in columns.items():
            if len(texts) > _MOST_CHANGES:
                columns[lane] = [*texts[: _MOST_CHANGES - 1], f"… {len(texts) - _MOST_CHANGES + 1} more changes"]
        for number in range(max(map(len, columns.values()), default=0)):
            yield {lane: texts[number] for lane, texts in columns.items() if number < len(texts)}

    def _change(self, change: Change) -> str:
        """Returns as much of a change as fits: it drops the old value first, then the beginning of a long name."""
        short = f"{change.name} → {change.after}"
        texts = [change.text, short]
        texts += ["…" + short[at:] for at in range(len(change.name)) if short[at] in ".["]
        return next((text for text in texts if len(text) <= self.lane - 3), texts[-1])

    def _with(self, line: list[str], texts: dict[int, str]) -> str:
        for lane, text in texts.items():
            begin = lane * self.lane + 2
            line[begin : (lane + 1) * self.lane] = f"{_cut(text, self.lane - 3):<{self.lane - 2}}"
        return "".join(line)

    def _arrow(self, arrow: Arrow) -> str:
        line = self._points()
        if arrow.source is None or arrow.target is None or arrow.source == arrow.target:
            return self._stub(line, arrow)
        begin, end = sorted((arrow.source * self.lane, arrow.target * self.lane))
        body = "┄" if arrow.kind is ArrowKind.SENT else "─"
        line[begin + 1 : end] = body * (end - begin - 1)
        head = {ArrowKind.SENT: "◁▷", ArrowKind.REMOVED: "✗✗"}.get(arrow.kind, "◀▶")
        if arrow.target > arrow.source:
            line[end - 1] = head[1]
        else:
            line[begin + 1] = head[0]
        for lane in range(self.count):
            at = lane * self.lane
            line[at] = ("├" if at == begin else "┤" if at == end else "┼") if begin <= at <= end else "│"
        # A label stands between two lifelines, so that it covers none.
        first = min(arrow.source, arrow.target) * self.lane
        text = f" {_cut(arrow.text, self.lane - 5)} " if arrow.text else ""
        at = first + max(2, (self.lane - len(text)) // 2)
        line[at : at + len(text)] = text
        return "".join(line)

    def _stub(self, line: list[str], arrow: Arrow) -> str:
        """Returns the line of a message of which the trace shows only one end, or of one to oneself."""
        lane = next((each for each in (arrow.target, arrow.source) if each is not None), None)
        if lane is None:
            return "".join(line)
        verb = {ArrowKind.SENT: "┄▷", ArrowKind.REMOVED: "─✗"}.get(arrow.kind, "◀─")
        return self._with(line, {lane: f"{verb} {arrow.text}"})


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(1, width - 1)] + "…"


def _wrapped(text: str, width: int) -> list[str]:
    """Returns lines of at most ``width`` columns, broken between words if possible."""
    lines = [""]
    for word in text.split(" "):
        while len(word) > width:
            lines += [word[:width]] if lines[-1] else []
            lines[-1] = word[:width]
            word = word[width:]
            lines.append("")
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return [line for line in lines if line] or [""]
