"""The race between the interpreter and the C compiler: who wins, what the result is, and what is left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import outcrop
from outcrop.check.engines import search
from outcrop.codegen import compiler
from outcrop.errors import CompilerNotFound, UsageError
from outcrop.options import CheckOptions, Engine
from outcrop.outcome import EventKind, Progress
from outcrop.report.progress import ProgressLine

MODELS = Path(__file__).parents[1] / "models"
EXAMPLES = Path(__file__).parents[2] / "examples"
#: 490,000 states: more than the interpreter finds before a compiler ends.
LARGE = """
var a: array [0..1] of 0..699;
startstate begin for i: 0..1 do a[i] := 0; end; end;
ruleset i: 0..1 do rule "next" a[i] < 699 ==> begin a[i] := a[i] + 1; end; end;
"""
SYMMETRIC = """
type node: scalarset(3);
var chosen: array [node] of boolean;
startstate begin for n: node do chosen[n] := false; end; end;
ruleset n: node do rule "choose" !chosen[n] ==> begin chosen[n] := true; end; end;
invariant "not all" exists n: node do !chosen[n] end;
"""

#: A compiler that never ends; the second one works, after a while and without optimisation.
ENDLESS = "exec sleep 600"
SLOW = 'sleep 0.7; exec cc "$@" -O0'

Shell = Callable[[str], Path]


@pytest.fixture
def race(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Shell]:
    """Lets the engines race, with an empty cache and a compiler that is a shell script. Returns the cache."""
    monkeypatch.delenv("OUTCROP_ENGINE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))

    def use(compiling: str) -> Path:
        script = tmp_path / "compiler"
        script.write_text(f'#!/bin/sh\ncase "$*" in *model.c*) {compiling};; *) exec cc "$@";; esac\n')
        script.chmod(0o700)
        monkeypatch.setenv("CC", str(script))
        return tmp_path / "caches" / "outcrop"

    forget()
    yield use
    forget()


def forget() -> None:
    compiler.find_compiler.cache_clear()
    compiler.cache_directory.cache_clear()


def test_the_interpreter_decides_a_small_model_and_stops_the_compiler(race: Shell) -> None:
    cache = race(ENDLESS)
    result = outcrop.load(MODELS / "interleaved.m").check()
    assert (str(result.verdict), result.engine, result.threads) == ("holds", "interpreter", 1)
    assert list(cache.iterdir()) == []


def test_the_interpreter_decides_a_small_reduced_model(race: Shell) -> None:
    race(ENDLESS)
    model = outcrop.load(EXAMPLES / "alternating_bit.dve")
    result, expected = model.check(reduce="por"), model.check(reduce="por", engine="interpreter")
    assert result.engine == "interpreter" and result.reduction is not None
    assert (result.states, result.rules_fired, result.reduction) == (260, 468, expected.reduction)


def test_the_compiled_model_takes_over(race: Shell) -> None:
    race(SLOW)
    seen: list[Progress] = []
    result = outcrop.loads(LARGE).check(deadlock="off", progress=seen.append)
    assert (result.engine, result.states) == ("native", 490_000)
    both = [each for each in seen if each.compiling is not None and each.states]
    assert both, "the interpreter searched while C was compiled"
    assert "compiling" in ProgressLine().text(both[-1])
    assert seen[-1].compiling is None and seen[-1].states == 490_000
    assert outcrop.loads(LARGE).check(deadlock="off").engine == "native"


def test_a_trace_under_symmetry_is_that_of_the_compiled_model(race: Shell) -> None:
    race(SLOW)
    model = outcrop.loads(SYMMETRIC)
    result = model.check()
    assert result.engine == "native"
    assert result.trace == model.check(engine="native").trace


@pytest.mark.parametrize("option", [{"strategy": "ram"}, {"memory": "100M"}, {"coverage": True}, {"prints": True}])
def test_what_only_the_compiled_model_can_do_waits_for_it(option: dict[str, object], race: Shell) -> None:
    race('exec cc "$@" -O0')
    assert outcrop.load(MODELS / "interleaved.m").check(**option).engine == "native"


def test_both_engines_return_the_same_outcome(race: Shell) -> None:
    """Every field that the race hands on; the other models were compared in the same way."""
    race('exec cc "$@" -O0')
    for name in ("cover_met.m", "liveness_violated.m", "undefined_copy_permitted.m", "first_of_several.m"):
        model = outcrop.load(MODELS / name)
        won, native = (
            search(model.system, model.options, CheckOptions(engine=engine, strategy="ram")).outcome
            for engine in (Engine.INTERPRETER, Engine.NATIVE)
        )
        for field in ("stop", "levels", "fired", "covered", "noted", "generated", "findings", "revisits", "missed"):
            assert getattr(won, field) == getattr(native, field), (name, field)


def test_a_check_can_be_cancelled_while_c_is_compiled(race: Shell) -> None:
    cache = race(ENDLESS)
    handle = outcrop.loads(LARGE).start(engine="native")
    while handle.progress is None:
        assert not handle.is_done
        time.sleep(0.01)
    handle.cancel()
    result = handle.result(timeout=60)
    assert (result.verdict, result.kind, result.states) == (outcrop.Verdict.UNKNOWN, "interrupted", 0)
    assert list(cache.iterdir()) == []


def test_without_a_compiler_the_interpreter_goes_on_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OUTCROP_ENGINE", raising=False)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    forget()
    try:
        model = outcrop.load(MODELS / "promela_mutex.pml")
        result = model.check()
        assert result.engine == "interpreter"
        assert [each.kind for each in result.events] == [EventKind.INTERPRETED]
        with pytest.raises(CompilerNotFound, match="cached"):
            model.check(strategy="cached")
        with pytest.raises(CompilerNotFound, match="checkpoints"):
            model.check(checkpoint=str(tmp_path / "checkpoint"))
        with pytest.raises(CompilerNotFound):
            model.check(engine="native")
    finally:
        forget()


def test_the_environment_names_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    model = outcrop.load(MODELS / "interleaved.m")
    monkeypatch.setenv("OUTCROP_ENGINE", "interpreter")
    assert model.check().engine == "interpreter"
    monkeypatch.setenv("OUTCROP_ENGINE", "quick")
    with pytest.raises(UsageError, match="OUTCROP_ENGINE"):
        model.check()


def test_a_report_compiles_the_model_once(tmp_path: Path, repository: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "OUTCROP_ENGINE": "auto"}
    page = tmp_path / "page.html"
    command = [sys.executable, "-m", "outcrop", "check", str(repository / "examples" / "token_ring.m"), "--json"]
    done = subprocess.run([*command, "--report", str(page)], env=environment, capture_output=True, check=True)
    assert json.loads(done.stdout)["engine"] == "native"
    assert len(list((tmp_path / "outcrop").glob("*.so"))) == 1
    assert '"sum_avg"' in page.read_text()
