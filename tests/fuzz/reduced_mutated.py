"""Changed models in full and with partial-order reduction: ``python tests/fuzz/reduced_mutated.py --models 99``.

The models of the tests of reduction, of ``tests/models`` and ``examples``, and those of ``--corpus`` with up to 2,000
states, with one to three changes each: another number, operator or name, statements that are swapped, left out or
repeated, and a second copy of a process or a rule. Changed models that load are compared as those of reduced.py.
Such models use the statements of their language in ways that generators do not think of. With ``--formulas``, formulas
are made of comparisons in the text, and Promela models get labels and are checked for progress and acceptance. With
``--reports``, the models get invariants of comparisons, and what checks report of all properties is compared."""

from __future__ import annotations

import argparse
import ast
import re
import signal
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from compare import compared
from compare_reduced import formulas_disagreement, load_options, reduced_disagreement, visited
from random_formulas import invariants_about, labelled, with_formulas
from reduced_corpus import rows_of, seen

from outcrop.api import loads
from outcrop.errors import OutcropError
from outcrop.ir.system import PropertyKind
from outcrop.lang import load_text
from outcrop.options import Deadlock

_ROOT = Path(__file__).parent.parent.parent
_SUFFIXES = ("m", "dve", "pml")
_LONGEST, _MOST_STATES, _MOST_INSTANCES = 12_000, 2_000, 400
#: Seconds for one model.
_MOST_SECONDS = 60

_TOKEN = re.compile(r"\d+|[A-Za-z_]\w*|[-+*/%<>=!&|]+|\S")
_OPERATORS = (
    ("=", "!=", "<", "<=", ">", ">="),
    ("==", "!=", "<", "<=", ">", ">="),
    ("&", "|", "->"),
    ("&&", "||"),
    ("and", "or"),
    ("+", "-", "*", "%"),
    ("++", "--"),
    ("!", "?", "!!", "??"),
    ("atomic", "d_step"),
    ("if", "do"),
    ("forall", "exists"),
    ("timeout", "else"),
)


@dataclass(frozen=True)
class Original:
    name: str
    suffix: str
    text: str


# --- Changes -----------------------------------------------------------------------------------------------


def _other_token(text: str, random: Random) -> str:
    """Replaces a number, an operator or a name by another one of its kind."""
    tokens = list(_TOKEN.finditer(text))
    chosen = random.choice(tokens)
    word = chosen.group()
    others: list[str] = []
    if word.isdigit():
        numbers = [each.group() for each in tokens if each.group().isdigit()]
        others = [str(int(word) + 1), str(max(0, int(word) - 1)), "0", "1", random.choice(numbers)]
    elif any(word in each for each in _OPERATORS):
        others = [each for some in _OPERATORS if word in some for each in some]
    elif word.isidentifier():
        others = [random.choice([each.group() for each in tokens if each.group().isidentifier()]) for _ in range(3)]
    return text[: chosen.start()] + random.choice(others or [word]) + text[chosen.end() :]


def _statements(text: str) -> list[tuple[int, int]]:
    """Returns where parts of a text begin and end that semicolons or arrows separate."""
    ends = [each.start() for each in re.finditer(r";|(?<=\W)->(?=\W)", text)]
    starts = [0, *(end + 1 if text[end] == ";" else end + 2 for end in ends)]
    return list(zip(starts, ends, strict=False))


def _moved_statement(text: str, random: Random) -> str:
    """Swaps two statements that follow each other, repeats one, leaves one out, or puts it elsewhere."""
    parts = _statements(text)
    if len(parts) < 3:
        return text
    at = random.randrange(len(parts) - 1)
    (first, end), (second, last) = parts[at], parts[at + 1]
    one, other = text[first:end], text[second:last]
    match random.randrange(4):
        case 0:
            return text[:first] + other + text[end:second] + one + text[last:]
        case 1:
            return text[:end] + ";" + one + text[end:]
        case 2:
            return text[:first] + text[end + 1 :]
    _, place = random.choice(parts)
    return text[:place] + ";" + one + text[place:]


#: The beginning of a process with its name, or a rule.
_BLOCKS = {
    "m": r"\brule\b(?:(?!\brule\b).)*?\bend(?:rule)?;",
    "dve": r"\bprocess\s+(\w+)\s*(?=\{)",
    "pml": r"\b(?:active\s*(?:\[\w+\]\s*)?)?proctype\s+(\w+)\s*\([^)]*\)\s*(?=\{)",
}


def _closing(text: str, at: int) -> int:
    """Returns the end of a block in braces."""
    depth = 0
    for each in re.finditer(r"[{}]", text[at:]):
        depth += 1 if each.group() == "{" else -1
        if depth == 0:
            return at + each.end()
    return len(text)


def _second_copy(text: str, random: Random, suffix: str) -> str:
    """Repeats a process under another name, or a rule with a change."""
    found = list(re.finditer(_BLOCKS[suffix], text, re.DOTALL))
    if not found:
        return text
    chosen = random.choice(found)
    if not chosen.re.groups:
        return text[: chosen.end()] + "\n" + _other_token(chosen.group(), random) + text[chosen.end() :]
    end = _closing(text, chosen.end())
    block = re.sub(rf"\b{chosen.group(1)}\b", f"{chosen.group(1)}_again", text[chosen.start() : end])
    return text[:end] + "\n" + block + text[end:]


def changed(original: Original, random: Random) -> str:
    """Returns the text of a model with one to three changes."""
    text = original.text
    for _ in range(random.choice((1, 1, 2, 3))):
        draw = random.random()
        if draw < 0.6:
            text = _other_token(text, random)
        elif draw < 0.9:
            text = _moved_statement(text, random)
        else:
            text = _second_copy(text, random, original.suffix)
    return text


