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
from outcrop.lang.report import Report

#: Words that name processes by their numbers.
NAMING_WORDS = ("_last", "enabled", "get_priority", "set_priority", "pc_value")


def mark_identical(model: syntax.Model, proctypes: list[ProctypeSymbol], words: set[str], report: Report) -> None:
    """Gives each proctype with identical processes a scalarset, and warns if there is none."""
    remote = {
        node.proctype.text
        for node in syntax.walk([model.proctypes, model.formulas, model.never])
        if isinstance(node, syntax.RemoteLabel | syntax.RemoteVariable)
    }
    several = [each for each in proctypes if len(each.pids) > 1]
    obstacles = [(each, _obstacle(each, words, each.name in remote)) for each in several]
    for proctype, obstacle in obstacles:
        if not obstacle:
            number = 1_000 + proctypes.index(proctype)
            proctype.scalarset = Scalarset(proctype.name, len(proctype.pids), number)
    if not any(each.scalarset for each in proctypes):
        found = "; ".join(f"'{proctype.name}': {obstacle}" for proctype, obstacle in obstacles)
        hint = found or "it is about proctypes with several active processes: active [3] proctype P()"
        report.warning("--process-symmetry has no effect: no processes are identical", None, hint)


def _obstacle(proctype: ProctypeSymbol, words: set[str], is_remote: bool) -> str:
    """Returns why the processes of a proctype are not identical; "" if they are."""
    naming = [each for each in NAMING_WORDS if each in words]
    if naming:
        return f"'{naming[0]}' in the model names processes by their numbers"
    if proctype.active != proctype.pids:
        return "'run' starts processes of it"
    if can_end(proctype.graph):
        return "its processes can end"
    if _mentions(proctype.tree, "_pid"):
        return "it uses _pid"
    initial = [each.initial for each in syntax.walk(proctype.tree) if isinstance(each, syntax.Declarator)]
    if _mentions(initial, "_nr_pr"):  # which is one more than the number of the process
        return "_nr_pr in an initial value tells its processes apart"
    if proctype.channels:
        return "it declares channels"
    return "one of its processes is named, as in P[2]@label or P:x" if is_remote else ""


def _mentions(part: object, name: str) -> bool:
    return any(isinstance(each, syntax.Name) and each.text == name for each in syntax.walk(part))
