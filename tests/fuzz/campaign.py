"""Differential fuzzing for as long as you like: ``./dev fuzz --minutes 60``.

Generates Murphi and DVE models and searches each with everything that can. A model on which two searches disagree, or
on which one fails, is made smaller and kept under ``tests/fuzz/found``, where the suite tries it from then on.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from compare import disagreement
from generator import generate
from generator.dve import generate_dve
from minimise import minimise

from outcrop.codegen import compiler
from outcrop.errors import ModelError
from outcrop.machine import available_cores

FOUND = Path(__file__).parent / "found"
GENERATORS = {"m": generate, "dve": generate_dve}


def trial(language: str, seed: int) -> str:
    """What goes wrong with a generated model, "" if nothing does. A bad one is kept."""
    text = GENERATORS[language](Random(seed))
    found = problem(text, language, seed)
    if found:
        smaller = minimise(text, lambda each: kind_of(problem(each, language, seed)) == kind_of(found), tries=300)
        comment = "--" if language == "m" else "//"
        FOUND.mkdir(exist_ok=True)
        path = FOUND / f"{language}_{seed}.{language}"
        path.write_text(f"{comment} seed: {seed}\n{smaller}", encoding="utf-8")
        found = f"{path}: {found}"
    return found


def problem(text: str, language: str, seed: int) -> str:
    with TemporaryDirectory() as directory:
        # Generated models are not worth keeping.
        compiler.cache_directory = lambda: Path(directory)  # type: ignore[assignment]
        try:
            return disagreement(text, f"generated.{language}", seed)
        except ModelError as error:
            return f"rejected: {error}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"


def kind_of(found: str) -> str:
    """What a problem must have in common with another to be the same."""
    return found.split(":")[0]


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the first model (default: the time)")
    parser.add_argument("--processes", type=int, default=available_cores())
    chosen = parser.parse_args()
    end = time.monotonic() + chosen.minutes * 60
    models: Counter[str] = Counter()
    failures = 0
    running: set[Future[str]] = set()
    with ProcessPoolExecutor(chosen.processes) as pool:
        seed = chosen.seed
        while running or time.monotonic() < end:
            while len(running) < 2 * chosen.processes and time.monotonic() < end:
                language = "dve" if seed % 3 == 0 else "m"
                running.add(pool.submit(trial, language, seed))
                models[language] += 1
                seed += 1
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                if future.result():
                    failures += 1
                    print(future.result(), flush=True)
    print(
        f"seeds {chosen.seed} to {seed - 1}: {models['m']} Murphi and {models['dve']} DVE models, {failures} failures"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
