"""A model as the JSON document of a check describes it: its variables with their types, and its rules.

A reader needs the types to interpret the values of a trace. ITF writes both arrays and multisets as maps; only the type
distinguishes them.
"""

from __future__ import annotations

from typing import Any

from outcrop.ir.system import System
from outcrop.ir.types import BOOLEAN, Array, Enum, Multiset, Range, Real, Record, Scalarset, Simple, Type, Union


def model_document(system: System) -> dict[str, Any]:
    """Returns the variables and rules of a model, from which the lanes and messages of its charts follow."""
    return {
        "variables": [{"name": each.name, "type": type_tree(each.type)} for each in system.variables],
        "coverage": [
            {
                "name": rule.name,
                "parameters": [{"name": each.local.name, "type": type_tree(each.type)} for each in rule.parameters],
                "processes": list(rule.processes),
            }
            for rule in system.rules
        ],
    }


def type_tree(kind: Type) -> dict[str, Any]:
    """Returns a type as a tree: ``kind`` with its details, and ``text``, the type in the syntax of the model."""
    word = {"undefined": kind.undefined} if isinstance(kind, Simple) and kind.undefined != "undefined" else {}
    return {**_shape(kind), **word, "text": str(kind)}


def _shape(kind: Type) -> dict[str, Any]:
    if kind == BOOLEAN:
        return {"kind": "boolean"}
    match kind:
        case Enum():
            return {"kind": "enum", "members": list(kind.members)}
        case Range():
            labels = {"labels": list(kind.labels)} if kind.labels else {}
            return {"kind": "range", "low": kind.lower, "high": kind.upper, **labels}
        case Scalarset():
            return {"kind": "scalarset", "name": kind.name, "size": kind.size}
        case Union():
            return {"kind": "union", "members": [type_tree(member) for member in kind.members]}
        case Real():
            return {"kind": "real"}
        case Record():
            return {"kind": "record", "fields": [{"name": name, "type": type_tree(each)} for name, each in kind.fields]}
        case Array():
            return {"kind": "array", "index": type_tree(kind.index), "element": type_tree(kind.element)}
        case Multiset():
            return {"kind": "multiset", "capacity": kind.capacity, "element": type_tree(kind.element)}
    raise AssertionError(f"no such type: {kind!r}")
