"""How many seeded bugs does the suite notice? ``./dev mutants`` plants each in a copy of the repository and runs tests.

The tests are tried from the quickest and likeliest on, and the first failure is enough. What survives all of them is
printed: a test is missing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent))

from seeded import MUTANTS, Mutant

REPOSITORY = Path(__file__).parents[2]
#: In the order in which they are tried.
TESTS = (
    ("tests/kernels", "tests/unit/test_stores.py", "tests/search/test_ram.py"),
    ("tests/search/test_past_ram.py", "tests/search/test_auto.py", "tests/search/test_limits.py"),
    ("tests/search", "tests/unit", "tests/faults", "tests/fuzz", "tests/cli"),
)


def plant(mutant: Mutant, root: Path) -> None:
    path = root / "outcrop" / mutant.path
    text = path.read_text(encoding="utf-8")
    if text.count(mutant.text) != 1:
        raise ValueError(f"{mutant.path} has {text.count(mutant.text)} times: {mutant.text}")
    path.write_text(text.replace(mutant.text, mutant.instead), encoding="utf-8")


def catcher(mutant: Mutant) -> str:
    """The test that notices a mutant, "" if none does."""
    with TemporaryDirectory(prefix="outcrop-mutant-") as directory:
        root = Path(directory, "repository")
        shutil.copytree(REPOSITORY, root, ignore=shutil.ignore_patterns(".*", "__pycache__", "*.egg-info"))
        plant(mutant, root)
        environment = {**os.environ, "PYTHONPATH": str(root), "XDG_CACHE_HOME": str(Path(directory, "cache"))}
        for tests in TESTS:
            command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]
            try:
                run = subprocess.run(
                    command, cwd=root, env=environment, capture_output=True, text=True, timeout=900, check=False
                )
            except subprocess.TimeoutExpired:
                return "a test that does not end"
            if run.returncode:
                failed = [line.split()[1] for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
                return failed[0] if failed else "the interpreter dies"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev mutants", description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int, help="of mutants (default: all)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    numbers = chosen.numbers or range(len(MUTANTS))
    caught = 0

    def attempt(number: int) -> tuple[int, str, float]:
        started = time.monotonic()
        return number, catcher(MUTANTS[number]), time.monotonic() - started

    with ThreadPoolExecutor(chosen.jobs) as pool:
        for number, test, seconds in pool.map(attempt, numbers):
            caught += bool(test)
            mutant = MUTANTS[number]
            print(f"{number:3} {mutant.path:24} {seconds:5.0f} s  {test or 'SURVIVES: ' + mutant.instead}", flush=True)
    print(f"{caught} of {len(numbers)} seeded bugs are noticed ({100 * caught / len(numbers):.0f}%)")
    return 0 if caught >= 0.95 * len(numbers) else 1


if __name__ == "__main__":
    sys.exit(main())
