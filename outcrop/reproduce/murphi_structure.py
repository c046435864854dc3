"""The structure of scalarsets in the types of a model, and the order in which Murphi processes its variables."""

from __future__ import annotations

from enum import IntEnum

from outcrop.ir.nodes import Variable
from outcrop.ir.system import System
from outcrop.ir.types import Array, Multiset, Record, Scalarset, Simple, Type, Union
from outcrop.lang.murphi.parser import parse
from outcrop.lang.murphi.syntax import (
    ArrayType,
    ConstDeclaration,
    EnumType,
    MultisetType,
    RecordType,
    TypeDeclaration,
    TypeExpression,
    TypeName,
    UnionType,
    VarDeclaration,
)

#: A scalarset that values of a leaf may belong to, with the packed form of its first value, less one.
Part = tuple[Scalarset, int]


class Structure(IntEnum):
    """Places of scalarsets in a type; variables are processed in this order."""

    NONE = 0
    VARIABLE = 1  #: as values, outside arrays that a scalarset indexes
    PLAIN_ARRAY = 2  #: as an index of plain elements
    PLAIN_MULTISET = 3  #: not at all, but in a multiset
    ARRAY = 4  #: as an index of elements that contain scalarset values
    COMPLEX = 6


def parts(kind: Type) -> list[Part]:
    """Returns the scalarsets of more than one value among the values of a simple type, the last one first, as in
    Murphi."""
    if isinstance(kind, Scalarset):
        return [(kind, 0)] if kind.size > 1 else []
    found: list[Part] = []
    if isinstance(kind, Union):
        start = 0
        for member in kind.members:
            if isinstance(member, Scalarset) and member.size > 1:
                found.insert(0, (member, start))
            start += member.cardinality
    return found


def structure(kind: Type) -> Structure:
    if isinstance(kind, Simple):
        return Structure.VARIABLE if parts(kind) else Structure.NONE
    if isinstance(kind, Record):
        return max((structure(each) for _, each in kind.fields), default=Structure.NONE)
    if isinstance(kind, Multiset):
        is_plain = structure(kind.element) is Structure.NONE
        return Structure.PLAIN_MULTISET if is_plain else Structure.COMPLEX
    assert isinstance(kind, Array)
    element = structure(kind.element)
    if not parts(kind.index):
        return element
    known = {Structure.NONE: Structure.PLAIN_ARRAY, Structure.VARIABLE: Structure.ARRAY}
    return known.get(element, Structure.COMPLEX)


def in_murphis_order(system: System) -> list[Variable]:
    """Returns the variables by structure. Murphi sorts them again for each name that the model declares, and each time
    reverses the order of those with the same structure; names that it makes up for unnamed types count as well."""
    found: list[Variable] = []
    variables = {each.name: each for each in system.variables}
    for name in _declared_names(system):
        if name in variables:
            found.insert(0, variables[name])
        found = [each for number in Structure for each in reversed(found) if structure(each.type) is number]
    return found


def _declared_names(system: System) -> list[str]:
    """Returns the names of variables in the order of the text, and an empty one for each other name after the first
    variable. Earlier names make no difference."""
    names: list[str] = []
    syntax, _ = parse(system.source)
    for item in syntax.items:
        if isinstance(item, ConstDeclaration | TypeDeclaration) and names:
            inner = _inner_names(item.type) if isinstance(item, TypeDeclaration) else 0
            names += [""] * (inner + len(item.names))
        elif isinstance(item, VarDeclaration):
            names += [""] * _inner_and_own_names(item.type)
            names += [each.text for each in item.names]
    return names


def _inner_names(kind: TypeExpression) -> int:
    """Returns the number of names that Murphi makes up for the parts of a type, and for enumeration values."""
    if isinstance(kind, EnumType):
        return len(kind.members)
    if isinstance(kind, RecordType):
        return sum(_inner_and_own_names(each) for _, each in kind.fields)
    if isinstance(kind, ArrayType):
        return _inner_names(kind.index) + _inner_and_own_names(kind.element)
    if isinstance(kind, MultisetType):
        return _inner_and_own_names(kind.element)
    if isinstance(kind, UnionType):
        return sum(_inner_names(member) for member in kind.members)
    return 0


def _inner_and_own_names(kind: TypeExpression) -> int:
    return _inner_names(kind) + (not isinstance(kind, TypeName))
