"""``outcrop mcp``: serves tools to agents, or prints the skill that explains them."""

from __future__ import annotations

import argparse
from pathlib import Path

from outcrop.agents.skill import skill
from outcrop.cli.output import emit
from outcrop.errors import UsageError


def run(arguments: argparse.Namespace) -> int:
    """Serves on standard input and output until the client leaves."""
    if arguments.skill:
        emit(skill())
        return 0
    try:
        from outcrop.agents.server import serve  # needs the package mcp, which is optional
    except ImportError as error:
        raise UsageError(f"the server needs the package mcp ({error}); pip install 'outcrop[mcp]'") from None
    root = Path(arguments.root)
    if not root.is_dir():
        raise UsageError(f"there is no directory '{root}'; name the one with the models")
    serve(root.resolve())
    return 0
