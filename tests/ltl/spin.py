"""Spin's automaton for a formula, read from the never claim that ``spin -f`` prints."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection
from dataclasses import dataclass

from outcrop.ir.formula import Formula, Operator
from outcrop.ltl.automaton import Automaton, Label, Transition
from outcrop.ltl.parser import parse
from outcrop.ltl.words import Lasso, holds

_SIGNS = {
    Operator.FINALLY: "<>",
    Operator.GLOBALLY: "[]",
    Operator.RELEASE: "V",
    Operator.UNTIL: "U",
}
_GOTO = re.compile(r":: (\(.*\)) -> goto (\w+)")
_ACCEPT = re.compile(r":: atomic \{ (\(.*\)) -> assert\(")
_LABEL = re.compile(r"(\w+):$")


@dataclass(frozen=True)
class Guard(Label):
    """A label that is any propositional formula."""

    formula: Formula | None = None

    def holds_in(self, position: Collection[Formula]) -> bool:
        return self.formula is None or holds(self.formula, Lasso([], [position]))


def to_spin(formula: Formula) -> str:
    """Returns a formula in Spin's syntax, which lacks X, W and M."""
    operator = formula.operator
    operands = [f"({to_spin(each)})" for each in formula.operands]
    if not operands:
        return str(formula)
    match operator:
        case Operator.NEXT:
            raise ValueError("Spin has no X here")
        case Operator.WEAK_UNTIL:
            return f"{operands[1]} V ({operands[0]} || {operands[1]})"
        case Operator.STRONG_RELEASE:
            return f"{operands[1]} U ({operands[0]} && {operands[1]})"
        case Operator.XOR:
            return f"!({operands[0]} <-> {operands[1]})"
    sign = _SIGNS.get(operator, str(operator))
    return f"{sign} {operands[0]}" if len(operands) == 1 else f" {sign} ".join(operands)


def spin_automaton(formula: Formula) -> Automaton | None:
    """Returns Spin's automaton; None if Spin takes too long."""
    try:
        done = subprocess.run(["spin", "-f", to_spin(formula)], capture_output=True, text=True, timeout=1, check=True)
    except subprocess.TimeoutExpired:
        return None
    return read_claim(done.stdout)


def read_claim(text: str) -> Automaton:
    """Reads a never claim. Adjacent labels are one state. An edge with an assertion leads to an all-accepting state."""
    names: dict[str, int] = {}
    edges: list[list[tuple[str | None, str]]] = []
    accepting: set[int] = set()
    after_label = False
    everything = [(None, "accept_all")]
    for line in map(str.strip, text.splitlines()):
        label = _LABEL.match(line)
        if label:
            if not after_label:
                edges.append([])
            names[label.group(1)] = len(edges) - 1
            if label.group(1).startswith("accept"):
                accepting.add(len(edges) - 1)
        elif goto := _GOTO.match(line):
            edges[-1].append((goto.group(1), goto.group(2)))
        elif accept := _ACCEPT.match(line):
            edges[-1].append((accept.group(1), "accept_all"))
        elif line == "skip":
            edges[-1] = [*everything]
        after_label = bool(label)
    if "accept_all" not in names and any(target == "accept_all" for leaving in edges for _, target in leaving):
        names["accept_all"] = len(edges)
        accepting.add(len(edges))
        edges.append([*everything])
    transitions = tuple(
        tuple(Transition(_guard(guard), names[target]) for guard, target in leaving) for leaving in edges
    )
    return Automaton((), 0, transitions, frozenset(accepting))


def _guard(text: str | None) -> Guard:
    return Guard(formula=parse(text).formula if text else None)
