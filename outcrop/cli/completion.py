"""``outcrop completion``: completion for bash, zsh and fish.

The script that a shell loads asks ``outcrop completion SHELL -- WORDS``, which prints the candidates for the last word.
So new options need no new script, and names of properties, rules and constants come from the model itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
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
    candidates=("${(@f)$(outcrop completion zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    candidates=(${candidates:#})
    if (( ${#candidates} )); then compadd -Q -- "${(@q)candidates}"; else _files; fi
}
compdef _outcrop outcrop
""",
    "fish": """\
# Completion of outcrop for fish: outcrop completion fish | source
function __outcrop
    set -l words (commandline -opc) (commandline -ct)
    outcrop completion fish -- $words[2..-1] 2>/dev/null
end
complete -c outcrop -a '(__outcrop)'
""",
}


def run(arguments: argparse.Namespace) -> int:
    """Prints the script of a shell, or the candidates for the last of the given words."""
    if not arguments.words_so_far:
        emit(SCRIPTS[arguments.shell])
        return 0
    from outcrop.cli.parser import build_parser  # which imports the parser of this command

    found = candidates(build_parser(), arguments.words_so_far)
    emit("\n".join(found))
    return 0


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
    return [each for each in _positional(positional) if each.startswith(last)]


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


def _positional(action: argparse.Action | None) -> list[str]:
    """Returns the candidates of a positional argument: models with their directories, or pages of the manual."""
    if action is None:
        return []
    if action.choices is not None:
        return [str(each) for each in action.choices]
    if action.dest == "topic":
        return sorted(pages())
    if action.dest not in ("model", "models"):
        return []
    suffixes = {suffix for each in LANGUAGES for suffix in each.suffixes}
    here = sorted(Path().iterdir())
    return [each.name for each in here if each.suffix in suffixes] + [f"{each.name}/" for each in here if each.is_dir()]
