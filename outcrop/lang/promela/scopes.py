"""Names within braces: each variable and label of a proctype gets a name of its own.

A block that declares a name again has a variable of its own, which keeps its value while the process is elsewhere. The
first variable of a name keeps it; others are called ``name.2``, ``name.3`` and so on, in the order of the text.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from outcrop.lang.promela import syntax

#: A scope: the numbers of the blocks around it, the outermost first.
_Scope = tuple[int, ...]


def resolve_scopes(tree: syntax.Proctype) -> syntax.Proctype:
    """Returns a proctype in which all variables have different names, and all labels."""
    resolver = _Resolver()
    for declaration in tree.parameters:
        for each in declaration.declarators:
            resolver.declare(each.name.text)
    for statement in tree.body.steps:
        resolver.find_labels(statement)
    resolver.restart()
    return replace(tree, body=resolver.body(tree.body))


class _Resolver:
    def __init__(self) -> None:
        self._scope: _Scope = ()
        self._blocks = 0
        self._names: list[dict[str, str]] = [{}]  #: names of each open scope
        self._counts: dict[str, int] = {}
        self._labels: dict[str, dict[_Scope, str]] = {}  #: names of labels, by scope

    def restart(self) -> None:
        """Begins with the first block again."""
        self._blocks = 0

    def body(self, block: syntax.Block) -> syntax.Block:
        return replace(block, steps=tuple(self._statement(each) for each in block.steps))

    # --- Labels ------------------------------------------------------------------------------------------------

    def find_labels(self, node: syntax.Statement) -> None:
        match node:
            case syntax.Labelled():
                known = self._labels.setdefault(node.label.text, {})
                name = node.label.text if not known else f"{node.label.text}.{len(known) + 1}"
                known.setdefault(self._scope, name)
                self.find_labels(node.statement)
            case syntax.Block() | syntax.Scoped():
                self._enter()
                for each in node.steps:
                    self.find_labels(each)
                self._leave()
            case syntax.Choice():
                for option in node.options:
                    for each in option.steps:
                        self.find_labels(each)
            case syntax.Spliced():
                self.find_labels(node.last)
            case syntax.Unless():
                self.find_labels(node.main)
                self.find_labels(node.escape)

    def _label(self, name: syntax.Name) -> syntax.Name:
        """Returns the label of this scope, of one around it, or of any other."""
        known = self._labels.get(name.text, {})
        for length in range(len(self._scope), -1, -1):
            if self._scope[:length] in known:
                return replace(name, text=known[self._scope[:length]])
        return replace(name, text=next(iter(known.values()), name.text))

    # --- Variables ---------------------------------------------------------------------------------------------

    def declare(self, name: str) -> str:
        if name in self._names[-1]:
            return self._names[-1][name]
        self._counts[name] = self._counts.get(name, 0) + 1
        count = self._counts[name]
        self._names[-1][name] = name if count == 1 else f"{name}.{count}"
        return self._names[-1][name]

    def _enter(self) -> None:
        self._blocks += 1
        self._scope = (*self._scope, self._blocks)
        self._names.append({})

    def _leave(self) -> None:
        self._scope = self._scope[:-1]
        self._names.pop()

    def _statement(self, node: syntax.Statement) -> syntax.Statement:
        match node:
            case syntax.Block() | syntax.Scoped():
                self._enter()
                steps = tuple(map(self._statement, node.steps))
                self._leave()
                return replace(node, steps=steps)
            case syntax.Choice():
                return replace(node, options=tuple(map(self.body, node.options)))
            case syntax.Labelled():
                known = self._labels[node.label.text]
                label = replace(node.label, text=known.get(self._scope, node.label.text))
                return replace(node, label=label, statement=self._statement(node.statement))
            case syntax.Goto():
                return replace(node, label=self._label(node.label))
            case syntax.Unless():
                main = self._statement(node.main)
                return replace(node, main=main, escape=self._statement(node.escape))
            case syntax.Spliced():
                before = tuple(map(self._statement, node.before))
                return replace(node, before=before, last=self._statement(node.last))
            case syntax.LocalDeclaration():
                return self._declaration(node)
        found = self._renamed(node)
        assert isinstance(found, syntax.Statement)
        return found

    def _declaration(self, node: syntax.LocalDeclaration) -> syntax.Statement:
        declarators = []
        for each in node.declaration.declarators:
            initial = self._renamed(each.initial)
            name = replace(each.name, text=self.declare(each.name.text))
            declarators.append(replace(each, name=name, initial=initial))
        return replace(node, declaration=replace(node.declaration, declarators=tuple(declarators)))

    def _renamed(self, node: Any) -> Any:
        """Returns part of a statement, with the names that its variables have."""
        if isinstance(node, tuple):
            return tuple(map(self._renamed, node))
        if isinstance(node, syntax.Reference):
            index = self._renamed(node.index)
            rest = None if node.next is None else self._field(node.next)
            return replace(node, name=self._variable(node.name), index=index, next=rest)
        if isinstance(node, syntax.RemoteVariable):
            return replace(node, process=self._renamed(node.process))
        if not isinstance(node, syntax.Expression | syntax.Statement) or not is_dataclass(node):
            return node
        parts = {each.name: getattr(node, each.name) for each in fields(node) if each.name != "span"}
        return replace(node, **{name: self._renamed(part) for name, part in parts.items()})

    def _field(self, node: syntax.Reference) -> syntax.Reference:
        rest = None if node.next is None else self._field(node.next)
        return replace(node, index=self._renamed(node.index), next=rest)

    def _variable(self, name: syntax.Name) -> syntax.Name:
        for names in reversed(self._names):
            if name.text in names:
                return name if names[name.text] == name.text else replace(name, text=names[name.text])
        return name
