"""No user error shows a Python traceback."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Run

from outcrop import api
from outcrop.errors import InternalError

Cli = Callable[..., Run]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chek"], "did you mean 'outcrop check'?"),
        (["ring.m"], "did you mean 'outcrop check ring.m'?"),
        (["check"], "name a model"),
        (["check", "x.m", "--memroy", "4G"], "there is no option '--memroy'; did you mean --memory?"),
        (["show", "x.m", "y.m"], "unexpected argument 'y.m'"),
        (["check", "x.m", "--memory", "lots"], "'lots' is not a size"),
        (["check", "x.m", "--time-limit", "soon"], "'soon' is not a duration"),
        (["check", "x.m", "--threads", "two"], "'two' is not a number"),
        (["check", "x.m", "--threads", "0"], "threads must be at least 1"),
        (["check", "x.m", "-D", "N"], "'N' is not of the form NAME=VALUE"),
        (["check", "x.m", "-D", "N=2..4"], "'outcrop sweep MODEL -D N=2..4'"),
        (["simulate", "x.m", "-D", "N=1,2"], "'outcrop sweep MODEL -D N=1,2'"),
        (["check", "x.m", "--deadlock", "yes"], "choose from"),
        (["check", "x.m", "--strategy", "bfs"], "there is no strategy 'bfs': auto and ram search breadth-first"),
        (["check", "x.m", "--strategy", "DFS"], "ndfs searches depth-first"),
        (["check", "x.m", "--strategy", "hash-compact"], "compact stores a signature"),
        (["check", "x.m", "--strategy", "random"], "'outcrop simulate'"),
        (["check", "x.m", "--strategy", "localty"], "did you mean locality?"),
        (["check", "x.m", "--strategy", "best"], "choose from auto, ram, compact"),
        (["check", "x.m", "--max-errors", "2", "--continue"], "not allowed with"),
        (["check", "no-such-file.m"], "there is no file 'no-such-file.m'"),
        (["show", "."], "'.' is a directory"),
        (["check", "nul\0.m"], "cannot read"),
        (["check", f"{'long' * 100}.m"], "cannot read"),
    ],
)
def test_usage_errors(cli: Cli, arguments: list[str], message: str) -> None:
    run = cli(*arguments)
    assert run.code == 2
    assert message in run.err
    assert run.err.startswith("outcrop: ")
    assert "Traceback" not in run.err
    assert run.out == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "secret.m"
    path.touch(mode=0)
    assert "Permission denied" in cli("check", path).err


def test_help_and_version(cli: Cli) -> None:
    assert cli("--version").out == "outcrop 0.1.0\n"
    for arguments in (["--help"], ["check", "--help"], ["show", "--help"]):
        run = cli(*arguments)
        assert run.code == 0
        assert run.out.startswith("usage: outcrop")
    assert cli().code == 2


def test_help_imports_nothing_heavy(process: Cli) -> None:
    run = process("--help", env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"})
    assert run.code == 0
    imported = {line.split("|")[-1].strip() for line in run.err.splitlines()}
    assert "outcrop.cli.main" in imported
    assert not imported & {"numpy", "rich", "ctypes", "outcrop.api", "outcrop.ir.nodes", "json"}


def test_a_bad_model_gets_diagnostics(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "bad.m"
    path.write_text("var count: 0..3;\nstartstate begin coumt := 0; end;\n")
    run = cli("check", path)
    assert run.code == 2
    assert f"{path}:2:18: error: " in run.err
    assert "^^^^^" in run.err
    assert run.out == ""


@pytest.mark.parametrize("constant", ["M=3", "N=true"])
def test_bad_constants(cli: Cli, tmp_path: Path, constant: str) -> None:
    path = tmp_path / "const.m"
    path.write_text("const N: 2; var x: 0..N; startstate begin x := 0; end; rule begin x := 1 - x; end;")
    run = cli("check", path, "-D", constant, "--engine", "interpreter")
    assert run.code == 2
    assert constant[0] in run.err


def test_surprises_are_kept_in_a_file(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: object) -> None:
        raise ZeroDivisionError("of our own making")

    monkeypatch.setattr(api, "read_source", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run = cli("check", "x.m")
    assert run.code == 4
    assert "of our own making" in run.err
    assert "Traceback" not in run.err
    kept = re.search(r"report it with (\S+)", run.err)
    assert kept is not None
    assert "Traceback" in Path(kept[1]).read_text()


@pytest.mark.parametrize(
    ("error", "code"), [(MemoryError(), 3), (KeyboardInterrupt(), 3), (InternalError("engines disagree"), 4)]
)
def test_other_ends(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int) -> None:
    def fail(path: object) -> None:
        raise error

    monkeypatch.setattr(api, "read_source", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run = cli("show", "x.m")
    assert run.code == code
    assert "Traceback" not in run.err


def test_a_file_that_is_too_large_is_refused(cli: Cli, tmp_path: Path) -> None:
    model = tmp_path / "large.m"
    model.write_text("-- " + "x" * 10_000_000)
    run = cli("check", model)
    assert (run.code, run.err) == (2, f"outcrop: '{model}' is too large; the limit is 5,000,000 bytes\n")


def test_a_scalarset_that_is_too_large_is_refused_at_once(cli: Cli, tmp_path: Path) -> None:
    model = tmp_path / "huge.m"
    model.write_text(
        "type s: scalarset(1000000); var a: array [s] of boolean; startstate begin for i: s do a[i] := false; end; end;"
        "ruleset i: s do rule !a[i] ==> begin a[i] := true; end; end;"
    )
    run = cli("check", model)
    assert run.code == 2 and "--symmetry off" in run.err


def test_a_directory_that_may_not_be_searched(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may search every directory, so that the system is made to refuse."""
    stat = os.stat

    def refuse(path: str | os.PathLike[str] | int, **options: Any) -> os.stat_result:
        if not isinstance(path, int) and str(path).startswith(str(tmp_path)):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return stat(path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", refuse)
        run = cli("check", tmp_path / "model.m")
    assert run.code == 2
    assert run.err == f"outcrop: cannot read '{tmp_path / 'model.m'}', or the .ltl file next to it: Permission denied\n"


@pytest.mark.parametrize(("command", "package"), [("lsp", "pygls"), ("mcp", "mcp")])
def test_optional_packages_that_are_missing(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, command: str, package: str
) -> None:
    for name in [each for each in sys.modules if each.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "outcrop.agents.server", raising=False)
    ran = cli(command)
    assert ran.code == 2 and not ran.out
    assert package in ran.err and f"pip install 'outcrop[{command}]'" in ran.err
