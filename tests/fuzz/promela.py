"""Random Promela models against SPIN: ``python tests/fuzz/promela.py counts --seed 0 --models 1000``.

``counts`` compares states, transitions, assertions, invalid end states and unreached code. So do ``starting``, with
models of processes that start others, ``passing``, with channels in variables and messages, ``sequences``, with atomic
sequences, and ``rings``, with processes around queues. ``cycles`` compares acceptance and non-progress cycles; ``ltl``
and ``never`` the verdict about a random claim; all three without fairness, and in half of the models with weak
fairness. Prints the seed of each model on which SPIN and the front-end disagree. Needs ``spin``,
and ``tcc`` or ``gcc``.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from compare_spin import Comparison, NotAccepted, has_spin
from generator.passing import generate_passing
from generator.promela import PromelaModel
from generator.rings import generate_ring
from generator.sequences import generate_sequences
from generator.starting import generate_starting

from outcrop.errors import OutcropError

#: Models whose counts are compared, by what they are about.
COUNTED: dict[str, Callable[[int], str]] = {
    "counts": lambda seed: PromelaModel(seed).text(),
    "starting": lambda seed: generate_starting(Random(seed)),
    "passing": lambda seed: generate_passing(Random(seed)),
    "sequences": lambda seed: generate_sequences(Random(seed)),
    "rings": lambda seed: generate_ring(Random(seed)),
}


def compare(what: str, seed: int, folder: Path, engine: str) -> str:
    """Returns the first difference between SPIN and us."""
    if what in COUNTED:
        comparison = Comparison(folder, COUNTED[what](seed), engine)
        return comparison.counts() or comparison.verdicts() or comparison.unreached()
    comparison = Comparison(folder, PromelaModel(seed, what).text(), engine)
    return comparison.cycles() if what == "cycles" else comparison.formula()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=(*COUNTED, "cycles", "ltl", "never"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no model after this time")
    parser.add_argument("--native", type=int, default=0, metavar="N", help="compile each Nth model, not interpret it")
    arguments = parser.parse_args()
    if not has_spin():
        sys.exit("spin and a C compiler are needed: install them with the packages of your system")
    tally: Counter[str] = Counter()
    began = time.monotonic()
    for seed in range(arguments.seed, arguments.seed + arguments.models):
        if time.monotonic() - began > arguments.seconds:
            print(f"stopped before seed {seed}")
            break
        engine = "native" if arguments.native and seed % arguments.native == 0 else "interpreter"
        with TemporaryDirectory() as folder:
            try:
                found = compare(arguments.what, seed, Path(folder), engine)
            except NotAccepted:
                tally["not compared"] += 1
                continue
            except OutcropError as error:
                found = f"refused: {error}"
        tally[f"compared by {engine}"] += 1
        if found:
            tally["different"] += 1
            print(f"seed {seed}: {found}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in sorted(tally.items())))


if __name__ == "__main__":
    main()
