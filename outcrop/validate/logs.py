"""Reading logs: JSON lines, ITF and CSV. Each record is one line of a log as an object, or as JSON not read yet."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from outcrop.errors import UsageError
from outcrop.reading import read_json

Record = bytes | dict[str, Any]

_EXAMPLE = '{"rule": "Grant", "arguments": {"n": 2}}'
#: Columns of a CSV file that are not variables.
_COLUMNS = {"rule", "event"}


def records(path: str, is_field: Callable[[str], bool]) -> Iterator[tuple[int, Record]]:
    """Yields each record of a log with its line number. ``is_field`` tells which columns of a CSV file are not
    variables, such as a clock."""
    try:
        if path.endswith(".csv"):
            yield from _csv(path, is_field)
        elif path.endswith((".itf", ".itf.json")):
            yield from _itf(path)
        else:
            yield from _json_lines(path)
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"'{path}' is not text in UTF-8; convert it, for example with iconv") from None


def parsed(record: Record) -> dict[str, Any]:
    """Returns a record as an object."""
    if isinstance(record, dict):
        return record
    try:
        found = json.loads(record)
    except ValueError as error:
        raise UsageError(f"not JSON: {error}; write one object in each line, such as {_EXAMPLE}") from None
    if not isinstance(found, dict):
        raise UsageError(f"not a JSON object; write one in each line, such as {_EXAMPLE}")
    return found


def _json_lines(path: str) -> Iterator[tuple[int, Record]]:
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if number == 1 and text == b"{":
                yield from _itf(path)  # a JSON document over several lines
                return
            if number == 1 and b'"states"' in text and b'"vars"' in text:
                yield from _itf(path)
                return
            if text:
                yield number, text


def _itf(path: str) -> Iterator[tuple[int, Record]]:
    """Yields the states of an ITF document, or of the document of a check, with the rules of its metadata."""
    document = read_json(path)
    trace = document.get("trace") if isinstance(document, dict) and "verdict" in document else document
    states = trace.get("states") if isinstance(trace, dict) else None
    if not isinstance(states, list):
        raise UsageError(f"'{path}' is not a trace in ITF: it has no 'states'")
    for number, state in enumerate(states, 1):
        record: dict[str, Any] = {"state": {key: each for key, each in state.items() if not key.startswith("#")}}
        meta = state.get("#meta", {})
        if "rule" in meta:
            record["rule"] = meta["rule"]
        yield number, record


def _csv(path: str, is_field: Callable[[str], bool]) -> Iterator[tuple[int, Record]]:
    """Yields the rows of a CSV file. The columns are ``rule``, ``event`` and names of variables; an empty cell is
    unknown."""
    with Path(path).open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        for row in reader:
            shown = {key: each for key, each in row.items() if key and each}
            fields = {key: each for key, each in shown.items() if key in _COLUMNS or is_field(key)}
            yield reader.line_num, {**fields, "state": {key: shown[key] for key in shown.keys() - fields.keys()}}
