"""``outcrop report``: makes the HTML report of a check from its JSON document."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from outcrop.cli.files import keep_apart, write
from outcrop.cli.output import emit
from outcrop.cli.results import report_text
from outcrop.errors import UsageError


def run(arguments: argparse.Namespace) -> int:
    source = Path(arguments.result)
    goal = Path(arguments.output or source.with_suffix(".html").name)
    keep_apart((arguments.result, arguments.locality), (goal,))
    document = _read(arguments.result)
    if arguments.locality:
        document["locality"] = _read(arguments.locality)
    write(goal, report_text(document))
    emit(f"{goal}: {document['verdict']}: {document['model']}")
    return 0


def _read(name: str) -> Any:
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
        return json.loads(text)
    except OSError as error:
        raise UsageError(f"cannot read '{name}': {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"'{name}' is not JSON: {error}; give the output of 'outcrop check MODEL --json'") from None
