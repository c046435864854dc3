"""``outcrop completion``: completion for bash, zsh and fish.

The script that a shell loads asks ``outcrop completion SHELL -- WORDS``, which prints the candidates for the last word.
So new options need no new script, and names of properties, rules and constants come from the model itself.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from outcrop.cli.argument_parser import Parser
from outcrop.cli.output import emit
from outcrop.errors import OutcropError
from outcrop.ir.system import System
from outcrop.lang.registry import LANGUAGES
from outcrop.manual import pages

#: The scripts by shell. A word that ends in = or / gets no space after it.
SCRIPTS = {
    "bash": """\
# Completion of outcrop for bash: eval "$(outcrop completion bash)"
_outcrop() {
    local IFS=$'\\n'
    COMPREPLY=($(outcrop completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/] ]] && compopt -o nospace
}
complete -o filenames -o default -F _outcrop outcrop
""",
    "zsh": """\
#compdef outcrop
# Completion of outcrop for zsh: eval "$(outcrop completion zsh)"
_outcrop() {
    local -a candidates
    candidates=("${(@f)$(outcrop completion zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    candidates=(${candidates:#})
    (( ${#candidates} )) || { _files; return }
    compadd -Q -S '' -- "${(@q)${(@M)candidates:#*[=/]}}"
    compadd -Q -- "${(@q)${(@)candidates:#*[=/]}}"
}
compdef _outcrop outcrop
""",
    "fish": """\
# Completion of outcrop for fish: outcrop completion fish | source
function __outcrop
    set -l last (string unescape -- (commandline -ct); or commandline -ct)
    set -l words (commandline -opc) "$last"
    set -l candidates (outcrop completion fish -- $words[2..-1] 2>/dev/null)
    if set -q candidates[1]
        printf '%s\\n' $candidates
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c outcrop -f -a '(__outcrop)'
""",
}


def run(arguments: argparse.Namespace) -> int:
    """Prints the script of a shell, or the candidates for the last of the given words."""
    if not arguments.words_so_far:
        emit(SCRIPTS[arguments.shell])
        return 0
    from outcrop.cli.parser import build_parser  # which imports the parser of this command

    words, begun = arguments.words_so_far, 0
    if arguments.shell == "bash":
        words, begun = _of_bash(words)
    emit("\n".join(each[begun:] for each in candidates(build_parser(), words)))
    return 0


def _of_bash(split: list[str]) -> tuple[list[str], int]:
    """Returns the words of a line that bash has split: it breaks words at each = and keeps quotes. The number is the
    length of the last word before its last part, which bash does not replace."""
    words: list[str] = []
    begun = 0
    for part in split:
        is_more = bool(words) and (part == "=" or (words[-1].endswith("=") and begun))
        begun = len(words[-1]) + (part == "=") if is_more else 0
        plain = _unquoted(part)
        if is_more:
            words[-1] += plain
        else:
            words.append(plain)
    return words, begun


def _unquoted(word: str) -> str:
    for closing in ("", "'", '"'):  # the word that is being typed may have an open quote
        with suppress(ValueError):
            return "".join(shlex.split(word + closing))
    return word


def candidates(parser: Parser, words: list[str]) -> list[str]:
    """Returns what the last of the words could become; the other words come before it."""
    *before, last = words
    if not before:
        return sorted(verb for verb in parser.verbs if verb.startswith(last))
    verb = parser.verbs.get(before[0])
    if verb is None:
        return []
    flag, joined, value = last.partition("=") if last.startswith("--") else ("", "", last)
    action = _action(verb, flag if joined else before[-1])
    if action is not None and action.nargs != 0:
        start = f"{flag}=" if joined else ""
        return [f"{start}{each}" for each in _values(action, before[1:]) if each.startswith(value)]
    if last.startswith("-"):
        options = [option for each in verb._actions for option in each.option_strings if option.startswith("--")]
        return sorted(option for option in options if option.startswith(last))
    positional = next((each for each in verb._actions if not each.option_strings), None)
    return [each for each in _positional(positional, last) if each.startswith(last)]


def _action(verb: Parser, flag: str) -> argparse.Action | None:
    return next((each for each in verb._actions if flag in each.option_strings), None)


def _values(action: argparse.Action, words: list[str]) -> list[str]:
    """Returns the values of an option: its choices, or names of the model among the words."""
    if action.choices is not None:
        return [str(each) for each in action.choices]
    kinds = {"properties": _properties, "weights": _rules, "weight": _rules, "constants": _constants}
    names = kinds.get(action.dest)
    model = next((each for each in words if Path(each).suffix and Path(each).is_file()), None)
    if names is None or model is None or model.endswith(".py"):
        return []  # completing a word must not run a model in Python
    from outcrop.api import load  # slow to import

    try:
        return list(dict.fromkeys(names(load(model).system)))
    except OutcropError:
        return []


def _properties(system: System) -> Iterator[str]:
    yield from (each.name for each in system.properties)
    yield from (each.name for each in system.temporal)


def _rules(system: System) -> Iterator[str]:
    return (f"{each.name}=" for each in system.rules)


def _constants(system: System) -> Iterator[str]:
    return (f"{name}=" for name in system.constants)


def _positional(action: argparse.Action | None, last: str) -> list[str]:
    """Returns the candidates of a positional argument: models and directories, or pages of the manual."""
    if action is None:
        return []
    if action.choices is not None:
        return [str(each) for each in action.choices]
    if action.dest == "topic":
        return sorted(pages())
    return _models(last) if action.dest in ("model", "models") else []


def _models(last: str) -> list[str]:
    """Returns the models and directories in the directory that a word has begun to name."""
    above, slash, name = last.rpartition("/")
    suffixes = {suffix for each in LANGUAGES for suffix in each.suffixes}
    try:
        here = sorted(Path(above + slash).iterdir())
    except OSError:
        return []
    shown = [each for each in here if name.startswith(".") or not each.name.startswith(".")]
    models = [each.name for each in shown if each.suffix in suffixes]
    return [f"{above}{slash}{each}" for each in [*models, *(f"{each.name}/" for each in shown if each.is_dir())]]
