"""The argument parser of the command: argparse with readable help, and with errors that suggest what was meant."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from outcrop.errors import UsageError


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Help formatter that keeps examples as they are, wraps a description of one paragraph, and leaves a column wide
    enough for the names of commands."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text.strip():
            return super()._fill_text(text, width, indent)
        return argparse.HelpFormatter._fill_text(self, text, width, indent)

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        # argparse indents the names, but does not count the indentation
        if isinstance(action, argparse._SubParsersAction):
            self._action_max_length += self._indent_increment


class Parser(argparse.ArgumentParser):
    """Argument parser that raises UsageError and suggests the option that a mistyped one was meant to be."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(
            *arguments,
            **{"formatter_class": _HelpFormatter, "allow_abbrev": False, **keywords},
        )
        self.verbs: dict[str, Parser] = {}

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\nTry '{self.prog} --help'.")

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        first = arguments[0] if arguments else ""
        if first and not first.startswith("-") and first not in self.verbs:
            self.error(self._unknown_verb(first))
        chosen, extras = self.parse_known_args(arguments)
        if extras:
            verb = self.verbs.get(chosen.verb, self)
            verb.error(verb.unknown(extras[0]))
        return chosen

    def _unknown_verb(self, word: str) -> str:
        guesses = difflib.get_close_matches(word, self.verbs, 1)
        if not guesses and re.search(r"[./]", word):
            guesses = [f"check {word}"]
        hint = f"; did you mean '{self.prog} {guesses[0]}'?" if guesses else ""
        return f"there is no command '{word}'{hint}"

    def unknown(self, argument: str) -> str:
        """Returns a sentence about an argument that no option takes."""
        if not argument.startswith("-"):
            return f"unexpected argument '{argument}'"
        name = argument.split("=")[0]
        options = [option for action in self._actions for option in action.option_strings]
        guesses = difflib.get_close_matches(name, options, 1)
        return f"there is no option '{name}'" + (f"; did you mean {guesses[0]}?" if guesses else "")
