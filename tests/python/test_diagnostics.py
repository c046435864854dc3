"""Constructs that models cannot have are reported at their place, with a sentence and a hint."""

from __future__ import annotations

from pathlib import Path

import pytest

from outcrop.errors import ModelError
from outcrop.lang.python.lowering import lower
from outcrop.options import LoadOptions
from outcrop.source import Source

HEAD = """
import random
from collections import deque
from dataclasses import dataclass
from enum import Enum
from outcrop.model import *

class Node(Symmetric, size=3): ...
class Phase(Enum):
    IDLE = 0
    BUSY = 1
@dataclass
class Cell:
    x: Range[0, 3]
def untyped(x):
    return x

class M(Model):
    n: Range[0, 3] = 0
    phase: dict[Node, Phase] = {n: Phase.IDLE for n in Node}
    holder: Node | None
    free: set[Node]
    cell: Cell = Cell(0)
    other: Cell = Cell(1)
    @rule
    def keep(self) -> None:
        when(self.n == 0 and self.holder is None)
"""

FIELDS = [
    ("y: int = 0", "int", "int has no finite set of values", "Range[0, 7]"),
    ("y: float = 0.0", "float", "float has no finite set of values", "smallest unit"),
    ("y: str", "str", "str has no finite set of values", "use an Enum"),
    ("y: list[bool]", "list[bool]", "a list has no fixed length", "Array[bool, n]"),
    ("y: Range[3, 0] = 3", "Range[3, 0]", "Range[3, 0] is empty", "lower bound first"),
    ("y: dict[str, bool]", "dict[str, bool]", "str has no finite set of values", "Enum"),
    ("y: Bag[Cell, 2]", "Bag[Cell, 2]", "Cell is mutable", "frozen=True"),
    ("y: Bag[Phase]", "Bag[Phase]", "Bag needs a size", "Bag[Phase, 4]"),
    ("y: bool", "y", "the field 'y' has no initial value", "default"),
    ("check: bool = True", "check", "'check' is a method of every model", "another name"),
    ("y: deque[bool]", "deque[bool]", "deque cannot be the type of a field", "Bag[Message, 4]"),
    ("y: dict[Node, bool] = {}", "y", "dict[Node, bool] has 3 keys", "every key"),
    ("y: set[Node] = {}", "y", "this is dict, not set[Node]", "set()"),
    ("def __init__(self): self.n = 1", "__init__", "'__init__'", "@start"),
    ('y = ltl("G (foo)")', "foo", "unknown name 'foo'", "in braces"),
    ("y: Range[0, 3] = 4", "y", "the default of 'y' is 4, outside Range[0, 3]", ""),
    ("@rule\n    def keep(self) -> None: pass", "keep", "'keep' is defined again below", "rename"),
    (
        "@rule\n    def wrong(k: Node) -> None: pass",
        "k: Node",
        "the first parameter of a rule is 'self'",
        "self, k: Node",
    ),
    ("@rule\n    async def wrong(self) -> None: pass", "wrong", "a rule cannot be 'async'", "atomic"),
]

RULES = [
    ("self.phse = 1", "self.phse", "M has no field 'phse'", "did you mean 'phase'?"),
    ("self.n = self.n / 2", "self.n / 2", "'/'", "//"),
    ("self.n = None", "None", "'self.n' is None, not Range[0, 3]", "Range[0, 3] | None"),
    ("x = self.n == 0 and 1", "1", "an operand of 'and' must be a bool", "x != 0"),
    ("self.holder = Phase.IDLE", "Phase.IDLE", "'self.holder' is Phase, not Node | None", ""),
    ("self.holder = Node(0)", "Node(0)", "values of Node are interchangeable", "choose(...)"),
    ("self.phase[0] = Phase.IDLE", "0", "the key is int, not Node", "no numbers"),
    ("self.phase[0.5] = Phase.IDLE", "0.5", "no fractions", "smallest unit"),
    ("self.cell = self.other", "self.other", "the same Cell", "deepcopy"),
    ("if self.n: pass", "self.n", "must be a bool, not Range[0, 3]", "x != 0"),
    ("if self.holder: pass", "self.holder", "must be a bool, not Node | None", "is not None"),
    ("try: pass\n        finally: pass", "try: pass", "'try'", "'if'"),
    ("f = lambda: 1", "lambda: 1", "a lambda cannot be used here", "write a method"),
    ("self.n = random.randint(0, 3)", "random.randint(0, 3)", "'randint' cannot be called", "choose(range(...))"),
    ("self.n = untyped(1)", "x", "the parameter 'x' has no type", "annotate it"),
    ("self.n = undefined", "undefined", "unknown name 'undefined'", ""),
    ("n = true", "true", "unknown name 'true'", "write True"),
    ("self.when(self.n == 0)", "self.when", "M has no method 'when'", "without self"),
    ("return self.n == 0", "return self.n == 0", "a rule cannot return a value", "when(...)"),
    ("n = 1", "", "", ""),
    ("self.free.append(1)", "self.free.append(1)", "set[Node] has no method 'append'", "add"),
    ("self.keep()", "self.keep()", "'keep' is a rule and cannot be called", "helper"),
    ("x = [n for n in Node]", "[n for n in Node]", "a list can only be assigned", "Array"),
    ("self.n + 1", "self.n + 1", "this statement has no effect", ""),
    ("self.n++1", "self.n++1", "this statement has no effect", "write self.n += 1"),
    ("self.n == 1", "self.n == 1", "this statement has no effect", "write self.n = 1"),
    ("when(self.holder == 0)", "self.holder == 0", "Node | None and int are never equal", "no numbers"),
    ("m += 1", "m", "'m' has no value yet", "assign to it before"),
    ("cell += 1", "cell", "'cell' has no value yet", "self.cell"),
    ("assert (self.n < 3, 'few')", "(self.n < 3, 'few')", "always true", "parentheses"),
    ("when(self.n is 1)", "self.n is 1", "'is' compares objects", "=="),
    ("x = Phase.DONE", "Phase.DONE", "Phase has no attribute 'DONE'", "IDLE, BUSY"),
    ("self.holder = none", "none", "unknown name 'none'", "write None"),
    ("import os", "import os", "'import' inside a method", "top of the file"),
    ("k = choose(self.n)", "choose(self.n)", "nothing can be chosen from Range[0, 3]", "choose from a set"),
    ("for i, n in enumerate(Node): pass", "enumerate(Node)", "values of Node have no numbers", "without enumerate"),
]


