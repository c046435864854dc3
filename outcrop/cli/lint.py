"""``outcrop lint``: parses and type-checks models, and searches nothing."""

from __future__ import annotations

import argparse
from typing import Any

from outcrop.api import load
from outcrop.cli.files import dump
from outcrop.cli.main import answer
from outcrop.cli.output import annotate, complain, emit
from outcrop.cli.parser_declared import language_values
from outcrop.errors import ModelError, OutcropError, UsageError
from outcrop.report.annotations import of_diagnostics
from outcrop.source import Diagnostic


def run(arguments: argparse.Namespace) -> int:
    """Prints the diagnostics of all models. Returns 2 if any of them cannot be checked."""
    if arguments.sandbox:
        from outcrop.sandbox import run_confined  # for models that are not trusted

        return run_confined(lambda: answer(lambda: _lint(arguments)), [])
    return _lint(arguments)


def _lint(arguments: argparse.Namespace) -> int:
    documents = [_document(arguments, model) for model in arguments.models]
    if arguments.json:
        emit(dump({"models": documents}))
    is_valid = all(each["valid"] for each in documents)
    return 0 if is_valid else UsageError.exit_code


def _document(arguments: argparse.Namespace, model: str) -> dict[str, Any]:
    """Returns what is known about a model. Its diagnostics also go to stderr, unless a document was asked for."""
    document: dict[str, Any] = {"model": model, "valid": False, "error": None}
    diagnostics: tuple[Diagnostic, ...] = ()
    try:
        loaded = load(model, dict(arguments.constants), **language_values(arguments))
        diagnostics, system = loaded.warnings, loaded.system
        document |= {
            "valid": True,
            "constants": dict(system.constants),
            "variables": [each.name for each in system.variables],
            "rules": [each.name for each in system.rules],
            "properties": [{"kind": str(each.kind), "name": each.name} for each in system.properties]
            + [{"kind": "ltl", "name": each.name} for each in system.temporal],
        }
    except ModelError as error:
        diagnostics = tuple(error.diagnostics)
    except OutcropError as error:
        document["error"] = str(error)
        if not arguments.json:
            complain(str(error))
    if not arguments.json:
        for each in diagnostics:
            complain(each.render(), bare=True)
        annotate(of_diagnostics(diagnostics))
    return document | {"diagnostics": [_diagnostic(each) for each in diagnostics]}


def _diagnostic(each: Diagnostic) -> dict[str, Any]:
    span = each.span
    place = None if span is None else {"file": span.source.name, "line": span.line, "column": span.column}
    return {"severity": str(each.severity), "message": each.message, "hint": each.hint or None, "position": place}
