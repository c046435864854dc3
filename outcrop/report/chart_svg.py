"""A message chart as SVG, by hand: one self-contained file. Colours follow the reader's preference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from outcrop.trace.changes import Change
from outcrop.trace.chart import Arrow, ArrowKind, Chart, Row

_LETTER = 6.9  #: width of a character, in pixels
_LINE, _ARROW, _GAP = 16, 24, 12  #: heights of a line of text, of an arrow, and between rows
_TOP, _LEFT = 64, 24
_LEAST_LANE, _MOST_LANE, _MOST_RULE = 130, 300, 230
_MOST_CHANGES = 8

_STYLE = """
text { font: 11.5px ui-monospace, "DejaVu Sans Mono", "Liberation Mono", monospace; fill: #211f1b }
.rule { font: 13px system-ui, "Liberation Sans", sans-serif } .soft { fill: #6a645a }
.title { font: 600 14px system-ui, "Liberation Sans", sans-serif }
.paper { fill: #fff } .life { stroke: #c4bdb0 } .head { fill: #f3f0ea; stroke: #c4bdb0 }
.actor { fill: #211f1b } .message { stroke: #211f1b; fill: none } .sent { stroke-dasharray: 4 3 }
.tip { fill: #211f1b } .open { fill: #fff; stroke: #211f1b } .changed { fill: #8a5a00 }
.bad { fill: #b3261e } .badline { stroke: #b3261e; fill: none } .loop { stroke: #6a645a; fill: none }
.label { stroke: #fff; stroke-width: 4px; paint-order: stroke }
@media (prefers-color-scheme: dark) {
  text, .tip, .actor { fill: #ebe7df } .soft { fill: #a8a194 } .paper { fill: #181613 } .life { stroke: #6c665b }
  .head { fill: #2a2621; stroke: #6c665b } .message { stroke: #ebe7df } .open { fill: #181613; stroke: #ebe7df }
  .changed { fill: #e9b44c } .bad { fill: #ff8a7a } .badline { stroke: #ff8a7a } .loop { stroke: #a8a194 }
  .label { stroke: #181613 }
}"""


def chart_svg(chart: Chart) -> str:
    """Returns the whole document."""
    shown = chart.folded()
    grid = _Grid.fitting(shown)
    parts: list[str] = []
    y = _TOP
    tops: dict[int, int] = {}
    closing = () if shown.closing is None else (shown.closing,)
    for row in (*shown.rows, *closing):
        tops[row.step] = y
        parts += grid.row(row, y, is_numbered=row is not shown.closing)
        y += grid.height(row)
    if shown.loop_start is not None:
        parts.append(_loop(tops[shown.loop_start], y))
    y += _GAP
    width = grid.x(len(shown.lanes) - 1) + grid.lane
    ending = f"✗ {shown.ending}"
    parts.append(_text(_LEFT, y + 10, ending, "rule bad"))
    width = int(max(width, _LEFT * 2 + len(ending) * _LETTER * 1.05))
    y += 2 * _LINE
    title = f"Message chart of {chart.title}"
    size = f'viewBox="0 0 {width} {y}" width="{width}" height="{y}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
            f"<title>{escape(title)}</title><style>{_STYLE}</style>",
            f'<rect class="paper" width="{width}" height="{y}"/>',
            *grid.lifelines(shown, y - 2 * _LINE - _GAP),
            *parts,
            "</svg>\n",
        ]
    )


@dataclass(frozen=True)
class _Grid:
    """The geometry of lanes: ``rule`` is the width of the column of rules, ``lane`` that of a lane."""

    rule: int
    lane: int

    @classmethod
    def fitting(cls, chart: Chart) -> _Grid:
        rows = [*chart.rows, *([] if chart.closing is None else [chart.closing])]
        texts = [change.text for row in rows for change in row.changes]
        texts += [arrow.text + "    " for row in rows for arrow in row.arrows] + [f"{name}   " for name in chart.lanes]
        widest = int(max(map(len, texts), default=0) * _LETTER) + 24
        rule = int(max((len(row.rule) for row in rows), default=0) * 7) + 50
        return cls(min(_MOST_RULE, rule), max(_LEAST_LANE, min(_MOST_LANE, widest)))

    def x(self, lane: int) -> int:
        """Returns the position of the lifeline of a lane."""
        return _LEFT + self.rule + 16 + lane * self.lane

    def height(self, row: Row) -> int:
        texts = max(self._lines(row), default=0)
        return max(_LINE * len(self._rule_lines(row)), _LINE + _ARROW * len(row.arrows) + _LINE * texts) + _GAP

    def _lines(self, row: Row) -> list[int]:
        counts: dict[int, int] = {}
        for change in row.changes:
            counts[change.lane] = counts.get(change.lane, 0) + 1
        return [min(count, _MOST_CHANGES) for count in counts.values()]

    def _rule_lines(self, row: Row) -> list[str]:
        room = int((self.rule - 40) / 6.6)
        lines = [""]
        for word in row.rule.split(" "):
            if lines[-1] and len(lines[-1]) + len(word) >= room:
                lines.append(word)
            else:
                lines[-1] = f"{lines[-1]} {word}".strip()
        return [_cut(line, room) for line in lines]

    def lifelines(self, chart: Chart, bottom: int) -> Iterator[str]:
        for lane, name in enumerate(chart.lanes):
            x, text = self.x(lane), _cut(name, int(self.lane / _LETTER) - 4)
            yield f'<line class="life" x1="{x}" x2="{x}" y1="40" y2="{bottom}"/>'
            wide = int(len(text) * 8.8 + 18)
            yield f'<rect class="head" x="{x - 10}" y="14" width="{wide}" height="26" rx="4"/>'
            yield _text(x - 2, 31, text, "title")

    def row(self, row: Row, y: int, is_numbered: bool) -> Iterator[str]:
        """Yields the parts of a step: its number and rule on the left, marks at the actors, then messages and
        changes."""
        number = str(row.step) if is_numbered else "↺"
        yield _text(_LEFT, y + 4, number, "rule soft")
        for at, line in enumerate(self._rule_lines(row)):
            yield _text(_LEFT + 32, y + 4 + at * _LINE, line, "rule")
        for lane in row.actors:
            yield f'<circle class="actor" cx="{self.x(lane)}" cy="{y}" r="4.5"/>'
        y += _LINE // 2
        for arrow in row.arrows:
            y += _ARROW
            yield from self._arrow(arrow, y - 4)
        used: dict[int, int] = {}
        for change in row.changes:
            at = used[change.lane] = used.get(change.lane, 0) + 1
            if at <= _MOST_CHANGES:
                yield self._change(change, y + at * _LINE, is_last=at == _MOST_CHANGES)

    def _change(self, change: Change, y: int, is_last: bool) -> str:
        room = int((self.lane - 20) / _LETTER)
        text = change.text if len(change.text) <= room else f"{change.name} → {change.after}"
        text = text if len(text) <= room else "…" + text[-room + 1 :]
        return _text(self.x(change.lane) + 10, y, "…" if is_last else text, "changed label")

    def _arrow(self, arrow: Arrow, y: int) -> Iterator[str]:
        source, target = arrow.source, arrow.target
        lane = next((each for each in (source, target) if each is not None), None)
        if lane is None:
            return
        begin = self.x(lane if source is None else source)
        end = self.x(target) if target is not None and target != source else begin + 40
        if source is None:
            begin = end - 40
        if source == target and arrow.kind is ArrowKind.RECEIVED:  # a message to the lane itself
            begin, end = end, begin
        way = 1 if end > begin else -1
        kind = " sent" if arrow.kind is ArrowKind.SENT else ""
        yield f'<line class="message{kind}" x1="{begin}" x2="{end - 7 * way}" y1="{y}" y2="{y}"/>'
        if arrow.kind is ArrowKind.REMOVED:
            yield f'<path class="badline" d="M{end - 12},{y - 5}l10,10m0,-10l-10,10"/>'
        else:
            head = "open" if arrow.kind is ArrowKind.SENT else "tip"
            yield f'<path class="{head}" d="M{end},{y}l{-9 * way},-5v10z"/>'
        room = int((self.lane - 24) / _LETTER)
        left = min(begin, end) + 12
        yield _text(left, y - 5, _cut(arrow.text, room), "label")


def _loop(top: int, bottom: int) -> str:
    """Returns the bracket of a cycle, with an arrow back to its start."""
    return (
        f'<path class="loop" d="M{_LEFT - 6},{bottom - _GAP}h-8V{top}h8"/>'
        f'<path class="tip" d="M{_LEFT - 3},{top}l-7,-4v8z"/>'
    )


def _text(x: int, y: int, text: str, kind: str) -> str:
    return f'<text x="{x}" y="{y}" class="{kind}">{escape(text)}</text>'


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(1, width - 1)] + "…"
