"""Statements of a model that print."""

from __future__ import annotations

from outcrop.ir.nodes import Put
from outcrop.ir.system import Function, Rule, StartState, System
from outcrop.ir.walk import walk
from outcrop.source import Diagnostic, Severity


def put_note(system: System, when: str) -> list[Diagnostic]:
    """Returns one note on all statements that print, which print nothing. ``when``: when that is, and the remedy."""
    parts: tuple[Function | StartState | Rule, ...] = (*system.functions, *system.start_states, *system.rules)
    count = len({node.span.start for part in parts for node in walk(part.body) if isinstance(node, Put)})
    if not count:
        return []
    word = "printf" if system.texts else "put"
    subject = f"1 {word} statement prints" if count == 1 else f"{count:,} {word} statements print"
    text = f"{subject} nothing {when} to see {'its' if count == 1 else 'their'} output"
    return [Diagnostic(Severity.NOTE, text)]
