"""Interference by the system: memory limits, stopped processes, clocks that jump, files that are truncated during a
search. The verdict is right, or missing with the reason. It is never wrong, and there is never a crash."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from injector import shim as shim
from test_injected import GRID, STATES, STRATEGIES

import outcrop
from outcrop.codegen.build import build
from outcrop.options import CheckOptions
from outcrop.search import auto

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(sys.platform != "linux" or not shutil.which("cc"), reason="needs cc and Linux")
CHECK = [sys.executable, "-m", "outcrop", "check", "--deadlock", "off", "--json"]

#: Options that make each strategy reach its limits.
OPTIONS = {
    "ram": [],
    "compact": [],
    "auto": ["--state-memory", "100K"],
    "layered": ["--state-memory", "100K", "--layers", "3"],
    "disk": ["--keep", "states", "--state-memory", "300K"],
    "cached": ["--state-memory", "2M"],
}


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a model of 64,000 states, 40 bytes each."""
    path = tmp_path_factory.mktemp("limits") / "wide.m"
    grown = GRID.replace("12", "39").replace("var a", "var filling : array [0 .. 299] of boolean; a")
    path.write_text(grown.replace("begin for", "begin for i : 0 .. 299 do filling[i] := false; end; for", 1))
    return path


WIDE = 40**3


def right_or_unknown(done: subprocess.CompletedProcess[str], states: int = WIDE) -> bool:
    """Returns whether there was a verdict. Asserts that it is right, or that the reason is given."""
    if done.returncode == 0:
        result = json.loads(done.stdout)
        assert (result["verdict"], result["states"]) == ("holds", states)
        return True
    assert done.returncode == 3, (done.returncode, done.stdout[-500:], done.stderr)
    assert "memory" in done.stderr or "memory" in json.loads(done.stdout)["kind"], done.stderr
    return False


# --- Memory -------------------------------------------------------------------------------------------------------


