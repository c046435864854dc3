"""Random Promela models against SPIN: ``python tests/fuzz/promela.py --seed 0 --models 1000``.

Prints the seed of each model on which SPIN and the front-end disagree. Needs ``spin`` and ``gcc``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from compare_spin import NotAccepted, disagreement, has_spin
from generator.promela import PromelaModel

from outcrop.errors import OutcropError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--no-cycles", action="store_true", help="compare counts and bad states only")
    arguments = parser.parse_args()
    if not has_spin():
        sys.exit("spin and gcc are needed: install them with the packages of your system")
    compared = wrong = 0
    for seed in range(arguments.seed, arguments.seed + arguments.models):
        with TemporaryDirectory() as folder:
            try:
                found = disagreement(PromelaModel(seed).text(), Path(folder), cycles=not arguments.no_cycles)
            except NotAccepted:
                continue
            except OutcropError as error:
                found = f"refused: {error}"
        compared += 1
        if found:
            wrong += 1
            print(f"seed {seed}: {found}", flush=True)
    print(f"{compared} models compared, {wrong} different")


if __name__ == "__main__":
    main()
