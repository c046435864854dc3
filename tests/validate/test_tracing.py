"""``outcrop.tracing``: what it writes, from threads, processes and ``logging``."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from outcrop.tracing import Tracer, TracingHandler


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(each) for each in path.read_text().splitlines()]


def test_steps_states_and_events(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with Tracer(log, writer="w", clock=True) as tracer:
        tracer.state({"x": 1})
        with tracer.step("up", {"by": 2}) as values:
            values["x"] = 3
        tracer.received(10)
        tracer.event("ping", at=1)
        with pytest.raises(ValueError, match="no step"), tracer.step("up"):
            raise ValueError("no step")
    assert lines(log) == [
        {"state": {"x": 1}, "writer": "w", "clock": 1},
        {"rule": "up", "arguments": {"by": 2}, "state": {"x": 3}, "writer": "w", "clock": 2},
        {"event": "ping", "at": 1, "writer": "w", "clock": 11},
    ]


def test_logging_records_with_an_observation_are_written(tmp_path: Path) -> None:
    log, logger = tmp_path / "log", logging.getLogger("test_tracing")
    logger.setLevel(logging.INFO)
    with Tracer(log) as tracer:
        handler = TracingHandler(tracer)
        logger.addHandler(handler)
        logger.info("nothing")
        logger.info("a step", extra={"outcrop": {"rule": "up"}})
        logger.removeHandler(handler)
    assert lines(log) == [{"rule": "up"}]


def test_threads_and_processes_share_a_file(tmp_path: Path) -> None:
    log = tmp_path / "log"
    write = "import sys; from outcrop.tracing import Tracer\nfor i in range(300): Tracer(sys.argv[1]).event('p', n=i)"
    other = subprocess.Popen([sys.executable, "-c", write, str(log)])
    with Tracer(log) as tracer:
        threads = [threading.Thread(target=lambda: [tracer.event("t" * 500) for _ in range(300)]) for _ in range(3)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert other.wait() == 0
    found = lines(log)
    assert len(found) == 1200
    assert [each["n"] for each in found if each["event"] == "p"] == list(range(300))


def test_the_example_program_conforms_and_its_bug_does_not(
    cli: Callable[..., Any], repository: Path, tmp_path: Path
) -> None:
    program, model = repository / "examples/programs/lock_server.py", repository / "examples/lock_server.m"
    for name, options, code in (("good", [], 0), ("bad", ["--bug"], 1)):
        log = tmp_path / f"{name}.jsonl"
        subprocess.run([sys.executable, program, log, "--rounds", "20", *options], check=True)
        assert cli("validate", model, log).code == code
