"""``--sandbox``: equal verdicts, from a process that can neither write elsewhere nor reach a network."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from outcrop import sandbox

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or sandbox._landlock_version() < 1, reason="this kernel has no Landlock"
)

PETERSON = Path(__file__).parent.parent.parent / "examples" / "peterson.m"


def outcrop(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "outcrop", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env={**os.environ, **environment}
    )


def test_a_sandbox_gives_the_same_verdict_and_leaves_nothing(tmp_path: Path) -> None:
    run = outcrop("check", PETERSON, "--sandbox", XDG_CACHE_HOME=str(tmp_path))
    assert run.returncode == 0, run.stderr
    assert "HOLDS" in run.stdout
    assert list(tmp_path.iterdir()) == []


def test_what_the_options_name_can_be_written(tmp_path: Path) -> None:
    model = tmp_path / "model.m"
    model.write_text(
        "var x: 0..3; startstate begin x := 0; end; rule x < 3 ==> begin x := x + 1; end; invariant x < 2;"
    )
    trace, kept = tmp_path / "trace.json", tmp_path / "c"
    run = outcrop("check", model, "--sandbox", "--trace-json", trace, "--keep-c", kept)
    assert run.returncode == 1, run.stderr
    assert '"#meta"' in trace.read_text()
    assert (kept / "model.c").exists()


def test_a_bad_model_is_reported_as_ever(tmp_path: Path) -> None:
    model = tmp_path / "model.m"
    model.write_text("rule x ==> end;")
    run = outcrop("check", model, "--sandbox")
    assert run.returncode == 2
    assert "error:" in run.stderr


def test_the_child_can_do_little(tmp_path: Path) -> None:
    allowed, elsewhere = tmp_path / "allowed", tmp_path / "elsewhere"
    allowed.mkdir()
    elsewhere.write_text("untouched")

    def attempts() -> int:
        refused = 0
        for attempt in (
            lambda: elsewhere.write_text("changed"),
            lambda: (tmp_path / "new").touch(),
            elsewhere.unlink,
            lambda: os.truncate(elsewhere, 0),
            lambda: elsewhere.rename(allowed / "mine"),
            lambda: socket.socket(socket.AF_INET),
            lambda: socket.socket(socket.AF_UNIX),
            lambda: subprocess.run(["touch", str(tmp_path / "new")], check=True, capture_output=True),
            lambda: elsewhere.chmod(0o777),
            lambda: os.utime(elsewhere, (0, 0)),
            lambda: os.chown(elsewhere, os.getuid(), os.getgid()),
            lambda: os.setxattr(elsewhere, "user.note", b"mine"),
            lambda: os.link(elsewhere, allowed / "linked"),
            lambda: os.kill(os.getppid(), 0),
            lambda: os.pidfd_open(os.getppid()),
            lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 0)),
            lambda: os.write(left_open, b"x"),
        ):
            try:
                attempt()
            except (OSError, subprocess.CalledProcessError):
                refused += 1
        (allowed / "file").write_text("fine")
        return refused

    left_open = os.open(elsewhere, os.O_WRONLY | os.O_APPEND)
    assert sandbox.run_confined(attempts, [allowed]) == 17
    os.close(left_open)
    assert elsewhere.read_text() == "untouched"
    assert (allowed / "file").read_text() == "fine"
    assert not (tmp_path / "new").exists()


def test_nothing_is_typed_into_the_terminal() -> None:
    """With TIOCSTI a program can type commands into the shell that started it."""

    def attempt() -> int:
        try:
            fcntl.ioctl(0, termios.TIOCSTI, b"x")
        except OSError as error:
            return error.errno
        return 0

    kept, (_, terminal) = os.dup(0), os.openpty()
    os.dup2(terminal, 0)
    try:
        assert sandbox.run_confined(attempt, []) == errno.EPERM
        assert os.isatty(0)
    finally:
        os.dup2(kept, 0)


def test_a_search_past_ram_with_checkpoints(tmp_path: Path) -> None:
    model, place = tmp_path / "model.m", tmp_path / "save"
    model.write_text("var x, y: 0..99; startstate begin x := 0; y := 0; end; rule x < 99 ==> begin x := x + 1; end;"
        "rule y < 99 ==> begin y := y + 1; end;")  # fmt: skip
    options = ["--state-memory", "9K", "--deadlock", "off", "--checkpoint-every", "0s", "--workdir", tmp_path]
    stopped = outcrop("check", model, "--sandbox", "--checkpoint", place, "--depth", "50", *options)
    assert stopped.returncode == 3, stopped.stderr
    run = outcrop("check", model, "--sandbox", "--resume", place, "--json", *options)
    assert (run.returncode, json.loads(run.stdout)["states"]) == (0, 10_000), run.stderr


def test_a_child_that_dies_is_an_internal_error() -> None:
    with pytest.raises(sandbox.InternalError, match="SIGSEGV"):
        sandbox.run_confined(lambda: os.kill(os.getpid(), signal.SIGSEGV) or 0, [])


def test_a_child_that_is_killed_leaves_the_verdict_open() -> None:
    with pytest.raises(sandbox.Undecided, match="--memory"):
        sandbox.run_confined(lambda: os.kill(os.getpid(), signal.SIGKILL) or 0, [])
