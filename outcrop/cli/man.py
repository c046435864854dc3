"""``outcrop man``: manual pages in troff, made from the parser."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from outcrop import __version__
from outcrop.cli.argument_parser import Parser
from outcrop.cli.files import write
from outcrop.cli.output import emit
from outcrop.errors import UsageError


def run(arguments: argparse.Namespace) -> int:
    """Prints one manual page, or writes all of them to a directory."""
    from outcrop.cli.parser import build_parser  # which imports the parser of this command

    parser = build_parser()
    if arguments.output is None:
        if arguments.command and arguments.command not in parser.verbs:
            raise UsageError(f"there is no command '{arguments.command}'; 'outcrop --help' lists them")
        emit(page(parser, arguments.command))
        return 0
    directory = Path(arguments.output)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the directory '{directory}': {error.strerror}; name another one") from None
    for verb in (None, *parser.verbs):
        write(directory / f"{_name(verb)}.1", page(parser, verb))
    emit(f"{directory}: {1 + len(parser.verbs)} pages")
    return 0


def _name(verb: str | None) -> str:
    return "outcrop" if verb is None else f"outcrop-{verb}"


def page(parser: Parser, verb: str | None) -> str:
    """Returns the page of a command, or of ``outcrop`` itself."""
    chosen = parser if verb is None else parser.verbs[verb]
    summary = "explicit-state model checker" if verb is None else _summaries(parser)[verb]
    lines = [
        f'.TH {_escaped(_name(verb).upper())} 1 "" "outcrop {__version__}" "User Commands"',
        ".SH NAME",
        f"{_escaped(_name(verb))} \\- {_escaped(summary)}",
        ".SH SYNOPSIS",
        _escaped(re.sub(r"\s+", " ", chosen.format_usage().removeprefix("usage: ")).strip()),
        ".SH DESCRIPTION",
        _escaped(re.sub(r"\s+", " ", chosen.description or "")),
    ]
    if verb is None:
        lines.append(".SH COMMANDS")
        for name, text in _summaries(parser).items():
            lines += [".TP", f".BR {_escaped(_name(name))} (1)", _escaped(text)]
    for group in chosen._action_groups:
        lines += _group(chosen, group)
    if chosen.epilog:
        # The examples begin in the first column of a heading of their own.
        for part in chosen.epilog.split("\n\n"):
            heading, _, rest = part.partition("\n")
            if rest:
                lines += [f".SH {_escaped(heading.rstrip(':').upper())}", ".nf", _escaped(rest), ".fi"]
            else:
                lines += [".PP", _escaped(heading)]
    others = ["outcrop"] if verb else [_name(each) for each in parser.verbs]
    lines += [".SH SEE ALSO", ", ".join(f"\\fB{_escaped(each)}\\fR(1)" for each in others)]
    return "\n".join(lines) + "\n"


def _summaries(parser: Parser) -> dict[str, str]:
    verbs = next(each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    return {each.dest: each.help or "" for each in verbs._choices_actions}


def _group(parser: Parser, group: argparse._ArgumentGroup) -> Iterator[str]:
    actions = [each for each in group._group_actions if not isinstance(each, argparse._SubParsersAction)]
    if not actions:
        return
    yield f".SH {_escaped((group.title or 'options').upper())}"
    if group.description:
        yield _escaped(group.description)
    for action in actions:
        value = "" if action.nargs == 0 else _value(action)
        names = [f"\\fB{_escaped(each)}\\fR {value}".rstrip() for each in action.option_strings] or [value]
        yield ".TP"
        yield ", ".join(names)
        yield _escaped(parser._get_formatter()._expand_help(action)) if action.help else ""


def _value(action: argparse.Action) -> str:
    choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices is not None else ""
    shown = action.metavar if isinstance(action.metavar, str) else choices or action.dest.upper()
    return f"\\fI{_escaped(shown)}\\fR"


def _escaped(text: str) -> str:
    """Returns text without meaning to troff."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)
