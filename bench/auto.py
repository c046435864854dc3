"""Times `auto` with a fraction of the memory that a model needs, and `ram` with all of it, in one process. Shows where
the time goes.

    python bench/auto.py --models ../shared/models/murphi [--only NAME]... [--fraction 0.1] [--threads 2] [--repeat N]
        [--squeeze off]

The memory is M(p) of Table 2 in Della Penna et al. (2004), (states + longest queue) x bytes of a state, with the bytes
rounded up to four. The largest level stands for the longest queue. The two searches alternate, and the least time of
each counts. CPU seconds are those of all threads; on a busy machine they are the figures to use. States and rules are
compared: a fast wrong result ends the benchmark.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from command import paper_memory

import outcrop
from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.kernels import Native
from outcrop.kernels.layers import LayerKernels
from outcrop.kernels.spill import Spill
from outcrop.options import CheckOptions, Deadlock
from outcrop.outcome import Outcome
from outcrop.search import auto, ram
from outcrop.store.frontier import RowFile

MODELS: dict[str, tuple[str, dict[str, int]]] = {
    "n_peterson N=6": ("mux/n_peterson.m", {"N": 6}),
    "mcslock2 N=3": ("mux/mcslock2.m", {"N": 3}),
    "german NODE_NUM=5": ("others/german.m", {"NODE_NUM": 5}),
    "newlist6 CellCount=6": ("multiset+sym/newlist6.m", {"CellCount": 6}),
    "ldash": ("dash/ldash.m", {}),
    "eadash": ("dash/eadash.m", {}),
}
#: The functions that are timed, with their labels.
PARTS = {
    (Spill, "expand"): "expand, look up in the arena",
    (Spill, "resolve"): "compare with runs",
    (Spill, "take_new"): "check new states",
    (LayerKernels, "write_stretch"): "write candidates",
    (LayerKernels, "resolve_stretches"): "compare candidates on disk",
    (LayerKernels, "take_stretch"): "read candidates that are new",
    (Spill, "write_run"): "write runs",
    (Spill, "merge_runs"): "merge runs",
    (Spill, "enter"): "rebuild the table",
    (RowFile, "append"): "write the log",
    (RowFile, "block"): "read the log",
}


class Timer:
    """CPU seconds of each part, summed over threads."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        for (owner, name), label in PARTS.items():
            setattr(owner, name, self._timed(getattr(owner, name), label))

    def _timed(self, function: Callable[..., Any], label: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            started = time.thread_time()
            try:
                return function(*arguments)
            finally:
                self.seconds[label] += time.thread_time() - started

        return call


def native_of(path: Path, constants: dict[str, int]) -> Native:
    emitted = emit(outcrop.load(path, constants).system, False)
    return compile_model(emitted.source, notes=emitted.notes)


def timed(search: Callable[[], Outcome]) -> tuple[float, float, Outcome]:
    """Returns wall-clock seconds, CPU seconds and the outcome of a search."""
    started = time.process_time()
    outcome = search()
    return outcome.seconds, time.process_time() - started, outcome


def measure(name: str, path: Path, constants: dict[str, int], arguments: argparse.Namespace) -> None:
    native = native_of(path, constants)
    options = CheckOptions(symmetry=False, deadlock=Deadlock.OFF, threads=arguments.threads)
    timer = arguments.timer
    timer.seconds.clear()
    with_all, with_some = [], []
    for _ in range(arguments.repeat):
        with_all.append(timed(lambda: ram.search(native, options)))
        in_ram = with_all[0][2]
        needed = paper_memory(in_ram.states, max(in_ram.levels), native.state_bits)
        memory, squeezes = int(needed * arguments.fraction), arguments.squeeze == "on"
        scarce = replace(options, state_memory=memory, squeeze=squeezes)
        with_some.append(timed(partial(auto.search, native, scarce)))
        past = with_some[-1][2]
        if (past.levels, past.fired) != (in_ram.levels, in_ram.fired):
            raise SystemExit(f"{name}: counts differ")
    ram_seconds, ram_cpu, past_seconds, past_cpu = (
        min(row[column] for row in rows) for rows in (with_all, with_some) for column in (0, 1)
    )
    print(
        f"{name}: {in_ram.states:,} states of {native.state_bytes} bytes, {len(in_ram.levels)} levels; "
        f"{memory / 2**20:.1f} MiB\n"
        f"  ram  {ram_seconds:6.2f} s, CPU {ram_cpu:6.2f} s\n"
        f"  auto {past_seconds:6.2f} s, CPU {past_cpu:6.2f} s, disk {past.peak_disk_bytes / 2**20:,.0f} MiB\n"
        f"  ratio {past_seconds / ram_seconds:.2f}, CPU {past_cpu / ram_cpu:.2f}; {'; '.join(map(str, past.events))}"
    )
    for label, seconds in sorted(timer.seconds.items(), key=lambda row: -row[1]):
        print(f"    {label:30}{seconds / arguments.repeat:7.2f} s {seconds / arguments.repeat / past_cpu:6.0%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--only", action="append", metavar="NAME", help="run only models whose name contains NAME")
    parser.add_argument("--fraction", type=float, default=0.1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--squeeze", choices=["on", "off"], default="on")
    arguments = parser.parse_args()
    arguments.timer = Timer()
    for name, (file, constants) in MODELS.items():
        if not arguments.only or any(each in name for each in arguments.only):
            measure(name, arguments.models / file, constants, arguments)


if __name__ == "__main__":
    main()
