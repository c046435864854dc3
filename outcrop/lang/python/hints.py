"""Constructs of Python that models do not have, each as a message names it and with what to do instead."""

from __future__ import annotations

import ast
import enum

#: Name and hint by syntax node.
NODES: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lambda: ("a lambda", "write a method, or a function of the module, with annotations"),
    ast.Try: ("'try'", "test for the case with 'if': models raise nothing"),
    ast.With: ("'with'", "leave it out: a rule is one atomic step, and nothing has to be closed or locked"),
    ast.AsyncFor: ("'async'", "a rule is one atomic step"),
    ast.AsyncWith: ("'async'", "a rule is one atomic step"),
    ast.Await: ("'await'", "a rule is one atomic step; write two rules and a phase between them"),
    ast.Yield: ("'yield'", "a rule is one atomic step"),
    ast.YieldFrom: ("'yield'", "a rule is one atomic step"),
    ast.Global: ("'global'", "use a field of the model"),
    ast.Nonlocal: ("'nonlocal'", "use a field of the model"),
    ast.Import: ("'import' inside a method", "import at the top of the file"),
    ast.ImportFrom: ("'import' inside a method", "import at the top of the file"),
    ast.FunctionDef: ("a function inside a method", "write a method, or a function of the module"),
    ast.AsyncFunctionDef: ("'async def'", "a rule is one atomic step"),
    ast.ClassDef: ("a class inside a method", "define it at the top of the file"),
    ast.Delete: ("'del'", "assign None to a field that is declared with '| None', or use discard()"),
    ast.JoinedStr: ("an f-string", "use strings only in the messages of 'assert' and 'print'"),
    ast.Starred: ("'*'", "write the parts out"),
    ast.GeneratorExp: ("a generator", "use it inside all(), any(), sum(), min() or max()"),
    ast.NamedExpr: ("':='", "assign in a statement of its own"),
    ast.Slice: ("a slice", "pick one element, or write a comprehension"),
    ast.ListComp: ("a list", "assign it to a field declared Array[..., n]: a sequence has a fixed length"),
    ast.List: ("a list", "assign it to a field declared Array[..., n]: a sequence has a fixed length"),
    ast.Dict: ("a dict", "assign it to a field declared dict[..., ...]"),
    ast.DictComp: ("a dict", "assign it to a field declared dict[..., ...]"),
    ast.Set: ("a set", "assign it to a field declared set[...]"),
    ast.SetComp: ("a set", "assign it to a field declared set[...]"),
}

PROPOSITIONS = "write a bool field, a method that returns bool, or any expression in braces: {count > 1}"

#: Names of other languages, each with the remedy.
NAMES: dict[str, str] = {
    "true": "write True",
    "false": "write False",
    "null": "write None",
    "none": "write None",
    "undefined": "write None, and declare the field with '| None'",
    "this": "write self",
}

#: Built-in functions, and functions of the standard library, that people would like to call.
CALLS: dict[str, str] = {
    "list": "declare a sequence of fixed length: Array[..., n]",
    "sorted": "iterate over the values in their own order",
    "map": "write a generator: all(f(x) for x in ...)",
    "filter": "write a generator with 'if'",
    "zip": "iterate over the keys, and index both",
    "next": "choose any value that satisfies a condition with choose(...) and when(...)",
    "iter": "use 'for'",
    "isinstance": "compare with 'is', or match",
    "input": "use choose(...): a model has no input",
    "open": "write constants in the model: it cannot read files",
    "str": "use an Enum: models have no strings",
    "float": "count in the smallest unit: models have no fractions",
    "round": "divide with //: models have no fractions",
    "hash": "compare values with ==",
    "id": "compare values with ==",
    "getattr": "write the name of the field",
    "setattr": "write the name of the field",
    "reversed": "write range(n - 1, -1, -1)",
    "random": "use choose(...): every possibility is explored",
    "choice": "use choose(...): every possibility is explored",
    "randint": "use choose(range(...)): every possibility is explored",
    "sleep": "write a rule that may happen at any moment: time is not modelled",
    "time": "write a rule that may happen at any moment: time is not modelled",
    "super": "call the helper by its own name",
}

#: Methods of containers that ours do not have.
METHODS: dict[str, str] = {
    "append": "keep a count, and assign to the element: a sequence has a fixed length",
    "pop": "choose an element with choose(...), then remove() it",
    "popleft": "keep a count, and assign to the elements: a sequence has a fixed length",
    "get": "write d[key]: every key has a value",
    "setdefault": "write d[key]: every key has a value",
    "union": "write a | b",
    "intersection": "write a & b",
    "difference": "write a - b",
    "issubset": "write a <= b",
    "issuperset": "write a >= b",
    "copy": "write copy(x), from the module copy",
    "append_left": "",
    "extend": "add the elements one by one",
    "index": "iterate with range(...)",
}


def members_of(found: object) -> str:
    """Returns a hint that lists the members of an Enum; "" for everything else."""
    return f"it has {', '.join(list(found.__members__)[:12])}" if isinstance(found, enum.EnumMeta) else ""
