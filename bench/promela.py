"""Promela models: the same counts as SPIN, and the time that both take.

    python bench/promela.py rows MODELS [--most STATES] [--only WORD]     counts of EXPECTED.csv
    python bench/promela.py speed MODELS [--repeat N] [--only WORD]       time of the search by turns, on one core
    python bench/promela.py verdict MODELS [--repeat N] [--only WORD]     to a verdict, with reduction on both sides
    python bench/promela.py bytes MODELS [--only WORD]                    bytes a state: COLLAPSE, and each --compress

MODELS is the folder with models/promela. ``rows`` compares with the counts that EXPECTED.csv holds; where a model has a
formula or a never claim, SPIN's figure is one of a product, and the model alone is counted again with -DNOCLAIM.
``speed`` runs ``pan`` (gcc -O2, -DSAFETY -DNOREDUCE -DNOFAIR -DNOCLAIM, and -DCOLLAPSE for its bytes) with a hash
table and a stack that fit the model, and the search in RAM. ``verdict`` leaves -DNOREDUCE and -o1 -o2 -o3 out, and
both sides stop at the first error. It measures the search, and all that leads to the verdict: ``spin -a``, gcc and
``pan``, or loading, analysis, compilation and search. ``bytes`` takes the peak memory of `outcrop check --strategy
ram --compress FORM` less that of `--depth 0`, and what ``pan`` reports for its states.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from clock import Clock

import outcrop
from outcrop.errors import OutcropError
from outcrop.search import ram

#: Flags of SPIN's compiler that leave the state space as the model has it.
UNREDUCED = ("-o1", "-o2", "-o3")
SAFETY = ("-O2", "-w", "-DSAFETY", "-DNOREDUCE", "-DNOFAIR", "-DNOCLAIM")


@dataclass(frozen=True)
class Verifier:
    """A compiled ``pan`` in a folder of its own."""

    folder: Path
    name: str = "pan"
    states: int = 2_000_000  #: at most so many; pan takes time to clear its hash table and its stack

    def run(self, *options: str, errors: str = "-c0") -> tuple[int, int, float, str]:
        """Returns states, transitions, seconds of processor time, and the whole output."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [f"./{self.name}", errors, "-n", f"-m{self.states + 1000}", f"-w{max(16, self.states.bit_length())}"]
        command += options
        output = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        counts = [re.search(rf"([0-9.e+]+) {word}", output) for word in ("states, stored", "transitions")]
        states, transitions = (int(float(each[1])) if each else 0 for each in counts)
        return states, transitions, seconds, output


def compile_verifier(
    model: Path,
    folder: Path,
    *flags: str,
    name: str = "pan",
    options: tuple[str, ...] = UNREDUCED,
    states: int = Verifier.states,
) -> Verifier:
    for each in (model, *model.parent.glob("*.h")):
        shutil.copy(each, folder / each.name)
    subprocess.run(["spin", "-a", *options, model.name], cwd=folder, capture_output=True, check=False)
    subprocess.run(["gcc", *flags, "-o", name, "pan.c"], cwd=folder, check=True)
    return Verifier(folder, name, states)


def expected(models: Path, most: int, only: str) -> list[dict[str, str]]:
    with (models / "EXPECTED.csv").open() as file:
        rows = [each for each in csv.DictReader(file) if each["complete"] == "yes"]
    return [each for each in rows if int(each["states"]) <= most and only in each["file"]]


def load(path: Path) -> outcrop.Model:
    return outcrop.load(path, assertions=False, claims=False)


def check(model: outcrop.Model) -> outcrop.Result:
    return model.check(deadlock="off", strategy="ram", threads=1)


def rows(models: Path, most: int, only: str) -> None:
    """Prints a line for each row: equal, equal without the claim, or different."""
    tally: dict[str, int] = {}
    for row in expected(models, most, only):
        path = models / row["file"]
        wanted = int(row["states"]), int(row["transitions"])
        try:
            result = check(load(path))
            found = result.states, result.rules_fired + 1
        except OutcropError as error:
            found = 0, 0
            print(error)
        what = "equal" if found == wanted else "different"
        if what == "different":
            with tempfile.TemporaryDirectory() as folder:
                wanted = compile_verifier(path, Path(folder), *SAFETY).run()[:2]
            what = "equal without the claim" if found == wanted else "different"
        tally[what] = tally.get(what, 0) + 1
        print(f"{what:24} {row['file']:34} SPIN {wanted[0]:>9,} {wanted[1]:>10,}  ours {found[0]:>9,} {found[1]:>10,}")
    print(", ".join(f"{count} {what}" for what, count in tally.items()))


