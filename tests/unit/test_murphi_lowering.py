"""The lowering of Murphi models: types, undefined reads, frames, rules, constants from the command line."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from outcrop.api import read_source
from outcrop.errors import ModelError, UsageError
from outcrop.ir import nodes
from outcrop.ir.nodes import BinaryOperator, Undefined
from outcrop.ir.system import PropertyKind, System
from outcrop.ir.types import BOOLEAN, Enum, Range, Scalarset, Union
from outcrop.lang import front_end, load_text
from outcrop.lang.murphi.language import MurphiOptions, UndefinedReads
from outcrop.lang.while_limit import LoopOptions
from outcrop.options import LoadOptions
from outcrop.source import Diagnostic

Node = TypeVar("Node")
ERROR_MODE = LoadOptions(own=(MurphiOptions(UndefinedReads.ERROR),))


def lower(text: str, options: LoadOptions | None = None) -> System:
    return load_text(text, "test.m", options or LoadOptions())[0]


def body_of(statements: str, declarations: str = "", options: LoadOptions | None = None) -> tuple[nodes.Statement, ...]:
    """Returns the lowered statements of the body of a rule."""
    return lower(f"{declarations} rule begin {statements} end;", options).rules[0].body


def guard_of(guard: str, declarations: str = "", options: LoadOptions | None = None) -> Any:
    return lower(f"{declarations} rule {guard} ==> end;", options).rules[0].guard


def every(root: object, kind: type[Node]) -> Iterator[Node]:
    """Returns all nodes of a kind under ``root``."""
    if isinstance(root, kind):
        yield root
    if isinstance(root, tuple):
        for each in root:
            yield from every(each, kind)
    elif is_dataclass(root) and isinstance(root, nodes.Place | nodes.Expression | nodes.Statement | nodes.StepDomain):
        for field in fields(root):
            if field.name not in ("type", "span"):
                yield from every(getattr(root, field.name), kind)


# --- Types and constants -----------------------------------------------------------------------------------


def test_variables_lie_one_after_the_other() -> None:
    system = lower("type P: record a, b: 0..3; c: boolean end; var p: P; q: array [1..2] of P; x: enum {A, B};")
    assert [(v.name, v.offset, v.type.leaf_count) for v in system.variables] == [("p", 0, 3), ("q", 3, 6), ("x", 9, 1)]
    assert system.variables[2].type == Enum(("A", "B"))


def test_types_are_compared_by_structure_and_named_scalarsets_by_declaration() -> None:
    lower("type P: record a: 0..3 end; Q: record a: 0..3 end; var p: P; q: Q; rule p = q ==> p := q; end;")
    lower("var p: scalarset(3); q: scalarset(3); rule p = q ==> p := q; end;")
    with pytest.raises(ModelError):
        lower("type S: scalarset(3); T: scalarset(3); var p: S; q: T; rule p = q ==> end;")
    with pytest.raises(ModelError):
        lower("var p: record a: 0..3 end; q: record a: 0..4 end; rule p = q ==> end;")


def test_each_name_of_a_scalarset_declaration_is_a_symmetry() -> None:
    system = lower("type S, T: scalarset(2); var p: S; q: T;")
    assert [each.name for each in system.scalarsets] == ["S", "T"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 + 3 * 4", 14),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("7 % -2", 1),
        ("9223372036854775807 + 1 - 1", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("1 << 63", -(2**63)),
        ("1 << 64", 0),
        ("-1 >> 70", -1),
        ("4 << -1", 2),
        ("6 & 3 | 8 ^ 1", 11),
        ("~0", -1),
        ("true ? 3 : 1 / 0", 3),
        ("0 * 2", 0),
        ("0x10", 16),
        ("1.5 * 2", 3.0),
        ("2 < 3", "true"),
    ],
)
def test_constants_are_folded(text: str, value: object) -> None:
    assert lower(f"const c: {text};").constants == {"c": value}


@pytest.mark.parametrize("bound", ["0 * f()", "f() * 0", "0 / f()", "0 % f()", "0 & f()", "f() & 0", "0 << f()"])
def test_a_bound_that_one_operand_decides_is_constant(bound: str) -> None:
    system = lower(f"function f(): 0..1; begin return 1; end; var x: {bound} .. 3;")
    assert system.variables[0].type == Range(0, 3)


def test_a_division_by_zero_outside_a_constant_is_left_to_run_time() -> None:
    (assign,) = body_of("x := 1 / 0;", "var x: 0..3;")
    assert next(every(assign, nodes.Binary)).operator is BinaryOperator.DIVIDE


def test_constants_from_outside() -> None:
    text = "type E: enum {P, Q}; const n: 3; m: n + 1; e: P; f: false; r: 1.5; var x: 0..m;"
    given = {"n": "2 * 5", "e": "Q", "f": "true", "r": "2"}
    system = lower(text, LoadOptions(constants=given))
    assert system.constants == {"n": 10, "m": 11, "e": "Q", "f": "true", "r": 2.0}
    assert system.variables[0].type == Range(0, 11)


def test_integers_become_reals_and_members_become_union_values() -> None:
    (real,) = body_of("x := i;", "var x: real(4, 99); i: 0..3;")
    assert isinstance(next(every(real, nodes.Convert)).operand, nodes.Load)
    declarations = "type S: scalarset(2); U: union {S, enum {A}}; var u: U; s: S; a: array [U] of boolean;"
    constant, widened, narrowed, indexed = body_of("u := A; u := s; s := u; a[s] := true;", declarations)
    assert next(every(constant, nodes.Constant)).value == 2
    assert isinstance(next(every(widened, nodes.Convert)).type, Union)
    assert isinstance(next(every(narrowed, nodes.Convert)).type, Scalarset)
    assert len(list(every(indexed, nodes.Convert))) == 1


# --- Undefined values --------------------------------------------------------------------------------------

_UNDEFINED = "type S: scalarset(2); var x, y: 0..3; s, t: S; b: boolean; a: array [0..3] of boolean;o: record f: S end;"


def reads(text: str, options: LoadOptions | None = None) -> set[Undefined]:
    return {load.undefined for load in every(body_of(text, _UNDEFINED, options), nodes.Load)}


@pytest.mark.parametrize(
    ("statement", "permit", "error"),
    [
        ("x := y;", Undefined.NOTE, Undefined.ERROR),
        ("b := a[0];", Undefined.ERROR, Undefined.ERROR),
        ("t := o.f;", Undefined.NOTE, Undefined.ERROR),
        ("s := t;", Undefined.NOTE, Undefined.ERROR),
        ("b := s = t;", Undefined.NOTE, Undefined.ERROR),
        ("switch s case t: end;", Undefined.NOTE, Undefined.ERROR),
        ("x := y + 1;", Undefined.ERROR, Undefined.ERROR),
        ("b := x = y;", Undefined.ERROR, Undefined.ERROR),
        ("if b then end;", Undefined.ERROR, Undefined.ERROR),
        ("switch x case 1: end;", Undefined.ERROR, Undefined.ERROR),
        ("a[x] := true;", Undefined.ERROR, Undefined.ERROR),
    ],
)
def test_what_a_read_of_undefined_means(statement: str, permit: Undefined, error: Undefined) -> None:
    assert reads(statement) == {permit}
    assert reads(statement, ERROR_MODE) == {error}


@pytest.mark.parametrize("options", [LoadOptions(), ERROR_MODE])
def test_arguments_by_value_may_be_undefined(options: LoadOptions) -> None:
    text = "type T: 0..3; var x: T; procedure p(a: T); begin end; rule begin p(x); p(undefined); end;"
    first, second = every(lower(text, options).rules[0].body, nodes.Call)
    assert isinstance(first.arguments[0], nodes.Load) and first.arguments[0].undefined is Undefined.ALLOW
    assert isinstance(second.arguments[0], nodes.Constant) and second.arguments[0].value is None


@pytest.mark.parametrize(("options", "meaning"), [(LoadOptions(), Undefined.ERROR), (ERROR_MODE, Undefined.ALLOW)])
def test_an_argument_that_cmurphi_converts_must_be_defined(options: LoadOptions, meaning: Undefined) -> None:
    text = "var x: 0..3; procedure p(a: 0..9); begin end; rule begin p(x); end;"
    (call,) = every(lower(text, options).rules[0].body, nodes.Call)
    assert isinstance(call.arguments[0], nodes.Load) and call.arguments[0].undefined is meaning


def test_assigning_undefined_undefines() -> None:
    assert [type(each) for each in body_of("x := undefined; r := UNDEFINED;", "var x: 0..3; r: record end;")] == [
        nodes.Undefine,
        nodes.Undefine,
    ]


def test_a_model_may_call_something_undefined() -> None:
    (assign,) = body_of("x := undefined;", "var x, undefined: 0..3;")
    assert isinstance(assign, nodes.Assign)


# --- Rules -------------------------------------------------------------------------------------------------


def test_parameters_come_first_and_instances_vary_the_last_fastest() -> None:
    system = lower(
        "var a: array [0..1] of 0..9;"
        "ruleset i: 0..1 do alias v: a[a[i]] do ruleset j := 5 to 1 by -2 do"
        ' rule "r" v = j ==> var k: boolean; begin k := true; end; end; end; end;'
    )
    (rule,) = system.rules
    assert [local.name for local in rule.frame.locals] == ["i", "j", "v", "k"]
    assert [local.index for local in rule.frame.locals] == [0, 1, 2, 3]
    assert list(rule.instances())[:4] == [(0, 5), (0, 3), (0, 1), (1, 5)]
    assert isinstance(rule.guard, nodes.Let)
    assert isinstance(rule.body[0], nodes.Bind) and rule.body[0].local.is_reference


def test_an_alias_that_cannot_move_is_its_place() -> None:
    system = lower(
        "var a: array [0..1] of 0..9; ruleset i: 0..1 do alias v: a[i] do rule v = 1 ==> v := 2; end; end; end;"
    )
    (rule,) = system.rules
    assert not list(every(rule.body, nodes.Bind))
    assert isinstance(next(every(rule.body, nodes.Assign)).target, nodes.IndexPlace)
    # The index may change while the alias is in scope, so that the place must be fixed at entry.
    bind, assign, use = body_of("alias v: a[i] do i := 0; v := 2; end;", "var a: array [0..1] of 0..9; i: 0..1;")
    assert isinstance(bind, nodes.Bind) and isinstance(assign, nodes.Assign)
    assert isinstance(use, nodes.Assign) and isinstance(use.target, nodes.LocalPlace)


def test_an_alias_of_a_constant_may_bound_a_ruleset() -> None:
    system = lower("const n: 2; alias m: n do ruleset i: 0..m do rule begin end; end; end;")
    assert system.rules[0].instance_count == 3


def test_choose_asks_first_whether_the_slot_is_used() -> None:
    system = lower("var m: multiset [4] of 0..3; choose i: m do rule m[i] = 1 ==> multisetremove(i, m); end; end;")
    (rule,) = system.rules
    assert rule.parameters[0].values == range(4)
    assert isinstance(rule.guard, nodes.Binary) and rule.guard.operator is BinaryOperator.AND
    assert isinstance(rule.guard.left, nodes.SlotUsed)
    assert isinstance(rule.body[0], nodes.MultisetRemove)


def test_unnamed_things_are_numbered() -> None:
    system = lower(
        'var b: boolean; startstate begin b := true; end; rule "x" b ==> end; rule b ==> end;'
        'invariant b; invariant "named" b; invariant b; cover b; liveness b; assume b;'
    )
    assert [each.name for each in system.rules] == ["x", "Rule 2"]
    assert [each.name for each in system.start_states] == ["Startstate 1"]
    assert [each.name for each in system.of_kind(PropertyKind.INVARIANT)] == ["Invariant 1", "named", "Invariant 3"]
    assert [each.name for each in system.covers] == ["Cover 1"]


def test_a_true_guard_is_no_guard() -> None:
    assert guard_of("true") is None
    assert guard_of("true & b", "var b: boolean;").type is BOOLEAN


def test_several_quantifiers_nest() -> None:
    guard = guard_of("forall i: boolean; j: 0..1 do a[i] = j end", "var a: array [boolean] of 0..1;")
    assert isinstance(guard, nodes.Quantified) and isinstance(guard.body, nodes.Quantified)
    (loop,) = body_of("for i: 0..1; j := 1 to x do x := j; end;", "var x: 0..9;")
    assert isinstance(loop, nodes.For) and isinstance(loop.body[0], nodes.For)
    assert loop.body[0].variable.type == Range(0, 9)


# --- Functions and frames ----------------------------------------------------------------------------------


def functions(text: str) -> dict[str, Any]:
    return {each.name: each for each in lower(text).functions}


def test_which_functions_write_the_state() -> None:
    found = functions(
        "var x: 0..3;"
        "procedure local_only(); var y: 0..3; begin y := 1; alias z: y do z := 2; end; end;"
        "procedure direct(); begin x := 1; end;"
        "procedure through(var y: 0..3); begin y := 1; end;"
        "procedure reads(var y: 0..3); begin put y; end;"
        "procedure calls(); begin direct(); end;"
        "procedure passes(); begin reads(x); end;"
        "function again(n: 0..3): 0..3; begin if n = 0 then return 0; end; return again(n - 1); end;"
    )
    writers = {name for name, each in found.items() if each.writes_state}
    assert writers == {"direct", "through", "calls"}
    assert {name for name, each in found.items() if each.is_recursive} == {"again"}


def test_which_locals_are_addressed() -> None:
    found = functions(
        "procedure by_reference(var y: 0..3); begin end;"
        "procedure p(v: 0..3; r: record a: 0..3 end); var plain, passed: 0..3; i: 0..1; l: array [0..1] of 0..3;"
        "begin by_reference(passed); alias z: l[i] do z := 1; end; plain := v; end;"
    )
    addressed = {local.name for local in found["p"].frame.locals if local.is_addressed}
    assert addressed == {"r", "passed", "l"}
    assert [local.name for local in found["p"].frame.locals][:2] == ["v", "r"]


def test_scopes() -> None:
    lower("type t: 0..1; function f(t: boolean): t; begin return 0; end;")
    lower("procedure f(a: enum {A, B}); begin end; procedure g(a: enum {A, B}); begin f(A); end;")
    lower(
        "var i: 0..3; ruleset i: boolean do ruleset i: 0..1 do"
        " rule i = 1 ==> var i: boolean; begin i := true; end; end; end;"
    )
    lower("rule begin for i: 0..1 do end; for i: boolean do end; end;")


def test_a_function_result_has_parts() -> None:
    bind, use = body_of(
        "alias r: f() do x := r.a; end;",
        "var x: 0..3; function f(): record a: 0..3 end; var r: record a: 0..3 end; begin return r; end;",
    )
    assert isinstance(bind, nodes.Bind) and not bind.local.is_reference
    assert isinstance(use, nodes.Assign)


def test_the_while_limit_comes_from_the_options() -> None:
    (loop,) = body_of("while true do end;", options=LoadOptions(own=(LoopOptions(7),)))
    assert isinstance(loop, nodes.While) and loop.limit == 7


# --- Outside models ----------------------------------------------------------------------------------------


def test_other_suffixes_are_refused() -> None:
    with pytest.raises(UsageError, match="suffix"):
        front_end("model.txt")


def load(path: Path, options: LoadOptions) -> tuple[System, list[Diagnostic]]:
    return front_end(path.name)(read_source(path), options)


def test_every_outside_model_is_lowered(shared: Path) -> None:
    paths = sorted((shared / "models" / "murphi").glob("**/*.m"))
    assert paths
    for path in paths:
        system, warnings = load(path, LoadOptions())
        assert system.rules and len(warnings) < 5, path


def test_conformance_models_are_accepted_or_refused(shared: Path) -> None:
    table = shared / "conformance" / "EXPECTED.csv"
    wrong = []
    with table.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            try:
                load(table.parent / "murphi" / row["file"], ERROR_MODE)
                refused = False
            except ModelError:
                refused = True
            if refused != (row["expect"] == "reject"):
                wrong.append(row["file"])
    assert not wrong
