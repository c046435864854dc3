"""Comparison of one, two and three ranks on one model, with every strategy that supports ranks.

Starting ranks takes longer than searching a generated model, so they are started once for many models.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from compare import compared
from matrices import taken

from outcrop.dist.launch import find_mpiexec
from outcrop.strategies import names

_CHECK_MANY = Path(__file__).parent.parent / "dist" / "check_many.py"
_RANKS = (1, 2, 3)
_SECONDS = 900
#: Fields that a search with eviction must have in common with another, with only the first of traces and messages: how
#: many more it finds before it gives up depends on the total memory of the ranks.
_ANSWER = ("verdict", "kind", "traces", "messages")
_TINY = {"state_memory": "8K", "block_states": 3}


@dataclass(frozen=True)
class Job:
    """A model, and the options that the seed chose for it."""

    name: str
    text: str
    options: dict[str, Any]

    @property
    def forgets(self) -> bool:
        return self.options["strategy"] in names(revisits=True) and "state_memory" in self.options


def rank_job(text: str, name: str, seed: int) -> Job:
    """Returns the job of a model. The same seed tries the same options."""
    random = Random(seed)
    options: dict[str, Any] = {
        "strategy": random.choice(names(ranks=True, finds_cycles=False)),
        "threads": random.choice((1, 2)),
        "max_errors": random.choice((1, None)),
        "deadlock": random.choice(("off", "stuck", "stuttering")),
        "symmetry": random.choice((True, False)),
        "states": 20_000,
        "bits": 64,
    }
    if random.random() < 0.5 and options["strategy"] in names(past_ram=True):
        options |= _TINY
    if options["strategy"] == "cached":  # it keeps whole states
        del options["bits"]
    return Job(name, text, taken(options["strategy"], options))


def rank_disagreements(jobs: Sequence[Job]) -> list[tuple[Job, str]]:
    """Returns the jobs on which some number of ranks disagrees with one rank, with the disagreement."""
    try:
        return _disagreements(jobs)
    except _Failed as error:
        if len(jobs) == 1:
            return [(jobs[0], str(error))]
        return [found for job in jobs for found in rank_disagreements([job])]


def rank_disagreement(text: str, name: str, seed: int) -> str:
    return "".join(found for _, found in rank_disagreements([rank_job(text, name, seed)]))


def _disagreements(jobs: Sequence[Job]) -> list[tuple[Job, str]]:
    with TemporaryDirectory() as directory:
        rows = []
        for number, job in enumerate(jobs):
            path = Path(directory, f"{number}_{job.name}")
            path.write_text(job.text, encoding="utf-8")
            load = {"while_limit": 100} if path.suffix == ".m" else {}
            rows.append((str(path), load, job.options))
        alone, *together = (_results(rows, ranks, directory) for ranks in _RANKS)
    found = []
    for ranks, results in zip(_RANKS[1:], together, strict=True):
        for job, one, several in zip(jobs, alone, results, strict=True):
            compared[f"{job.options['strategy']}, {ranks} ranks"] += 1
            different = {each: (one["same"][each], several["same"][each]) for each in one["same"]}
            if job.forgets:
                different = {name: tuple(map(_first, different[name])) for name in _ANSWER}
            different = {name: pair for name, pair in different.items() if pair[0] != pair[1]}
            if different:
                found.append((job, f"ranks: {ranks} and one give {different} with {job.options}"))
    return found


def _first(value: Any) -> Any:
    return value[:1] if isinstance(value, list) else value


class _Failed(Exception):
    """Raised when ranks end with an error, or do not end."""


def _results(rows: list[tuple[str, dict[str, Any], dict[str, Any]]], ranks: int, directory: str) -> list[Any]:
    command = [sys.executable, str(_CHECK_MANY), json.dumps(rows)]
    if ranks > 1:
        command = [find_mpiexec(), "-n", str(ranks), *command]
    environment = {**os.environ, "XDG_CACHE_HOME": directory}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise _Failed(f"ranks hang: {ranks} of them, with {[row[2] for row in rows]}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["nothing is said"])[-1]
        raise _Failed(
            f"ranks fail, {last.split(':')[0]}: {ranks} of them, with {[row[2] for row in rows]}: {done.stderr}"
        )
    return [json.loads(line) for line in done.stdout.splitlines()]
