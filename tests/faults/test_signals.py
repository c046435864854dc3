"""Signals that ask a command to stop: SIGTERM and SIGHUP do what Ctrl-C does, at any time, once or twice."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from outcrop import sandbox
from outcrop.dist.launch import find_mpiexec

pytestmark = pytest.mark.skipif(sys.platform != "linux" or not shutil.which("cc"), reason="needs cc and Linux")
needs_landlock = pytest.mark.skipif(
    sys.platform != "linux" or sandbox._landlock_version() < 1, reason="this kernel has no Landlock"
)
needs_mpi = pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed")

OUTCROP = [sys.executable, "-m", "outcrop"]
CHECK = [*OUTCROP, "check", "--deadlock", "off"]

#: A model with more states than any test waits for.
ENDLESS = """
type Count : 0 .. 3;
var a : array [0 .. 20] of Count;
startstate begin for i : 0 .. 20 do a[i] := 0; end; end;
ruleset i : 0 .. 20 do rule "up" true ==> begin a[i] := (a[i] + 1) % 4; end; end;
"""
FORMULA = ["--ltl", "G F {a[0] < 4}"]


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("signals") / "endless.m"
    path.write_text(ENDLESS)
    return path


@contextmanager
def begun(command: list[str], has_begun: Callable[[int], bool], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Yields a process in its own group, after ``has_begun`` shows how far it is. Under nohup SIGHUP would be ignored,
    so it is reset."""
    options.setdefault("preexec_fn", lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **options
    )
    try:
        while not has_begun(process.pid):
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def has_workers(pid: int) -> bool:
    """Returns whether a search has started its threads."""
    return len(list(Path(f"/proc/{pid}/task").iterdir())) > 1


@pytest.mark.parametrize(
    "options",
    [
        ["--strategy", "ram"],
        ["--strategy", "auto", "--state-memory", "100K"],
        pytest.param(["--strategy", "layered", "--state-memory", "100K"], marks=pytest.mark.slow),
        pytest.param(["--strategy", "serial", "--state-memory", "100K"], marks=pytest.mark.slow),
    ],
    ids=lambda options: options[1],
)
def test_sigterm_saves_reports_and_ends(options: list[str], endless: Path, tmp_path: Path) -> None:
    """The signal may come twice, as timeout sends it."""
    place, work = tmp_path / "save", tmp_path / "work"
    saving = ["--checkpoint", str(place), "--checkpoint-every", "0s", "--workdir", str(work)]
    command = [*CHECK, str(endless), *options, *saving, "--threads", "2"]
    with begun(command, lambda pid: (place / "manifest.json").exists()) as process:
        process.send_signal(signal.SIGTERM)
        os.killpg(process.pid, signal.SIGTERM)
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (3, "")
    assert out.startswith("UNKNOWN: ") and "interrupted" in out.splitlines()[0]
    assert "interrupted by SIGTERM" in out and f"--resume {place}" in out
    assert not work.exists() or not list(work.iterdir())
    assert {each.name for each in place.iterdir()} <= {"manifest.json", "manifest.previous.json", "states-0"}


@pytest.mark.parametrize("strategy", ["ndfs", pytest.param("owcty", marks=pytest.mark.slow)])
def test_sigterm_ends_a_search_for_runs(strategy: str, endless: Path) -> None:
    command = [*CHECK, str(endless), "--strategy", strategy, *FORMULA, "--threads", "2", "--json"]
    with begun(command, has_workers) as process:
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (3, "")
    assert '"kind": "interrupted"' in out and "interrupted by SIGTERM" in out


@pytest.mark.parametrize("apart", [0.0, 0.003])
@pytest.mark.parametrize("strategy", ["cached", "auto", "ndfs"])
def test_a_second_interrupt_waits_for_nobody(strategy: str, apart: float, endless: Path, tmp_path: Path) -> None:
    formula = FORMULA if strategy == "ndfs" else []
    command = [*CHECK, str(endless), "--strategy", strategy, *formula, "--threads", "2", "--workdir", str(tmp_path)]
    with begun(command, has_workers) as process:
        process.send_signal(signal.SIGINT)
        time.sleep(apart)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    # The last of these is what a shell calls 130: the second signal came after the command had stopped listening.
    assert process.returncode in (3, 130, -signal.SIGINT)


@needs_mpi
@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.slow)])
def test_ranks_stop_together(number: signal.Signals, endless: Path, tmp_path: Path) -> None:
    place = tmp_path / "save"
    command = [*CHECK, str(endless), "--ranks", "2", "--checkpoint", str(place), "--checkpoint-every", "0s"]
    with begun(command, lambda pid: (place / "1-of-2" / "manifest.json").exists()) as process:
        process.send_signal(number)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 3, errors
    assert "interrupted by SIGTERM" in out and f"--resume {place}" in out


