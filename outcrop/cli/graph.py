"""``outcrop graph``: writes the state graph, as a picture or for programs that draw."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
from pathlib import Path

from outcrop.api import load
from outcrop.cli.files import keep_apart, write
from outcrop.cli.output import complain, emit
from outcrop.cli.parser_declared import language_values
from outcrop.errors import UsageError
from outcrop.explore.formats import dot, graphml, mermaid, svg
from outcrop.explore.graph import Graph, around, explore, unknown_names
from outcrop.explore.picture import Picture, picture
from outcrop.explore.saved import read

#: Time that Graphviz may take, in seconds.
_MOST_SECONDS = 120

_SUFFIXES = {
    ".dot": "dot",
    ".gv": "dot",
    ".graphml": "graphml",
    ".json": "json",
    ".svg": "svg",
    ".png": "png",
    ".mmd": "mermaid",
}


def run(arguments: argparse.Namespace) -> int:
    """Writes the graph in the format that was asked for."""
    layout = arguments.format or _format_of(arguments.output)
    if layout == "png" and not arguments.output:
        raise UsageError("a PNG cannot be printed. Name a file with -o FILE.png")
    if arguments.around is None and arguments.radius is not None:
        raise UsageError("--radius needs --around; name a saved trace with --around FILE")
    if not arguments.states:
        raise UsageError("--states must be at least 1")
    keep_apart((arguments.model, arguments.around), (arguments.output,))
    model = load(arguments.model, dict(arguments.constants), **language_values(arguments))
    chosen = [arguments.color] if arguments.color not in ("property", "level") else []
    for name in unknown_names(model.system, [*(arguments.show or ()), *arguments.by, *chosen]):
        raise UsageError(
            f"the model has no variable, field or element '{name}' to show; 'outcrop show' lists the variables"
        )
    if arguments.around is not None:
        radius = 1 if arguments.radius is None else arguments.radius
        graph = around(model.system, read(arguments.around), arguments.states, radius)
    else:
        graph = explore(model.system, arguments.symmetry == "on", arguments.states, arguments.depth)
    if graph.open_nodes:
        complain(
            f"the graph is cut off: {len(graph.open_nodes):,} of its {len(graph.nodes):,} states have successors that "
            "are not drawn; raise the limits with --states and --depth (or --radius)"
        )
    drawing = picture(graph, arguments.show, arguments.by, arguments.color)
    if layout == "png":
        _write_png(arguments.output, dot(drawing))
        return 0
    text = _text(layout, graph, drawing)
    if arguments.output:
        write(arguments.output, text)
    else:
        emit(text)
    return 0


def _format_of(output: str | None) -> str:
    """Returns the format that the suffix of a file names. Raises UsageError for an unknown suffix."""
    if output is None:
        return "dot"
    suffix = Path(output).suffix.lower()
    if suffix not in _SUFFIXES:
        raise UsageError(f"'{output}' has an unknown suffix; use one of {', '.join(_SUFFIXES)}, or give --format")
    return _SUFFIXES[suffix]


def _text(layout: str, graph: Graph, drawing: Picture) -> str:
    match layout:
        case "json":
            return json.dumps(drawing.to_dict() if drawing.by else graph.to_dict(), ensure_ascii=False, indent=1)
        case "graphml":
            return graphml(drawing)
        case "mermaid":
            return mermaid(drawing)
        case "svg":
            return _graphviz("svg", dot(drawing)).decode() if shutil.which("dot") else svg(drawing)
    return dot(drawing)


def _write_png(path: str, text: str) -> None:
    if not shutil.which("dot"):
        raise UsageError("a PNG needs Graphviz, and there is no command 'dot'. Install Graphviz, or write -o FILE.svg")
    content = _graphviz("png", text)
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror}; name another file with -o") from None


def _graphviz(kind: str, text: str) -> bytes:
    """Returns the drawing of Graphviz. Raises UsageError if it fails, as it does on graphs that are too large for
    it."""
    try:
        done = subprocess.run(
            ["dot", f"-T{kind}"], input=text.encode(), capture_output=True, timeout=_MOST_SECONDS, check=True
        )
    except subprocess.TimeoutExpired:
        raise UsageError(
            f"Graphviz took more than {_MOST_SECONDS} s. Draw fewer states with --states or --by"
        ) from None
    except (OSError, subprocess.CalledProcessError) as error:
        raise UsageError(
            f"Graphviz failed: {error}. Write DOT with -o FILE.dot, and draw it with another program"
        ) from None
    return done.stdout
