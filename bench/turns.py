"""Runs the same checks in two checkouts alternately, compares their results, and prints ratios of time and memory.

    python bench/turns.py OLD NEW [--models ../shared/models] [--repeat N] [--only GROUP,...] [--quick]

OLD and NEW are directories of checkouts. The interpreter that runs this program runs both, with PYTHONPATH set to one
or the other, so neither has to be installed. The order of the two is swapped with every repetition. Before a row is
timed, each checkout runs it once, so that everything it compiles is in the cache.

Time is `seconds` of the JSON document, the search alone; memory is `peak_rss_bytes`. Ratios are new over old: of the
least times, of the median times, of the least processor times, and of the median memory. Processor time is that of all
processes of a check from start to end. Other work on the machine distorts it less, but it counts more than the search.
A row is marked `time` or `median` above 1.08, and `memory` above 1.02. A geometric mean is marked above 1.03 and 1.02.
Marks do not change the exit code.

Verdict, kind, states, rules fired, levels, diameter and trace length must be equal in all runs. If they differ, or if a
check fails, the exit code is 1; the other rows are measured all the same.

`--quick` runs the first row of each group, three times. The group `gpu` runs only if `--only` names it.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from command import Failed, check, paper_memory

#: Largest ratios of time and of memory that are not marked, for a row and for a geometric mean.
ROW_TIME, MEAN_TIME, MEMORY = 1.08, 1.03, 1.02
#: Bytes of a signature in M(p).
SIGNATURE = 5
#: Exit codes of a check that has a result: holds, violated, unknown.
RESULTS = (0, 1, 3)

#: Arguments of `outcrop check` that make each model, and its size. Files are relative to --models.
MODELS = {
    "n_peterson 6": "murphi/mux/n_peterson.m -D N=6 --symmetry off --deadlock off",
    "n_peterson 7": "murphi/mux/n_peterson.m -D N=7 --symmetry off --deadlock off",
    "n_peterson 9, symmetry": "murphi/mux/n_peterson.m -D N=9 --deadlock off",
    "mcslock2 3": "murphi/mux/mcslock2.m -D N=3 --symmetry off --deadlock off",
    "mcslock2 4, symmetry": "murphi/mux/mcslock2.m -D N=4 --deadlock off",
    "sci 2": "murphi/sci/sci.m -D NumDataValues=2 --symmetry off --deadlock off",
    "sci 4": "murphi/sci/sci.m -D NumDataValues=4 --symmetry off --deadlock off",
    "cache3": "murphi/sym/cache3.m --symmetry off --deadlock off",
    "eadash, symmetry": "murphi/dash/eadash.m --deadlock off",
    "ldash 5, symmetry": "murphi/dash/ldash.m -D RemoteCount=5 --deadlock off",
    "ns, symmetry": "murphi/secur/ns.m -D NumInitiators=1 -D NumResponders=1 -D NumIntruders=3 -D NetworkSize=2 "
    "-D MaxKnowledge=10 --deadlock off",
    "at.4": "dve/at/at.4.dve --deadlock off",
    "elevator2.3": "dve/elevator2/elevator2.3.dve --deadlock off",
    "leader_election.5": "dve/leader_election/leader_election.5.dve",
    "bakery.5.prop2": "dve/bakery/bakery.5.prop2.dve",
    "lamport.5.prop4": "dve/lamport/lamport.5.prop4.dve",
    "peterson.4.prop4": "dve/peterson/peterson.4.prop4.dve",
    "pgm_protocol.8.prop3": "dve/pgm_protocol/pgm_protocol.8.prop3.dve",
    "rether.5.prop3": "dve/rether/rether.5.prop3.dve",
    "szymanski.4.prop4": "dve/szymanski/szymanski.4.prop4.dve",
}


@dataclass(frozen=True)
class Row:
    """A model and the options of its search. ``memory``: fraction of M(p) that is given to `--state-memory`."""

    group: str
    model: str
    options: str
    memory: float | None = None
    signature: int | None = None  #: bytes a visited state in M(p), instead of those of a state


#: The first row of each group is that of --quick. Searches with eviction have one thread: with more, the number of
#: revisits varies. `auto` and `layered` squeeze states if that seems to pay for compiling, which depends on the time;
#: only elevator2.3 is squeezed in every run.
ROWS = (
    Row("ram1", "sci 2", "--strategy ram --threads 1"),
    Row("ram1", "n_peterson 6", "--strategy ram --threads 1"),
    Row("ram1", "at.4", "--strategy ram --threads 1"),
    Row("ram2", "n_peterson 6", "--strategy ram --threads 2"),
    Row("ram2", "cache3", "--strategy ram --threads 2"),
    Row("ram2", "leader_election.5", "--strategy ram --threads 2"),
    Row("symmetry", "n_peterson 9, symmetry", "--strategy ram --threads 1"),
    Row("symmetry", "eadash, symmetry", "--strategy ram --threads 1"),
    Row("symmetry", "ns, symmetry", "--strategy ram --threads 1"),
    Row("compact", "at.4", "--strategy compact --threads 1"),
    Row("compact", "n_peterson 6", "--strategy compact --threads 1"),
    Row("cached", "n_peterson 9, symmetry", "--strategy cached --threads 1", 0.6),
    Row("cached", "ns, symmetry", "--strategy cached --keep signatures --threads 1", 0.6, SIGNATURE),
    Row("locality", "n_peterson 9, symmetry", "--strategy locality --threads 1", 0.1, SIGNATURE),
    Row("locality", "mcslock2 3", "--strategy locality --threads 1", 0.1, SIGNATURE),
    Row("disk", "n_peterson 9, symmetry", "--strategy disk --threads 1", 0.1, SIGNATURE),
    Row("disk", "mcslock2 3", "--strategy disk --threads 1", 0.1, SIGNATURE),
    Row("serial", "mcslock2 3", "--strategy serial --threads 1", 0.4, SIGNATURE),
    Row("serial", "n_peterson 9, symmetry", "--strategy serial --threads 1", 0.4, SIGNATURE),
    Row("auto", "n_peterson 9, symmetry", "--strategy auto --threads 2 --squeeze off", 0.1),
    Row("auto", "sci 2", "--strategy auto --threads 2 --squeeze off", 0.1),
    Row("auto", "elevator2.3", "--strategy auto --threads 2", 0.1),
    Row("layered", "mcslock2 3", "--strategy layered --threads 2 --squeeze off", 0.02),
    Row("layered", "n_peterson 9, symmetry", "--strategy layered --threads 2 --squeeze off", 0.02),
    Row("owcty", "szymanski.4.prop4", "--strategy owcty --threads 1"),
    Row("owcty", "rether.5.prop3", "--strategy owcty --threads 1"),
    Row("owcty", "bakery.5.prop2", "--strategy owcty --threads 2"),
    Row("owcty-compact", "szymanski.4.prop4", "--strategy owcty --compact --threads 1"),
    Row("owcty-compact", "pgm_protocol.8.prop3", "--strategy owcty --compact --threads 1"),
    Row("ndfs", "szymanski.4.prop4", "--strategy ndfs --threads 1"),
    Row("ndfs", "pgm_protocol.8.prop3", "--strategy ndfs --threads 1"),
    Row("fair", "szymanski.4.prop4", "--fair strong --threads 2"),
    Row("fair", "peterson.4.prop4", "--fair weak --threads 2"),
    Row("fair", "lamport.5.prop4", "--fair strong --threads 1"),
    Row("ranks", "n_peterson 6", "--strategy ram --threads 1 --ranks 2"),
    Row("ranks", "szymanski.4.prop4", "--strategy owcty --threads 1 --ranks 2"),
    Row("ranks", "sci 2", "--strategy auto --threads 1 --ranks 2", 0.1),
    Row("gpu", "n_peterson 7", "--strategy ram --device gpu"),
    Row("gpu", "sci 4", "--strategy compact --device gpu"),
    Row("gpu", "mcslock2 4, symmetry", "--strategy ram --device gpu"),
    Row("gpu", "ldash 5, symmetry", "--strategy ram --device gpu"),
)
GROUPS = tuple(dict.fromkeys(row.group for row in ROWS))


class Different(Exception):
    """Raised when two runs of a row have different results."""


@dataclass(frozen=True)
class Checkout:
    """A directory with the package `outcrop`."""

    name: str  #: old or new
    directory: Path

    @property
    def environment(self) -> dict[str, str]:
        """Environment in which Python imports this checkout."""
        # Without PYTHONSAFEPATH `python -m` looks into the current directory first, which may be a third checkout.
        return {**os.environ, "PYTHONPATH": str(self.directory), "PYTHONSAFEPATH": "1"}

    def verify(self) -> None:
        """Ends the program if the interpreter would import another checkout."""
        command = [sys.executable, "-c", "import outcrop; print(outcrop.__file__)"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=self.environment)
        if done.returncode != 0:
            sys.exit(f"{self.directory}: {sys.executable} cannot import outcrop from here\n{done.stderr}")
        if not Path(done.stdout.strip()).is_relative_to(self.directory):
            sys.exit(f"{self.directory} is no checkout: outcrop is imported from {done.stdout.strip()}")

    def check(self, arguments: Sequence[str], models: Path) -> dict[str, Any]:
        """Returns the document of a check, with the processor time of its processes as `processor_seconds`."""
        model, *options = arguments
        if "--device" not in options:
            options += ["--device", "cpu"]
        begin = processor_seconds()
        document = check(models / model, options, exit_codes=RESULTS, environment=self.environment)
        return {**document, "processor_seconds": processor_seconds() - begin}


def processor_seconds() -> float:
    """Returns the processor time of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


