"""Measures the cost of searching past RAM: each strategy compared with `ram` on the papers' models.

    python bench/past_ram.py SHARED [--models "mcslock2,sci 2"] [--cases "cached 0.6,disk"] [--repeat N]

SHARED is a directory with models/murphi. M(p) is the memory that Table 2 of "Exploiting transition locality in
automatic verification of finite-state concurrent systems" computes, |Reach| * b + MaxQ * StateBytes, where b is
StateBytes, or 5 with signatures of 40 bits. StateBytes are those of Murphi, which rounds a state up to whole words of 4
bytes. Our largest level stands for MaxQ. M(p) is given to `--state-memory`. Deadlock checks are off.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command import paper_memory

import outcrop
from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.kernels import Native
from outcrop.machine import transferred_bytes
from outcrop.options import CheckOptions, Deadlock, Keep
from outcrop.outcome import Outcome, Stop
from outcrop.strategies import STRATEGIES, Replacement

#: The models of Tables 5, 6 and 8 that are available, the small ones with larger constants.
MODELS: dict[str, tuple[str, dict[str, object]]] = {
    "n_peterson 7": ("mux/n_peterson.m", {}),
    "n_peterson 9": ("mux/n_peterson.m", {"N": 9}),
    "mcslock1 5": ("mux/mcslock1.m", {"N": 5}),
    "mcslock2": ("mux/mcslock2.m", {}),
    "sci 2": ("sci/sci.m", {"NumDataValues": 2}),
    "newlist6 6": ("multiset+sym/newlist6.m", {"CellCount": 6}),
    "newcache3": ("multiset+sym/newcache3.m", {}),
    "cache3multi": ("multiset+sym/cache3multi.m", {}),
    "adash": ("dash/adash.m", {}),
    "ldash": ("dash/ldash.m", {}),
    "mcslock1 6": ("mux/mcslock1.m", {"N": 6}),
    "newlist6 7": ("multiset+sym/newlist6.m", {"CellCount": 7}),
    "sci 3 1 1 2 1": ("sci/sci.m", {"MemorySize": 2}),
    "ns": (
        "secur/ns.m",
        {"NumInitiators": 1, "NumResponders": 1, "NumIntruders": 3, "NetworkSize": 2, "MaxKnowledge": 10},
    ),
}


@dataclass(frozen=True)
class Case:
    """A strategy at a fraction of M(p). ``signatures``: M(p) of Table 6, else of Table 5."""

    name: str
    fraction: float
    signatures: bool
    options: dict[str, Any]


_SIGNATURES = {"strategy": "cached", "keep": Keep.SIGNATURES, "bits": 40}
CASES = (
    Case("cached 0.6", 0.6, False, {"strategy": "cached"}),
    Case("cached 0.6, idle", 0.6, False, {"strategy": "cached", "replacement": Replacement.IDLE}),
    Case("cached 0.6, 40 bits", 0.6, True, _SIGNATURES),
    Case("compact, 40 bits, all RAM", 1e3, True, {"strategy": "compact"}),
    Case("cached 0.6, 40, idle", 0.6, True, {**_SIGNATURES, "replacement": Replacement.IDLE}),
    Case("locality 0.1", 0.1, True, {"strategy": "locality"}),
    Case("disk 0.1", 0.1, True, {"strategy": "disk"}),
    Case("locality 0.01", 0.01, True, {"strategy": "locality"}),
    Case("disk 0.01", 0.01, True, {"strategy": "disk"}),
    *(
        Case(f"{name} {fraction}", fraction, True, options)
        for fraction in (0.4, 0.1)
        for name, options in (
            ("cached, 64 bits", {**_SIGNATURES, "bits": 64}),
            ("serial", {"strategy": "serial"}),
            ("locality,", {"strategy": "locality"}),
        )
    ),
)


@dataclass(frozen=True)
class Figures:
    outcome: Outcome
    seconds: float
    processor_seconds: float  #: processor time of all threads; a busy machine distorts it less
    read: float  #: bytes read from files for each state, whether or not they were in memory
    written: float


def measure(native: Native, repeat: int, **options: Any) -> Figures:
    """Returns the least figures of a few runs."""
    chosen = CheckOptions(deadlock=Deadlock.OFF, **options)
    seconds, processor = [], []
    begin = transferred_bytes()
    for _ in range(repeat):
        before = time.process_time()
        outcome: Outcome = STRATEGIES[chosen.strategy].function()(native, chosen)
        processor.append(time.process_time() - before)
        seconds.append(outcome.seconds)
    end, states = transferred_bytes(), repeat * outcome.visited
    return Figures(outcome, min(seconds), min(processor), (end[0] - begin[0]) / states, (end[1] - begin[1]) / states)


def memory(native: Native, outcome: Outcome, signatures: bool) -> int:
    """Returns M(p), in bytes."""
    return paper_memory(outcome.visited, max(outcome.levels), native.state_bits, 5 if signatures else None)


def main() -> None:
    parser = argparse.ArgumentParser(description="time of searches past RAM, as ratios to ram")
    parser.add_argument("shared", type=Path)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--cases", default="", help="run only cases named with one of these words")
    parser.add_argument("--repeat", type=int, default=2)
    arguments = parser.parse_args()
    cases = [case for case in CASES if any(part in case.name for part in arguments.cases.split(","))]
    ratios: dict[str, list[tuple[float, float]]] = {case.name: [] for case in cases}
    for name in arguments.models.split(","):
        path, constants = MODELS[name]
        model = outcrop.load(arguments.shared / "models" / "murphi" / path, constants)
        native = compile_model(emit(model.system, model.system.allows_symmetry).source)
        base = measure(native, arguments.repeat, strategy="ram")
        states, rules = base.outcome.visited, base.outcome.rules_fired
        print(
            f"\n{name}: {states:,} states of {native.state_bits} bits, {rules:,} rules, ram {base.seconds:.2f} s, "
            f"M(p) {memory(native, base.outcome, False):,}, with signatures {memory(native, base.outcome, True):,}"
        )
        for case in cases:
            budget = int(case.fraction * memory(native, base.outcome, case.signatures))
            limit = max(5.0, 40 * base.seconds)
            figures = measure(native, arguments.repeat, state_memory=budget, time_limit=limit, **case.options)
            ratio, processor = figures.seconds / base.seconds, figures.processor_seconds / base.processor_seconds
            is_complete = figures.outcome.stop is Stop.COMPLETE
            if is_complete:
                ratios[case.name].append((ratio, processor))
            print(
                f"  {case.name:<25} states {figures.outcome.visited / states:6.3f}  "
                f"rules {figures.outcome.rules_fired / rules:6.3f}  time {ratio:6.2f}  processor {processor:6.2f}  "
                f"({figures.seconds:.2f} s, read {figures.read:.0f}, written {figures.written:.0f} bytes a state)"
                f"{'' if is_complete else f'  unknown: {figures.outcome.stop}'}"
            )
            sys.stdout.flush()
    print()
    for name, each in ratios.items():
        for kind, values in zip(("time", "processor"), zip(*each, strict=True), strict=False):
            average, worst = sum(values) / len(values), max(values)
            print(f"{name:<25} {kind:<10} {len(values):2} complete, average {average:.2f}, worst {worst:.2f}")


if __name__ == "__main__":
    main()
