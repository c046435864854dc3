"""Fixtures that the tests share: directories of outside models, and runs of the command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from optimisation import compile_quickly

from outcrop.ir.faults import allow_deep_nesting

REPOSITORY = Path(__file__).parent.parent

# A slow or busy machine is no fault of ours.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

compile_quickly()
# Tests are about the compiled model unless they say otherwise; the interpreter would decide small models first.
os.environ["OUTCROP_ENGINE"] = "native"
allow_deep_nesting()  # which Hypothesis must not see change

# Shells start what runs in the background with interrupts ignored, and tests interrupt searches.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Run:
    """The result of a run of the command."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def shared() -> Path:
    """The directory of outside models that OUTCROP_MODELS names; tests that need it are skipped without it."""
    named = os.environ.get("OUTCROP_MODELS")
    if not named or not Path(named).is_dir():
        pytest.skip("OUTCROP_MODELS names no directory of outside models")
    return Path(named).resolve()


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """Runs the command in this process: ``cli("check", path, "--json")``."""
    from outcrop.cli.main import main

    def run(*arguments: str | os.PathLike[str]) -> Run:
        capsys.readouterr()
        code = main([os.fspath(each) for each in arguments])
        captured = capsys.readouterr()
        return Run(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def process() -> Callable[..., Run]:
    """Runs the command as a process of its own, for what only a process shows."""

    def run(*arguments: str | os.PathLike[str], **options: object) -> Run:
        done = subprocess.run(
            [sys.executable, "-m", "outcrop", *map(os.fspath, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **options,  # type: ignore[call-overload]
        )
        return Run(done.returncode, done.stdout, done.stderr)

    return run
