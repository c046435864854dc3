"""The index of a Murphi text: the declaration of every name, found on the syntax tree without checking types.

The tree may lack what the parser could not read. Types are followed only as far as designators need them: ``a[i].f``
finds the field ``f`` in the record that the elements of ``a`` have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from outcrop.lang.editing import Declaration, Index, Kind
from outcrop.lang.murphi import syntax
from outcrop.lang.murphi.lexer import IDENTIFIER, tokenize
from outcrop.lang.murphi.parser import parse_partly
from outcrop.source import Source, Span


class MurphiIndex(Index):
    """An index with the types that designators need."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.types: dict[Declaration, syntax.TypeExpression] = {}
        self.named: dict[int, Declaration] = {}  #: declarations that type names stand for, by ``id`` of the node
        self.fields: dict[int, dict[str, Declaration]] = {}  #: fields of record types, by ``id`` of the node
        self.tree = parse_partly(source)
        _Walk(self).model(self.tree)

    def structure(self, kind: syntax.TypeExpression | None) -> syntax.TypeExpression | None:
        """Returns the type that a chain of type names stands for."""
        for _ in range(100):  # a wrong text may declare a type by itself
            if not isinstance(kind, syntax.TypeName):
                return kind
            declared = self.named.get(id(kind))
            kind = None if declared is None else self.types.get(declared)
        return None

    def members(self, kind: syntax.TypeExpression | None) -> dict[str, Declaration]:
        """Returns the fields of a type, by name."""
        return self.fields.get(id(self.structure(kind)), {})


def index(source: Source) -> MurphiIndex:
    """Returns the index of a text."""
    return MurphiIndex(source)