def limited(which: int, count: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(which, (count, count))


@pytest.mark.parametrize(
    ("which", "strategy"),
    [(resource.RLIMIT_AS, "auto"), (resource.RLIMIT_AS, "compact"), (resource.RLIMIT_DATA, "ram")],
    ids=["addresses-auto", "addresses-compact", "data-ram"],
)
def test_limits_of_a_process(which: int, strategy: str, wide: Path, tmp_path: Path) -> None:
    """Tries limits as ``ulimit -v`` and ``ulimit -d`` set them, from too little to start to enough for everything."""
    answers = set()
    for megabytes in (60, 110, 160, 1200):
        done = subprocess.run(
            [
                *CHECK,
                str(wide),
                "--strategy",
                strategy,
                "--threads",
                "2",
                "--workdir",
                str(tmp_path),
                *OPTIONS[strategy],
            ],
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
            preexec_fn=limited(which, megabytes << 20),
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
        if "outcrop" not in done.stderr and not done.stdout:
            continue  # Python itself does not start
        answers.add((megabytes, right_or_unknown(done)))
    assert (1200, True) in answers


@pytest.mark.parametrize("megabytes", [30, 50, 66, 74])
def test_limits_that_imports_meet(megabytes: int, wide: Path, tmp_path: Path) -> None:
    """Tries limits at which numpy does not load, and at which Python has no memory to parse modules."""
    done = subprocess.run(
        [*CHECK, str(wide), "--strategy", "ram"],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        preexec_fn=limited(resource.RLIMIT_DATA, megabytes << 20),
        env={**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    right_or_unknown(done)


_WITH_ANY_DISK = """
import shutil, sys
from types import SimpleNamespace
import outcrop
model = outcrop.load(sys.argv[1])
for part in range(8):
    shutil.disk_usage = lambda place: SimpleNamespace(free=(8 + part) << 32)
    print(model.check(strategy=sys.argv[2], threads=2, workdir=sys.argv[3], deadlock="off").verdict)
"""


@pytest.mark.parametrize("strategy", ["compact", "cached"])
def test_addresses_for_the_queue_leave_some_for_the_table(strategy: str, wide: Path, tmp_path: Path) -> None:
    """Tries several sizes of the disk, and several fractions of it as the limit of addresses."""
    done = subprocess.run(
        [sys.executable, "-c", _WITH_ANY_DISK, str(wide), strategy, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        preexec_fn=limited(resource.RLIMIT_AS, 1200 << 20),
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.stdout.split() == 8 * ["holds"], done.stderr


def test_auto_fits_into_what_a_limit_leaves(wide: Path, tmp_path: Path) -> None:
    """With 100 MB of addresses less than it would reserve, it takes less, and goes to disk if it must."""
    done = subprocess.run(
        [*CHECK, str(wide), "--threads", "1", "--workdir", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        preexec_fn=limited(resource.RLIMIT_DATA, 220 << 20),
    )
    assert right_or_unknown(done)


#: Runs kernels in a child process for each allocation that is to fail, and prints each result.
DRIVER = """
import json, os, sys
import outcrop
from outcrop.errors import OutcropError

def check(options):
    try:
        result = model.check(**options)
    except MemoryError as error:
        return [3, None, f"memory: {error}"]
    except OutcropError as error:
        return [error.exit_code, None, str(error)]
    return [result.verdict.exit_code, result.states, result.kind]

model = outcrop.load(sys.argv[1], ltl=sys.argv[2:])
trials = json.load(sys.stdin)
for options, _ in trials:
    model.check(**options)
for options, faults in trials:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.environ.update(faults)
        print(json.dumps(check(options)), flush=True)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print(json.dumps(["died", None, ""]), flush=True)
"""
FORMULA = "G F {a[0] = 0}"
HUNGRY: dict[str, dict[str, Any]] = {
    **STRATEGIES,
    "ram": {},
    "compact": {"bits": 64},
    "layered": {"state_memory": 9_000, "layers": 3},
    "ndfs": {},
    "owcty": {"threads": 2},
    "owcty --compact": {"compact": True, "bits": 64, "threads": 2},
    "ram, tree": {"compress": "tree"},
    "ram, quotient": {"compress": "quotient", "threads": 2},
}


def hold_without_memory(
    strategies: list[str], times: Sequence[int], shim: Path, directory: Path, text: str = GRID, states: int = STATES
) -> None:
    """Runs all strategies in one process, because its start takes the time, and each trial in a child process."""
    model, work, cache = directory / "grid.m", directory / "work", directory / "cache"
    model.write_text(text)
    work.mkdir()
    fault = {"FAULT_CALL": "memory", "FAULT_KIND": "1", "FAULT_UNDER": str(cache)}
    trials = [
        (
            {"strategy": strategy.split()[0].strip(","), "workdir": str(work), "deadlock": "off", **HUNGRY[strategy]},
            {**fault, "FAULT_AT": str(at), **once},
        )
        for strategy in strategies
        for at in times
        for once in ({}, {"FAULT_ONCE": "1"})
    ]
    about_runs = strategies[0] == "ndfs"
    command = [sys.executable, "-c", DRIVER, str(model), *([FORMULA] if about_runs else [])]
    environment = {**os.environ, "LD_PRELOAD": str(shim), "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(
        command, input=json.dumps(trials), capture_output=True, text=True, timeout=400, check=False, env=environment
    )
    assert not done.stderr
    for (options, faults), line in zip(trials, done.stdout.splitlines(), strict=True):
        code, found, message = json.loads(line)
        assert code in (int(about_runs), 3), (options, faults, message)
        assert code == 3 or about_runs or found in (states, None), (options, faults)
        assert code != 3 or "memory" in message, (options, faults, message)


ABOUT_RUNS = ["ndfs", "owcty", "owcty --compact"]
COMPRESSED = ["ram, tree", "ram, quotient"]
ABOUT_STATES = [each for each in HUNGRY if each not in (*ABOUT_RUNS, *COMPRESSED)]
#: 17,576 states whose trees have so many nodes that their table grows.
FOLDED = (
    GRID.replace("12", "25")
    .replace("var a", "var far : array [0 .. 2] of 0 .. 1000000000; a")
    .replace("a[i] := 0;", "a[i] := 0; far[i] := 0;")
    .replace("a[i] := a[i] + 1;", "a[i] := a[i] + 1; far[i] := 20000000 * a[i];")
)


@pytest.mark.parametrize("strategies", [ABOUT_STATES, ABOUT_RUNS], ids=["states", "runs"])
def test_kernels_that_get_no_memory(strategies: list[str], shim: Path, tmp_path: Path) -> None:
    hold_without_memory(strategies, [4, 27, 31, 34, 38], shim, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("strategies", [ABOUT_STATES, ABOUT_RUNS], ids=["states", "runs"])
def test_whenever_memory_ends(strategies: list[str], shim: Path, tmp_path: Path) -> None:
    hold_without_memory(strategies, range(1, 90), shim, tmp_path)


@pytest.mark.parametrize("times", [range(22, 40, 3), pytest.param(range(1, 90), marks=pytest.mark.slow)])
def test_compressed_states_that_get_no_memory(times: Sequence[int], shim: Path, tmp_path: Path) -> None:
    hold_without_memory(COMPRESSED, times, shim, tmp_path, FOLDED, 26**3)


def test_a_table_that_cannot_grow(wide: Path, tmp_path: Path) -> None:
    """There are addresses for the existing table, and not for a larger one next to it."""
    native = build(outcrop.load(wide).system, symmetry=False)[0]
    taken = 0
    for spare in (12, 40):
        child = os.fork()
        if child == 0:
            limited(resource.RLIMIT_DATA, data_bytes() + (spare << 20))()
            try:
                outcome = auto.search(native, CheckOptions(threads=1, workdir=str(tmp_path), state_memory=200 << 20))
                code = 0 if outcome.states == WIDE else 1
            except MemoryError:
                code = 3
            os._exit(code)
        status = os.waitpid(child, 0)[1]
        assert os.WIFEXITED(status) and os.WEXITSTATUS(status) in (0, 3), status
        taken += os.WEXITSTATUS(status) == 0
    assert taken


def data_bytes() -> int:
    """Returns what RLIMIT_DATA counts of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()


@pytest.fixture
def group() -> Iterator[Path]:
    """Yields a new control group, if the system lets us create one."""
    for base in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup"):
        path = Path(base, f"outcrop-test-{os.getpid()}")
        try:
            path.mkdir()
        except OSError:
            continue
        if (path / "cgroup.procs").exists() and list(path.glob("memory.*")):
            yield path
            path.rmdir()
            return
        path.rmdir()
    pytest.skip("no control group can be made")


@pytest.mark.parametrize("strategy", ["auto", "ram"])
def test_a_container_that_is_small(strategy: str, group: Path, wide: Path, tmp_path: Path) -> None:
    """The search stays within the limit with every strategy: it is not killed, and ``auto`` completes."""
    subprocess.run([*CHECK, str(wide), "--states", "9"], capture_output=True, check=False)  # compiles
    limit = next(each for each in (group / "memory.max", group / "memory.limit_in_bytes") if each.exists())
    limit.write_text(str(90 << 20))
    done = subprocess.run(
        [*CHECK, str(wide), "--strategy", strategy, "--threads", "1", "--workdir", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())) and None,
    )
    assert right_or_unknown(done) or strategy != "auto"


# --- Signals ------------------------------------------------------------------------------------------------------


def begun(command: list[str], sign: Callable[[], bool], **options: Any) -> subprocess.Popen[str]:
    """Starts a process, and waits until ``sign`` shows how far it is."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    while not sign():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return process


@pytest.mark.parametrize("options", [["--state-memory", "1M"], ["--strategy", "ram"]], ids=["auto", "ram"])
def test_stopped_and_continued(options: list[str], wide: Path, tmp_path: Path) -> None:
    place = tmp_path / "checkpoint"
    command = [*CHECK, str(wide), "--workdir", str(tmp_path), "--checkpoint", str(place), "--checkpoint-every", "0s"]
    process = begun([*command, *options], lambda: (place / "manifest.json").exists())
    for _ in range(3):
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.1)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.02)
    out, errors = process.communicate(timeout=200)
    assert right_or_unknown(subprocess.CompletedProcess(command, process.returncode, out, errors))


@pytest.mark.parametrize(("strategy", "files"), [("auto", "outcrop-*/run-*"), ("layered", "outcrop-*/run-*")])
def test_mapped_files_that_are_cut_short(strategy: str, files: str, wide: Path, tmp_path: Path) -> None:
    """The process ends as every search without a verdict does, and reports the reason."""
    command = [*CHECK, str(wide), "--strategy", strategy, "--workdir", str(tmp_path), *OPTIONS[strategy]]
    process = begun(command, lambda: len(list(tmp_path.glob(files))) > 1)
    process.send_signal(signal.SIGSTOP)
    for path in tmp_path.glob(files):
        os.truncate(path, 0)
    process.send_signal(signal.SIGCONT)
    out, errors = process.communicate(timeout=200)
    assert process.returncode == 3, (process.returncode, out, errors)
    assert "can no longer be read" in errors or "damaged" in errors
    assert "outcrop-" in errors


def test_a_bus_error_of_somebody_else_is_left_alone(wide: Path, tmp_path: Path) -> None:
    command = [*CHECK, str(wide), "--workdir", str(tmp_path), *OPTIONS["auto"]]
    process = begun(command, lambda: bool(list(tmp_path.glob("outcrop-*/run-*"))))
    process.send_signal(signal.SIGBUS)
    process.communicate(timeout=200)
    assert process.returncode == -signal.SIGBUS


# --- Clocks -------------------------------------------------------------------------------------------------------


def test_a_clock_that_jumps(wide: Path, shim: Path, tmp_path: Path) -> None:
    """The wall clock jumps to and fro whenever it is read: limits, checkpoints and progress use another clock."""
    environment = {**os.environ, "LD_PRELOAD": str(shim), "FAULT_CLOCK": str(365 * 86400)}
    seen = [sys.executable, "-c", "import time; print([round(time.time()) for _ in range(2)])"]
    one, other = json.loads(subprocess.run(seen, env=environment, capture_output=True, text=True, check=True).stdout)
    assert abs(one - other) > 300 * 86400
    limits = ["--time-limit", "10m", "--checkpoint", str(tmp_path / "save"), "--checkpoint-every", "1s"]
    command = [*CHECK, str(wide), "--workdir", str(tmp_path), "--state-memory", "1M", *limits]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200, check=False)
    assert right_or_unknown(done)
    assert 0 < json.loads(done.stdout)["seconds"] < 200
