"""State graphs as text: Graphviz, Mermaid, SVG, GraphML for yEd, Gephi and networkx."""

from __future__ import annotations

from dataclasses import replace
from html import escape as html_escape
from xml.sax.saxutils import escape, quoteattr

from outcrop.errors import UsageError
from outcrop.explore.layout import Box, layered
from outcrop.explore.picture import Line, Picture, Shape

#: Colours of a violation and of a trace.
_BAD, _TRACE = "#b3261e", "#2b6cb0"
#: Largest graph that is laid out without Graphviz.
MOST_LAID_OUT = 250
_LETTER, _ROW, _LONGEST_LABEL = 6.1, 13, 30

_STYLE = """
text { font: 10px ui-monospace, "DejaVu Sans Mono", "Liberation Mono", monospace; fill: #211f1b }
.label { fill: #6a645a; stroke: #fff; stroke-width: 3px; paint-order: stroke }
.paper { fill: #fff } .box { fill: #fff; stroke: #8d867a } .start { stroke-width: 3 } .open { stroke-dasharray: 4 3 }
.bad { stroke: #b3261e } .traced { stroke: #2b6cb0 } .link { fill: none; stroke: #a49d91 } .head { fill: #a49d91 }
.link.traced { stroke-width: 2 } .head.traced { fill: #2b6cb0 }
"""


def dot(drawing: Picture) -> str:
    """Returns the graph for Graphviz. Start states have a bold frame, states of the trace are blue, states with a
    violation red, and unexpanded ones dashed."""
    lines = [f"digraph {_quoted(drawing.title)} {{", '  node [shape=box, fontname="monospace", fontsize=10];']
    lines += [f"  {shape.number} [{_dot_node(shape)}];" for shape in drawing.shapes]
    for line in drawing.lines:
        color = f', color="{_TRACE}", penwidth=2' if line.in_trace else ""
        lines.append(f"  {line.source} -> {line.target} [label={_quoted(line.label)}{color}];")
    return "\n".join([*lines, "}"]) + "\n"


def _dot_node(shape: Shape) -> str:
    text = "".join(_escaped(line) + "\\l" for line in shape.lines)
    wanted = (("bold", shape.is_start), ("dashed", shape.is_open), ("filled", bool(shape.fill)))
    styles = [style for style, is_wanted in wanted if is_wanted]
    parts = [f'label="{text or shape.number}"']
    if styles:
        parts.append(f'style="{",".join(styles)}"')
    if shape.fill:
        parts.append(f'fillcolor="{shape.fill}"')
    color = _BAD if shape.wrong else _TRACE if shape.trace_step is not None else ""
    if color:
        parts.append(f'color="{color}"')
    if shape.wrong:
        parts.append(f"tooltip={_quoted(shape.wrong)}")
    return ", ".join(parts)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def graphml(drawing: Picture) -> str:
    """Returns the graph as GraphML."""
    keys = [("label", "node", "string"), ("distance", "node", "int"), ("start", "node", "boolean")]
    keys += [("expanded", "node", "boolean"), ("trace_step", "node", "int"), ("wrong", "node", "string")]
    keys += [("states", "node", "int"), ("rule", "edge", "string"), ("in_trace", "edge", "boolean")]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    lines += [f'  <key id="{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>' for name, of, kind in keys]
    lines.append(f'  <graph id={quoteattr(drawing.title)} edgedefault="directed">')
    for shape in drawing.shapes:
        values: dict[str, object] = {
            "label": "\n".join(shape.lines),
            "distance": shape.layer,
            "start": shape.is_start,
            "expanded": not shape.is_open,
            "trace_step": shape.trace_step,
            "wrong": shape.wrong or None,
            "states": shape.states,
        }
        lines.append(f'    <node id="n{shape.number}">{_data(values)}</node>')
    for number, line in enumerate(drawing.lines):
        ends = f'source="n{line.source}" target="n{line.target}"'
        lines.append(f'    <edge id="e{number}" {ends}>{_data({"rule": line.label, "in_trace": line.in_trace})}</edge>')
    return "\n".join([*lines, "  </graph>", "</graphml>"]) + "\n"


def _data(values: dict[str, object]) -> str:
    def text(part: object) -> str:
        return str(part).lower() if isinstance(part, bool) else escape(str(part))

    return "".join(f'<data key="{name}">{text(part)}</data>' for name, part in values.items() if part is not None)


def mermaid(drawing: Picture) -> str:
    """Returns the graph as a Mermaid flowchart."""
    lines = ["flowchart TD"]
    for shape in drawing.shapes:
        text = "<br/>".join(_entities(line) for line in shape.lines) or str(shape.number)
        lines.append(f'    n{shape.number}["{text}"]')
        style = [f"fill:{shape.fill}"] if shape.fill else []
        style += [f"stroke:{_BAD}"] if shape.wrong else [f"stroke:{_TRACE}"] if shape.trace_step is not None else []
        style += ["stroke-width:3px"] if shape.is_start else []
        style += ["stroke-dasharray:4 3"] if shape.is_open else []
        if style:
            lines.append(f"    style n{shape.number} {','.join(style)}")
    for line in drawing.lines:
        lines.append(f'    n{line.source} -->|"{_entities(line.label)}"| n{line.target}')
    return "\n".join(lines) + "\n"


