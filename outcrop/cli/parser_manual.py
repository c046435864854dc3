"""The commands that show what comes with Outcrop: pages of the manual and examples."""

from __future__ import annotations

from typing import Any

from outcrop.cli.argument_parser import Parser

_DOCS_EPILOG = """\
examples:
  outcrop docs              list the pages
  outcrop docs tutorial     the first model, step by step
  outcrop docs cli | less   a page without styles, in a pager"""

_EXAMPLES_EPILOG = """\
examples:
  outcrop examples                    list them
  outcrop examples peterson.m         copy one into this directory
  outcrop examples --all -o examples  copy all into the directory examples"""


def add_manual(verbs: Any) -> dict[str, Parser]:
    """Adds the commands ``docs`` and ``examples``; returns the parser of each."""
    docs: Parser = verbs.add_parser(
        "docs",
        help="print a page of the manual",
        description="Prints a page of the manual, or lists the pages.",
        epilog=_DOCS_EPILOG,
        usage="%(prog)s [TOPIC]",
    )
    docs.add_argument("topic", metavar="TOPIC", nargs="?", help="a page, by its name in the list")
    docs.add_argument("--no-color", action="store_true", help="print the page as plain Markdown")
    examples: Parser = verbs.add_parser(
        "examples",
        help="list the example models, or copy some",
        description="Lists the example models, or copies some into this directory. Never replaces a file.",
        epilog=_EXAMPLES_EPILOG,
        usage="%(prog)s [NAME]... [-o DIR]",
    )
    examples.add_argument("names", metavar="NAME", nargs="*", help="an example, by its name in the list")
    examples.add_argument("--all", action="store_true", help="copy all examples")
    examples.add_argument(
        "-o", dest="output", metavar="DIR", default=".", help="directory to copy to (default: this one)"
    )
    return {"docs": docs, "examples": examples}
