"""Several models in one command: each is checked in a process of its own, and a table shows the verdicts."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from outcrop.cli.files import FILES, PLACE, dump
from outcrop.cli.output import emit
from outcrop.errors import UsageError
from outcrop.report.table import table
from outcrop.sweep.cell import Answer
from outcrop.sweep.table import HEAD, cells, note, worst


def run(arguments: argparse.Namespace) -> int:
    """Checks the models one after the other. Returns the worst exit code: violated, then error, then unknown."""
    for name in FILES:
        if getattr(arguments, name) and PLACE not in getattr(arguments, name):
            flag = "--" + name.replace("_", "-")
            raise UsageError(f"several models cannot share the {flag} of one; write {PLACE} in its name")
    if "-" in arguments.models:
        raise UsageError("standard input holds one model; check it by itself")
    answers: list[Answer] = []
    for model in arguments.models:
        answers.append(_check(model, _other_words(arguments)))
        if answers[-1].was_interrupted:
            break
    missing = len(arguments.models) - len(answers)
    code = worst(answers, missing)
    if arguments.json:
        emit(dump(_document(arguments.models, answers)))
    else:
        emit(_text(arguments.models, answers, missing))
    return code


def _other_words(arguments: argparse.Namespace) -> list[str]:
    words = list(arguments.words[1:])
    for model in arguments.models:
        if model in words:
            words.remove(model)
    return [each for each in words if each != "--json"]


def _check(model: str, words: Sequence[str]) -> Answer:
    mine = [each.replace(PLACE, Path(model).name) for each in words]
    process = subprocess.Popen(
        [sys.executable, "-m", "outcrop", "check", model, *mine, "--json"], stdout=subprocess.PIPE, text=True
    )
    interrupted = False
    try:
        output, _ = process.communicate()
    except KeyboardInterrupt:
        interrupted = True
        process.send_signal(signal.SIGTERM)  # harmless if Ctrl-C has reached the process already
        output, _ = process.communicate()
    try:
        document: dict[str, Any] | None = json.loads(output)
    except ValueError:
        document = None
    was_interrupted = interrupted or (document is not None and document["kind"] == "interrupted")
    return Answer(document, "" if document else f"exit code {process.returncode}; see above", was_interrupted)


def _document(models: Sequence[str], answers: Sequence[Answer]) -> dict[str, Any]:
    rows = zip(models, answers, strict=False)
    return {
        "results": [{"model": model, "error": each.error or None, "result": each.document} for model, each in rows],
        "missing": list(models[len(answers) :]),
    }


def _text(models: Sequence[str], answers: Sequence[Answer], missing: int) -> str:
    pairs = list(zip(models, answers, strict=False))
    lines = table(["model", *HEAD], [[model, *cells(each)] for model, each in pairs], "llr")
    notes = [f"{model}: {text}" for model, each in pairs if (text := note(each))]
    if missing:
        notes.append(f"interrupted: {missing:,} more checks were not made")
    return "\n".join([*lines, *([""] if notes else []), *notes])
