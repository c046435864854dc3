"""Differential fuzzing for any length of time: ``./dev fuzz --minutes 60``.

Generates Murphi and DVE models, and searches each in every possible way: for bad states, for runs that violate
formulas, and with several ranks. A model on which two searches disagree, or on which one fails, is minimised and kept
under ``tests/fuzz/found``, where the suite tries it from then on.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from compare import compared, disagreement
from compare_formulas import formula_disagreement
from compare_ranks import Job, rank_disagreement, rank_disagreements, rank_job
from compare_reduced import reduced_disagreement, reduced_formula_disagreement
from generator import generate, generate_with_formulas
from generator.dve import generate_dve, generate_dve_with_formulas
from generator.processes import generate_processes, generate_processes_dve
from generator.rings import generate_ring
from minimise import minimise
from optimisation import compile_quickly

from outcrop.codegen import compiler
from outcrop.errors import ModelError
from outcrop.machine import available_cores

compile_quickly()

FOUND = Path(__file__).parent / "found"
#: Number of models for which ranks are started at a time, and number of attempts to minimise one.
_MODELS_AT_ONCE = 12
_TRIES = {"ranks": 60}
_SECONDS_BETWEEN_NOTES = 300


@dataclass(frozen=True)
class Kind:
    """A kind of model and its comparison: ``disagreement(text, file name, seed)`` returns "" if there is none."""

    suffix: str
    generate: Callable[[Random], str]
    disagreement: Callable[[str, str, int], str]

    @property
    def file_name(self) -> str:
        return f"generated.{self.suffix}"


def without_liveness(random: Random) -> str:
    """Returns a model without liveness properties, which ranks and most searches past RAM do not check."""
    while "liveness" in (text := generate(random)):
        pass
    return text


KINDS = {
    "m": Kind("m", generate, disagreement),
    "dve": Kind("dve", generate_dve, disagreement),
    "m_ltl": Kind("m", generate_with_formulas, formula_disagreement),
    "dve_ltl": Kind("dve", generate_dve_with_formulas, formula_disagreement),
    "m_por": Kind("m", generate_processes, reduced_disagreement),
    "dve_por": Kind("dve", generate_processes_dve, reduced_disagreement),
    "pml_por": Kind("pml", generate_ring, reduced_disagreement),
    "m_any_por": Kind("m", generate, reduced_disagreement),
    "m_ltl_por": Kind("m", partial(generate_processes, formulas=True), reduced_formula_disagreement),
    "dve_ltl_por": Kind("dve", partial(generate_processes_dve, formulas=True), reduced_formula_disagreement),
    "m_ranks": Kind("m", without_liveness, rank_disagreement),
    "dve_ranks": Kind("dve", generate_dve, rank_disagreement),
}
#: The order in which seeds go through the kinds. Ranks take many models at a time.
_ORDER = (
    *("m", "m_ltl", "dve", "m", "dve_ltl", "m_ltl", "m", "dve", "m_ltl", "m", "dve_ltl", "ranks"),
    *("m_por", "dve_por", "m_ltl_por", "dve_ltl_por", "m_any_por", "pml_por"),
)


@dataclass
class Tried:
    """The result of a campaign: the number of models of each kind, the number of comparisons of each search, and the
    failures."""

    models: Counter[str] = field(default_factory=Counter)
    compared: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def add(self, other: Tried) -> None:
        self.models += other.models
        self.compared += other.compared
        self.problems += other.problems

    def __str__(self) -> str:
        models = ", ".join(f"{count} {name}" for name, count in sorted(self.models.items()))
        searches = ", ".join(f"{count} {name}" for name, count in sorted(self.compared.items()))
        every = sum(self.models.values())
        return f"{every} models ({models}), searches compared: {searches}; {len(self.problems)} failures"


def trial(name: str, seed: int) -> Tried:
    compared.clear()
    tried = rank_trial(seed) if name == "ranks" else single_trial(name, seed)
    tried.compared = Counter(compared)
    return tried


def single_trial(name: str, seed: int) -> Tried:
    kind = KINDS[name]
    text = kind.generate(Random(seed))
    found = problem(kind, text, seed)
    return Tried(Counter([name]), problems=[keep(name, seed, text, found)] if found else [])


def rank_trial(seed: int) -> Tried:
    tried = Tried()
    jobs: list[Job] = []
    origins: list[tuple[str, int]] = []
    for number in range(_MODELS_AT_ONCE):
        name = "dve_ranks" if number % 3 == 0 else "m_ranks"
        own = seed * _MODELS_AT_ONCE + number
        jobs.append(rank_job(KINDS[name].generate(Random(own)), KINDS[name].file_name, own))
        origins.append((name, own))
        tried.models[name] += 1
    for job, found in rank_disagreements(jobs):
        tried.problems.append(keep(*origins[jobs.index(job)], job.text, found))
    return tried


def keep(name: str, seed: int, text: str, found: str) -> str:
    """Minimises a bad model and keeps it. Returns its path, and what is wrong with it."""
    kind = KINDS[name]
    tries = _TRIES.get(name.split("_")[-1], 300)
    smaller = minimise(text, lambda each: kind_of(problem(kind, each, seed)) == kind_of(found), tries=tries)
    comment = "--" if kind.suffix == "m" else "//"
    FOUND.mkdir(exist_ok=True)
    path = FOUND / f"{name}_{seed}.{kind.suffix}"
    path.write_text(f"{comment} seed: {seed}\n{smaller}", encoding="utf-8")
    return f"{path}: {found}"


def problem(kind: Kind, text: str, seed: int) -> str:
    with TemporaryDirectory() as directory:
        # Compiled generated models are not worth caching.
        compiler.cache_directory = lambda: Path(directory)  # type: ignore[assignment]
        try:
            return kind.disagreement(text, kind.file_name, seed)
        except ModelError as error:
            return f"rejected: {error}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"


def kind_of(found: str) -> str:
    """Returns the part of a problem that must be equal for two problems to count as the same."""
    return found.split(":")[0]


def order(only: Sequence[str]) -> list[str]:
    """Returns the kinds to go through: all, or those whose names contain one of some words."""
    possible = [each for each in _ORDER if each != "ranks" or importlib.util.find_spec("mpi4py") is not None]
    return [each for each in possible if not only or any(word in each.split("_") for word in only)]


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the first model (default: the time)")
    parser.add_argument("--processes", type=int, default=available_cores())
    parser.add_argument("--only", nargs="*", default=[], help="m, dve, ltl or ranks (default: everything)")
    chosen = parser.parse_args()
    begun = time.monotonic()
    end, noted = begun + chosen.minutes * 60, begun
    total = Tried()
    running: set[Future[Tried]] = set()
    names = order(chosen.only)
    with ProcessPoolExecutor(chosen.processes) as pool:
        seed = chosen.seed
        while running or time.monotonic() < end:
            while len(running) < 2 * chosen.processes and time.monotonic() < end:
                running.add(pool.submit(trial, names[seed % len(names)], seed))
                seed += 1
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                total.add(future.result())
                for each in future.result().problems:
                    print(each, flush=True)
            if time.monotonic() - noted > _SECONDS_BETWEEN_NOTES:
                noted = time.monotonic()
                print(f"{(noted - begun) / 60:.0f} minutes, seeds {chosen.seed} to {seed - 1}: {total}", flush=True)
    print(f"seeds {chosen.seed} to {seed - 1}: {total}")
    return 1 if total.problems else 0


if __name__ == "__main__":
    sys.exit(main())
