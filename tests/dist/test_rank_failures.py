"""Failures of single ranks: the reason is named, and all ranks end within seconds."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from outcrop.dist import launch
from outcrop.dist.launch import find_mpiexec, started_ranks
from outcrop.strategies import names

HERE = Path(__file__).parent
MODEL = str(HERE / "grid.m")
CHECK = [sys.executable, "-m", "outcrop", "check"]

needs_mpi = pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed")


def run_each(*ranks: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Starts one rank with each of these argument lists."""
    command = [find_mpiexec()]
    for number, arguments in enumerate(ranks):
        command += [":"] * (number > 0) + ["-n", "1", *CHECK, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@needs_mpi
def test_a_lack_of_shared_memory_is_named() -> None:
    hidden = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o ro,size=4k none /dev/shm && exec "$@"', "sh"]
    if not shutil.which("unshare") or subprocess.run([*hidden, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user cannot hide /dev/shm")
    command = [*hidden, *CHECK, MODEL, "--ranks", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode in (0, 1):
        pytest.skip("this MPI does without /dev/shm")
    assert done.returncode == 3
    assert "/dev/shm" in done.stderr and "--shm-size" in done.stderr


@needs_mpi
def test_models_that_differ(tmp_path: Path) -> None:
    other = tmp_path / "grid.m"
    other.write_text(Path(MODEL).read_text().replace("N - 2", "N - 3"))
    done = run_each([MODEL], [str(other)])
    assert done.returncode == 2
    assert "rank 1" in done.stderr and "the text of the model differs" in done.stderr
    assert done.stderr.count("outcrop:") == 1


@needs_mpi
def test_options_that_differ() -> None:
    compact = [MODEL, "--strategy", "compact", "--bits"]
    done = run_each([*compact, "40"], [*compact, "32"])
    assert done.returncode == 2
    assert "bits is 40 on rank 0 and 32 there" in done.stderr


@needs_mpi
def test_a_rank_that_cannot_read_the_model(tmp_path: Path) -> None:
    done = run_each([MODEL], [str(tmp_path / "missing.m")])
    assert done.returncode == 2
    assert "rank 1 of 2" in done.stderr and "there is no file" in done.stderr


@needs_mpi
def test_what_all_ranks_find_wrong_is_said_once(tmp_path: Path) -> None:
    done = run_each([str(tmp_path / "missing.m")], [str(tmp_path / "missing.m")])
    assert done.returncode == 2
    assert done.stderr.startswith("outcrop: there is no file")
    assert done.stderr.count("outcrop:") == 1


@needs_mpi
def test_a_full_disk_on_one_rank() -> None:
    common = [MODEL, "--strategy", "disk", "--continue", "--json", "--state-memory", "8K"]
    done = run_each(common, [*common, "--disk", "1K"])
    assert done.returncode == 3, done.stderr
    document = json.loads(done.stdout)
    events = document["events"]
    assert document["kind"] == "out of disk"
    assert any(event.startswith("rank 1: disk: the disk budget") for event in events)


LARGER = [MODEL, "-D", "N=40", "--continue", "--threads", "1", "--json", "--trace", "off"]
COUNTS = ("verdict", "states", "rules_fired", "levels")


@needs_mpi
def test_a_full_disk_on_one_rank_when_a_checkpoint_is_taken(tmp_path: Path) -> None:
    """The other ranks do not wait for the one whose disk is full."""
    place = str(tmp_path / "saved")
    saving = [MODEL, "--continue", "--depth", "40", "--checkpoint", place]
    assert run_each(saving, saving).returncode in (1, 3)
    common = [MODEL, "--strategy", "disk", "--continue", "--json", "--state-memory", "8K", "--resume", place]
    done = run_each(common, [*common, "--disk", "1K"])
    assert done.returncode in (1, 3), done.stderr
    assert any("disk" in event for event in json.loads(done.stdout)["events"])


@cache
def run_alone() -> tuple[int, dict[str, Any]]:
    """Returns the exit code and the document of the search that ranks are compared with."""
    done = subprocess.run([*CHECK, *LARGER], capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, json.loads(done.stdout)


def result_alone() -> dict[str, Any]:
    return run_alone()[1]


def saved_levels(part: Path) -> int:
    """Returns the number of levels in the checkpoint of a rank."""
    try:
        return len(json.loads((part / "manifest.json").read_text())["levels"])
    except FileNotFoundError:
        return 0


def kill_one(place: Path, strategy: str, ranks: int) -> tuple[int | None, str]:
    """Kills a rank some time after the checkpoint of some level. Returns the exit code and the errors of the run."""
    command = [*CHECK, *LARGER, "--strategy", strategy, "--ranks", str(ranks)]
    command += ["--checkpoint", str(place), "--checkpoint-every", "0s"]
    # The rest takes much longer than to poll, and the search has not yet restarted with learned ownership.
    level = random.randrange(1, len(result_alone()["levels"]) // 3)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while min(saved_levels(place / f"{each}-of-{ranks}") for each in range(ranks)) < level:
            if process.poll() is not None:
                break
            time.sleep(0.001)
        time.sleep(0.02 * random.random())
        if running := ranks_under(process.pid):
            with suppress(ProcessLookupError):
                os.kill(random.choice(running), signal.SIGKILL)
        _, errors = process.communicate(timeout=60)
    return process.returncode, errors


def kill_one_and_resume(directory: Path, strategies: tuple[str, str], before: int, after: int) -> None:
    """Kills a rank, and resumes with another number of ranks. On a busy machine a search may end before the signal
    comes; then another one is tried."""
    for attempt in range(5):
        place = directory / str(attempt)
        code, errors = kill_one(place, strategies[0], before)
        if code != run_alone()[0]:
            break
    assert code == 3
    assert "a rank died" in errors and "--resume" in errors
    resumed = [*CHECK, *LARGER, "--strategy", strategies[1], "--ranks", str(after), "--resume", str(place)]
    done = subprocess.run(resumed, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stderr
    assert [json.loads(done.stdout)[name] for name in COUNTS] == [result_alone()[name] for name in COUNTS]


@needs_mpi
def test_a_killed_rank_ends_the_run_and_it_goes_on_from_the_checkpoint(tmp_path: Path) -> None:
    kill_one_and_resume(tmp_path / "save", ("auto", "auto"), 2, 3)


@needs_mpi
@pytest.mark.slow
@pytest.mark.parametrize("turn", range(30))
def test_ranks_killed_at_any_moment(turn: int, tmp_path: Path) -> None:
    """Tries every strategy with checkpoints, and several numbers of ranks before and after."""
    strategies = random.choices(names(ranks=True, checkpoints=True, finds_cycles=False), k=2)
    before, after = random.randint(2, 4), random.randint(1, 4)
    kill_one_and_resume(tmp_path / "save", (strategies[0], strategies[1]), before, after)


@needs_mpi
def test_a_rank_that_is_stopped_for_a_while(tmp_path: Path) -> None:
    """The other ranks wait for it, and nothing is lost."""
    options = [MODEL, "-D", "N=20", "--continue", "--threads", "1", "--json", "--trace", "off"]
    alone = subprocess.run([*CHECK, *options], capture_output=True, text=True, timeout=120, check=False)
    process = subprocess.Popen([*CHECK, *options, "--ranks", "2"], stdout=subprocess.PIPE, text=True)
    while not (stopped := ranks_under(process.pid)):
        assert process.poll() is None
    time.sleep(0.5)
    os.kill(stopped[0], signal.SIGSTOP)
    time.sleep(1.0)
    os.kill(stopped[0], signal.SIGCONT)
    out, _ = process.communicate(timeout=120)
    before, after = json.loads(alone.stdout), json.loads(out)
    for name in ("verdict", "states", "rules_fired", "levels"):
        assert before[name] == after[name]


def ranks_under(pid: int) -> list[int]:
    """Returns the descendants of a process that run outcrop."""
    rows = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    parents, ranks = {}, []
    for row in rows.splitlines()[1:]:
        child, parent, arguments = row.split(None, 2)
        parents[int(child)] = int(parent)
        if "-m outcrop" in arguments and "mpiexec" not in arguments and int(child) != pid:
            ranks.append(int(child))

    def is_below(each: int) -> bool:
        while each in parents and each != pid:
            each = parents[each]
        return each == pid

    return [each for each in ranks if is_below(each)]


@needs_mpi
def test_liveness_and_the_interpreter_are_refused(repository: Path) -> None:
    for arguments, words in (
        ([str(repository / "tests/models/liveness_holds.m")], "liveness cannot be checked over several ranks"),
        ([MODEL, "--engine", "interpreter"], "the interpreter cannot use several ranks"),
    ):
        done = run_each(arguments, arguments)
        assert done.returncode == 2
        assert words in done.stderr


def test_ranks_without_mpi4py_say_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "mpi4py.py").write_text("raise ImportError")
    path = f"{tmp_path}:{os.environ.get('PYTHONPATH', HERE.parents[1])}"
    environment = {**os.environ, "PYTHONPATH": path, "PMI_SIZE": "2"}
    done = subprocess.run([*CHECK, MODEL], capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.returncode == 2
    assert "one of 2 processes" in done.stderr and "pip install 'outcrop[mpi]'" in done.stderr


def test_how_many_were_started() -> None:
    assert started_ranks({}) == 1
    assert started_ranks({"PMI_SIZE": "4"}) == 4
    assert started_ranks({"OMPI_COMM_WORLD_SIZE": "3"}) == 3
    assert started_ranks({"SLURM_NTASKS": "8"}) == 1, "a batch script is one process of a job of many tasks"
    assert started_ranks({"SLURM_STEP_NUM_TASKS": "8"}) == 8


@pytest.mark.parametrize("code", [0, 1])
def test_a_launcher_that_fails_is_no_verdict(code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = tmp_path / "mpiexec"
    launcher.write_text(f"#!/bin/sh\nexit {code}\n")
    launcher.chmod(0o755)
    monkeypatch.setattr(launch, "find_mpiexec", lambda: str(launcher))
    with pytest.raises(launch.RankLost):
        launch.start(2, ["check", MODEL])
