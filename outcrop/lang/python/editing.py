"""The services of the Python front-end for editors.

An editor has a server for Python. This one adds what it cannot know: mistakes in models, and the lenses that check
them. Loading a model executes its file, so that only its syntax is looked at while the user types.
"""

from __future__ import annotations

import ast

from outcrop.lang.editing import Declaration, Editing, Index, Kind
from outcrop.source import Diagnostic, Severity, Source, Span

_KINDS = {"rule": Kind.RULE, "start": Kind.START, "invariant": Kind.PROPERTY}


def static(source: Source) -> list[Diagnostic]:
    """Returns the mistake that keeps the text from being Python."""
    try:
        ast.parse(source.text)
    except SyntaxError as error:
        line = min(max(error.lineno or 1, 1), source.line_count)
        start = source.start_of(line) + max((error.offset or 1) - 1, 0)
        start = min(start, len(source.text))
        message = f"this is not Python: {error.msg}"
        return [Diagnostic(Severity.ERROR, message, Span(source, start, min(start + 1, len(source.text))))]
    except (ValueError, RecursionError):
        pass
    return []


def index(source: Source) -> Index:
    """Returns the model classes of a text, with their rules and properties."""
    made = Index(source)
    if "outcrop" not in source.text:
        return made
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError):
        return made
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(_last_name(each) == "Model" for each in node.bases):
            model = made.declare(_declaration(source, node, Kind.PROCESS, None), None)
            for each in node.body:
                kinds = [_KINDS.get(_last_name(mark)) for mark in getattr(each, "decorator_list", ())]
                found = next((kind for kind in kinds if kind), None)
                if isinstance(each, ast.FunctionDef) and found:
                    made.declare(_declaration(source, each, found, model), None)
    return made


def _declaration(
    source: Source, node: ast.ClassDef | ast.FunctionDef, kind: Kind, owner: Declaration | None
) -> Declaration:
    start = source.start_of(node.lineno) + node.col_offset
    last = node.end_lineno or node.lineno
    end = source.start_of(last) + len(source.line(last))
    head = Span(source, start, start + len("class" if kind is Kind.PROCESS else "def"))
    return Declaration(node.name, kind, head, Span(source, start, end), "", None, owner)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


EDITING = Editing(identifier="python", keywords=frozenset(), index=index, static=static, executes=True)
