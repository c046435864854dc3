"""The command line of `format`."""

from __future__ import annotations

from typing import Any

from outcrop.cli.argument_parser import Parser
from outcrop.lang.registry import LANGUAGES

_FORMAT_EPILOG = """\
examples:
  outcrop format cache.m              write the file anew
  outcrop format --diff cache.m       print the changes, and leave the file as it is
  outcrop format --check *.m          exit code 1 if a file would change
  outcrop format - < cache.m          from stdin to stdout

exit codes: 0 done, 1 a file would change (with --check or --diff), 2 bad model or usage"""


def add_editors(verbs: Any) -> dict[str, Parser]:
    """Adds the command ``format``; returns the parser of it."""
    layout: Parser = verbs.add_parser(
        "format",
        help="give models a uniform layout",
        description="Gives models a uniform layout: indentation, blanks and empty lines. Line ends stay where they "
        "are, and so do comments. The meaning of a model never changes.",
        epilog=_FORMAT_EPILOG,
        usage="%(prog)s FILE... [--check] [--diff]",
    )
    layout.add_argument("files", metavar="FILE", nargs="+", help="model file; - reads stdin and writes to stdout")
    layout.add_argument("--check", action="store_true", help="write no file; list those that would change")
    layout.add_argument("--diff", action="store_true", help="write no file; print the changes")
    layout.add_argument(
        "--name",
        metavar="NAME",
        default="",
        help=f"name of the text from stdin, whose suffix selects the language (default: a {LANGUAGES[0].name} model)",
    )
    return {"format": layout}
