"""Limits on time, memory and disk, and Ctrl-C: the verdict is *unknown*, with what is known so far."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from outcrop.codegen.compiler import FLAGS, compile_model
from outcrop.explorer.context import Context
from outcrop.explorer.visited import omission_bound
from outcrop.kernels import Native
from outcrop.options import CheckOptions
from outcrop.outcome import Progress, Stop
from outcrop.search import compact, ram

TOY_PATH = Path(__file__).parents[1] / "kernels" / "toy_model.c"
TOY = TOY_PATH.read_text()


@pytest.fixture(scope="module")
def endless() -> Native:
    """Returns a model of eight processes, with more states than any test waits for."""
    return compile_model(TOY, flags=(*FLAGS, "-DN=8"))


@pytest.mark.parametrize("strategy", [ram, compact])
def test_time_limit(endless: Native, strategy: object) -> None:
    outcome = strategy.search(endless, CheckOptions(time_limit=0.3, threads=2))  # type: ignore[attr-defined]
    assert outcome.stop is Stop.TIME
    assert outcome.states > 0
    # Eight rules fire in every expanded state: no state is counted half.
    assert outcome.rules_fired % 8 == 0
    assert sum(outcome.levels[:-2]) * 8 <= outcome.rules_fired <= outcome.states * 8


@pytest.mark.parametrize("strategy", [ram, compact])
def test_interrupt(endless: Native, strategy: object) -> None:
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    outcome = strategy.search(endless, CheckOptions(threads=2))  # type: ignore[attr-defined]
    assert outcome.stop is Stop.INTERRUPTED
    assert outcome.states > 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_second_interrupt_does_not_wait(endless: Native) -> None:
    def interrupt_twice() -> None:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)

    sleepy = CheckOptions(threads=1)
    seen: list[Progress] = []

    def slow_progress(snapshot: Progress) -> None:
        seen.append(snapshot)
        if len(seen) == 1:
            interrupt_twice()

    with pytest.raises(KeyboardInterrupt):
        ram.search(endless, sleepy, Context(progress=slow_progress))


def test_depth_and_states(endless: Native) -> None:
    outcome = ram.search(endless, CheckOptions(depth=5, threads=1))
    assert (outcome.stop, len(outcome.levels)) == (Stop.DEPTH, 6)
    for threads in (1, 2):
        bounded = ram.search(endless, CheckOptions(states=50_000, threads=threads))
        assert bounded.stop is Stop.STATES
        assert sum(bounded.levels[:-1]) < 50_000 <= bounded.states


def test_progress_is_told(endless: Native) -> None:
    seen: list[Progress] = []
    ram.search(endless, CheckOptions(time_limit=0.5, threads=1), Context(progress=seen.append))
    assert len(seen) >= 2
    assert seen[-1].states > seen[0].states > 0
    assert seen[-1].level > 0
    assert seen[-1].rules_fired > 0


PEAK = """
import sys
from pathlib import Path
from outcrop.codegen.compiler import FLAGS, compile_model
from outcrop.machine import peak_rss
from outcrop.options import CheckOptions
from outcrop.search import compact, ram
from outcrop.outcome import Stop
native = compile_model(Path(sys.argv[1]).read_text(), flags=(*FLAGS, "-DN=8"))
strategy = {"ram": ram, "compact": compact}[sys.argv[2]]
outcome = strategy.search(native, CheckOptions(memory=int(sys.argv[3]), threads=2))
assert outcome.stop is Stop.MEMORY, outcome.stop
print(peak_rss(), outcome.states)
"""


@pytest.mark.parametrize("strategy", ["ram", "compact"])
def test_memory_bounds_the_whole_process(strategy: str) -> None:
    memory = 100 << 20
    command = [sys.executable, "-c", PEAK, str(TOY_PATH), strategy, str(memory)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    peak, states = map(int, run.stdout.split())
    assert peak <= memory * 1.05
    assert states > 1_000_000


def test_no_room_at_all_is_out_of_memory(endless: Native) -> None:
    assert ram.search(endless, CheckOptions(memory=1 << 20, threads=1)).stop is Stop.MEMORY


def test_omission_bound_is_formula_1() -> None:
    table_sizes, bits = [1, 10, 100, 1000], 16
    found = 1.0
    for size in table_sizes:
        found *= 1 - (size - 1) / 2**bits
    assert omission_bound(table_sizes, bits) == pytest.approx(1 - found)
    assert omission_bound([1], 40) == 0.0
    assert omission_bound([300], 8) == 1.0
