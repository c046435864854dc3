"""Identical processes: proctypes whose processes can be exchanged without anyone noticing.

The numbers of such processes become a scalarset, so that states that differ only in their order count once. A proctype
qualifies if all its processes are active from the start and never end, for a process that ends waits for younger ones;
if it declares no channels; and if nothing in the model names one of them: no ``_pid`` in its text, no ``P[2]@label``.
"""

from __future__ import annotations

from outcrop.ir.types import Scalarset
from outcrop.lang.promela import syntax
from outcrop.lang.promela.processes import can_end
from outcrop.lang.promela.scope import ProctypeSymbol

#: Words that name processes by their numbers.
NAMING_WORDS = ("_last", "enabled", "get_priority", "set_priority", "pc_value")


def mark_identical(model: syntax.Model, proctypes: list[ProctypeSymbol], words: set[str]) -> None:
    """Gives each proctype with identical processes a scalarset."""
    if any(each in words for each in NAMING_WORDS):
        return
    remote = {
        node.proctype.text
        for node in syntax.walk([model.proctypes, model.formulas, model.never])
        if isinstance(node, syntax.RemoteLabel | syntax.RemoteVariable)
    }
    for number, proctype in enumerate(proctypes):
        initial = [each.initial for each in syntax.walk(proctype.tree) if isinstance(each, syntax.Declarator)]
        uses_pid = _mentions(proctype.tree, "_pid") or _mentions(initial, "_nr_pr")  # one more than its number
        is_fixed = len(proctype.active) > 1 and proctype.active == proctype.pids and not can_end(proctype.graph)
        if is_fixed and not uses_pid and not proctype.channels and proctype.name not in remote:
            proctype.scalarset = Scalarset(proctype.name, len(proctype.pids), 1_000 + number)


def _mentions(part: object, name: str) -> bool:
    return any(isinstance(each, syntax.Name) and each.text == name for each in syntax.walk(part))
