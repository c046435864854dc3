"""Runs search after search in one process, with all strategies that use the disk, under a memory budget.

    python bench/soak.py --minutes 60 --memory 200M

Nothing may grow: resident memory, open files, or the content of the work directory. Before each measurement, free
memory of the C library's allocator is returned to the system, because its fragmentation varies for hours without a
leak. Prints one line for each round, in which every strategy runs once.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
import time
from array import array
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import outcrop
from outcrop.strategies import STRATEGIES, names
from outcrop.units import parse_size

#: Largest difference of resident memory between the second tenth of the rounds and the last.
TOLERANCE = 1.03
_C_LIBRARY = ctypes.CDLL(None)


def resident() -> int:
    if hasattr(_C_LIBRARY, "malloc_trim"):
        _C_LIBRARY.malloc_trim(0)
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--memory", type=parse_size, default=parse_size("200M"))
    parser.add_argument("--state-memory", type=parse_size, default=parse_size("8M"))
    parser.add_argument(
        "--model", default=str(Path(os.environ.get("OUTCROP_MODELS", "."), "models/murphi/mux/mcslock1.m"))
    )
    parser.add_argument("-D", dest="constants", action="append", default=[], metavar="NAME=VALUE")
    chosen = parser.parse_args()
    constants = dict(each.split("=", 1) for each in chosen.constants)
    model = outcrop.load(chosen.model, constants)
    end = time.monotonic() + chosen.minutes * 60
    memory, files = array("q"), array("q")  # one entry a round; the arrays themselves grow by 16 bytes
    states: set[int] = set()
    with TemporaryDirectory(prefix="outcrop-soak-") as work:
        while time.monotonic() < end:
            searches = 0
            for strategy in names(finds_cycles=False, decides=True):
                is_past_ram = STRATEGIES[strategy].past_ram
                budget = {"state_memory": chosen.state_memory} if is_past_ram else {"memory": chosen.memory}
                result = model.check(strategy=strategy, workdir=work, deadlock="off", **budget)
                searches += 1
                if result.verdict is outcrop.Verdict.HOLDS and result.states is not None:
                    states.add(result.states)
            left = [path for path in Path(work).iterdir() if not path.name.endswith("-lock")]
            memory.append(resident())
            files.append(len(list(Path("/proc/self/fd").iterdir())))
            print(
                f"round {len(memory)}: {searches} searches, {memory[-1] / 2**20:.1f} MiB resident, "
                f"{files[-1]} files open, {len(left)} files left, states {sorted(states)}",
                flush=True,
            )
            if left or len(states) > 1:
                return 1
    tenth = max(1, len(memory) // 10)
    # The first rounds are a warm-up, because allocators keep memory.
    before, after = median(memory[tenth : 2 * tenth] or memory), median(memory[-tenth:])
    grown = after > TOLERANCE * before or files[-1] > files[min(tenth, len(files) - 1)]
    print(
        f"{len(memory)} rounds: {'something grew' if grown else 'nothing grew'}; resident in the second tenth of them "
        f"{before / 2**20:.2f} MiB, in the last {after / 2**20:.2f} MiB"
    )
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
