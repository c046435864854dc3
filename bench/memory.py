"""Memory and time of a state with each form of compression, by turns in one run.

    python bench/memory.py MODELS [--only NAME,...] [--forms off,tree,quotient] [--repeat N] [--threads N] [--beem]

MODELS is a directory with models/murphi and models/dve, or that directory's models. Memory is the peak RSS of
`outcrop check --strategy ram --compress FORM`, less that of `--compress off --depth 0`, which is Python's own, over the
number of states. Time is processor time, user and system, less the same; ratios are to `--compress off`.
Forms that are not `off` must agree with it on states, rules fired, levels and verdict, or the exit code is 1.
`--beem` measures instead all complete BEEM instances of a million to ten million states.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from command import Failed

#: Arguments of `outcrop check` that make each model. Files are relative to MODELS.
MODELS = {
    "ldash": "murphi/dash/ldash.m --symmetry off",
    "eadash symmetry": "murphi/dash/eadash.m",
    "sci 2": "murphi/sci/sci.m -D NumDataValues=2 --symmetry off",
    "newlist6 6": "murphi/multiset+sym/newlist6.m -D CellCount=6 --symmetry off",
    "german 5": "murphi/others/german.m -D NODE_NUM=5 --symmetry off",
    "n_peterson 6": "murphi/mux/n_peterson.m -D N=6 --symmetry off",
    "cache3": "murphi/sym/cache3.m --symmetry off",
    "leader_election.4": "dve/leader_election/leader_election.4.dve",
}
#: Figures that must be equal for all forms.
EQUAL = ("verdict", "states", "rules_fired", "levels")
#: States of the BEEM instances that are measured.
LEAST_BEEM, MOST_BEEM = 1_000_000, 10_000_000


@dataclass
class Runs:
    """The results of the runs of one form."""

    seconds: list[float] = field(default_factory=list)  #: seconds of processor time
    rss: list[int] = field(default_factory=list)
    document: dict[str, Any] = field(default_factory=dict)


def run(arguments: list[str], form: str, runs: Runs) -> None:
    """Runs one check to its end, and adds what it took."""
    options = ["--strategy", "ram", "--compress", form, "--deadlock", "off", "--json", "--memory", "18G"]
    command = [sys.executable, "-m", "outcrop", "check", *arguments, *options]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not done.stdout:
        raise Failed(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    runs.document = json.loads(done.stdout)
    runs.seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    runs.rss.append(runs.document["peak_rss_bytes"])


def measure(name: str, arguments: list[str], forms: list[str], repeat: int) -> tuple[list[float], bool]:
    """Prints the rows of a model. Returns bytes a state of each form, and whether all agree."""
    own, taken = {form: Runs() for form in forms}, {form: Runs() for form in forms}
    for turn in range(repeat):
        for form in forms if turn % 2 == 0 else reversed(forms):
            if turn == 0:
                run([*arguments, "--depth", "0"], form, Runs())  # which compiles
            run([*arguments, "--depth", "0"], form, own[form])
            run(arguments, form, taken[form])
    first = taken[forms[0]]
    figures, agrees = [], True
    for form in forms:
        runs, base = taken[form], own[form]
        states = runs.document["states"]
        seconds = min(runs.seconds) - min(base.seconds)
        figures.append((min(runs.rss) - min(own[forms[0]].rss)) / states)
        agrees &= all(runs.document[key] == first.document[key] for key in EQUAL)
        ratio = seconds / (min(first.seconds) - min(own[forms[0]].seconds))
        disk = runs.document["peak_disk_bytes"] / states
        nodes = ((runs.document.get("compression") or {}).get("nodes") or 0) / states
        width = -(-runs.document["state_bits"] // 8)
        print(
            f"| {name} | {width} | {states:,} | {form} | {figures[-1]:.1f} | {nodes:.2f} | "
            f"{disk:.1f} | {seconds:.2f} | {ratio:.2f} |{'' if agrees else ' differs'}",
            flush=True,
        )
    return figures, agrees


def beem_models(directory: Path) -> dict[str, str]:
    """Returns the BEEM instances of the right size."""
    with (directory / "dve/EXPECTED.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["complete"] == "yes"]
    wanted = [row["file"] for row in rows if LEAST_BEEM <= int(row["states"]) <= MOST_BEEM]
    return {Path(each).stem: f"dve/{each}" for each in wanted}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("--only")
    parser.add_argument("--forms", default="off,tree,quotient")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--beem", action="store_true")
    given = parser.parse_args()
    directory = given.models / "models" if (given.models / "models").is_dir() else given.models
    models = beem_models(directory) if given.beem else MODELS
    forms = given.forms.split(",")
    print(
        "| model | state, bytes | states | compress | bytes a state | nodes a state | disk a state | CPU s | ratio |\n"
        "|---|---|---|---|---|---|---|---|---|"
    )
    every, all_agree = [], True
    for name in given.only.split(",") if given.only else models:
        file, *options = models[name].split()
        arguments = [str(directory / file), *options, "--threads", str(given.threads)]
        figures, agrees = measure(name, arguments, forms, given.repeat)
        every.append(figures)
        all_agree &= agrees
    medians = [statistics.median(column) for column in zip(*every, strict=True)]
    print(
        "median bytes a state: "
        + ", ".join(f"{form} {median:.1f}" for form, median in zip(forms, medians, strict=True))
    )
    return 0 if all_agree else 1


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    sys.exit(main())
