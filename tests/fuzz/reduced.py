"""Random models in full and with partial-order reduction: ``python tests/fuzz/reduced.py --seed 0 --models 1000``.

Each seed is a model in Murphi, DVE, Promela or Python, perhaps with a formula. The interpreter searches it in full and
reduced and verifies the conditions of the reduction (compare_reduced.py); with ``--native``, compiled code too.
With ``--emitted``, only the emitted code is compared with the interpreter, state by state (compare_emitted.py): tens of
models a second with ``--tcc``, and with ``--sanitize`` by a program that ends at undefined behaviour.
With ``--ranks``, two and three ranks are compared with one (compare_ranks.py), on models without formulas.
Prints what disagrees, and how much the models were reduced."""

from __future__ import annotations

import sys
import time
import traceback
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from compare import compared
from compare_emitted import emitted_disagreement
from compare_ranks import rank_disagreements, rank_job
from compare_reduced import reduced_disagreement, reduced_formula_disagreement, visited
from generator import generate
from generator.passing import generate_passing
from generator.processes import generate_processes, generate_processes_dve
from generator.promela import PromelaModel
from generator.rare import generate_rare
from generator.rings import generate_ring
from generator.sharing import generate_sharing
from generator.staged import generate_staged
from generator.staged_python import generate_staged_python
from generator.wide import generate_wide
from optimisation import compile_quickly

from outcrop.codegen import compiler
from outcrop.errors import ModelError
from outcrop.reduction import weights

#: For each kind, the suffix of a model, its generator, and whether it has a formula.
KINDS: dict[str, tuple[str, Callable[[int], str], bool]] = {
    "rare m": ("m", lambda seed: generate_rare(Random(seed), "m"), False),
    "rare dve": ("dve", lambda seed: generate_rare(Random(seed), "dve"), False),
    "rare pml": ("pml", lambda seed: generate_rare(Random(seed), "pml"), False),
    "rare m ltl": ("m", lambda seed: generate_rare(Random(seed), "m", True), True),
    "rare dve ltl": ("dve", lambda seed: generate_rare(Random(seed), "dve", True), True),
    "rare pml ltl": ("pml", lambda seed: generate_rare(Random(seed), "pml", True), True),
    "pml": ("pml", lambda seed: PromelaModel(seed).text(), False),
    "never pml": ("pml", lambda seed: PromelaModel(seed, "never").text(), True),
    "ring pml": ("pml", lambda seed: generate_ring(Random(seed)), False),
    "passing pml": ("pml", lambda seed: generate_passing(Random(seed)), False),
    "processes m": ("m", lambda seed: generate_processes(Random(seed)), False),
    "processes dve": ("dve", lambda seed: generate_processes_dve(Random(seed)), False),
    "wide m": ("m", lambda seed: generate_wide(Random(seed), "m"), False),
    "wide dve": ("dve", lambda seed: generate_wide(Random(seed), "dve"), False),
    "wide pml": ("pml", lambda seed: generate_wide(Random(seed), "pml"), False),
    "wide m ltl": ("m", lambda seed: generate_wide(Random(seed), "m", True), True),
    "wide dve ltl": ("dve", lambda seed: generate_wide(Random(seed), "dve", True), True),
    "wide pml ltl": ("pml", lambda seed: generate_wide(Random(seed), "pml", True), True),
    "any m": ("m", lambda seed: generate(Random(seed)), False),
    "staged m": ("m", lambda seed: generate_staged(Random(seed)), False),
    "sharing dve": ("dve", lambda seed: generate_sharing(Random(seed), "dve"), False),
    "sharing pml": ("pml", lambda seed: generate_sharing(Random(seed), "pml"), False),
    "staged py": ("py", lambda seed: generate_staged_python(Random(seed)), False),
}
_OTHERS = ("wide", "staged", "never", "passing", "sharing")
#: Kinds that seeds choose from by default. New ones are not among them, so that old seeds keep their models.
_DEFAULT = [kind for kind in KINDS if not kind.startswith(_OTHERS)]
_SECONDS_BETWEEN_NOTES = 300.0


