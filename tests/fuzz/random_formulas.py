"""Random formulas and invariants about models that were not made for them, and labels in Promela models."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from outcrop.errors import OutcropError
from outcrop.lang import load_text
from outcrop.lang.promela.language import PromelaOptions
from outcrop.ltl.file import formula_texts
from outcrop.options import LoadOptions
from outcrop.source import Source, whole

_COMPARISON = re.compile(r"[A-Za-z_][\w.]*(?:\[\w+\])?\s*(?:!=|<=|>=|==|=(?!=)|<|>)\s*\w+")
_VARIABLE = re.compile(r"^\s*(?:byte|bit|bool|int|short)\s+(\w+)", re.MULTILINE)
#: A process of DVE with its states.
_PROCESS = re.compile(r"process\s+(\w+)\s*\{.*?\bstate\s+([\w,\s]+);", re.DOTALL)
_FORMULAS = (
    "F {0}",
    "G F {0}",
    "F G {0}",
    "G ({0} -> F {1})",
    "{0} U {1}",
    "{0} W {1}",
    "{0} R {1}",
    "G {0} || F {1}",
    "F ({0} && F {1})",
    "F ({0} && G {1})",
    "!({0} U {1})",
    "F {0} -> F {1}",
    "G F {0} -> G F {1}",
    "G ({0} -> ({0} U {1}))",
)
_INVARIANTS = {
    "m": ("!(({0}) & ({1}))", "({0}) | ({1})", "!({0})", "({0}) & ({1})", "({0}) -> ({1})"),
    "dve": ("not (({0}) and ({1}))", "({0}) or ({1})", "not ({0})", "({0}) and ({1})"),
    "pml": ("!(({0}) && ({1}))", "({0}) || ({1})", "!({0})", "({0}) && ({1})"),
}
_LABELS = ("progress", "accept", "end")


def labelled(text: str, random: Random) -> str:
    """Returns a Promela model with a few more labels, where they can stand."""
    for number in range(random.choice((0, 1, 2, 3))):
        places = [each.end() for each in re.finditer(r"(?:;|::|\{)\s", text)]
        at = random.choice(places or [0])
        more = f"{text[:at]}{random.choice(_LABELS)}_{number}: {text[at:]}"
        if _loads(more, "model.pml", LoadOptions()):
            text = more
    return text


def _conditions(text: str, name: str) -> list[str]:
    """Returns comparisons in a model, comparisons of its variables, and states of its processes."""
    conditions = [each.group() for each in _COMPARISON.finditer(text)]
    conditions += [f"{each[1]} == {value}" for each in _VARIABLE.finditer(text) for value in (0, 1, 2)]
    for process, states in _PROCESS.findall(text) if name.endswith("dve") else ():
        conditions += [f"{process}.{each.strip()}" for each in states.split(",")] * 3
    return conditions


def _loading(
    shapes: Sequence[str], conditions: list[str], loads: Callable[[list[str]], bool], random: Random, wanted: int
) -> list[str]:
    """Returns texts of some shapes with conditions in them, with which a model loads."""
    found: list[str] = []
    for _ in range(3 * wanted if conditions else 0):
        chosen = random.choice(shapes).format(*(random.choice(conditions) for _ in range(2)))
        if len(found) < wanted and loads([*found, chosen]):
            found.append(chosen)
    return found


def formulas_about(
    text: str, name: str, loads: Callable[[list[str]], bool], random: Random, wanted: int = 2
) -> list[str]:
    """Returns formulas about a model with which it loads."""
    conditions = [f"{{{each}}}" for each in _conditions(text, name)]
    return _loading(_FORMULAS, conditions, loads, random, wanted)


def invariants_about(
    text: str, name: str, loads: Callable[[list[str]], bool], random: Random, wanted: int = 4
) -> list[str]:
    """Returns invariants about a model with which it loads."""
    return _loading(_INVARIANTS[name.rpartition(".")[2]], _conditions(text, name), loads, random, wanted)


def with_formulas(text: str, name: str, options: LoadOptions, random: Random) -> LoadOptions:
    """Returns options of loading with formulas about a model, and about its labels."""
    if name.endswith("pml"):
        labels = PromelaOptions(progress=random.random() < 0.4, acceptance=random.random() < 0.4)
        options = replace(options, own=(*options.own, labels))

    def given(formulas: list[str]) -> LoadOptions:
        return replace(options, formulas=formula_texts(None, [whole(Source("--ltl", each)) for each in formulas]))

    return given(formulas_about(text, name, lambda formulas: _loads(text, name, given(formulas)), random))


def _loads(text: str, name: str, options: LoadOptions) -> bool:
    try:
        load_text(text, name, options)
    except OutcropError:
        return False
    return True