def speed(models: Path, least: int, most: int, only: str, repeat: int) -> None:
    """Prints the seconds of a run of pan and of a search, by turns, and bytes a state."""
    ratios = []
    clock = Clock(ram)
    for row in expected(models, most, only):
        if int(row["states"]) < least:
            continue
        path = models / row["file"]
        began = time.process_time() + _children()
        model = load(path)
        loaded = time.process_time() + _children() - began
        check(model)
        first = time.process_time() + _children() - began
        with tempfile.TemporaryDirectory() as folder:
            pan = compile_verifier(path, Path(folder), *SAFETY, states=int(row["states"]))
            collapsed = compile_verifier(path, Path(folder), *SAFETY, "-DCOLLAPSE", name="collapsed")
            theirs, ours = [], []
            for _ in range(repeat):
                states, _, seconds, _ = pan.run()
                theirs.append(seconds)
                result = check(model)
                ours.append(clock.seconds)
            output = collapsed.run()[3]
        ratio = min(theirs) / max(min(ours), 1e-3)
        ratios.append(ratio)
        used = re.search(r"([0-9.]+)\s+actual memory usage for states", output)
        bytes_theirs = float(used[1]) * 2**20 / states if used else math.nan
        bits = result.state_bits
        times = f"SPIN {min(theirs):6.2f} s  ours {min(ours):6.2f} s  {ratio:5.2f} times"
        start = f"loading {loaded:4.1f} s, with the first search {first:4.1f} s"
        size = f"COLLAPSE {bytes_theirs:5.1f} bytes, ours {bits / 8:5.1f} and a hash"
        print(f"{row['file']:34} {states:>9,} states  {times}  {start}  {size}", flush=True)
    print(f"geometric mean {_mean(ratios):.2f}")


def verdict(models: Path, least: int, most: int, only: str, repeat: int) -> None:
    """Prints the processor time to a verdict with reduction on both sides: that of the search alone, by turns, and of
    everything from the model on, with an empty cache."""
    searches, wholes = [], []
    clock = Clock(ram)
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()
    for row in expected(models, most, only):
        if int(row["states"]) < least:
            continue
        path = models / row["file"]
        with tempfile.TemporaryDirectory() as folder:
            began = _children()
            flags = [each for each in SAFETY if each != "-DNOREDUCE"]
            pan = compile_verifier(path, Path(folder), *flags, options=(), states=int(row["states"]))
            pan.run(errors="-c1")
            whole = [_children() - began]
            began = time.process_time() + _children()
            model = outcrop.load(path, claims=False)
            reduced = {"strategy": "ram", "threads": 1, "reduce": "por"}
            model.check(**reduced)
            whole.append(time.process_time() + _children() - began)
            theirs, ours = [], []
            for _ in range(repeat):
                states, _, seconds, output = pan.run(errors="-c1")
                theirs.append(seconds)
                result = model.check(engine="native", **reduced)
                ours.append(clock.seconds)
        found = re.search(r"errors: (\d+)", output)
        said = "violated" if found and int(found[1]) else "holds"
        searches.append(min(theirs) / max(min(ours), 1e-3))
        wholes.append(whole[0] / whole[1])
        counts = f"SPIN {said} {states:>9,} states {min(theirs):6.3f} s, whole {whole[0]:5.2f} s"
        mine = f"ours {result.verdict} {result.states:>9,} states {min(ours):6.3f} s, whole {whole[1]:5.2f} s"
        print(f"{row['file']:34} {counts}  {mine}  {searches[-1]:6.2f} and {wholes[-1]:5.2f} times", flush=True)
    print(f"geometric means: searches {_mean(searches):.2f}, from the model on {_mean(wholes):.2f}")


def _mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def sizes(models: Path, least: int, most: int, only: str) -> None:
    """Prints bytes a state: SPIN's with COLLAPSE, and ours with each form of compression."""
    for row in expected(models, most, only):
        if int(row["states"]) < least:
            continue
        path = models / row["file"]
        with tempfile.TemporaryDirectory() as folder:
            states, _, _, output = compile_verifier(path, Path(folder), *SAFETY, "-DCOLLAPSE").run()
        used = re.search(r"([0-9.]+)\s+actual memory usage for states", output)
        found = {"COLLAPSE": float(used[1]) * 2**20 / states if used else math.nan}
        base = _peak(path, "--depth", "0")
        for form in ("off", "tree", "quotient"):
            found[form] = (_peak(path, "--compress", form) - base) / states
        print(
            f"{row['file']:34} {states:>9,} states  {', '.join(f'{k} {v:.1f}' for k, v in found.items())}", flush=True
        )


def _peak(path: Path, *options: str) -> int:
    """Returns the peak memory of a check, in bytes."""
    command = [sys.executable, "-m", "outcrop", "check", str(path), "--assertions", "off", "--claims", "off", "--json"]
    command += ["--deadlock", "off", "--strategy", "ram", "--threads", "1", "--engine", "native", *options]
    return int(json.loads(subprocess.run(command, capture_output=True, check=False).stdout)["peak_rss_bytes"])


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("rows", "speed", "verdict", "bytes"))
    parser.add_argument("models", type=Path)
    parser.add_argument("--least", type=int, default=200_000)
    parser.add_argument("--most", type=int, default=10_000_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    models = arguments.models / "models" / "promela"
    if arguments.what == "rows":
        rows(models, arguments.most, arguments.only)
    elif arguments.what == "bytes":
        sizes(models, arguments.least, arguments.most, arguments.only)
    else:
        measure = speed if arguments.what == "speed" else verdict
        measure(models, arguments.least, arguments.most, arguments.only, arguments.repeat)


if __name__ == "__main__":
    main()
