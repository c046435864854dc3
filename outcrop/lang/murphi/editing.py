"""The services of the Murphi front-end for editors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from outcrop.errors import ModelError
from outcrop.ir.layout import size
from outcrop.ir.types import BOOLEAN, INTEGER, Simple, Type
from outcrop.lang.editing import Declaration, Editing, Facts, Highlighting, Index
from outcrop.lang.murphi.expressions import REAL_FUNCTIONS
from outcrop.lang.murphi.index import MurphiIndex, index
from outcrop.lang.murphi.layout import layout
from outcrop.lang.murphi.lexer import KEYWORDS
from outcrop.lang.murphi.lowering import global_symbols
from outcrop.lang.murphi.parser import parse_expression
from outcrop.lang.murphi.parser_cursor import CONTEXTUAL
from outcrop.lang.murphi.scope import ConstantSymbol, TypeSymbol, VariableSymbol
from outcrop.lang.murphi.syntax import (
    ArrayType,
    CallOperation,
    ElementAccess,
    Expression,
    FieldAccess,
    Identifier,
    MultisetType,
    TypeExpression,
)
from outcrop.source import Span

#: A designator that ends with a dot, read from its end.
_DESIGNATOR = re.compile(r"[A-Za-z]\w*(?:\s*\.\s*[A-Za-z]\w*|\s*\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\s*\.\s*\w*\Z")
_BUILTINS = {
    "true": "the boolean true",
    "false": "the boolean false",
    **dict.fromkeys(sorted(CONTEXTUAL), "a word of the language where it is not declared"),
    "ltl": "begins a formula of linear temporal logic",
    "real": "real(digits, exponent): a decimal number",
    **{name: f"function on reals with {count} argument{'s' * (count > 1)}" for name, count in REAL_FUNCTIONS.items()},
}


def facts(known: Index) -> Mapping[Declaration, Facts]:
    """Returns the types and values of the names of the top level, and of the members of their enumerations."""
    assert isinstance(known, MurphiIndex)
    try:
        symbols = global_symbols(known.tree, known.source)
    except RecursionError:
        return {}
    found: dict[Declaration, Facts] = {}
    for name, declaration in known.root.names.items():
        match symbols.get(name):
            case ConstantSymbol(value=value) if isinstance(value.type, Simple) and value.value is not None:
                kind = "" if value.type is INTEGER else str(value.type)
                found[declaration] = Facts(kind, value.type.show(value.value))
            case TypeSymbol(type=kind):
                found[declaration] = Facts(_structure(kind), "", size(kind))
            case VariableSymbol(variable=variable):
                found[declaration] = Facts(_structure(variable.type), "", size(variable.type))
    return found


def _structure(kind: Type) -> str:
    """Returns what the name of a type stands for."""
    made: Any = kind
    with suppress(TypeError):
        made = kind if kind is BOOLEAN else replace(made, name="")
    return str(made)


def members(known: Index, offset: int) -> list[Declaration]:
    """Returns the fields of the record whose designator ends with the dot before ``offset``."""
    assert isinstance(known, MurphiIndex)
    text = known.source.text
    start = max(0, offset - 400)
    match = None
    for begin in re.finditer(r"(?<![\w.])[A-Za-z]", text[start:offset]):
        match = _DESIGNATOR.match(text, start + begin.start(), offset)
        if match is not None:
            break
    if match is None:
        return []
    end = text.rindex(".", match.start(), offset)
    try:
        node = parse_expression(Span(known.source, match.start(), end))
    except ModelError:
        return []
    return list(known.members(_type_of(known, node, offset)).values())


def _type_of(known: MurphiIndex, node: Expression, offset: int) -> TypeExpression | None:
    match node:
        case Identifier(name=name):
            found = known.region(offset).find(name)
            return None if found is None else known.types.get(found)
        case CallOperation(name=called):
            found = known.region(offset).find(called.text)
            return None if found is None else known.types.get(found)
        case ElementAccess(base=base):
            around = known.structure(_type_of(known, base, offset))
            return around.element if isinstance(around, ArrayType | MultisetType) else None
        case FieldAccess(base=base, field=name):
            field = known.members(_type_of(known, base, offset)).get(name.text)
            return None if field is None else known.types.get(field)
    return None


EDITING = Editing(
    identifier="murphi",
    keywords=KEYWORDS,
    highlighting=Highlighting(
        types=frozenset(("array", "boolean", "enum", "multiset", "real", "record", "scalarset", "union")),
        constants=frozenset(("true", "false", "undefined")),
        functions=frozenset(("isundefined", "ismember", *REAL_FUNCTIONS, *(CONTEXTUAL - {"multiset", "undefined"}))),
        line_comment="--",
        ignores_case=True,
    ),
    builtins=_BUILTINS,
    index=index,
    facts=facts,
    members=members,
    layout=layout,
)
