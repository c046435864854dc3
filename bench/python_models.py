"""Compares models in Python with their twins in Murphi: speed of the search, packed size, and time to load.

Each pair is run by turns, so that what else the machine does falls on both. The ratio is that of the best user and
system time of the search process, less that of a search that stops at once, which pays for loading and compiling.

    python bench/python_models.py [--turns 5]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from outcrop.lang.python.lowering import lower
from outcrop.options import LoadOptions
from outcrop.source import Source

EXAMPLES = Path(__file__).parents[1] / "examples"
#: Constants that make a search long enough, for Murphi and for Python.
PAIRS = {
    "german_cache": ({"NodeCount": 6, "ValueCount": 3}, {"NODES": 6, "VALUES": 3}),
    "two_phase_commit": ({"ParticipantCount": 4, "MostCrashes": 3}, {"PARTICIPANTS": 4, "MOST_CRASHES": 3}),
    "raft_election": ({"ServerCount": 4, "MostMessages": 6}, {"SERVERS": 4, "MOST_MESSAGES": 6}),
    "ring_election": ({"Size": 7}, {"SIZE": 7}),
}


def search(path: Path, constants: dict[str, int], *more: str) -> tuple[float, dict[str, object]]:
    """Returns the processor time of a check, and its document."""
    given = [each for name, value in constants.items() for each in ("-D", f"{name}={value}")]
    command = [sys.executable, "-m", "outcrop", "check", str(path), *given, "--json", "--threads", "1", *more]
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return spent, json.loads(done.stdout)


def compare(name: str, turns: int) -> str:
    paths = [EXAMPLES / f"{name}.m", EXAMPLES / f"{name}.py"]
    documents = [search(path, constants)[1] for path, constants in zip(paths, PAIRS[name], strict=True)]
    best = [float("inf"), float("inf")]
    idle = [float("inf"), float("inf")]
    for _ in range(turns):
        for at, (path, constants) in enumerate(zip(paths, PAIRS[name], strict=True)):
            idle[at] = min(idle[at], search(path, constants, "--depth", "0")[0])
            best[at] = min(best[at], search(path, constants)[0])
    seconds = [best[at] - idle[at] for at in range(2)]
    murphi, python = documents
    same = all(murphi[key] == python[key] for key in ("states", "rules_fired", "diameter"))
    return (
        f"{name:18} {python['states']:>10,} states  {seconds[0]:7.2f} s {seconds[1]:7.2f} s"
        f"  speed {seconds[0] / seconds[1]:5.2f}  bits {murphi['state_bits']} {python['state_bits']}"
        f"  {'equal counts' if same else 'COUNTS DIFFER'}"
    )


def long_model(rules: int = 70) -> str:
    """Returns a model of some 500 lines."""
    head = "from outcrop.model import *\nclass Long(Model):\n    cells: Array[Range[0, 7], 70] = [0] * 70\n"
    body = [
        f"    @rule\n    def step{at}(self, k: Range[0, 3]) -> None:\n        when(self.cells[{at}] + k < 7)\n"
        f"        self.cells[{at}] += k\n        if all(cell > 1 for cell in self.cells):\n"
        f"            self.cells[{at}] = min(self.cells[{at}], sum(self.cells) % 7)\n\n"
        for at in range(rules)
    ]
    return head + "".join(body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3)
    arguments = parser.parse_args()
    print("twin                   states       Murphi    Python")
    for name in PAIRS:
        print(compare(name, arguments.turns), flush=True)
    with tempfile.TemporaryDirectory() as directory:
        text = long_model()
        path = Path(directory, "long.py")
        path.write_text(text)
        started = time.process_time()
        lower(Source(str(path), text), LoadOptions())
        print(f"loading {len(text.splitlines())} lines: {time.process_time() - started:.2f} s")


if __name__ == "__main__":
    main()
