"""``--sandbox``: the same answers, from a process that can neither write elsewhere nor reach a network."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
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
        ):
            try:
                attempt()
            except (OSError, subprocess.CalledProcessError):
                refused += 1
        (allowed / "file").write_text("fine")
        return refused

    assert sandbox.run_confined(attempts, [allowed]) == 8
    assert elsewhere.read_text() == "untouched"
    assert (allowed / "file").read_text() == "fine"
    assert not (tmp_path / "new").exists()


def test_a_child_that_dies_is_an_internal_error() -> None:
    with pytest.raises(sandbox.InternalError, match="SIGKILL"):
        sandbox.run_confined(lambda: os.kill(os.getpid(), signal.SIGKILL) or 0, [])