# --- Originals ---------------------------------------------------------------------------------------------


def _embedded(path: Path) -> list[Original]:
    """Returns the models that are strings in a test."""
    strings = [each.value for each in ast.walk(ast.parse(path.read_text())) if isinstance(each, ast.Constant)]
    texts = [each for each in strings if isinstance(each, str) and len(each) > 60 and any(c in each for c in ";{")]
    found = []
    for number, text in enumerate(texts):
        for suffix in _SUFFIXES:
            try:
                load_text(text, f"model.{suffix}", load_options(text, Random(0)))
            except OutcropError:
                continue
            found.append(Original(f"{path.name} {number}", suffix, text))
    return found


def originals(corpus: Path | None) -> list[Original]:
    """Returns the models that are changed: those of tests, examples, and small ones of a corpus."""
    found = [each for path in sorted((_ROOT / "tests/search").glob("test_reduction*.py")) for each in _embedded(path)]
    folders = (_ROOT / "examples", _ROOT / "tests/models", _ROOT / "tests/fuzz/found")
    paths = [path for folder in folders for path in sorted(folder.glob("*.*"))]
    if corpus is not None:
        paths += dict.fromkeys(path for _, path, constants, _ in rows_of(corpus, _MOST_STATES) if not constants)
    for path in paths:
        if path.suffix[1:] in _SUFFIXES:
            text = path.read_text(encoding="utf-8", errors="replace")
            if len(text) <= _LONGEST and "#include" not in text:
                found.append(Original(path.name, path.suffix[1:], text))
    return found


# --- Comparison --------------------------------------------------------------------------------------------


def reports_disagreement(text: str, name: str, random: Random) -> str:
    """Returns what reports of full and reduced checks of a model say differently, with a few more invariants."""

    def is_right(invariants: list[str]) -> bool:
        try:
            loads(text, name, invariants=invariants)
        except OutcropError:
            return False
        return True

    invariants = invariants_about(text, name, is_right, random)
    model = loads(text, name, invariants=invariants)
    if model.system.of_kind(PropertyKind.LIVENESS) or model.system.temporal or model.system.automaton is not None:
        return ""
    options = {"max_errors": None, "engine": "interpreter", "deadlock": str(random.choice(list(Deadlock)))}
    options["symmetry"] = random.random() < 0.5
    full = model.check(states=_MOST_STATES, **options)
    if (full.states or 0) >= _MOST_STATES:
        return ""
    part = model.check(reduce="por", **options)
    if part.reduction is None or part.reduction.reason:
        return ""
    compared["reports"] += 1
    visited["full"], visited["reduced"] = full.states or 0, part.states or 0
    return "" if seen(full) == seen(part) else f"{seen(full)} in full, {seen(part)} reduced, with {invariants}"


class _Slow(BaseException):
    """Raised when a model takes too long."""


def _stop(*_: object) -> None:
    raise _Slow


def problem(original: Original, text: str, seed: int, chosen: argparse.Namespace) -> str:
    """Returns what full and reduced searches of a changed model disagree about; "" if they agree."""
    name = f"model.{original.suffix}"
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(_MOST_SECONDS)
    try:
        random = Random(seed)
        load = load_options(text, random)
        if chosen.formulas:
            load = with_formulas(text, name, load, random)
        system, _ = load_text(text, name, load)
        if sum(rule.instance_count for rule in system.rules) > _MOST_INSTANCES:
            compared["too large"] += 1
            return ""
        compared["loaded"] += 1
        if chosen.reports:
            return reports_disagreement(text, name, random)
        if chosen.formulas:
            return formulas_disagreement(system, load, random, native=False)
        return reduced_disagreement(text, name, seed, native=False)
    except OutcropError:
        compared["refused"] += 1
        return ""
    except _Slow:
        compared["slow"] += 1
        return ""
    except RecursionError:
        return ""
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {where.name}, line {where.lineno}: {error}"
    finally:
        signal.alarm(0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--models", type=int, default=1_000)
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--corpus", type=Path, help="directory with dve, murphi and promela")
    parser.add_argument("--formulas", action="store_true", help="compare formulas, and nothing else")
    parser.add_argument("--reports", action="store_true", help="compare reports, and nothing else")
    parser.add_argument("--only", choices=_SUFFIXES, help="a language")
    parser.add_argument("--keep", type=Path, help="directory for models with problems")
    chosen = parser.parse_args()
    sys.setrecursionlimit(100_000)
    every = [each for each in originals(chosen.corpus) if chosen.only in (None, each.suffix)]
    begun = time.monotonic()
    problems, smaller, seed = 0, Counter[bool](), chosen.seed
    while seed < chosen.seed + chosen.models and time.monotonic() < begun + 60 * chosen.minutes:
        random = Random(seed)
        original = random.choice(every)
        text = changed(original, random)
        if chosen.formulas and original.suffix == "pml":
            text = labelled(text, random)
        found = problem(original, text, seed, chosen) if text != original.text else ""
        full, part = (visited["full"] or visited["full products"], visited["reduced"] or visited["reduced products"])
        if full:
            smaller[part <= 0.9 * full] += 1
        visited.clear()
        if found:
            problems += 1
            print(f"seed {seed}, {original.name}: {found}", flush=True)
            if chosen.keep is not None:
                chosen.keep.mkdir(parents=True, exist_ok=True)
                (chosen.keep / f"changed_{seed}.{original.suffix}").write_text(text, encoding="utf-8")
        seed += 1
    searches = ", ".join(f"{count} {name}" for name, count in sorted(compared.items()))
    print(f"{len(every)} originals, seeds {chosen.seed} to {seed - 1}: {searches}")
    print(f"{smaller[True]} of {smaller.total()} models smaller by 10% or more; {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