Sides = tuple[Checkout, Checkout]


@dataclass(frozen=True)
class Ratios:
    """Quotients of new over old."""

    least: float
    median: float
    processor: float
    memory: float

    def marks(self, most_time: float) -> str:
        """Returns the names of those ratios that are too large."""
        limits = {"time": (self.least, most_time), "median": (self.median, most_time), "memory": (self.memory, MEMORY)}
        return ", ".join(name for name, (ratio, most) in limits.items() if ratio > most)

    def cells(self, most_time: float) -> list[str]:
        return [*(f"{ratio:.3f}" for ratio in astuple(self)), self.marks(most_time)]


def geometric_mean(rows: Iterable[Ratios]) -> Ratios:
    """Returns the geometric mean of each ratio."""
    return Ratios(*map(statistics.geometric_mean, zip(*map(astuple, rows), strict=True)))


class Budgets:
    """M(p) of models, which the old checkout measures by a search in RAM."""

    def __init__(self, checkout: Checkout, models: Path) -> None:
        self._checkout = checkout
        self._models = models
        self._documents: dict[str, dict[str, Any]] = {}

    def options(self, row: Row) -> list[str]:
        """Returns the options that give a row its memory."""
        if row.memory is None:
            return []
        if row.model not in self._documents:
            arguments = [*shlex.split(MODELS[row.model]), "--strategy", "ram"]
            self._documents[row.model] = self._checkout.check(arguments, self._models)
        document = self._documents[row.model]
        needed = paper_memory(document["states"], max(document["levels"]), document["state_bits"], row.signature)
        return ["--state-memory", str(int(row.memory * needed))]


