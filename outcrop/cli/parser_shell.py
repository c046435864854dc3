"""The commands for shells and machines: the cache of compiled models."""

from __future__ import annotations

from typing import Any

from outcrop.cli.argument_parser import Parser

_CACHE_EPILOG = """\
examples:
  outcrop cache            the size of the cache
  outcrop cache --clear    remove all compiled models"""


def add_shell(verbs: Any) -> dict[str, Parser]:
    """Adds the commands of this module; returns the parser of each."""
    return {"cache": _cache(verbs)}


def _cache(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "cache",
        help="show or empty the cache of compiled models",
        description="Shows where compiled models are kept, and how much room they take.",
        epilog=_CACHE_EPILOG,
        usage="%(prog)s [--clear] [--json]",
    )
    parser.add_argument("--clear", action="store_true", help="remove all compiled models; the next check compiles")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser
