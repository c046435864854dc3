"""Times `layered` with RAM for a fraction of the states, and `ram` with all of it, in one process. Shows the duplicates
and the disk space.

    python bench/layered.py --models ../shared/models/murphi [--only NAME]... [--fraction 0.01] [--threads 2]
        [--layers all,10,auto] [--forget] [--repeat N]

RAM for a state is its packed bytes and eight more. The searches alternate, and the least time of each counts. CPU
seconds are those of all threads. Counts are compared: a fast wrong result ends the benchmark. The columns are those of
Tables 1 and 3 of Lamborn and Hansen (2008).
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import outcrop
from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.kernels import Native
from outcrop.options import CheckOptions, Deadlock
from outcrop.outcome import Outcome
from outcrop.report.layers import layers_document
from outcrop.search import layered, ram
from outcrop.strategies import parse_layers

#: Models: file, constants, symmetry.
MODELS: dict[str, tuple[str, dict[str, int], bool]] = {
    "n_peterson N=6": ("mux/n_peterson.m", {"N": 6}, False),
    "german NODE_NUM=5": ("others/german.m", {"NODE_NUM": 5}, False),
    "newlist6 CellCount=6": ("multiset+sym/newlist6.m", {"CellCount": 6}, False),
    "newlist6 CellCount=7, symmetry": ("multiset+sym/newlist6.m", {"CellCount": 7}, True),
    "mcslock2 N=3": ("mux/mcslock2.m", {"N": 3}, False),
    "sci NumDataValues=2": ("sci/sci.m", {"NumDataValues": 2}, False),
    "ldash, symmetry": ("dash/ldash.m", {}, True),
    "ldash, home too, symmetry": ("dash/ldash.m", {"nohome": False}, True),
    "ldash, no symmetry": ("dash/ldash.m", {}, False),
    "adash": ("dash/adash.m", {}, False),
    "arbiter": ("others/arbiter.m", {}, False),
}


def native_of(path: Path, constants: dict[str, int], symmetry: bool) -> Native:
    emitted = emit(outcrop.load(path, constants).system, symmetry)
    return compile_model(emitted.source, notes=emitted.notes)


class Timed:
    """A search, and its least times."""

    def __init__(self, search: Callable[[], Outcome]) -> None:
        self._search = search
        self.seconds = self.cpu = math.inf

    def run(self) -> None:
        started = time.process_time()
        self.outcome = self._search()
        self.seconds = min(self.seconds, self.outcome.seconds)
        self.cpu = min(self.cpu, time.process_time() - started)


def measure(name: str, native: Native, symmetry: bool, arguments: argparse.Namespace) -> None:
    options = CheckOptions(symmetry=symmetry, deadlock=Deadlock.OFF, threads=arguments.threads)
    beside = Timed(lambda: ram.search(native, options))
    beside.run()
    in_ram = beside.outcome
    needed = int(in_ram.visited * arguments.fraction * (native.state_bytes + 8))
    searches = {}
    for layers in arguments.layers.split(","):
        chosen = replace(
            options, strategy="layered", state_memory=needed, layers=parse_layers(layers), forget=arguments.forget
        )
        searches[layers] = Timed(lambda chosen=chosen: layered.search(native, chosen))
        searches[layers].run()
    for _ in range(arguments.repeat - 1):
        for each in (beside, *searches.values()):
            each.run()
    print(
        f"{name}: {in_ram.visited:,} states of {native.state_bytes} bytes, {len(in_ram.levels)} levels, {in_ram.stop}; "
        f"ram {beside.seconds:.2f} s, CPU {beside.cpu:.2f} s; RAM for {arguments.fraction:.0%}: "
        f"{needed / 2**20:.1f} MiB"
    )
    for layers, search in searches.items():
        past = search.outcome
        if not past.revisits and (past.levels, past.fired, past.findings) != (
            in_ram.levels,
            in_ram.fired,
            in_ram.findings,
        ):
            raise SystemExit(f"{name}: counts differ")
        print(
            f"  {layers:>5} {search.seconds:7.2f} s ({search.seconds / beside.seconds:.2f}x), CPU {search.cpu:7.2f} s "
            f"({search.cpu / beside.cpu:.2f}x), disk {past.peak_disk_bytes / 2**20:,.1f} MiB, "
            f"visited {past.visited:,}, {past.stop}; {duplicates(past)}"
        )


def duplicates(outcome: Outcome) -> str:
    document = layers_document(outcome.layers, outcome.generated)
    if document is None:
        return "all in RAM"
    caught, delayed = document["duplicates_ram"], document["duplicates_delayed"]
    return (
        f"duplicates {caught:,} in RAM ({caught / max(1, caught + delayed):.1%}), {delayed:,} delayed, missed "
        f"{document['missed']}; longest back edge {document['longest_back_edge']}, {document['kept']} layers kept"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--only", action="append", metavar="NAME", help="run only models whose name contains NAME")
    parser.add_argument("--fraction", type=float, default=0.01)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--layers", default="all")
    parser.add_argument("--forget", action="store_true")
    parser.add_argument("--repeat", type=int, default=1)
    arguments = parser.parse_args()
    for name, (file, constants, symmetry) in MODELS.items():
        if not arguments.only or any(each in name for each in arguments.only):
            measure(name, native_of(arguments.models / file, constants, symmetry), symmetry, arguments)


if __name__ == "__main__":
    main()
