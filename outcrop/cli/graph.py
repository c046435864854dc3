"""``outcrop graph``: writes the state graph in a format that other programs draw."""

from __future__ import annotations

import argparse
from pathlib import Path

from outcrop.api import load
from outcrop.cli.files import keep_apart, write
from outcrop.cli.output import complain, emit
from outcrop.errors import UsageError
from outcrop.explore.formats import FORMATS
from outcrop.explore.graph import around, explore, unknown_names
from outcrop.explore.saved import read

_SUFFIXES = {".dot": "dot", ".gv": "dot", ".graphml": "graphml", ".json": "json"}


def run(arguments: argparse.Namespace) -> int:
    layout = arguments.format or _SUFFIXES.get(Path(arguments.output or "").suffix, "dot")
    if arguments.around is None and arguments.radius is not None:
        raise UsageError("--radius needs --around; name a saved trace with --around FILE")
    if not arguments.states:
        raise UsageError("--states must be at least 1")
    keep_apart((arguments.model, arguments.around), (arguments.output,))
    model = load(arguments.model, dict(arguments.constants))
    for name in unknown_names(model.system, arguments.show or ()):
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
    text = FORMATS[layout](graph, arguments.show)
    if arguments.output:
        write(arguments.output, text)
    else:
        emit(text)
    return 0
