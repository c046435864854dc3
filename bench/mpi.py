"""Measures what several ranks gain and cost: one rank and then more, each with one thread, alternating.

    python bench/mpi.py SHARED [--models "n_peterson 6,german 5"] [--ranks 2] [--strategy ram] [--repeat N]

SHARED is a directory with models. Symmetry and deadlock checks are off. For each model it prints

- seconds with one rank, and the speed-up of more ranks: by the least time of each, by the median, and by the CPU time
  of the busiest rank. On a busy machine only the last one is meaningful;
- bytes sent for each byte of a distinct remote successor: one that a rank generates and another owns, counted once for
  each rank that generates it. A search with a filter that evicts almost nothing counts them;
- memory of the largest rank for each byte of an even share, which is the state memory of one rank divided by the number
  of ranks. The memory that every process takes before it has any states is left out.

``--strategy "owcty --compact"`` is owcty with compaction. Searches with phases without a filter send more than the
distinct successors.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

#: Models of five million states and more.
MODELS: dict[str, tuple[str, dict[str, object]]] = {
    "n_peterson 6": ("murphi/mux/n_peterson.m", {"N": 6}),
    "german 5": ("murphi/others/german.m", {"NODE_NUM": 5}),
    "newlist6 6": ("murphi/multiset+sym/newlist6.m", {"CellCount": 6}),
    "mcslock1 5": ("murphi/mux/mcslock1.m", {"N": 5}),
    "cache3": ("murphi/sym/cache3.m", {}),
    "ldash": ("murphi/dash/ldash.m", {}),
    "anderson.6": ("dve/anderson/anderson.6.dve", {}),
    "bakery.6": ("dve/bakery/bakery.6.dve", {}),
    "lamport.6": ("dve/lamport/lamport.6.dve", {}),
    "at.4": ("dve/at/at.4.dve", {}),
    # For owcty and owcty --compact.
    "szymanski.4.prop4": ("dve/szymanski/szymanski.4.prop4.dve", {}),
    "pgm_protocol.8.prop3": ("dve/pgm_protocol/pgm_protocol.8.prop3.dve", {}),
    "anderson.6.prop2": ("dve/anderson/anderson.6.prop2.dve", {}),
    "elevator2.3.prop3": ("dve/elevator2/elevator2.3.prop3.dve", {}),
}


COLUMNS = (
    *("model", "states", "one rank s", "times faster", "by the median", "by CPU time", "waiting"),
    *("sent / distinct", "bytes sent a state", "memory / share"),
)


def check(path: str, constants: dict[str, object], strategy: str, forgets: bool) -> None:
    """Runs one rank's part; the first rank prints the result."""
    import outcrop
    from outcrop.dist.launch import started_ranks
    from outcrop.dist.transport import transport_of
    from outcrop.explorer.tuning import tuned
    from outcrop.machine import peak_rss

    ranks = started_ranks()
    exchange = transport_of(ranks)
    model = outcrop.load(path, constants)
    options: dict[str, Any] = {"symmetry": False, "deadlock": "off", "threads": 1, "ranks": ranks}
    options |= {"strategy": strategy.split()[0], "compact": strategy.endswith("--compact")}
    model.check(**options, depth=3)  # compiles it
    base = peak_rss()
    begun = time.process_time()
    # A filter without eviction keeps everything that was sent.
    with tuned(**({} if forgets else {"filter_share": 4.0})):
        result = model.check(**options)
    cpu = time.process_time() - begun
    everyone = exchange.gather((cpu, peak_rss() - base))
    if exchange.rank == 0:
        print(
            json.dumps(
                {
                    "states": result.states,
                    "seconds": result.seconds,
                    "cpu": max(each for each, _ in everyone),
                    "memory": max(each for _, each in everyone),
                    "bytes": (result.state_bits + 7) // 8,
                    "levels": len(result.levels),
                    "per_rank": [asdict(each) for each in result.per_rank],
                }
            )
        )


def run(ranks: int, path: Path, constants: dict[str, object], strategy: str, forgets: bool = True) -> dict[str, Any]:
    from outcrop.dist.launch import find_mpiexec

    child = [sys.executable, __file__, "--check", json.dumps([str(path), constants, strategy, forgets])]
    command = [find_mpiexec(), "-n", str(ranks), *child] if ranks > 1 else child
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome


def measure(name: str, shared: Path, ranks: int, strategy: str, repeat: int) -> None:
    file, constants = MODELS[name]
    path = shared / "models" / file
    pairs = [(run(1, path, constants, strategy), run(ranks, path, constants, strategy)) for _ in range(repeat)]
    ones, manys = zip(*pairs, strict=True)
    least = {key: (min(each[key] for each in ones), min(each[key] for each in manys)) for key in ("seconds", "cpu")}
    one_median, median = (statistics.median(each["seconds"] for each in runs) for runs in (ones, manys))
    many = manys[0]
    distinct = sum(row["states_sent"] for row in run(ranks, path, constants, strategy, False)["per_rank"])
    sent = sum(row["bytes_sent"] for row in many["per_rank"])
    waiting = sum(row["seconds_waiting"] for row in many["per_rank"]) / ranks
    (one_second, second), (one_cpu, cpu) = least["seconds"], least["cpu"]
    columns = (
        name,
        f"{many['states']:,}",
        f"{one_second:.2f}",
        f"{one_second / second:.2f}",
        f"{one_median / median:.2f}",
        f"{one_cpu / cpu:.2f}",
        f"{waiting / many['seconds']:.0%}",
        f"{sent / max(1, distinct * many['bytes']):.2f}",
        f"{sent / many['states']:.1f}",
        f"{many['memory'] / (ones[0]['memory'] / ranks):.2f}",
    )
    print(f"| {' | '.join(columns)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", nargs="?", type=Path)
    parser.add_argument("--models", default="n_peterson 6,german 5,newlist6 6")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--strategy", default="ram")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--check", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.check:
        check(*json.loads(chosen.check))
        return
    names = [name.strip() for name in chosen.models.split(",")]
    if unknown := set(names) - MODELS.keys():
        parser.error(f"no such model: {', '.join(sorted(unknown))}; there are {', '.join(MODELS)}")
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}", flush=True)
    for name in names:
        measure(name, chosen.shared, chosen.ranks, chosen.strategy, chosen.repeat)


if __name__ == "__main__":
    main()
