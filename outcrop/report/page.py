"""A result as one HTML file, made from the JSON document: verdict, charts, rules, and a stepper for the trace.

The file fetches nothing: style, script and data are in it, and its content security policy forbids everything else.
Model text is untrusted. It enters the page as data (JSON without any ``<``) and, escaped, in the heading. The script
puts it into text nodes only. A foreign script would have the wrong hash and would not run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from outcrop.errors import UsageError
from outcrop.outcome import Stop
from outcrop.report.parts import assembled, escaped, hashed, script_of, style_of
from outcrop.report.sentences import about_runs
from outcrop.result import TRUST
from outcrop.trace.chart import chart

_STYLES = ("report.css", "trace.css", "lanes.css", "print.css")
_SCRIPTS = (
    *("base.js", "chart.js", "table.js", "values.js", "labels.js", "copies.js"),
    *("source.js", "lanes.js", "matrix.js", "tree.js", "around.js", "neighbours.js", "stepper.js", "page.js"),
)
_REMEDY = "make one with 'outcrop check MODEL --json'"

#: Keys that the script needs, with their types.
_NEEDED = {
    "verdict": str,
    "model": str,
    "guarantee": str,
    "levels": list,
    "coverage": list,
    "violations": list,
    "rules_fired": int,
    "states_visited": int,
    "seconds": float | int,
}


def page(document: dict[str, Any], lanes: str | None = None, messages: Sequence[str] = ()) -> str:
    """Returns the HTML file for the JSON document of a check. ``lanes`` and ``messages`` say what its message charts
    show, see ``chart``."""
    check_document(document)
    style, script = style_of(_STYLES), script_of(_SCRIPTS)
    word = {"holds": "Holds.", "violated": "Violated.", "unknown": "Unknown."}[document["verdict"]]
    slots = {
        "style": style,
        "script": script,
        "style_hash": hashed(style),
        "script_hash": hashed(script),
        "title": escaped(f"{word} {Path(document['model']).name}"),
        "model": escaped(document["model"]),
        "verdict": document["verdict"],
        "word": word,
        "sentence": escaped(sentence(document)),
        "guarantee": escaped(guarantee(document)),
        "limits": _limits(document),
        "footer": escaped(
            f"Outcrop {document.get('version', '')}. {TRUST} says what a verdict promises and how that is tested."
        ),
    }
    # The first violation has the trace too.
    return assembled("report.html", slots, {**_pictured(document, lanes, messages), "trace": None})


def sentence(document: dict[str, Any]) -> str:
    """Returns the meaning of the verdict in one sentence."""
    states = f"{document['states_visited']:,}"
    if document["verdict"] == "violated":
        violations = document["violations"]
        message = violations[0]["message"].rstrip(".") if violations else document.get("kind", "")
        more = len(violations) - 1
        return _capital(message) + (f", and {more:,} more violation{'s' if more > 1 else ''}." if more > 0 else ".")
    if document["verdict"] == "unknown" and document.get("reason"):
        return f"Nothing was checked: {document['reason']}."
    if document["verdict"] == "unknown":
        reached = "1 state" if states == "1" else f"{states} states"
        if document.get("kind") == Stop.COVERAGE:
            return f"No violation found in {reached}, {document['guarantee']}."
        return f"{_capital(document.get('kind') or 'stopped')}; no violation in the {reached} that were reached."
    formulas = sum(each.get("kind") == "ltl" for each in document.get("properties", []))
    no_run = about_runs(document.get("fairness", "none"), formulas)
    if document.get("states_checked") == "none":
        return f"{_capital(no_run)}. No other property was checked."
    if document.get("states_checked") == "product":
        return f"{_capital(no_run)}, and no violation in any state of the product."
    runs = f", and {no_run}." if formulas else "."
    if document["guarantee"] == "exact":
        return f"No violation in any reachable state{runs}"
    return f"No violation in any state that was reached{runs}"


def guarantee(document: dict[str, Any]) -> str:
    """Returns the guarantee of the verdict in one sentence."""
    if document["verdict"] == "violated":
        trace = document["violations"][0].get("trace") if document["violations"] else None
        if not trace:
            return ""
        states, loop = len(trace["states"]), trace.get("loop_start")
        if loop is not None:
            run = f"An infinite run shows it: {_steps(loop)} to the cycle, {_steps(states - loop)} in the cycle"
        else:
            run = f"A run of {_steps(states - 1 + bool(document['violations'][0].get('failing_rule')))} shows it"
        return f"{run}. The interpreter has confirmed it."
    if document["verdict"] == "unknown":
        return "States that were not reached may violate a property."
    if document["guarantee"] == "exact":
        reduction = document.get("reduction")
        if reduction is not None and not reduction["reason"]:
            return "Exact: every state of the reduced system was explored, and the reduction preserves the verdict."
        of_product = "" if document.get("states_checked", "all") == "all" else " of the product"
        return f"Exact: every reachable state{of_product} was explored."
    return _capital(document["guarantee"]) + "."


def _limits(document: dict[str, Any]) -> str:
    """Returns paragraphs for the notes that limit the verdict. The reason why nothing was checked is in the
    sentence."""
    notes = [each for each in document.get("notes", []) if each.get("bears_on_verdict")]
    texts = [each["message"] for each in notes if each["message"] != document.get("reason")]
    return "".join(f'<p class="limit">{escaped(_capital(text))}.</p>\n' for text in texts)


def _steps(count: int) -> str:
    return f"{count:,} step{'' if count == 1 else 's'}"


def check_document(document: Any) -> None:
    """Raises UsageError for anything that is not the JSON document of a check."""
    if not isinstance(document, dict):
        raise UsageError(f"the JSON document is not an object; {_REMEDY}")
    for name, kind in _NEEDED.items():
        if not isinstance(document.get(name), kind):
            raise UsageError(f"the JSON document is not that of a check: '{name}' is missing or invalid; {_REMEDY}")
    if document["verdict"] not in ("holds", "violated", "unknown"):
        raise UsageError(f"the JSON document has the unknown verdict '{document['verdict']}'; {_REMEDY}")


def _pictured(document: dict[str, Any], lanes: str | None, messages: Sequence[str]) -> dict[str, Any]:
    """Returns the document with one violation for each distinct fault, and a message chart in each that has a trace."""
    found = document["violations"]
    faults = [each for each in document.get("faults") or () if each["violation"] < len(found)]
    faults = faults or [{"violation": number, "count": 1} for number in range(len(found))]
    shown = [found[each["violation"]] for each in faults]
    violations = [{**each, "chart": _chart(document, each, lanes, messages)} for each in shown]
    return {
        **document,
        "violations": violations,
        "faults": [{**each, "violation": number} for number, each in enumerate(faults)],
    }


def _chart(
    document: dict[str, Any], violation: dict[str, Any], lanes: str | None, messages: Sequence[str]
) -> dict[str, Any] | None:
    """Returns the message chart of a violation; None for a document of another version that lacks the data."""
    try:
        return chart(document, violation, lanes, messages).to_dict() if violation.get("trace") else None
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _capital(text: str) -> str:
    return "LTL" + text[3:] if text.startswith("ltl ") else text[:1].upper() + text[1:]
