"""Searches for accepting cycles on the BEEM models: verdicts, speed and memory.

    python bench/ltl.py verdicts --models ../shared/models/dve [--least N] [--most N] [--only TEXT]...
    python bench/ltl.py speed --models ../shared/models/dve [--only TEXT]... [--repeat N]
    python bench/ltl.py threads --models ../shared/models/dve [--only TEXT]... [--repeat N]
    python bench/ltl.py fairness --models ../shared/models/dve [--only TEXT]... [--repeat N]
    python bench/ltl.py spin --models bench/spin [--repeat N]

`verdicts` compares ndfs, owcty and owcty --compact with PROPERTIES.csv on the models whose system, without the
property, has between --least and --most states. `speed` runs each search in its own process on properties that hold,
with one and two threads, and prints seconds, the ratio to ndfs, peak memory, and the coverage of --compact. `threads`
alternates owcty with one and two threads on the same properties, in one process, so that other load affects both alike.
`fairness` runs them with two threads in their own processes: without fairness, with weak fairness counted by the
product and by components, and with strong fairness. `spin` compares with spin, which must be installed, on models
written in both languages.
"""

from __future__ import annotations

import argparse
import csv
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from command import check

#: Options of each search, as on the command line.
SEARCHES = {
    "ndfs": ("--strategy", "ndfs", "--threads", "1"),
    "owcty": ("--strategy", "owcty", "--threads", "1"),
    "owcty, 2 threads": ("--strategy", "owcty", "--threads", "2"),
    "compact": ("--strategy", "owcty", "--compact", "--threads", "1"),
    "compact, 2 threads": ("--strategy", "owcty", "--compact", "--threads", "2"),
}

FAIRNESS = {
    "none": ("--strategy", "owcty", "--threads", "2"),
    "weak, counted": ("--fair", "weak", "--strategy", "owcty", "--threads", "2"),
    "weak": ("--fair", "weak", "--threads", "2"),
    "strong": ("--fair", "strong", "--threads", "2"),
}

#: Properties that hold, with products of about a million states or more.
SPEED = (
    "peterson/peterson.4.prop4.dve",
    "elevator/elevator.4.prop3.dve",
    "leader_election/leader_election.4.prop2.dve",
    "lamport/lamport.5.prop4.dve",
    "mcs/mcs.3.prop4.dve",
    "rether/rether.5.prop2.dve",
    "szymanski/szymanski.4.prop4.dve",
    "synapse/synapse.4.prop2.dve",
    "lup/lup.3.prop2.dve",
    "pgm_protocol/pgm_protocol.8.prop3.dve",
)


@dataclass(frozen=True)
class Property:
    file: str
    verdict: str  #: according to BEEM
    states: int  #: number of states of the system alone; 0 if not known


def properties(models: Path) -> list[Property]:
    with (models / "EXPECTED.csv").open() as text:
        states = {row["file"]: int(row["states"] or 0) for row in csv.DictReader(text)}
    with (models / "PROPERTIES.csv").open() as text:
        found = [
            Property(row["file"], row["verdict"], states.get(re.sub(r"\.prop\d+", "", row["file"]), 0))
            for row in csv.DictReader(text)
            if row["kind"] == "ltl"
        ]
    return sorted(found, key=lambda each: (each.states, each.file))


def verdicts(models: Path, chosen: list[Property]) -> int:
    """Returns the number of verdicts that differ."""
    import outcrop

    wrong = 0
    for each in chosen:
        model = outcrop.load(models / each.file)
        begun = time.monotonic()
        found = {
            "ndfs": model.check(strategy="ndfs"),
            "owcty": model.check(strategy="owcty"),
            "compact": model.check(strategy="owcty", compact=True),
        }
        said = {name: str(result.verdict) for name, result in found.items()}
        differs = set(said.values()) != {each.verdict} and each.verdict != "unknown"
        wrong += differs or len(set(said.values())) > 1
        sizes = ", ".join(f"{name} {result.states:,}" for name, result in found.items())
        mark = "WRONG " if differs else "new   " if each.verdict == "unknown" else "      "
        print(
            f"{mark}{each.file:50} {'/'.join(said.values()):30} {sizes}  {time.monotonic() - begun:.1f} s", flush=True
        )
    return wrong


def run(models: Path, file: str, options: tuple[str, ...], repeat: int) -> dict[str, float]:
    """Returns the least figures of some runs."""
    best: dict[str, float] = {}
    for _ in range(repeat):
        result = check(models / file, options)
        if not best or result["seconds"] < best["seconds"]:
            best = {name: result[name] for name in ("seconds", "states", "peak_rss_bytes", "state_bits")}
    return best


def speed(models: Path, files: list[str], repeat: int) -> None:
    print("| property | states | bits | " + " | ".join(f"{name} s, MiB" for name in SEARCHES) + " | coverage |")
    print("|" + "---|" * (len(SEARCHES) + 4))
    ratios: dict[str, list[float]] = {name: [] for name in SEARCHES}
    for file in files:
        figures = {name: run(models, file, options, repeat) for name, options in SEARCHES.items()}
        exact, compact = figures["owcty"], figures["compact"]
        for name, each in figures.items():
            ratios[name].append(each["seconds"] / figures["ndfs"]["seconds"])
        cells = [f"{each['seconds']:.2f}, {each['peak_rss_bytes'] / 2**20:.0f}" for each in figures.values()]
        coverage = f"{compact['states'] / exact['states']:.2%}"
        row = [Path(file).stem, f"{exact['states']:,}", f"{exact['state_bits']:.0f}", *cells, coverage]
        print(f"| {' | '.join(row)} |", flush=True)
    means = [f"{name} {statistics.geometric_mean(values):.2f}" for name, values in ratios.items()]
    print(f"\nSeconds relative to ndfs, geometric means: {', '.join(means)}.")


