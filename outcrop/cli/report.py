"""``outcrop report``: makes the HTML report of a check from its JSON document."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from outcrop.api import load, read_source
from outcrop.cli.files import keep_apart, write
from outcrop.cli.output import emit
from outcrop.cli.results import MOST_STEPPED, report_text
from outcrop.errors import OutcropError, UsageError
from outcrop.explore.neighbours import neighbours
from outcrop.explore.session import Session
from outcrop.ir.system import System
from outcrop.trace.context import step_contexts

#: Options of a check that say how the model is loaded.
_LOADING = ("constants", "undefined", "while_limit", "overflow", "invariants", "ltl", "ltl_file")


def run(arguments: argparse.Namespace) -> int:
    source = Path(arguments.result)
    goal = Path(arguments.output or source.with_suffix(".html").name)
    keep_apart((arguments.result, arguments.locality), (goal,))
    document = read_document(arguments.result)
    if arguments.locality:
        document["locality"] = read_document(arguments.locality)
    write(goal, report_text(_with_source(document)))
    emit(f"{goal}: {document['verdict']}: {document['model']}")
    return 0


def _with_source(document: Any) -> Any:
    """Returns the document with the model's text and the context of each step, if the model is still the checked
    one."""
    if not isinstance(document, dict) or not document.get("model_sha256"):
        return document
    try:
        source = read_source(document["model"])
        if source.sha256 != document["model_sha256"]:
            return document
        found = {**document, "source": {"file": source.name, "text": source.text}}
        if source.name.endswith(".py"):
            return found  # a model in Python is not run on the word of a document
        options = {name: value for name, value in document.get("options", {}).items() if name in _LOADING}
        system = load(source.name, **options).system
        stepped = [each["violation"] for each in document.get("faults", [])][:MOST_STEPPED]
        found["violations"] = [
            {**each, **_pictures(system, each["trace"])} if each.get("trace") and number in stepped else each
            for number, each in enumerate(document["violations"])
        ]
        return found
    except (OutcropError, KeyError, TypeError):
        return document


def _pictures(system: System, document: dict[str, Any]) -> dict[str, Any]:
    session = Session(system)
    session.load(document)
    trace = session.trace()
    return {"steps": step_contexts(trace), "graph": neighbours(trace)}


def read_document(name: str) -> Any:
    """Returns the JSON document in a file, or from standard input where its name is ``-``."""
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
        return json.loads(text)
    except OSError as error:
        raise UsageError(f"cannot read '{name}': {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"'{name}' is not JSON: {error}; give the output of 'outcrop check MODEL --json'") from None
