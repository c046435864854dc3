"""The file ``outcrop.toml`` next to a model, which holds defaults for the options of the command.

    [check]                     # for every model of this directory
    memory = "4G"

    [models."ring.m"]           # for one model, with any command that has the option
    constants = { N = 5 }
    deadlock = "off"

Each entry stands for an option as on the command line, before the options that the user gives, which therefore win.
Text that came with an untrusted model must not choose files or limits, so that ``--sandbox`` leaves the file unread.
"""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from outcrop.cli.argument_parser import Parser
from outcrop.errors import UsageError

NAME = "outcrop.toml"
_MODELS = "models"
_CONSTANTS = "constants"


class Defaults:
    """The entries of one file. Raises UsageError for a file that is not TOML, and for unknown names."""

    def __init__(self, path: Path, parser: Parser) -> None:
        import tomllib  # few directories have the file

        self.path = path
        try:
            self._text = path.read_text(encoding="utf-8")
            tables = tomllib.loads(self._text)
        except (OSError, ValueError) as error:
            raise UsageError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
        known = [*(verb for verb in parser.verbs if _takes_model(parser.verbs[verb])), _MODELS]
        for name in tables:
            self._require(name, known, "table")
        self._models = self._table(tables, _MODELS)
        self._verbs = {verb: self._table(tables, verb) for verb in known[:-1]}
        for verb, table in self._verbs.items():
            self._require_options(parser.verbs[verb], table)
        for name in self._models:
            self._require_options(parser.verbs["check"], self._table(self._models, name))

    @property
    def models(self) -> list[str]:
        """Paths of the models that have a table of their own."""
        return [str(self.path.parent / name) for name in self._models]

    def words(self, verb: str, parser: Parser, model: str, given: Iterable[str]) -> list[str]:
        """Returns the defaults for a model as words of the command line. ``given``: constants that the user sets."""
        own = self._table(self._models, Path(model).name)
        mine = {name: value for name, value in own.items() if name in (*_options(parser), _CONSTANTS)}
        entries = {**self._verbs.get(verb, {}), **mine}
        constants = {**self._constants(self._verbs.get(verb, {})), **self._constants(mine)}
        words = [
            word
            for name, value in constants.items()
            if name not in given
            for word in ("-D", f"{name}={'true' if value is True else 'false' if value is False else value}")
        ]
        for name, value in entries.items():
            if name != _CONSTANTS:
                words += self._option(name, _options(parser)[name], value)
        return words

    def _option(self, name: str, action: argparse.Action, value: Any) -> list[str]:
        flag = action.option_strings[-1]
        if action.nargs == 0:
            if not isinstance(value, bool):
                raise self._error(name, f"'{name}' must be true or false")
            return [flag] if value else []
        if isinstance(value, bool) and action.choices is not None and "on" in action.choices:
            value = "on" if value else "off"
        values = value if isinstance(value, list) else [value]
        if isinstance(value, list) and not isinstance(action, argparse._AppendAction):
            raise self._error(name, f"'{name}' takes one value, not a list")
        for each in values:
            if isinstance(each, bool) or not isinstance(each, str | int | float):
                raise self._error(name, f"'{name}' must be a text or a number")
        return [f"{flag}={each}" for each in values]

    def _constants(self, table: Mapping[str, Any]) -> dict[str, Any]:
        found = table.get(_CONSTANTS, {})
        if not isinstance(found, dict):
            raise self._error(_CONSTANTS, "'constants' must be a table, such as { N = 5 }")
        return found

    def _table(self, tables: Mapping[str, Any], name: str) -> dict[str, Any]:
        table = tables.get(name, {})
        if not isinstance(table, dict):
            raise self._error(name, f"'{name}' must be a table")
        return table

    def _require_options(self, parser: Parser, table: Mapping[str, Any]) -> None:
        for name in table:
            self._require(name, [*_options(parser), _CONSTANTS], "option")

    def _require(self, name: str, known: Iterable[str], what: str) -> None:
        known = list(known)
        if name not in known:
            guesses = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean '{guesses[0]}'?" if guesses else "; delete it"
            raise self._error(name, f"there is no {what} '{name}'{hint}")

    def _error(self, name: str, message: str) -> UsageError:
        """Returns an error with the line of the file that names the entry."""
        mentioned = re.compile(rf'^\s*(\[[^\]]*)?"?{re.escape(name)}"?\s*(=|\.|\])', re.MULTILINE)
        found = mentioned.search(self._text) or re.search(re.escape(name), self._text)
        line = self._text.count("\n", 0, found.end()) + 1 if found else 1
        return UsageError(f"{self.path}:{line}: {message}")


def with_defaults(parser: Parser, chosen: argparse.Namespace, words: list[str]) -> argparse.Namespace:
    """Returns the arguments with the defaults of the model's directory. A check without a model gets the models that
    the file in this directory lists."""
    if getattr(chosen, "sandbox", False):
        return chosen
    models = getattr(chosen, "models", None)
    if models == []:
        chosen.models = models = _listed(parser)
        words = [words[0], *models, *words[1:]]
    model = models[0] if models and len(models) == 1 else getattr(chosen, "model", None)
    if model is None or model == "-" or not _exists(Path(model).parent / NAME):
        return chosen
    defaults = Defaults(Path(model).parent / NAME, parser)
    more = defaults.words(chosen.verb, parser.verbs[chosen.verb], model, dict(getattr(chosen, _CONSTANTS, ())))
    try:
        parser.parse([chosen.verb, *more, model])
    except UsageError as error:
        raise UsageError(f"{defaults.path}: {error}") from None
    return parser.parse([words[0], *more, *words[1:]])


def _listed(parser: Parser) -> list[str]:
    path = Path(NAME)
    models = Defaults(path, parser).models if _exists(path) else []
    if not models:
        raise UsageError(f'name a model, or list models in {NAME}, each as a table [models."NAME"]')
    return models


def _exists(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a directory that may not be searched, which reading the model reports
        return False


def _takes_model(parser: Parser) -> bool:
    return any(action.dest in ("model", "models") for action in parser._actions)


def _options(parser: Parser) -> dict[str, argparse.Action]:
    """Returns the options of a command by name, without dashes and with underscores or dashes inside."""
    skipped = ("help", _CONSTANTS)
    return {
        option[2:]: action
        for action in parser._actions
        if action.dest not in skipped
        for option in action.option_strings
        if option.startswith("--")
    }