def diagnose(text: str) -> ModelError | None:
    try:
        lower(Source("model.py", text), LoadOptions())
    except ModelError as error:
        return error
    return None


def expect(text: str, place: str, message: str, hint: str) -> None:
    error = diagnose(text)
    if not message:
        assert error is None
        return
    assert error is not None
    found = [each for each in error.diagnostics if message in each.message]
    assert found, str(error)
    assert found[0].span is not None
    assert hint in found[0].hint
    if place:
        assert found[0].span.text == place


@pytest.mark.parametrize(("line", "place", "message", "hint"), FIELDS, ids=[each[0] for each in FIELDS])
def test_fields(line: str, place: str, message: str, hint: str) -> None:
    expect(f"{HEAD}    {line}\n", place, message, hint)


@pytest.mark.parametrize(("line", "place", "message", "hint"), RULES, ids=[each[0] for each in RULES])
def test_statements(line: str, place: str, message: str, hint: str) -> None:
    expect(f"{HEAD}    @rule\n    def wrong(self) -> None:\n        {line}\n", place, message, hint)


@pytest.mark.parametrize("body", ["assert self.n < 4", "self.n < 4"])
@pytest.mark.parametrize("result", ["", " -> bool"])
def test_a_property_without_a_condition(body: str, result: str) -> None:
    text = f"{HEAD}    @invariant\n    def safe(self){result}:\n        {body}\n"
    expect(text, "safe", "this property returns nothing", "return its condition")


def test_several_mistakes_are_found_in_one_run() -> None:
    lines = "\n        ".join(("self.m = 1", "self.n = 1 / 2", "self.holder = 3"))
    error = diagnose(f"{HEAD}    @rule\n    def wrong(self) -> None:\n        {lines}\n")
    assert error is not None
    assert [each.span.line for each in error.diagnostics if each.span] == [30, 31, 32]


def test_a_field_of_an_impossible_type_is_one_error() -> None:
    for line in ("y: list[Phase] = [Phase.IDLE]", "y: dict[str, bool] = {'a': True}", "y: int | None = None"):
        error = diagnose(f"{HEAD}    {line}\n")
        assert error is not None
        assert len(error.diagnostics) == 1, str(error)


def test_texts_that_are_no_models() -> None:
    assert "not valid Python" in str(diagnose("class M(Model:\n"))
    assert "the file defines no model" in str(diagnose("x = 1\n"))
    assert "M has no rules" in str(diagnose("from outcrop.model import *\nclass M(Model):\n    x: bool = True\n"))
    assert "model.py:2:1: error: ZeroDivisionError" in str(diagnose("\nx = 1 / 0\n"))
    assert "ends the process" in str(diagnose("import sys\nsys.exit(3)\n"))


def test_constants_are_replaced_or_named(tmp_path: Path) -> None:
    text = "from outcrop.model import *\nN = 2\nclass M(Model):\n    size = N\n    x: Range[0, size] = 0\n"
    text += "    @rule\n    def up(self) -> None:\n        when(self.x < self.size)\n        self.x += 1\n"
    for name, states in (("N", 5), ("size", 5)):
        system, _ = lower(Source("model.py", text), LoadOptions({name: str(states - 1)}))
        assert system.variables[0].type.high == states - 1  # type: ignore[attr-defined]
        assert system.constants[name] == states - 1
    with pytest.raises(ModelError, match="has no constant 'sise'") as error:
        lower(Source("model.py", text), LoadOptions({"sise": "3"}))
    assert "did you mean 'size'?" in str(error.value)
