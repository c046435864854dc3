"""Bodies of rules, with the parts that several of them have in common as functions of their own.

The paths through an atomic sequence of Promela are rules that begin alike, and often end alike. Without sharing, the C
compiler spends most of its time on copies of the same statements.

A *part* is a run of statements that shares no locals with the rest of its body, so that its C depends on nothing else.
Parts with the same text are the same part. Parts that always follow each other form one *block*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from outcrop.codegen.code import Unit
from outcrop.codegen.functions import write_body
from outcrop.codegen.places import contents, function
from outcrop.codegen.statements import Statements
from outcrop.codegen.text import braced
from outcrop.ir.nodes import Assume, Bind, LocalPlace, Return, Statement
from outcrop.ir.system import Rule
from outcrop.ir.walk import walk

#: Lines from which on a block becomes a function: in shorter ones, the call costs more than it saves.
_FEWEST_LINES = 6

_PARAMETERS = ("uint8_t *state", "Context *context")

#: The lines of a part, in braces if it has locals or temporaries.
Part = tuple[str, ...]


def write_bodies(unit: Unit, rules: Sequence[tuple[str, Rule]]) -> list[list[str]]:
    """Returns the functions that execute rules, under the given names. Adds those that they share to the unit."""
    writer = _Writer(unit)
    rows = [writer.parts(rule) for _, rule in rules]
    blocks = writer.blocks([row for row in rows if row is not None])
    written = []
    for (name, rule), row in zip(rules, rows, strict=True):
        if row is None:
            written.append(write_body(unit, name, rule, rule.body))
            continue
        lines, at = list[str](), 0
        while at < len(row):
            block = blocks[row[at]]
            lines += block.lines
            at += block.size
        written.append(function(name, _PARAMETERS, [*lines, "return OK;"]))
    return written


@dataclass(frozen=True)
class _Block:
    """The number of parts that always follow each other, and their lines, or those that call them."""

    size: int
    lines: list[str]


class _Writer:
    """Writes the parts of bodies, each once for each body, and the blocks that they form."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._leaving: set[Part] = set()  #: those in which a body may end

    def parts(self, rule: Rule) -> list[Part] | None:
        """Returns the parts of a body in order; None if it has parameters, or returns early."""
        if rule.parameters or any(isinstance(each, Return) for each in walk(rule.body)):
            return None
        return [self._part(nodes) for nodes in _runs(rule.body)]

    def _part(self, nodes: Sequence[Statement]) -> Part:
        code = Statements(self._unit)
        code.statements(nodes)
        lines = contents(code)
        part = tuple(braced("", lines) if any(map(_declares, lines)) else lines)
        if code.can_fail or any(isinstance(each, Assume) for each in walk(tuple(nodes))):
            self._leaving.add(part)
        return part

    def blocks(self, rows: Sequence[Sequence[Part]]) -> dict[Part, _Block]:
        """Returns the block that begins with each part that begins one."""
        uses = Counter(part for row in rows for part in row)
        return {parts[0]: self._block(parts, uses[parts[0]]) for parts in _chains(rows)}

    def _block(self, parts: list[Part], uses: int) -> _Block:
        lines = [line for part in parts for line in part]
        if uses == 1 or len(lines) < _FEWEST_LINES:
            return _Block(len(parts), lines)
        name = f"block_{len(self._unit.shared)}"
        self._unit.shared[name] = function(name, _PARAMETERS, [*lines, "return OK;"], "NOINLINE")
        call = f"{name}(state, context)"
        if self._leaving.isdisjoint(parts):
            return _Block(len(parts), [f"{call};"])
        return _Block(len(parts), braced("", [f"const int status = {call};", "if (status) return status;"]))


def _declares(line: str) -> bool:
    """Returns whether a line may declare something."""
    return not line.startswith(("set_bits(", "copy_bits(", "zero_bits(", "if (", "return "))


def _runs(body: Sequence[Statement]) -> Iterator[Sequence[Statement]]:
    """Yields the shortest runs of statements of which no two share locals."""
    used = [{each.local for each in walk(node) if isinstance(each, LocalPlace | Bind)} for node in body]
    last = {local: at for at, some in enumerate(used) for local in some}
    start = end = 0
    for at, some in enumerate(used):
        end = max([end, at, *(last[each] for each in some)])
        if at == end:
            yield body[start : end + 1]
            start = end + 1


def _chains(rows: Sequence[Sequence[Part]]) -> list[list[Part]]:
    """Returns the parts in chains: each part of a chain always follows the one before it, and nothing else does."""
    after: dict[Part | None, set[Part | None]] = {}
    before: dict[Part | None, set[Part | None]] = {}
    for row in rows:
        for part, following in pairwise([None, *row, None]):
            after.setdefault(part, set()).add(following)
            before.setdefault(following, set()).add(part)
    joined = {part: only for part in after if part and (only := _only(after[part])) and _only(before[only]) == part}
    inner = set(joined.values())
    chains = []
    for first in after:
        if first is None or first in inner:
            continue
        chain = [first]
        while (following := joined.get(chain[-1])) is not None:
            chain.append(following)
        chains.append(chain)
    return chains


def _only(parts: set[Part | None]) -> Part | None:
    return next(iter(parts)) if len(parts) == 1 else None