@needs_mpi
def test_one_rank_that_gets_a_signal_stops_all(endless: Path, tmp_path: Path) -> None:
    """Clusters that do not know mpiexec signal single ranks."""
    place, numbers = tmp_path / "save", tmp_path / "pids"
    numbers.mkdir()
    rank = ["sh", "-c", f'touch {numbers}/$$; exec "$@"', "sh", *CHECK, str(endless)]
    command = [find_mpiexec(), "-n", "2", *rank, "--checkpoint", str(place), "--checkpoint-every", "0s"]
    with begun(command, lambda pid: (place / "1-of-2" / "manifest.json").exists()) as process:
        os.kill(int(next(numbers.iterdir()).name), signal.SIGTERM)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 3, errors
    assert "interrupted" in out.splitlines()[0] and f"--resume {place}" in out


@needs_landlock
def test_the_sandbox_passes_it_on(endless: Path, tmp_path: Path) -> None:
    place = tmp_path / "save"
    command = [*CHECK, str(endless), "--sandbox", "--checkpoint", str(place), "--checkpoint-every", "0s"]
    with begun(command, lambda pid: (place / "manifest.json").exists()) as process:
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (3, "")
    assert "interrupted by SIGTERM" in out and f"--resume {place}" in out


def test_a_terminal_that_closes(endless: Path) -> None:
    with begun([*CHECK, str(endless), "--strategy", "ram"], has_workers) as process:
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 3 and "interrupted by SIGHUP" in out


def test_nohup(endless: Path) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    command = [*CHECK, str(endless), "--strategy", "ram", "--time-limit", "1s"]
    with begun(command, has_workers, preexec_fn=ignore) as process:
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 3 and "time limit reached" in out.splitlines()[0]


#: A compiler that starts a process, leaves a file, and never ends.
SLOW_COMPILER = """#!/bin/sh
for argument; do case $argument in --version|-E) exec cc "$@";; esac; done
sleep 600 &
echo $! >"$TMPDIR/started"
wait
"""


@contextmanager
def compiling(command: list[str], place: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Yields a check whose compiler never ends, and a process of that compiler. ``place / "cache"`` is its cache."""
    compiler, cache = place / "compiler", place / "cache"
    compiler.write_text(SLOW_COMPILER)
    compiler.chmod(0o700)
    environment = {**os.environ, "CC": str(compiler), "XDG_CACHE_HOME": str(cache)}
    started = []

    def has_started(pid: int) -> bool:
        started[:] = [int(each.read_text() or 0) for each in cache.rglob("started")]
        return started > [0]

    with begun(command, has_started, env=environment) as process:
        yield process, started[0]


@pytest.mark.parametrize("confined", [False, pytest.param(True, marks=needs_landlock)], ids=["", "sandbox"])
def test_a_compiler_ends_with_us(confined: bool, endless: Path, tmp_path: Path) -> None:
    command = [*CHECK, str(endless), "-q", *(["--sandbox"] if confined else [])]
    with compiling(command, tmp_path) as (process, started):
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (3, "")
    assert out.startswith("UNKNOWN: ") and "interrupted" in out and out.count("\n") == 1
    assert not [each for each in (tmp_path / "cache").rglob("*") if not each.is_dir()]
    assert has_ended(started)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--strategy", "ram", "--coverage", "--symmetry", "off"],
        pytest.param(["--reduce", "por"], marks=pytest.mark.slow),
        pytest.param([*FORMULA, "--strategy", "ndfs"], marks=pytest.mark.slow),
    ],
    ids=["race", "ram", "reduced", "formula"],
)
def test_a_document_tells_of_an_interrupted_compiler(
    number: signal.Signals, options: list[str], endless: Path, tmp_path: Path
) -> None:
    with compiling([*CHECK, str(endless), "--json", *options], tmp_path) as (process, _):
        process.send_signal(number)
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (3, "")
    document = json.loads(out)
    assert (document["verdict"], document["kind"]) == ("unknown", "interrupted")
    assert {each["status"] for each in document["properties"]} <= {"unknown"}


def test_an_interrupted_compiler_leaves_no_kept_states(endless: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    command = [*CHECK, str(endless), "--strategy", "ram", "--keep-states", str(kept), "--json"]
    with compiling(command, tmp_path) as (process, _):
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, errors, json.loads(out)["kind"]) == (3, "", "interrupted")
    assert not kept.exists() or not list(kept.iterdir())


def has_ended(pid: int) -> bool:
    """Returns whether a process is gone, except for a zombie that its parent has not waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize("verb", ["sweep", "simulate", "explore"])
def test_other_verbs(verb: str, endless: Path, tmp_path: Path) -> None:
    sweeping = ["--strategies", "ram", "--deadlock", "off", "--csv", str(tmp_path / "table.csv")]
    options = {"sweep": sweeping, "simulate": ["--time-limit", "10m"], "explore": []}[verb]
    with begun(
        [*OUTCROP, verb, str(endless), *options], begins[verb], stdin=subprocess.PIPE, env={**os.environ, "CI": ""}
    ) as process:
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 3
    assert ("interrupted" in out) == (verb != "explore")


def is_sweeping(pid: int) -> bool:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return any(has_workers(int(each)) for each in children)


def is_reading(pid: int) -> bool:
    """Returns whether a process waits for terminal input."""
    return (
        Path(f"/proc/{pid}/wchan").read_text() == "pipe_read" or Path(f"/proc/{pid}/syscall").read_text()[:4] == "0 0x"
    )


begins = {"sweep": is_sweeping, "simulate": has_workers, "explore": is_reading}
