"""Times searches on a GPU and with one thread of the processor, in one process each.

    python bench/gpu.py --models ../shared/models/murphi [--only NAME]... [--largest] [--processor-states N]

The processor searches only enough states to measure its speed. Seconds are those of the search; compile times are
listed separately. Known counts are compared: a fast wrong result ends the benchmark. Each model runs in its own
process, so that none profits from another's memory.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import outcrop
from outcrop.result import Result


@dataclass(frozen=True)
class Case:
    path: str
    constants: dict[str, int] = field(default_factory=dict)
    symmetry: bool = False
    states: int | None = None  #: expected number, if known
    strategies: tuple[str, ...] = ("compact", "ram")
    most_states: int | None = None  #: bound on the states of the GPU too; None for all


CASES = {
    "n_peterson 7": Case("mux/n_peterson.m", {"N": 7}, states=511_615_338),
    "mcslock1 5": Case("mux/mcslock1.m", {"N": 5}),
    "mcslock1 6": Case("mux/mcslock1.m", {"N": 6}, strategies=("compact",)),
    "german 6": Case("others/german.m", {"NODE_NUM": 6}),
    "sci 3": Case("sci/sci.m", {"NumDataValues": 3}),
    "sci 4": Case("sci/sci.m", {"NumDataValues": 4}, strategies=("compact",)),
    "ldash 4": Case("dash/ldash.m"),
    "ldash 5": Case("dash/ldash.m", {"RemoteCount": 5}, strategies=("compact",)),
    "newlist6 7": Case("multiset+sym/newlist6.m", {"CellCount": 7}, strategies=("compact",)),
    "mcslock2 4, a part": Case("mux/mcslock2.m", {"N": 4}, strategies=("compact",), most_states=12_000_000_000),
    "mcslock2 4, symmetry": Case("mux/mcslock2.m", {"N": 4}, symmetry=True),
    "n_peterson 9, symmetry": Case("mux/n_peterson.m", {"N": 9}, symmetry=True, states=2_871_372),
    "n_peterson 11, symmetry": Case("mux/n_peterson.m", {"N": 11}, symmetry=True),
    "mcslock1 6, symmetry": Case("mux/mcslock1.m", {"N": 6}, symmetry=True),
    "german 7, symmetry": Case("others/german.m", {"NODE_NUM": 7}, symmetry=True),
    "ldash 5, symmetry": Case("dash/ldash.m", {"RemoteCount": 5}, symmetry=True),
    "newlist6 7, symmetry": Case("multiset+sym/newlist6.m", {"CellCount": 7}, symmetry=True),
    "sci 3, symmetry": Case("sci/sci.m", {"NumDataValues": 3}, symmetry=True),
}
#: Duration from which a search is not repeated, in seconds.
_LONG = 3.0
#: Models with more than ten thousand million states.
LARGEST = {
    "german 7, three values": Case("others/german.m", {"NODE_NUM": 7, "DATA_NUM": 3}, strategies=("compact",)),
    "mcslock2 4": Case("mux/mcslock2.m", {"N": 4}, strategies=("compact",)),
}


def speed(result: Result) -> float:
    return result.states_visited / result.seconds


def measure(name: str, case: Case, models: Path, processor_states: int) -> None:
    model = outcrop.load(models / case.path, case.constants)
    one = model.check(
        device="cpu", strategy="ram", threads=1, symmetry=case.symmetry, states=processor_states, max_errors=1
    )
    row = [name, f"{speed(one) / 1e6:.2f}"]
    for strategy in case.strategies:
        options = {"device": "gpu", "strategy": strategy, "symmetry": case.symmetry, "states": case.most_states}
        best = model.check(**options)
        if best.seconds < _LONG:
            again = model.check(**options)
            best = min(best, again, key=lambda result: result.seconds)
        if case.states is not None and best.states != case.states:
            raise SystemExit(f"{name}: {best.states} states, not {case.states}")
        ratio = speed(best) / speed(one)
        row += [strategy, f"{best.states_visited:,}", f"{best.rules_fired:,}", str(best.verdict), f"{best.seconds:.3f}"]
        row += [f"{speed(best) / 1e6:,.0f}", f"{best.rules_fired / best.seconds / 1e6:,.0f}", f"{ratio:.0f}"]
        print("| " + " | ".join(row) + " |", flush=True)
        print(f"  {best.guarantee}", *best.events, sep="\n  ", file=sys.stderr, flush=True)
        row = [name, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--largest", action="store_true")
    parser.add_argument("--processor-states", type=int, default=3_000_000)
    arguments = parser.parse_args()
    cases = LARGEST if arguments.largest else CASES
    chosen = arguments.only or list(cases)
    if len(chosen) == 1:
        name = chosen[0]
        measure(name, {**CASES, **LARGEST}[name], arguments.models, arguments.processor_states)
        return
    titles = ["model", "processor, M states/s", "strategy", "states", "rules fired", "verdict", "s"]
    print("| " + " | ".join([*titles, "M states/s", "M rules/s", "times the processor"]) + " |")
    print("|" + "---|" * 10, flush=True)
    ratios: list[float] = []
    for name in chosen:
        command = [sys.executable, __file__, "--models", str(arguments.models), "--only", name]
        command += ["--processor-states", str(arguments.processor_states)]
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        print(run.stdout, end="", flush=True)
        ratios += [float(line.rsplit("|", 2)[1]) for line in run.stdout.splitlines()[:1]]
    if ratios:
        print(f"\nGeometric mean of the first of each: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.0f}")


if __name__ == "__main__":
    main()
