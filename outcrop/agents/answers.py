"""The answers of the server: small documents, and pages of long ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from outcrop.errors import UsageError
from outcrop.manual import pages, title

#: Rows of a page, and largest number of violations, warnings and names in a summary.
PAGE = 20
_MOST = 10
#: Largest excerpt of a page of the manual, in characters.
_EXCERPT = 1_500


def paged(rows: Sequence[Any], page: int, name: str, size: int = PAGE) -> dict[str, Any]:
    """Returns one page of a list, with the number of the next one. Raises UsageError for a page that does not exist."""
    count = max(1, -(-len(rows) // size))
    if not 0 <= page < count:
        raise UsageError(f"there is no page {page}; the last one is {count - 1}")
    chosen = list(rows[page * size : (page + 1) * size])
    return {name: chosen, "total": len(rows), "page": page, "next_page": page + 1 if page + 1 < count else None}


def summary(document: dict[str, Any], number: int) -> dict[str, Any]:
    """Returns the part of a check's document that a reader needs first. ``number`` names the stored result."""
    violations = [
        {
            "violation": position,
            "kind": each["kind"],
            "property": each["property"] or None,
            "message": each["message"],
            "steps": None if each["trace"] is None else len(each["trace"]["states"]) - 1,
            "position": each["position"],
        }
        for position, each in enumerate(document["violations"][:_MOST])
    ]
    warnings = [
        each["message"] for each in document["notes"] if each["severity"] == "warning" or each.get("bears_on_verdict")
    ]
    never = [each["name"] for each in document["coverage"] if not each["fired"] and not each["subsumed"]]
    return {
        "result": number,
        "verdict": document["verdict"],
        "kind": document["kind"] or None,
        "guarantee": document["guarantee"],
        "reason": document.get("reason") or None,
        "constants": document["constants"],
        "states": document["states"] if document["states"] is not None else document["states_visited"],
        "diameter": document["diameter"],
        "seconds": document["seconds"],
        "engine": document["engine"],
        "properties": [{key: each[key] for key in ("kind", "name", "status")} for each in document["properties"]][
            :_MOST
        ],
        "violations": violations,
        "violations_total": len(document["violations"]),
        "warnings": warnings[:_MOST],
        "never_fired": never[:_MOST],
    }


def explanation(document: dict[str, Any], number: int, page: int) -> dict[str, Any]:
    """Returns why a violation is one, and a page of its steps, each with the variables that it changes."""
    violation = _violation(document, number)
    states = violation["trace"]["states"] if violation["trace"] else []
    steps = []
    for position, state in enumerate(states):
        before = states[position - 1] if position else {}
        changes = {name: value for name, value in state.items() if name != "#meta" and before.get(name) != value}
        meta = state["#meta"]
        steps.append({"step": meta["index"], "rule": meta.get("rule"), "line": meta.get("line"), "changes": changes})
    about = {key: violation[key] or None for key in ("kind", "property", "message", "hint", "because", "position")}
    return about | paged(steps, page, "steps")


def whole_states(document: dict[str, Any], number: int, page: int) -> dict[str, Any]:
    """Returns a page of the states of a trace, each with all variables."""
    violation = _violation(document, number)
    states = violation["trace"]["states"] if violation["trace"] else []
    rows = [
        {
            "step": each["#meta"]["index"],
            "rule": each["#meta"].get("rule"),
            "state": {k: v for k, v in each.items() if k != "#meta"},
        }
        for each in states
    ]
    return paged(rows, page, "states", 5)


def _violation(document: dict[str, Any], number: int) -> dict[str, Any]:
    violations = document["violations"]
    if not 0 <= number < len(violations):
        raise UsageError(f"the result has {len(violations)} violations, counted from 0; there is no {number}")
    found: dict[str, Any] = violations[number]
    return found


def search_manual(query: str, page: int) -> dict[str, Any]:
    """Returns the sections of the manual that mention most of the words, the best first."""
    words = set(re.findall(r"\w+", query.lower()))
    if not words:
        raise UsageError("the query has no words; name what you look for")
    found = []
    for topic, path in pages().items():
        text = path.read_text(encoding="utf-8")
        for section in re.split(r"^(?=#+ )", text, flags=re.MULTILINE):
            heading = section.partition("\n")[0].strip("# `")
            body, head = section.lower(), f"{topic} {heading}".lower()
            score = sum((word in body) + 2 * (word in head) for word in words)
            if section.strip() and score:
                found.append((-score, len(section), topic, title(text), heading, section.strip()[:_EXCERPT]))
    rows = [
        {"topic": topic, "page_title": name, "section": heading, "text": text}
        for _, _, topic, name, heading, text in sorted(found)
    ]
    return paged(rows, page, "sections", 3)
