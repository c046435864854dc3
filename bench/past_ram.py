"""What searching past RAM costs: each strategy against `ram` on the papers' models, ratios taken in one run.

    python bench/past_ram.py SHARED [--models n_peterson,sci] [--repeat N]

SHARED is a directory with models/murphi. M(p) is the memory that Table 2 of "Exploiting transition locality in
automatic verification of finite-state concurrent systems" computes, |Reach| * b + MaxQ * StateBytes, where b is
StateBytes, or 5 with signatures of 40 bits. StateBytes are those of Murphi, which rounds a state up to whole words of 4
bytes; for MaxQ we take our largest level. It is given to `--state-memory`. Deadlocks are not looked for.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import outcrop

#: The models of Tables 5, 6 and 8 that can be had, with constants that make them run for a second or so.
MODELS: dict[str, tuple[str, dict[str, object]]] = {
    "n_peterson": ("mux/n_peterson.m", {"N": 8}),
    "mcslock1": ("mux/mcslock1.m", {"N": 5}),
    "mcslock2": ("mux/mcslock2.m", {}),
    "sci": ("sci/sci.m", {"NumDataValues": 2}),
    "newlist6": ("multiset+sym/newlist6.m", {"CellCount": 6}),
    "newcache3": ("others/newcache3.m", {}),
    "cache3multi": ("multiset+sym/cache3multi.m", {}),
    "adash": ("dash/adash.m", {}),
    "ldash": ("dash/ldash.m", {}),
    "ns": ("secur/ns.m", {}),
}


@dataclass(frozen=True)
class Case:
    """A strategy at a fraction of M(p). ``signatures``: M(p) of Table 6, else of Table 5."""

    name: str
    fraction: float
    signatures: bool
    options: dict[str, Any]


CASES = (
    Case("cached 0.6", 0.6, False, {"strategy": "cached"}),
    Case("cached 0.6, random", 0.6, False, {"strategy": "cached", "replacement": "random"}),
    Case("cached 0.6, 40 bits", 0.6, True, {"strategy": "cached", "keep": "signatures", "bits": 40}),
    Case("locality 0.1", 0.1, True, {"strategy": "locality"}),
    Case("disk 0.1", 0.1, True, {"strategy": "disk"}),
    Case("cached 0.4", 0.4, True, {"strategy": "cached", "keep": "signatures", "bits": 64}),
    Case("locality 0.4", 0.4, True, {"strategy": "locality"}),
    Case("serial 0.4", 0.4, True, {"strategy": "serial"}),
)


@dataclass(frozen=True)
class Figures:
    states: int
    rules: int
    seconds: float
    processor_seconds: float  #: of all threads, which a busy machine distorts less
    is_complete: bool


def measure(model: outcrop.Model, repeat: int, **options: Any) -> tuple[Figures, outcrop.Result]:
    results, processor = [], []
    for _ in range(repeat):
        before = time.process_time()
        results.append(model.check(deadlock="off", **options))
        processor.append(time.process_time() - before - results[-1].compile_seconds)
    best = min(results, key=lambda result: result.seconds)
    complete = best.verdict is outcrop.Verdict.HOLDS
    return Figures(best.states_visited, best.rules_fired, best.seconds, min(processor), complete), best


def memory(result: outcrop.Result, signatures: bool) -> int:
    """M(p)."""
    width = -(-result.state_bits // 32) * 4
    return result.states_visited * (5 if signatures else width) + max(result.levels) * width


def main() -> None:
    parser = argparse.ArgumentParser(description="time of searches past RAM, as ratios to ram")
    parser.add_argument("shared", type=Path)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--cases", default="")
    parser.add_argument("--repeat", type=int, default=2)
    arguments = parser.parse_args()
    cases = [case for case in CASES if arguments.cases in case.name]
    ratios: dict[str, list[tuple[float, float]]] = {case.name: [] for case in cases}
    for name in arguments.models.split(","):
        path, constants = MODELS[name]
        model = outcrop.load(arguments.shared / "models" / "murphi" / path, constants)
        model.check(deadlock="off", depth=1)  # compiles it
        ram, result = measure(model, arguments.repeat, strategy="ram")
        print(
            f"\n{name} {constants or ''}: {ram.states:,} states of {result.state_bits} bits, {ram.rules:,} rules, "
            f"ram {ram.seconds:.2f} s, M(p) {memory(result, False):,}, with signatures {memory(result, True):,}"
        )
        for case in cases:
            budget = int(case.fraction * memory(result, case.signatures))
            limit = max(5.0, 40 * ram.seconds)
            figures, past = measure(model, arguments.repeat, state_memory=budget, time_limit=limit, **case.options)
            ratio = figures.seconds / ram.seconds
            processor = figures.processor_seconds / ram.processor_seconds
            note = "" if figures.is_complete else f"  unknown: {past.kind}"
            if figures.is_complete:
                ratios[case.name].append((ratio, processor))
            print(
                f"  {case.name:<20} states {figures.states / ram.states:6.3f}  rules {figures.rules / ram.rules:6.3f}  "
                f"time {ratio:6.2f}  processor {processor:6.2f}  ({figures.seconds:.2f} s){note}"
            )
            sys.stdout.flush()
    print()
    for name, each in ratios.items():
        for kind, figures in zip(("time", "processor"), zip(*each, strict=True), strict=False):
            average, worst = sum(figures) / len(figures), max(figures)
            print(f"{name:<20} {kind:<10} {len(figures):2} complete, average {average:.2f}, worst {worst:.2f}")


if __name__ == "__main__":
    main()
