"""A message chart as a Mermaid sequence diagram, which GitHub, GitLab and many editors draw inside Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from outcrop.trace.changes import Change
from outcrop.trace.chart import Arrow, ArrowKind, Chart, Row

#: Largest number of changes of a lane that are written out per step.
_MOST_CHANGES = 6

_ARROWS = {
    ArrowKind.SENT: "--)",  #: dotted, with an open head: in flight
    ArrowKind.RECEIVED: "->>",
    ArrowKind.EXCHANGED: "->>",
    ArrowKind.REMOVED: "-x",
}


def chart_mermaid(chart: Chart) -> str:
    """Returns the text of the diagram."""
    shown = chart.folded()
    lines = ["sequenceDiagram"]
    lines += [f"    participant L{number} as {_escaped(name)}" for number, name in enumerate(shown.lanes)]
    for row in shown.rows:
        if row.step == shown.loop_start:
            lines.append("    loop forever")
        lines += [f"    {line}" for line in _row(shown, row)]
    if shown.closing is not None:
        lines += [f"    {line}" for line in _row(shown, shown.closing)]
        lines.append("    end")
    if shown.lanes:
        lines.append(f"    Note over {_everybody(shown)}: ✗ {_escaped(shown.ending)}")
    return "\n".join(lines) + "\n"


def _row(chart: Chart, row: Row) -> Iterator[str]:
    number = f"{row.step}. " if row is not chart.closing else ""
    where = ",".join(f"L{lane}" for lane in (min(row.actors), max(row.actors))) if row.actors else _everybody(chart)
    if not where:
        return
    yield f"Note over {_once(where)}: {number}{_escaped(row.rule)}"
    yield from (_arrow(arrow) for arrow in row.arrows if arrow.source is not None or arrow.target is not None)
    lanes: dict[int, list[Change]] = {}
    for change in row.changes:
        lanes.setdefault(change.lane, []).append(change)
    for lane, changes in lanes.items():
        texts = [_escaped(change.text) for change in changes[:_MOST_CHANGES]]
        if len(changes) > _MOST_CHANGES:
            texts.append(f"{len(changes) - _MOST_CHANGES} more changes")
        yield f"Note right of L{lane}: {'<br/>'.join(texts)}"


def _arrow(arrow: Arrow) -> str:
    source = arrow.target if arrow.source is None else arrow.source
    target = arrow.source if arrow.target is None else arrow.target
    return f"L{source}{_ARROWS[arrow.kind]}L{target}: {_escaped(arrow.text or arrow.kind)}"


def _everybody(chart: Chart) -> str:
    return _once(f"L0,L{len(chart.lanes) - 1}") if chart.lanes else ""


def _once(where: str) -> str:
    """Returns ``L0`` for ``L0,L0``."""
    first, _, last = where.partition(",")
    return first if first == last else where


def _escaped(text: str) -> str:
    """Returns the text with entities for characters that Mermaid reads as the end of a statement, or as markup."""
    return "".join(f"#{ord(each)};" if each in '#;<>&"\n\r{}%' else each for each in text)