class Statistics:
    """Counts of models of each kind, and how much smaller they became."""

    def __init__(self) -> None:
        self.models: Counter[str] = Counter()
        self.sizes: dict[str, list[tuple[int, int]]] = {}
        self.problems = 0

    def add(self, kind: str) -> None:
        self.models[kind] += 1
        full, part = (visited["full"] or visited["full products"], visited["reduced"] or visited["reduced products"])
        if full:
            self.sizes.setdefault(kind, []).append((full, part))
        visited.clear()

    def __str__(self) -> str:
        lines = []
        for kind, count in self.models.items():
            if kind not in self.sizes:
                lines.append(f"{kind}: {count} models")
                continue
            sizes = sorted(self.sizes[kind])
            smaller = sum(part <= 0.9 * full for full, part in sizes)
            states, left = (sum(each) for each in zip(*sizes, strict=True))
            middle = sizes[len(sizes) // 2][0]
            lines.append(
                f"{kind}: {count} models, {len(sizes)} compared; states {states} in full (median {middle}), {left} "
                f"reduced; {smaller} models smaller by 10% or more"
            )
        searches = ", ".join(f"{count} {name}" for name, count in sorted(compared.items()))
        return "\n".join([*lines, f"searches: {searches}", f"{self.problems} problems"])


def problem(kind: str, text: str, seed: int, chosen: Namespace) -> str:
    """Returns what is wrong with a model; "" if nothing is."""
    suffix, _, has_formula = KINDS[kind]
    name = f"model.{suffix}"
    compare = reduced_formula_disagreement if has_formula else reduced_disagreement
    with TemporaryDirectory() as directory:
        compiler.cache_directory = lambda: Path(directory)  # type: ignore[assignment]
        try:
            if chosen.emitted or chosen.sanitize:
                return emitted_disagreement(text, name, seed, has_formula, chosen.tcc, chosen.sanitize)
            if chosen.ranks:
                job = rank_job(text, name, seed)
                jobs = [] if has_formula else [replace(job, options=job.options | {"reduce": "por"})]
                return "; ".join(found for _, found in rank_disagreements(jobs))
            return compare(text, name, seed, native=chosen.native)
        except ModelError as error:
            compared[f"refused {kind}"] += 1
            return "" if kind in ("pml", "passing pml") else f"rejected: {error}"
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            return f"{type(error).__name__} in {where.name}, line {where.lineno}: {error}"


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--only", nargs="*", default=_DEFAULT, help="kinds, or first words of them such as wide")
    parser.add_argument("--native", action="store_true", help="run compiled searches too")
    parser.add_argument("--emitted", action="store_true", help="compare emitted code state by state, and nothing else")
    parser.add_argument("--tcc", action="store_true", help="compile with tcc where it can, for --emitted")
    parser.add_argument("--sanitize", action="store_true", help="--emitted with address and undefined sanitizers")
    parser.add_argument("--ranks", action="store_true", help="compare several ranks with one, and nothing else")
    parser.add_argument("--keep", type=Path, help="directory for models with problems")
    chosen = parser.parse_args()
    kinds = [
        kind
        for each in chosen.only
        for kind in ([each] if each in KINDS else [one for one in KINDS if one.startswith(f"{each} ")])
    ]
    sys.setrecursionlimit(100_000)
    compile_quickly()
    if chosen.emitted or chosen.sanitize:
        weights._MOST_WORK = 50_000  # better ranks take most of the time, and any will do
    begun = noted = time.monotonic()
    statistics, seed = Statistics(), chosen.seed
    while seed < chosen.seed + chosen.models and time.monotonic() < begun + 60 * chosen.minutes:
        kind = kinds[seed % len(kinds)]
        text = KINDS[kind][1](seed)
        found = problem(kind, text, seed, chosen)
        statistics.add(kind)
        if found:
            statistics.problems += 1
            print(f"{kind}, seed {seed}: {found}", flush=True)
            if chosen.keep is not None:
                chosen.keep.mkdir(parents=True, exist_ok=True)
                (chosen.keep / f"{kind.replace(' ', '_')}_{seed}.{KINDS[kind][0]}").write_text(text, encoding="utf-8")
        seed += 1
        if time.monotonic() - noted > _SECONDS_BETWEEN_NOTES:
            noted = time.monotonic()
            print(f"{(noted - begun) / 60:.0f} minutes, seeds {chosen.seed} to {seed - 1}:\n{statistics}", flush=True)
    print(f"seeds {chosen.seed} to {seed - 1}:\n{statistics}")
    return 1 if statistics.problems else 0


if __name__ == "__main__":
    sys.exit(main())
