"""The rule of CMurphi for undefined values, which ``--undefined permit`` follows.

CMurphi translates a simple type to a C++ class, and an assignment to a C++ assignment. Three consequences follow:

* A source that is a name (a variable, a formal, an alias of one) is tested first: an undefined value is passed on,
  whatever the types. CMurphi makes this test for names only.
* Any other source (a field, an element, a call, ``?:``) goes through the class. Those of subranges, booleans and reals
  convert the value to a number, which fails if it is undefined. Those of enumerations, scalarsets and unions copy it.
* Between two types there is a conversion to a number first. It fails for undefined subranges, booleans, reals and
  enumerations. Scalarsets and unions have their own conversion, which does not test.

A comparison converts both sides. An argument by value is converted only if the type of the formal differs, a value of
``return`` never. The front-end applies this to each read (``Undefined`` in ir/nodes.py); the engines execute it.
"""

from __future__ import annotations

from outcrop.ir.types import BOOLEAN, Enum, Range, Real, Scalarset, Type, Union

#: Bounds of the subranges that CMurphi does not treat as wide.
_NARROW = range(255)


def converts_unread(kind: Type) -> bool:
    """Returns whether CMurphi converts and compares values of this type without a test for undefined."""
    return isinstance(kind, Scalarset | Union)


def copies_unread(kind: Type) -> bool:
    """Returns whether CMurphi copies values of this type, within the type, without a test for undefined."""
    return converts_unread(kind) or (isinstance(kind, Enum) and kind is not BOOLEAN)


def is_same_type(source: Type, target: Type) -> bool:
    """Returns whether CMurphi needs no conversion. Two subranges differ as soon as they are written twice."""
    return source is target or (source == target and not isinstance(source, Range | Real))


def returns_unread(kind: Type) -> bool:
    """Returns whether a function may return an undefined value of this type: not if its subrange is a wide one."""
    return not isinstance(kind, Range) or (kind.low in _NARROW and kind.high in _NARROW)
