"""A result as JUnit XML for CI servers: one test case for each property, one for deadlocks, one for errors.

A property that the search could not decide is an ``error``. One that was not decided because of another violation is
skipped. A test case passes only if its property was checked to the end.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from outcrop.result import TRUST
from outcrop.source import Diagnostic

#: Characters that XML 1.0 cannot represent, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

#: First-level keys of the JSON document that become properties of the test suite.
_FACTS = (
    *("verdict", "kind", "reason", "guarantee", "fairness", "strategy", "states", "rules_fired", "diameter"),
    *("version", "compiler", "model_sha256", "date"),
)

_ERRORS = "assertions and runtime errors"
_ERROR_KINDS = ("assertion", "error", "runtime")
_DEADLOCK = "deadlock"


def junit(document: dict[str, Any], traces: dict[int, str] | None = None) -> str:
    """Returns the XML for the JSON document of a check. ``traces`` maps the number of a violation to its trace as
    text."""
    cases = _cases(document)
    by_case: dict[str, list[int]] = {}
    for number, violation in enumerate(document["violations"]):
        by_case.setdefault(_case_of(violation, cases), []).append(number)
    suite = _suite(document["model"], float(document["seconds"]), document)
    statuses = {_name(each): each["status"] for each in document.get("properties", [])}
    of_states = "holds" if _is_complete(document) else "unknown"
    for name in cases:
        case = _case(suite, document["model"], name)
        for number in by_case.get(name, [])[:1]:
            others = _others(document, by_case[name])
            _fail(case, document["violations"][number], len(by_case[name]), others, (traces or {}).get(number, ""))
        if name not in by_case and statuses.get(name, of_states) != "holds":
            _leave_open(case, document)
    limits = [_limit(note) for note in document.get("notes", []) if note.get("bears_on_verdict")]
    if limits:
        ElementTree.SubElement(suite, "system-out").text = _clean("\n".join(limits))
    return _finished(suite)


def junit_of_refusal(model: str, diagnostics: tuple[Diagnostic, ...]) -> str:
    """Returns the XML for a model that was refused: one test case with the diagnostics."""
    suite = _suite(model, 0.0, {"verdict": "refused"})
    case = _case(suite, model, "load the model")
    text = "\n".join(each.render() for each in diagnostics)
    _add(case, "error", diagnostics[0].message if diagnostics else "the model is refused", "refused", text)
    return _finished(suite)


def _limit(note: dict[str, Any]) -> str:
    """Returns a line for a note that limits what the verdict says."""
    place = note.get("position")
    where = f"{place['file']}:{place['line']}:{place['column']}: " if place else ""
    return f"{where}{note['severity']}: {note['message']}"


def _cases(document: dict[str, Any]) -> list[str]:
    """Returns the names of the test cases, without duplicates."""
    cases = [_name(each) for each in document.get("properties", []) if each["status"] != "assumed"]
    if document.get("deadlock") != "off":
        cases.append(_DEADLOCK)
    cases.append(_ERRORS)
    cases += [_case_of(violation, cases) for violation in document["violations"]]
    return list(dict.fromkeys(cases))


def _name(row: dict[str, Any]) -> str:
    return f"{row['kind']} {row['name']}"


def _case_of(violation: dict[str, Any], cases: Iterable[str]) -> str:
    kind = violation["kind"]
    if kind == "deadlock":
        return _DEADLOCK
    if kind in _ERROR_KINDS:
        return _ERRORS
    name = f"{kind} {violation['property']}"
    # An instance, with its arguments, belongs to its property.
    return next((case for case in cases if name == case or name.startswith(f"{case}, ")), name)


def _is_complete(document: dict[str, Any]) -> bool:
    """Returns whether the search for bad states ran to its end, even if it found violations."""
    if document.get("states_checked", "all") != "all":
        return False
    statuses = [each["status"] for each in document.get("properties", []) if each["kind"] != "ltl"]
    kinds = {violation["kind"] for violation in document["violations"]}
    # Formulas are checked after that search is complete.
    return document["verdict"] == "holds" or "holds" in statuses or kinds == {"cover"} or "ltl" in kinds


def _leave_open(case: ElementTree.Element, document: dict[str, Any]) -> None:
    if document.get("states_checked") == "none":
        _skip(case, "not checked: the search was for runs that violate a formula")
    elif document["verdict"] == "holds":
        _skip(case, "checked only in states of the product with the property process")
    elif document["verdict"] == "violated":
        _skip(case, "unknown: the search ended at a violation of another property")
    else:
        why = document.get("reason") or document.get("kind") or "the search did not complete"
        _add(case, "error", f"unknown: {why}", "unknown")


def _skip(case: ElementTree.Element, message: str) -> None:
    ElementTree.SubElement(case, "skipped").set("message", message)


def _others(document: dict[str, Any], numbers: list[int]) -> list[str]:
    """Returns a line for each other fault of a test case."""
    counts = {each["violation"]: each["count"] for each in document.get("faults", [])}
    lines = []
    for number in numbers[1:]:
        if number in counts:
            place = document["violations"][number].get("position")
            where = f"{place['file']}:{place['line']}:{place['column']}: " if place else ""
            times = f" ({counts[number]} times)" if counts[number] > 1 else ""
            lines.append(f"also: {where}{document['violations'][number]['message']}{times}")
    return lines


def _fail(case: ElementTree.Element, violation: dict[str, Any], count: int, others: list[str], trace: str) -> None:
    more = f" (and {count - 1} more)" if count > 1 else ""
    hint = [f"hint: {violation['hint']}"] if violation.get("hint") else []
    lines = [*hint, *(f"false: {part}" for part in violation.get("because", [])), *others, *([trace] if trace else [])]
    position = violation.get("position")
    if position:
        lines.insert(0, f"{position['file']}:{position['line']}:{position['column']}")
    _add(case, "failure", violation["message"] + more, violation["kind"], "\n".join(lines))


# --- XML -----------------------------------------------------------------------------------------------------------


def _suite(model: str, seconds: float, facts: dict[str, Any]) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", name=_clean(model), file=_clean(model), time=f"{seconds:.3f}")
    properties = ElementTree.SubElement(suite, "properties")
    for name in _FACTS:
        if facts.get(name) not in (None, ""):
            ElementTree.SubElement(properties, "property", name=name, value=_clean(str(facts[name])))
    ElementTree.SubElement(properties, "property", name="trust", value=TRUST)
    return suite


def _case(suite: ElementTree.Element, model: str, name: str) -> ElementTree.Element:
    attributes = {"classname": _clean(Path(model).stem), "name": _clean(name), "time": "0.000"}
    return ElementTree.SubElement(suite, "testcase", attributes)


def _add(case: ElementTree.Element, tag: str, message: str, kind: str, text: str = "") -> None:
    child = ElementTree.SubElement(case, tag, message=_clean(message), type=kind)
    child.text = _clean(text) or None


def _finished(suite: ElementTree.Element) -> str:
    counts = {
        "tests": len(suite.findall("testcase")),
        "failures": len(suite.findall("testcase/failure")),
        "errors": len(suite.findall("testcase/error")),
        "skipped": len(suite.findall("testcase/skipped")),
    }
    root = ElementTree.Element("testsuites", name="outcrop", time=suite.get("time", "0"))
    for name, count in counts.items():
        suite.set(name, str(count))
        if name != "skipped":  # the schema of Jenkins does not allow it there
            root.set(name, str(count))
    root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
