"""Saved traces: the document of ``--trace-json``, the whole document of ``--json``, or a trail file of SPIN."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from outcrop.errors import UsageError
from outcrop.explore.trail import trail_document
from outcrop.ir.layout import State
from outcrop.ir.system import System
from outcrop.trace.itf import value


def read(path: str) -> Any:
    """Returns the JSON of a file, or the document of a trail file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror}") from None
    except ValueError:
        text = ""
    return parsed(text, path)


def parsed(text: str, path: str) -> Any:
    """Returns the document of a text, which is JSON or a trail. ``path``: the name of its file."""
    trail = trail_document(text, is_known=path.endswith(".trail"))
    if trail is not None:
        return trail
    try:
        return json.loads(text)
    except ValueError:
        raise UsageError(f"'{path}' is not JSON; save a trace with 'outcrop check --trace-json FILE'") from None


def saved_states(document: Any) -> list[dict[str, Any]]:
    """Returns the states of a trace in ITF, alone or as part of the document of a check."""
    trace = document
    if isinstance(document, dict) and "verdict" in document:
        trace = document.get("trace")
        if trace is None:
            raise UsageError(
                "the document has no trace: nothing was violated, or --trace was off; save one with "
                "'outcrop check --trace-json FILE'"
            )
    states = trace.get("states") if isinstance(trace, dict) else None
    if not isinstance(states, list) or not all(isinstance(each, dict) for each in states):
        raise UsageError("the document is not a trace; save one with 'outcrop check --trace-json FILE'")
    return states


def matches(system: System, state: State, saved: dict[str, Any]) -> bool:
    """Returns whether a state of the model equals a saved one."""
    for variable in system.variables:
        row = state[variable.offset : variable.offset + variable.type.leaf_count]
        if variable.name not in saved or _plain(value(variable.type, row)) != _plain(saved[variable.name]):
            return False
    return True


def _plain(part: Any) -> Any:
    """Returns a value in which the entries of maps are sorted, since maps are unordered."""
    if isinstance(part, dict):
        if set(part) == {"#map"}:
            return sorted((json.dumps(_plain(key)), json.dumps(_plain(each))) for key, each in part["#map"])
        return {name: _plain(each) for name, each in part.items()}
    return part
