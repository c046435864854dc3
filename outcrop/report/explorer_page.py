"""The page of the explorer. It is made of the parts of the report, and talks to its own server alone."""

from __future__ import annotations

from typing import Any

from outcrop.ir.system import System
from outcrop.report.parts import assembled, escaped, hashed, script_of, style_of
from outcrop.trace.document import model_document

_STYLES = ("report.css", "trace.css", "lanes.css", "explorer.css")
_SCRIPTS = (
    *("base.js", "values.js", "source.js", "lanes.js", "tree.js", "around.js", "labels.js"),
    *("explorer_graph.js", "explorer.js"),
)


def explorer_document(system: System) -> dict[str, Any]:
    """Returns what the page knows of a model: its name, constants, variables, rules and source."""
    return {
        "model": system.name,
        "constants": system.constants,
        **model_document(system),
        "source": {"file": system.source.name, "text": system.source.text},
    }


def explorer_page(document: dict[str, Any]) -> tuple[str, str]:
    """Returns the page for a model, and the content security policy to send with it."""
    style, script = style_of(_STYLES), script_of(_SCRIPTS)
    policy = (
        f"default-src 'none'; script-src {hashed(script)}; style-src {hashed(style)}; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    slots = {"style": style, "script": script, "title": escaped(document["model"]), "model": escaped(document["model"])}
    return assembled("explorer.html", slots, document), policy