def result_of(document: dict[str, Any]) -> dict[str, Any]:
    """Returns what must be the same in every run."""
    trace = document["trace"]
    compared = {key: document[key] for key in ("verdict", "kind", "states", "rules_fired", "levels", "diameter")}
    return {**compared, "trace length": None if trace is None else len(trace["states"])}


def compare(name: str, found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Raises Different, with everything that differs, unless two results are the same."""
    differences = [
        f"{key} {shown(found[key], expected[key])}, expected {shown(expected[key], found[key])}"
        for key in expected
        if found[key] != expected[key]
    ]
    if differences:
        raise Different(f"{name} has {'; '.join(differences)}")


def shown(value: Any, other: Any) -> str:
    """Returns a value as text; of a list only its length and the first element that differs from the other list."""
    if not isinstance(value, list):
        return repr(value)
    first = next((at for at, pair in enumerate(zip(value, other, strict=False)) if pair[0] != pair[1]), None)
    return f"({len(value)})" if first is None else f"({len(value)}) with {value[first]:,} at {first}"


def take_turns(arguments: Sequence[str], sides: Sides, models: Path, repeat: int) -> list[list[dict[str, Any]]]:
    """Returns the documents of all timed runs, those of old and those of new."""
    expected = result_of(sides[0].check(arguments, models))
    compare(sides[1].name, result_of(sides[1].check(arguments, models)), expected)
    documents: dict[Checkout, list[dict[str, Any]]] = {side: [] for side in sides}
    for turn in range(repeat):
        for side in sides if turn % 2 == 0 else reversed(sides):
            document = side.check(arguments, models)
            compare(side.name, result_of(document), expected)
            documents[side].append(document)
    return list(documents.values())


def measure(row: Row, sides: Sides, models: Path, budgets: Budgets, repeat: int) -> Ratios:
    """Runs a row alternately and prints its line of the table."""
    arguments = [*shlex.split(MODELS[row.model]), *shlex.split(row.options), *budgets.options(row)]
    old, new = take_turns(arguments, sides, models, repeat)

    def pair(key: str, statistic: Callable[[list[float]], float]) -> tuple[float, float]:
        return statistic([run[key] for run in old]), statistic([run[key] for run in new])

    least, median = pair("seconds", min), pair("seconds", statistics.median)
    pairs = (least, median, pair("processor_seconds", min), pair("peak_rss_bytes", statistics.median))
    ratios = Ratios(*(after / before for before, after in pairs))
    figures = [f"{seconds:.3f}" for seconds in (*least, *median)]
    print_row([row.group, row.model, old[0]["verdict"], *figures, *ratios.cells(ROW_TIME)])
    return ratios


def print_row(cells: Sequence[str]) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


def print_means(groups: dict[str, list[Ratios]]) -> None:
    print("\nGeometric means of new / old:\n")
    print_row(["group", "rows", "least", "median", "processor", "memory", "marked"])
    print("|" + "---|" * 7)
    everything = [each for rows in groups.values() for each in rows]
    for name, rows in {**groups, "all": everything}.items():
        if rows:
            print_row([name, str(len(rows)), *geometric_mean(rows).cells(MEAN_TIME)])


def reason_to_skip(group: str) -> str:
    """Returns why a group cannot run here, or an empty text."""
    has_mpiexec = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")
    if group == "ranks" and not (has_mpiexec and importlib.util.find_spec("mpi4py")):
        return "ranks needs mpiexec and mpi4py: pip install 'outcrop[mpi]'"
    return ""


def chosen_groups(only: str | None) -> list[str]:
    """Returns the groups to run, and says on stderr which are skipped."""
    wanted = [group for group in GROUPS if group != "gpu"] if only is None else only.split(",")
    if unknown := set(wanted) - set(GROUPS):
        sys.exit(f"no such group: {', '.join(sorted(unknown))}; the groups are {', '.join(GROUPS)}")
    if only is None:
        print("skipped: gpu runs only if --only names it", file=sys.stderr)
    for reason in filter(None, map(reason_to_skip, wanted)):
        print(f"skipped: {reason}", file=sys.stderr)
    return [group for group in wanted if not reason_to_skip(group)]


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--models", type=Path, default=Path(os.environ.get("OUTCROP_MODELS", "../shared")) / "models")
    parser.add_argument("--repeat", type=int, metavar="N", help="timed runs of each checkout (default 5, quick 3)")
    parser.add_argument("--only", metavar="GROUP,...", help=f"groups to run, of {', '.join(GROUPS)}")
    parser.add_argument("--quick", action="store_true", help="run only the first row of each group")
    return parser.parse_args()


def main() -> int:
    """Returns the exit code."""
    arguments = parsed()
    sides = (Checkout("old", arguments.old.resolve()), Checkout("new", arguments.new.resolve()))
    for side in sides:
        side.verify()
    models = arguments.models.resolve()
    if not models.is_dir():
        sys.exit(f"{models} is no directory; name the directory that contains murphi/ and dve/ with --models")
    repeat = arguments.repeat or (3 if arguments.quick else 5)
    budgets = Budgets(sides[0], models)
    groups: dict[str, list[Ratios]] = {group: [] for group in chosen_groups(arguments.only)}
    titles = ["group", "model", "verdict", "old least s", "new least s", "old median s", "new median s"]
    titles += ["least new / old", "median", "processor", "memory", "marked"]
    print_row(titles)
    print("|" + "---|" * len(titles))
    problems = []
    for group, measured in groups.items():
        rows = [row for row in ROWS if row.group == group]
        for row in rows[:1] if arguments.quick else rows:
            try:
                measured.append(measure(row, sides, models, budgets, repeat))
            except (Different, Failed) as error:
                problems.append(f"{row.group}, {row.model}: {error}")
                print_row([row.group, row.model, type(error).__name__.upper()])
    if any(groups.values()):
        print_means(groups)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