class _Walk:
    def __init__(self, into: MurphiIndex) -> None:
        self.index = into
        self.source = into.source
        self.region = into.root
        self.owner: Declaration | None = None
        self._rule_count = 0
        self._nodes: dict[type, Callable[[Any], syntax.TypeExpression | None]] = {
            syntax.Identifier: self._identifier,
            syntax.FieldAccess: self._field_access,
            syntax.ElementAccess: self._element_access,
            syntax.ConditionalOperation: self._conditional,
            syntax.CallOperation: self._call,
            syntax.QuantifiedOperation: self._quantified,
            syntax.MultisetCountOperation: self._multiset_predicate,
            syntax.MultisetRemovePredStatement: self._multiset_predicate,
            syntax.AssignStatement: self._assign,
            syntax.ClearStatement: self._written,
            syntax.UndefineStatement: self._written,
            syntax.ForStatement: self._for,
            syntax.AliasStatement: self._alias,
            syntax.TypeName: self._type_name,
            syntax.EnumType: self._enum,
            syntax.RecordType: self._record,
            syntax.ConstDeclaration: self._constant,
            syntax.TypeDeclaration: self._type,
            syntax.VarDeclaration: self._variable,
            syntax.FunctionDeclaration: self._function,
            syntax.RuleSyntax: self._rule,
            syntax.StartStateSyntax: self._rule,
            syntax.PropertySyntax: self._property,
            syntax.LtlSyntax: self._ltl,
            syntax.RuleSet: self._ruleset,
            syntax.AliasRule: self._alias_rule,
            syntax.ChooseRule: self._choose,
        }

    def model(self, tree: syntax.ModelSyntax) -> None:
        self.all(tree.items)

    def all(self, nodes: Sequence[Any]) -> None:
        for each in nodes:
            self.visit(each)

    # Designators return their types. The others return None.
    def visit(self, node: Any) -> syntax.TypeExpression | None:
        """Indexes a node and everything in it. Returns the type of a designator or call, as far as it is known."""
        found = self._nodes.get(type(node))
        if found is not None:
            return found(node)
        self._parts(node)
        return None

    def _parts(self, node: Any) -> None:
        if isinstance(node, list | tuple):
            self.all(node)
        elif isinstance(node, syntax.Node):
            for each in fields(node):
                part = getattr(node, each.name)
                if isinstance(part, syntax.Node | list | tuple):
                    self.visit(part)

    @contextmanager
    def _inside(self, span: Span) -> Iterator[None]:
        outer = self.region
        self.region = outer.inner(span.start, span.end)
        try:
            yield
        finally:
            self.region = outer

    def _declare(
        self, name: syntax.Name, kind: Kind, extent: Span, detail: str = "", parameters: tuple[str, ...] | None = None
    ) -> Declaration:
        is_local = self.region is not self.index.root and kind is not Kind.FIELD
        made = Declaration(name.text, kind, name.span, extent, detail, parameters, self.owner, is_local)
        return self.index.declare(made, None if kind is Kind.FIELD else self.region)

    # --- Expressions and statements --------------------------------------------------------------------------

    def _identifier(self, node: syntax.Identifier) -> syntax.TypeExpression | None:
        found = self.region.find(node.name)
        if found is None:
            return None
        self.index.use(node.span, found)
        return self.index.types.get(found)

    def _field_access(self, node: syntax.FieldAccess) -> syntax.TypeExpression | None:
        found = self.index.members(self.visit(node.base)).get(node.field.text)
        if found is None:
            return None
        self.index.use(node.field.span, found)
        return self.index.types.get(found)

    def _element_access(self, node: syntax.ElementAccess) -> syntax.TypeExpression | None:
        base = self.index.structure(self.visit(node.base))
        self.visit(node.index)
        return base.element if isinstance(base, syntax.ArrayType | syntax.MultisetType) else None

    def _conditional(self, node: syntax.ConditionalOperation) -> syntax.TypeExpression | None:
        self.visit(node.condition)
        kind = self.visit(node.then)
        return self.visit(node.otherwise) or kind

    def _call(self, node: syntax.CallOperation) -> syntax.TypeExpression | None:
        found = self.region.find(node.name.text)
        self.all(node.arguments)
        if found is None:
            return None
        self.index.use(node.name.span, found)
        return self.index.types.get(found)

    def _quantified(self, node: syntax.QuantifiedOperation) -> None:
        with self._inside(node.span):
            self._quantifiers(node.quantifiers)
            self.visit(node.body)

    def _quantifiers(self, quantifiers: Sequence[syntax.QuantifierSyntax]) -> None:
        for each in quantifiers:
            if isinstance(each, syntax.TypeQuantifier):
                self.visit(each.type)
                declared = self._declare(each.name, Kind.PARAMETER, each.span, _text(each.type))
                self.index.types[declared] = each.type
            else:
                self.all([part for part in (each.first, each.last, each.step) if part is not None])
                detail = f"{_text(each.first)} to {_text(each.last)}"
                self._declare(each.name, Kind.PARAMETER, each.span, detail)

    def _multiset_predicate(self, node: syntax.MultisetCountOperation | syntax.MultisetRemovePredStatement) -> None:
        self.visit(node.multiset)
        with self._inside(node.span):
            self._declare(node.name, Kind.PARAMETER, node.name.span, f"slot of {_text(node.multiset)}")
            self.visit(node.condition)

    def _assign(self, node: syntax.AssignStatement) -> None:
        self._written(node)
        self.visit(node.value)

    def _written(self, node: syntax.AssignStatement | syntax.ClearStatement | syntax.UndefineStatement) -> None:
        self.visit(node.target)
        root: Any = node.target
        while isinstance(root, syntax.FieldAccess | syntax.ElementAccess):
            root = root.base
        found = self.region.find(root.name) if isinstance(root, syntax.Identifier) else None
        if found is not None:
            self.index.use(root.span, found, is_written=True)

    def _for(self, node: syntax.ForStatement) -> None:
        with self._inside(node.span):
            self._quantifiers(node.quantifiers)
            self.all(node.body)

    def _alias(self, node: syntax.AliasStatement) -> None:
        with self._inside(node.span):
            self._bindings(node.bindings)
            self.all(node.body)

    def _bindings(self, bindings: Sequence[syntax.AliasBinding]) -> None:
        for each in bindings:
            kind = self.visit(each.value)
            declared = self._declare(each.name, Kind.VARIABLE, each.span, f"alias of {_text(each.value)}")
            if kind is not None:
                self.index.types[declared] = kind

    # --- Types and declarations ------------------------------------------------------------------------------

    def _type_name(self, node: syntax.TypeName) -> None:
        found = self.region.find(node.name)
        if found is not None:
            self.index.named[id(node)] = found
            self.index.use(node.span, found)

    def _enum(self, node: syntax.EnumType) -> None:
        for each in node.members:
            self._declare(each, Kind.MEMBER, each.span, "" if self.owner is None else self.owner.name)

    def _record(self, node: syntax.RecordType) -> None:
        known: dict[str, Declaration] = {}
        for names, kind in node.fields:
            self.visit(kind)
            for name in names:
                declared = self._declare(name, Kind.FIELD, name.span.to(kind.span), _text(kind))
                known[name.text] = declared
                self.index.types[declared] = kind
        self.index.fields[id(node)] = known

    def _constant(self, node: syntax.ConstDeclaration) -> None:
        self.visit(node.value)
        for name in node.names:
            self._declare(name, Kind.CONSTANT, node.span, _text(node.value))

    def _type(self, node: syntax.TypeDeclaration) -> None:
        self._typed(node, Kind.TYPE)

    def _variable(self, node: syntax.VarDeclaration) -> None:
        self._typed(node, Kind.VARIABLE)

    def _typed(self, node: syntax.TypeDeclaration | syntax.VarDeclaration, kind: Kind) -> None:
        declared = [self._declare(name, kind, node.span, _text(node.type)) for name in node.names]
        with self._owned(declared[0]):
            self.visit(node.type)
        for each in declared:
            self.index.types[each] = node.type

    @contextmanager
    def _owned(self, owner: Declaration) -> Iterator[None]:
        outer, self.owner = self.owner, owner
        try:
            yield
        finally:
            self.owner = outer

    def _function(self, node: syntax.FunctionDeclaration) -> None:
        parameters = tuple(_text(each) for each in node.formals)
        detail = "" if node.result is None else _text(node.result)
        function = self._declare(node.name, Kind.FUNCTION, node.span, detail, parameters)
        if node.result is not None:
            self.visit(node.result)
            self.index.types[function] = node.result
        with self._owned(function), self._inside(node.span):
            for formal in node.formals:
                self.visit(formal.type)
                for name in formal.names:
                    declared = self._declare(name, Kind.PARAMETER, formal.span, _text(formal.type))
                    self.index.types[declared] = formal.type
            self.all(node.declarations)
            self.all(node.body)

    # --- Rules -----------------------------------------------------------------------------------------------

    def _titled(self, node: syntax.Node, kind: Kind, title: str, otherwise: str, detail: str) -> Declaration:
        start = node.span.start
        word = re.compile(r"\w*").match(self.source.text, start)
        head = Span(self.source, start, start if word is None else word.end())
        made = Declaration(title or otherwise, kind, head, node.span, detail, owner=self.owner)
        return self.index.declare(made, None)

    def _rule(self, node: syntax.RuleSyntax | syntax.StartStateSyntax) -> None:
        if isinstance(node, syntax.RuleSyntax):
            self._rule_count += 1
            rule = self._titled(node, Kind.RULE, node.name, f"Rule {self._rule_count}", "rule")
        else:
            rule = self._titled(node, Kind.START, node.name, "startstate", "startstate")
        with self._owned(rule), self._inside(node.span):
            if isinstance(node, syntax.RuleSyntax):
                self.all([each for each in (node.priority, node.guard) if each is not None])
            self.all(node.declarations)
            self.all(node.body)

    def _property(self, node: syntax.PropertySyntax) -> None:
        self._titled(node, Kind.PROPERTY, node.name, node.kind, node.kind)
        self.visit(node.condition)

    def _ltl(self, node: syntax.LtlSyntax) -> None:
        self._titled(node, Kind.PROPERTY, node.name, "ltl", "ltl")
        tokens = tokenize(node.formula.alone())
        for kind, text, start, end in zip(tokens.kinds, tokens.texts, tokens.starts, tokens.ends, strict=True):
            found = self.region.find(text) if kind == IDENTIFIER else None
            if found is not None:
                self.index.use(Span(self.source, start, end), found)

    def _ruleset(self, node: syntax.RuleSet) -> None:
        with self._inside(node.span):
            self._quantifiers(node.quantifiers)
            self.all(node.rules)

    def _alias_rule(self, node: syntax.AliasRule) -> None:
        with self._inside(node.span):
            self._bindings(node.bindings)
            self.all(node.rules)

    def _choose(self, node: syntax.ChooseRule) -> None:
        self.visit(node.multiset)
        with self._inside(node.span):
            self._declare(node.name, Kind.PARAMETER, node.name.span, f"slot of {_text(node.multiset)}")
            self.all(node.rules)


def _text(node: syntax.Node) -> str:
    """Returns the text of a node on one line, cut if it is long."""
    text = " ".join(node.span.text.split())
    return text if len(text) <= 200 else text[:197] + "..."
