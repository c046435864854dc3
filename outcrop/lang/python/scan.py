"""Local variables of a method: which names are assigned, and which are bound once for all that follows."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from outcrop.lang.python.context import Body


def scan_locals(b: Body, tree: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Tells a body which names its statements assign. A name that is assigned once, before all its uses and in a block
    around them, is an alias: it needs no variable."""
    stores = Counter(_stored(tree))
    b.local_names = frozenset(stores)
    b.bound_once = {}
    for block in _blocks(tree):
        for position, statement in enumerate(block):
            name = _single_target(statement)
            if name is None or stores[name] != 1:
                continue
            inside = sum(_loads(each, name) for each in block[position + 1 :])
            if inside == _loads(tree, name):
                b.bound_once[name] = statement


def _stored(tree: ast.AST) -> Iterator[str]:
    """Yields the names that statements of a function assign. Comprehensions have their own names."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name is not None:
            yield node.name
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        yield from _stored(node)


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def _single_target(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value is not None:
        return statement.target.id
    return None


def _loads(tree: ast.AST, name: str) -> int:
    return sum(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) for node in ast.walk(tree)
    )
