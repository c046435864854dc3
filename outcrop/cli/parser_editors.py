"""The command line of `format` and `lsp`."""

from __future__ import annotations

from typing import Any

from outcrop.cli.argument_parser import Parser
from outcrop.lang.registry import LANGUAGES
from outcrop.manual import see

_FORMAT_EPILOG = """\
examples:
  outcrop format cache.m              rewrite the file
  outcrop format --diff cache.m       print the changes, and leave the file as it is
  outcrop format --check *.m          exit code 1 if a file would change
  outcrop format - < cache.m          from stdin to stdout

exit codes: 0 done, 1 a file would change (with --check or --diff), 2 bad model or usage"""

_LSP_EPILOG = f"""\
An editor starts this command. {see("editors")}

needs:
  pip install 'outcrop[lsp]'"""


def add_editors(verbs: Any) -> dict[str, Parser]:
    """Adds the commands ``format`` and ``lsp``; returns the parser of each."""
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
    server: Parser = verbs.add_parser(
        "lsp",
        help="serve editors: diagnostics, definitions, completion and more",
        description="Answers an editor over stdin and stdout, in the language server protocol.",
        epilog=_LSP_EPILOG,
        usage="%(prog)s [--stdio] [--time-limit TIME]",
    )
    server.add_argument(
        "--time-limit",
        metavar="TIME",
        default="60s",
        help="search time of a check that the editor asks for, such as 90s (default: 60s)",
    )
    server.add_argument(
        "--stdio",
        action="store_true",
        help="communicate over stdin and stdout, as without this option; many editors give it to every server",
    )
    return {"format": layout, "lsp": server}
