"""The commands for shells and machines: cache, completion, manual pages, lint, and the server for agents."""

from __future__ import annotations

from typing import Any

from outcrop.cli.argument_parser import Parser
from outcrop.cli.parser_declared import add_language_options
from outcrop.cli.parser_shared import add_constants, add_json

_CACHE_EPILOG = """\
examples:
  outcrop cache            the size of the cache
  outcrop cache --clear    remove all compiled models"""

_COMPLETION_EPILOG = """\
to load it:
  bash   eval "$(outcrop completion bash)"      in ~/.bashrc
  zsh    eval "$(outcrop completion zsh)"       in ~/.zshrc, after compinit
  fish   outcrop completion fish | source       in ~/.config/fish/config.fish"""

_MAN_EPILOG = """\
examples:
  outcrop man check | man -l -            read a page
  outcrop man -o ~/.local/share/man/man1  install all pages"""


def add_shell(verbs: Any) -> dict[str, Parser]:
    """Adds the commands of this module; returns the parser of each."""
    add = {"cache": _cache, "completion": _completion, "lint": _lint, "man": _man, "mcp": _mcp}
    return {name: make(verbs) for name, make in add.items()}


def _cache(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "cache",
        help="show or empty the cache of compiled models",
        description="Shows where compiled models are kept, and how much space they take.",
        epilog=_CACHE_EPILOG,
        usage="%(prog)s [--clear] [--json]",
    )
    parser.add_argument("--clear", action="store_true", help="remove all compiled models; the next check compiles")
    add_json(parser)
    return parser


def _completion(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "completion",
        help="print the completion script of a shell",
        description="Prints a script that completes commands, options, models, and the names of properties and rules.",
        epilog=_COMPLETION_EPILOG,
        usage="%(prog)s {bash,zsh,fish}",
    )
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], help="the shell that loads the script")
    parser.add_argument(
        "words_so_far", metavar="WORD", nargs="*", help="words of a command line to complete, after --; for the script"
    )
    return parser


def _man(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "man",
        help="print a manual page, or write all of them",
        description="Prints the manual page of a command, in troff, or writes all pages to a directory.",
        epilog=_MAN_EPILOG,
        usage="%(prog)s [COMMAND] [-o DIR]",
    )
    parser.add_argument("command", metavar="COMMAND", nargs="?", help="a command (default: outcrop itself)")
    parser.add_argument("-o", dest="output", metavar="DIR", help="directory for the pages of all commands")
    return parser


def _lint(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "lint",
        help="parse and type-check models",
        description="Parses and type-checks models, and prints errors and warnings. Searches nothing.",
        usage="%(prog)s MODEL... [-D NAME=VALUE]... [--json]",
    )
    parser.add_argument("models", metavar="MODEL", nargs="+", help="model file")
    add_constants(parser, "set a constant of all models to a value")
    add_language_options(parser)
    parser.add_argument("--sandbox", action="store_true", help="for untrusted models: confine the process")
    add_json(parser)
    return parser


def _mcp(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "mcp",
        help="serve tools to agents, over the Model Context Protocol",
        description="Serves tools to agents on standard input and output, over the Model Context Protocol "
        "(needs pip install 'outcrop[mcp]').",
        usage="%(prog)s [--root DIR] [--skill]",
    )
    parser.add_argument(
        "--root", metavar="DIR", default=".", help="directory of the models that tools may read (default: this one)"
    )
    parser.add_argument(
        "--skill", action="store_true", help="print the skill, which tells an agent when and how to use the tools"
    )
    return parser
