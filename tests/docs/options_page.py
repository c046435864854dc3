"""Writes the reference page of every command and option from the parser.

    python tests/docs/options_page.py > docs/reference/options.md

tests/unit/test_docs_options.py compares the page with this output.
"""

from __future__ import annotations

import argparse
import re

from outcrop.cli.argument_parser import Parser
from outcrop.cli.parser import build_parser

_HEAD = """\
# Every option

This page lists every command and option, as `outcrop COMMAND --help` prints them.
[The command](cli.md) explains how they work together.
Sizes are like `500M` or `8G`, in units of 1024; times are like `90s`, `30m` or `2h`.
"""


def page() -> str:
    """Returns the page as Markdown."""
    parser = build_parser()
    return "\n".join([_HEAD, *(_command(name, verb) for name, verb in parser.verbs.items())])


def _command(name: str, verb: Parser) -> str:
    usage = re.sub(r"\s+", " ", verb.format_usage().removeprefix("usage: ")).strip()
    parts = [f"## `outcrop {name}`\n", f"{_plain(verb.description)}\n", f"```\n{usage}\n```\n"]
    plain, titled = verb._action_groups[:2], verb._action_groups[2:]
    parts += _table([action for group in plain for action in group._group_actions], verb)
    for group in titled:
        if rows := _table(group._group_actions, verb):
            about = [f"{_plain(group.description)}\n"] if group.description else []
            parts += [f"### {name}: {group.title}\n", *about, *rows]
    return "\n".join(parts)


def _table(actions: list[argparse.Action], verb: Parser) -> list[str]:
    rows = [_row(action, verb) for action in actions if not isinstance(action, argparse._HelpAction)]
    return ["| option | meaning |\n|---|---|", *rows, ""] if rows else []


def _row(action: argparse.Action, verb: Parser) -> str:
    return f"| {_names(action)} | {_cell(verb._get_formatter()._expand_help(action) if action.help else '')} |"


def _names(action: argparse.Action) -> str:
    value = ""
    if action.nargs != 0:
        choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices is not None else ""
        value = action.metavar if isinstance(action.metavar, str) else choices or action.dest.upper()
    if not action.option_strings:
        return f"`{value}`"
    return ", ".join(f"`{_cell(f'{name} {value}'.strip())}`" for name in action.option_strings)


def _plain(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "").strip()


def _cell(text: str) -> str:
    """Returns a text that a cell of a table can hold."""
    return _plain(text).replace("|", "\\|")


if __name__ == "__main__":
    print(page(), end="")
