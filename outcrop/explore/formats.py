"""State graphs as text: Graphviz, GraphML for yEd, Gephi and networkx, or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from xml.sax.saxutils import escape, quoteattr

from outcrop.explore.graph import Graph, Node

#: Largest number of lines in the label of a node.
_MOST_LINES = 24


def dot(graph: Graph, shown: Sequence[str] | None) -> str:
    """Returns the graph for Graphviz. Start states have a bold frame, states of the trace are blue, states with a
    violation red, and unexpanded ones dashed."""
    lines = [f"digraph {_quoted(graph.system.name)} {{", '  node [shape=box, fontname="monospace", fontsize=10];']
    lines += [f"  {node.number} [{_dot_node(graph, node, shown)}];" for node in graph.nodes]
    for link in graph.links:
        color = ', color="#2b6cb0", penwidth=2' if link.in_trace else ""
        lines.append(f"  {link.source} -> {link.target} [label={_quoted(link.label)}{color}];")
    return "\n".join([*lines, "}"]) + "\n"


def _dot_node(graph: Graph, node: Node, shown: Sequence[str] | None) -> str:
    text = "".join(_escaped(line) + "\\l" for line in _lines(graph, node, shown))
    styles = [
        style for style, wanted in (("bold", node.is_start), ("dashed", node.number in graph.open_nodes)) if wanted
    ]
    parts = [f'label="{text or node.number}"']
    if styles:
        parts.append(f'style="{",".join(styles)}"')
    color = "#c53030" if node.wrong else "#2b6cb0" if node.trace_step is not None else ""
    if color:
        parts.append(f'color="{color}"')
    if node.wrong:
        parts.append(f"tooltip={_quoted(node.wrong)}")
    return ", ".join(parts)


def _lines(graph: Graph, node: Node, shown: Sequence[str] | None) -> list[str]:
    lines = graph.labels(node, shown)
    return (
        lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 1], f"... {len(lines) - _MOST_LINES + 1} more"]
    )


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def graphml(graph: Graph, shown: Sequence[str] | None) -> str:
    keys = [("label", "node", "string"), ("distance", "node", "int"), ("start", "node", "boolean")]
    keys += [("expanded", "node", "boolean"), ("trace_step", "node", "int"), ("wrong", "node", "string")]
    keys += [("rule", "edge", "string"), ("in_trace", "edge", "boolean")]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    lines += [f'  <key id="{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>' for name, of, kind in keys]
    lines.append(f'  <graph id={quoteattr(graph.system.name)} edgedefault="directed">')
    for node in graph.nodes:
        values: dict[str, object] = {
            "label": "\n".join(graph.labels(node, shown)),
            "distance": node.distance,
            "start": node.is_start,
            "expanded": node.number not in graph.open_nodes,
            "trace_step": node.trace_step,
            "wrong": node.wrong or None,
        }
        lines.append(f'    <node id="n{node.number}">{_data(values)}</node>')
    for number, link in enumerate(graph.links):
        ends = f'source="n{link.source}" target="n{link.target}"'
        lines.append(f'    <edge id="e{number}" {ends}>{_data({"rule": link.label, "in_trace": link.in_trace})}</edge>')
    return "\n".join([*lines, "  </graph>", "</graphml>"]) + "\n"


def _data(values: dict[str, object]) -> str:
    def text(part: object) -> str:
        return str(part).lower() if isinstance(part, bool) else escape(str(part))

    return "".join(f'<data key="{name}">{text(part)}</data>' for name, part in values.items() if part is not None)


def document(graph: Graph, shown: Sequence[str] | None) -> str:
    return json.dumps(graph.to_dict(), ensure_ascii=False, indent=1)


FORMATS: dict[str, Callable[[Graph, Sequence[str] | None], str]] = {"dot": dot, "graphml": graphml, "json": document}