def _entities(text: str) -> str:
    return "".join(f"#{ord(each)};" if each in '#;<>&"|\n\r{}%`' else each for each in text)


def svg(drawing: Picture) -> str:
    """Returns the graph as SVG, laid out in rows by distance. Raises UsageError for a graph that is too large for
    that."""
    count = len(drawing.shapes)
    if count > MOST_LAID_OUT:
        raise UsageError(
            f"A graph of {count:,} states is too large to be laid out without Graphviz. Install Graphviz, draw fewer "
            "states with --states, --depth or --by, or write DOT with -o FILE.dot."
        )
    links = [(line.source, line.target) for line in drawing.lines]
    loops = {
        line.source: min(len(line.label), _LONGEST_LABEL) * _LETTER
        for line in drawing.lines
        if line.source == line.target
    }
    sizes = [(_width(shape), len(shape.lines or [""]) * _ROW + 12.0) for shape in drawing.shapes]
    # The label of a self-loop is next to it, where it needs space.
    room = [(width + loops.get(number, 0.0), height) for number, (width, height) in enumerate(sizes)]
    placed = layered([shape.layer for shape in drawing.shapes], links, room)
    boxes = [replace(box, width=width) for box, (width, _) in zip(placed, sizes, strict=True)]
    right = max((box.x + box.width for box in boxes), default=0) + 230
    bottom = max((box.y + box.height for box in boxes), default=0) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-30 -20 {right:.0f} {bottom:.0f}" role="img">',
        f"<title>{html_escape(drawing.title)}</title><style>{_STYLE}</style>",
        f'<rect class="paper" x="-30" y="-20" width="{right:.0f}" height="{bottom:.0f}"/>',
    ]
    labels = []
    for number, line in enumerate(drawing.lines):
        path, label = _link(boxes[line.source], boxes[line.target], line, number)
        parts.append(path)
        labels.append(label)
    parts += [_box(shape, box) for shape, box in zip(drawing.shapes, boxes, strict=True)]
    parts += labels
    return "\n".join([*parts, "</svg>"]) + "\n"


def _width(shape: Shape) -> float:
    return max(map(len, shape.lines), default=2) * _LETTER + 16


def _box(shape: Shape, box: Box) -> str:
    kinds = [("start", shape.is_start), ("open", shape.is_open), ("bad", bool(shape.wrong))]
    kinds.append(("traced", shape.trace_step is not None and not shape.wrong))
    names = " ".join(["box", *(name for name, is_so in kinds if is_so)])
    fill = f' style="fill:{shape.fill}"' if shape.fill else ""
    place = f'x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{box.height:.0f}"'
    title = f"<title>{html_escape(shape.wrong)}</title>" if shape.wrong else ""
    texts = "".join(
        f'<text x="{box.x + 8:.0f}" y="{box.y + 15 + number * _ROW:.0f}">{html_escape(line)}</text>'
        for number, line in enumerate(shape.lines or [str(shape.number)])
    )
    return f'<rect class="{names}" rx="4" {place}{fill}>{title}</rect>{texts}'


def _link(source: Box, target: Box, line: Line, number: int) -> tuple[str, str]:
    """Returns a curve from the bottom of a box to the top of the next, and its label. Links back, and along a row,
    leave at the side. Labels of neighbours are at different heights."""
    if line.source == line.target:
        x, y = source.x + source.width, source.y + source.height / 2
        path, at, head = f"M{x:.0f},{y - 8:.0f}c26,-6 26,22 2,16", (x + 4, y - 12), (x + 1, y + 8, True)
    elif target.y > source.y:
        x, y, end_x, end_y = source.middle, source.y + source.height, target.middle, target.y
        bend = (end_y - y) / 2
        path = f"M{x:.0f},{y:.0f}C{x:.0f},{y + bend:.0f} {end_x:.0f},{end_y - bend:.0f} {end_x:.0f},{end_y - 6:.0f}"
        up = 18 + 20 * (number % 3)
        share = max(0.0, 1 - (up / (end_y - y)) ** 2 * 2)
        at, head = (x + (end_x - x) * share, end_y - up), (end_x, end_y, False)
    else:
        x, y = source.x + source.width, source.y + source.height / 2
        end_x, end_y = target.x + target.width, target.y + target.height / 2
        far = max(x, end_x) + 40
        path = f"M{x:.0f},{y:.0f}C{far:.0f},{y:.0f} {far:.0f},{end_y:.0f} {end_x + 7:.0f},{end_y:.0f}"
        at, head = (far - 8, (y + end_y) / 2), (end_x, end_y, True)
    kind = " traced" if line.in_trace else ""
    tip_x, tip_y, is_sideways = head
    tip = "l7,-4v8z" if is_sideways else "l-4,-7h8z"
    anchor = "start" if is_sideways else "middle"
    short = line.label if len(line.label) <= _LONGEST_LABEL else line.label[: _LONGEST_LABEL - 1] + "…"
    return (
        f'<path class="link{kind}" d="{path}"><title>{html_escape(line.label)}</title></path>'
        f'<path class="head{kind}" d="M{tip_x:.0f},{tip_y:.0f}{tip}"/>',
        f'<text class="label" text-anchor="{anchor}" x="{at[0]:.0f}" y="{at[1]:.0f}">{html_escape(short)}</text>',
    )
