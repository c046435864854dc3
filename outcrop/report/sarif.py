"""A result as SARIF 2.1.0 (OASIS, 2020), which code hosts show at the lines of the model.

There is one rule for each property and for each other kind of violation, and one result for each violation. An
undecided search is a result too, and so is each note that limits the verdict, so that nothing unchecked goes unseen.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from outcrop import __version__
from outcrop.source import Diagnostic

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "note": "note"}
_EXIT_CODES = {"holds": 0, "violated": 1, "unknown": 3}
_REFUSED_EXIT_CODE = 2
#: Largest number of steps of a code flow.
_MOST_STEPS = 200
_HOME = "https://github.com/outcrop-mc/outcrop"
#: Rules that do not belong to a property, with their descriptions.
_MEANINGS = {
    "deadlock": "no state is a deadlock",
    "assertion": "every assertion is true",
    "error": "no error statement is reached",
    "runtime": "no rule makes a runtime error",
    "unknown": "every reachable state is checked",
    "note": "the verdict is about the whole model",
    "model": "the model can be read",
}


def sarif(document: dict[str, Any]) -> str:
    """Returns the SARIF file for the JSON document of a check."""
    checked = [each for each in document.get("properties", []) if each["status"] != "assumed"]
    rules = {_rule_id(each["kind"], each["name"]): each["name"] for each in checked}
    model = document["model"]
    results = [_of_violation(each, rules, model) for each in document["violations"]]
    if document["verdict"] == "unknown" and not document.get("reason"):  # the reason is one of the notes
        text = f"{document['kind']}: states that were not reached may violate a property"
        results.append(_result("unknown", "warning", text, None, model))
    for note in document.get("notes", []):
        if note.get("bears_on_verdict"):
            rule = "unknown" if note["message"] == document.get("reason") else "note"
            results.append(_result(rule, _LEVELS[note["severity"]], note["message"], note["position"], model))
    invocation: dict[str, Any] = {"executionSuccessful": True, "exitCode": _EXIT_CODES[document["verdict"]]}
    if document.get("date"):
        invocation["endTimeUtc"] = document["date"]
    if document.get("command"):
        invocation["arguments"] = document["command"][1:]
    return _file(results, rules, invocation)


def sarif_of_refusal(model: str, diagnostics: Iterable[Diagnostic]) -> str:
    """Returns the SARIF file for a model that was refused: one result for each diagnostic."""
    results = []
    for each in diagnostics:
        span = each.span
        place = None if span is None else {"file": span.source.name, "line": span.line, "column": span.column}
        text = f"{each.message} (hint: {each.hint})" if each.hint else each.message
        results.append(_result("model", _LEVELS[each.severity], text, place, model))
    return _file(results, {}, {"executionSuccessful": False, "exitCode": _REFUSED_EXIT_CODE})


def _of_violation(violation: dict[str, Any], rules: dict[str, str], model: str) -> dict[str, Any]:
    lines = [violation["message"], *(f"false: {part}" for part in violation["because"])]
    if violation["trace"]:
        count = len(violation["trace"]["states"]) - 1
        lines.append(f"after {count} step{'' if count == 1 else 's'} from a start state")
    name = _rule_id(violation["kind"], violation["property"])
    # An instance, with its arguments, belongs to its property.
    owner = next((rule for rule in rules if name == rule or name.startswith(f"{rule}, ")), None)
    result = _result(owner or violation["kind"], "error", "\n".join(lines), violation["position"], model)
    return result | _flow(violation["trace"], model)


def _flow(trace: dict[str, Any] | None, model: str) -> dict[str, Any]:
    """Returns the trace as a code flow: the rule of each step, at its line. Of a long one, the last steps."""
    if not trace:
        return {}
    steps = []
    for state in trace["states"][-_MOST_STEPS:]:
        meta = state["#meta"]
        physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(model)}}
        if meta.get("line"):
            physical["region"] = {"startLine": meta["line"]}
        text = f"step {meta['index']}: {meta.get('rule', '')}"
        steps.append({"location": {"physicalLocation": physical, "message": {"text": text}}})
    return {"codeFlows": [{"threadFlows": [{"locations": steps}]}]} if steps else {}


def _rule_id(kind: str, name: str) -> str:
    return f"{kind}/{name}"


def _result(rule: str, level: str, text: str, place: dict[str, Any] | None, model: str) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(model)}}
    if place is not None and not place["file"].startswith("--"):  # the command line is not a file
        region = {"startLine": place["line"], "startColumn": place["column"]}
        physical = {"artifactLocation": {"uri": _uri(place["file"])}, "region": region}
    locations = [{"physicalLocation": physical}]
    return {"ruleId": rule, "level": level, "message": {"text": text}, "locations": locations}


def _uri(path: str) -> str:
    return Path(path).as_uri() if Path(path).is_absolute() else quote(Path(path).as_posix())


def _file(results: list[dict[str, Any]], properties: dict[str, str], invocation: dict[str, Any]) -> str:
    others = dict.fromkeys(each["ruleId"] for each in results if each["ruleId"] not in properties)
    texts = properties | {name: _MEANINGS.get(name, name) for name in others}
    numbers = {name: number for number, name in enumerate(texts)}
    driver = {
        "name": "Outcrop",
        "version": __version__,
        "informationUri": _HOME,
        "rules": [{"id": name, "shortDescription": {"text": text}} for name, text in texts.items()],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": [{**each, "ruleIndex": numbers[each["ruleId"]]} for each in results],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=1) + "\n"
