"""``outcrop lsp``: the language server."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from outcrop.errors import UsageError
from outcrop.units import parse_duration


def run(arguments: argparse.Namespace) -> int:
    """Answers the editor until it ends the session."""
    parse_duration(arguments.time_limit)  # raises for a wrong one before the editor waits
    if find_spec("pygls") is None:
        raise UsageError("the language server needs pygls; install it with: pip install 'outcrop[lsp]'")
    from outcrop.lsp.features import make_server  # an optional dependency

    make_server(arguments.time_limit).start_io()
    return 0