def threads(models: Path, files: list[str], repeat: int) -> None:
    import outcrop

    print("| property | 1 thread s | 2 threads s | least over least | lower quartile over lower quartile |")
    print("|---|---|---|---|---|")
    ratios = []
    for file in files:
        model = outcrop.load(models / file)
        seconds: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(repeat):
            for count, times in seconds.items():
                times.append(model.check(strategy="owcty", threads=count).seconds)
        one, two = (sorted(times) for times in seconds.values())
        ratios.append(one[0] / two[0])
        quartiles = one[repeat // 4] / two[repeat // 4]
        print(f"| {Path(file).stem} | {one[0]:.3f} | {two[0]:.3f} | {ratios[-1]:.2f} | {quartiles:.2f} |", flush=True)
    print(
        f"\nLeast over least: geometric mean {statistics.geometric_mean(ratios):.2f}, at the least {min(ratios):.2f}."
    )


def fairness(models: Path, files: list[str], repeat: int) -> None:
    print("| property | " + " | ".join(f"{name}: states, s, MiB" for name in FAIRNESS) + " |")
    print("|" + "---|" * (len(FAIRNESS) + 1))
    for file in files:
        figures = [run(models, file, options, repeat) for options in FAIRNESS.values()]
        cells = [
            f"{each['states']:,.0f}, {each['seconds']:.2f}, {each['peak_rss_bytes'] / 2**20:.0f}" for each in figures
        ]
        print(f"| {' | '.join([Path(file).stem, *cells])} |", flush=True)


# --- Comparison with spin ------------------------------------------------------------------------------------------


def spin(directory: Path, repeat: int) -> None:
    """Compares models that are written in both languages, rule for rule: the products have the same states."""
    print("| model | states, spin | spin s | states | ndfs s | owcty s | owcty, 2 threads s | spin / ndfs, per state |")
    print("|---|---|---|---|---|---|---|---|")
    for promela in sorted(directory.glob("*.pml")):
        with tempfile.TemporaryDirectory() as place:
            subprocess.run(["spin", "-a", promela.resolve()], cwd=place, check=True, capture_output=True)
            # Without partial-order reduction, because ndfs has none: all states, in full.
            subprocess.run(
                ["cc", "-O2", "-w", "-DNOREDUCE", "-DMEMLIM=8000", "-o", "pan", "pan.c"], cwd=place, check=True
            )
            seconds, stored = min(_pan(Path(place)) for _ in range(repeat))
        names = ("ndfs", "owcty", "owcty, 2 threads")
        options = {name: (*SEARCHES[name], "--symmetry", "off") for name in names}
        ours = {name: run(directory, f"{promela.stem}.m", options[name], repeat) for name in names}
        states = ours["ndfs"]["states"]
        ratio = (seconds / stored) / (ours["ndfs"]["seconds"] / states)
        times = " | ".join(f"{each['seconds']:.2f}" for each in ours.values())
        print(f"| {promela.stem} | {stored:,} | {seconds:.2f} | {states:,} | {times} | {ratio:.1f} |", flush=True)


def _pan(place: Path) -> tuple[float, int]:
    """Returns the seconds and the number of states."""
    done = subprocess.run(["./pan", "-a", "-m2000000"], cwd=place, check=True, capture_output=True, text=True)
    stored = re.search(r"^\s*([\d.e+]+) states, stored", done.stdout, re.MULTILINE)
    elapsed = re.search(r"elapsed time ([\d.]+) seconds", done.stdout)
    if "errors: 0" not in done.stdout or stored is None or elapsed is None:
        sys.exit(f"spin found an error, or printed something unexpected:\n{done.stdout}")
    return float(elapsed[1]), round(float(stored[1]))


def chosen_files(all_files: list[str], only: list[str]) -> Iterator[str]:
    return (file for file in all_files if not only or any(text in file for text in only))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["verdicts", "speed", "threads", "fairness", "spin"])
    parser.add_argument("--models", type=Path, required=True, help="directory of the models")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="run only files named with TEXT")
    parser.add_argument("--least", type=int, default=1)
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    if options.what == "speed":
        speed(options.models, list(chosen_files(list(SPEED), options.only)), options.repeat)
        return 0
    if options.what == "threads":
        threads(options.models, list(chosen_files(list(SPEED), options.only)), options.repeat)
        return 0
    if options.what == "fairness":
        fairness(options.models, list(chosen_files(list(SPEED), options.only)), options.repeat)
        return 0
    if options.what == "spin":
        spin(options.models, options.repeat)
        return 0
    rows = properties(options.models)
    files = set(chosen_files([row.file for row in rows], options.only))
    return verdicts(
        options.models, [row for row in rows if row.file in files and options.least <= row.states <= options.most]
    )


if __name__ == "__main__":
    sys.exit(main())
