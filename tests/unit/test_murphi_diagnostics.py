"""Diagnostics of the Murphi front-end for invalid and doubtful models. No text makes it hang."""

from __future__ import annotations

import pytest

from outcrop.errors import ModelError
from outcrop.lang import load_text
from outcrop.lang.murphi.language import MurphiOptions, UndefinedReads
from outcrop.lang.report import MAX_ERRORS
from outcrop.options import LoadOptions
from outcrop.source import Diagnostic, Severity

DECLARATIONS = """\
type S: scalarset(3); T: scalarset(3); Pair: record left: boolean; right: 0..3 end;
var x: 0..10; b: boolean; e: enum {A, B}; a: array [0..3] of boolean; p: Pair; s: S; t: T; m: multiset [2] of Pair;
    u: union {S, enum {C}};
procedure change(var y: 0..10); begin y := 1; end;
procedure take(y: 0..10); begin end;
function get(): 0..10; begin return x; end;
startstate begin x := 0; b := false; e := A; a[0] := b & e = A; undefine p; undefine s; undefine t; u := s; end;
"""


def errors(text: str, options: LoadOptions | None = None) -> list[Diagnostic]:
    with pytest.raises(ModelError) as refused:
        load_text(text, "test.m", options or LoadOptions())
    return [each for each in refused.value.diagnostics if each.severity is Severity.ERROR]


def warnings(text: str, options: LoadOptions | None = None) -> list[str]:
    return [each.message for each in load_text(text, "test.m", options or LoadOptions())[1]]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("x := b", "the value for 'x' is boolean, not 0..10"),
        ("e := 1", "not enum {A, B}"),
        ("s := t", "the value for 's' is T, not S"),
        ("s := 1", "not S"),
        ("a := p", "not array [0..3] of boolean"),
        ("p.middle := 1", "Pair has no field 'middle'"),
        ("x.left := b", "only records have fields"),
        ("x[0] := b", "only arrays and multisets have elements"),
        ("a[b] := true", "the index is boolean, not 0..3"),
        ("b := a[e]", "the index is enum {A, B}, not 0..3"),
        ("m[0] := p", "selected by a slot variable"),
        ("b := e < B", "'<' cannot be applied to"),
        ("b := s + 1 = 2", "'+' cannot be applied to"),
        ("b := e = x", "'=' cannot be applied to"),
        ("b := m = m", "'=' cannot be applied to"),
        ("b := x & b", "'&' cannot be applied to"),
        ("b := b | x", "'|' cannot be applied to"),
        ("x := 2 ^ true", "'^' cannot be applied to"),
        ("x := b << 1", "'<<' cannot be applied to"),
        ("b := !x", "'!' needs a boolean"),
        ("x := -b", "'-' needs a number"),
        ("x := ~e", "'~' needs an integer"),
        ("x := b ? 1 : true", "branches of '?:'"),
        ("x := x ? 1 : 2", "condition of '?:' must be a boolean"),
        ("if x then end", "condition of 'if' must be a boolean"),
        ("if b then elsif x then end", "condition of 'if' must be a boolean"),
        ("while x do end", "condition of 'while' must be a boolean"),
        ("assert x", "condition of 'assert' must be a boolean"),
        ("assume x", "condition of 'assume' must be a boolean"),
        ("cover x", "condition of 'cover' must be a boolean"),
        ("liveness b", "not a statement"),
        ("b := forall i: 0..3 do i end", "body of 'forall' must be a boolean"),
        ("switch p case p: end", "'switch' cannot select by"),
        ("switch x case A: end", "the label is enum {A, B}"),
        ("for i := 0 to 3 do i := 1; end", "a loop variable and cannot be assigned"),
        ("for i := 3 to 0 do end", "never reaches 0"),
        ("for i := 0 to 3 by -1 do end", "never reaches 3"),
        ("for i := 0 to x by 0 do end", "never ends"),
        ("for i: 3..0 do end", "the range 3..0 is empty"),
        ("for i: Pair do end", "cannot run through Pair"),
        ("for i: 0..x do end", "must be a constant"),
        ("for i := b to 3 do end", "must be an integer"),
        ("return 3", "cannot have a value"),
        ("b := isundefined(!b)", "must be a variable"),
        ("b := isundefined(A)", "must be a variable"),
        ("b := isundefined(p)", "asks about simple values"),
        ("b := ismember(x, S)", "has no member type"),
        ("b := x = undefined", "'undefined' can only be assigned"),
        ("A := B", "'A' is not a variable and cannot be assigned"),
        ("change(x + 1)", "cannot be passed to 'y'"),
        ("change(get())", "cannot be passed to 'y'"),
        ("change(p.right)", "the argument for 'y' is 0..3, not 0..10"),
        ("take(b)", "the argument for 'y' is boolean"),
        ("take()", "takes 1 argument, not 0"),
        ("x := take(1)", "is a procedure and has no value"),
        ("x := x(1)", "is a variable and cannot be called"),
        ("x := get", "is a function; a value is needed here"),
        ("x := S", "is a type; a value is needed here"),
        ("clear s", "clearing 's'"),
        ("clear u", "clearing 'u'"),
        ("alias v: 3 do v := 4; end", "cannot be assigned"),
        ("alias v: get() do v := 4; end", "an alias of a value and cannot be assigned"),
        ("multisetadd(x, m)", "the element is 0..10, not Pair"),
        ("multisetremove(x, m)", "selected by a slot variable"),
        ("x := multisetcount(i: a, true)", "not a multiset"),
        ("x := multisetcount(i: m, i = 1)", "numbers the slots"),
        ("x := 18446744073709551615 + 1", "does not fit into 64 bits"),
    ],
)
def test_a_wrong_statement_is_one_error(statement: str, message: str) -> None:
    found = errors(f"{DECLARATIONS} rule begin {statement}; end;")
    assert len(found) == 1
    assert message in found[0].message
    assert found[0].span is not None and found[0].span.line == 8


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("const c: x;", "must be a constant"),
        ("const c: get();", "must be a constant"),
        ("const c: 1 / 0;", "must be a constant"),
        ("const c: 9223372036854775807 * 3;", "64 bits"),
        ("const x: 1;", "'x' is declared twice"),
        ("type K: enum {A, D};", "'A' is declared twice"),
        ("type K: enum {D, D};", "'D' is declared twice"),
        ("type Boolean: 0..1;", "cannot be declared"),
        ("var true: 0..1;", "cannot be declared"),
        ("type K: record f: boolean; f: 0..1 end;", "two fields called 'f'"),
        ("type K: array [0..1] of K;", "'K' is used before its declaration"),
        ("type K: array [Pair] of boolean;", "cannot be indexed by Pair"),
        ("type K: array [real(3, 10)] of boolean;", "cannot be indexed by"),
        ("type K: A..3;", "must be an integer"),
        ("type K: 8..1;", "the range 8..1 is empty"),
        ("type K: x;", "'x' is a variable, not a type"),
        ("type K: scalarset(0);", "between 1 and"),
        ("type K: scalarset(x);", "must be a constant"),
        ("type K: union {S, 0..1};", "a member of a union"),
        ("type K: union {S, S};", "twice"),
        ("type K: union {S};", "at least two members"),
        ("type K: multiset [0] of boolean;", "at least 1"),
        ("type K: real(16, 10);", "digits go from 1 to 15"),
        ("function f(): 0..1; begin return; end;", "'return' needs a value"),
        ("function f(): 0..1; begin return b; end;", "the value returned by 'f' is boolean"),
        ("procedure f(); begin return 1; end;", "cannot have a value"),
        ("procedure f(y: 0..1); begin y := 1; end;", "a parameter passed by value"),
        ("procedure f(y: Pair); begin y.left := true; end;", "a parameter passed by value"),
        ("procedure f(y: 0..1); begin alias z: y do z := 1; end; end;", "a parameter passed by value"),
        ("procedure f(y: 0..1; y: 0..1); begin end;", "'y' is declared twice"),
        ("procedure f(y: 0..1); var y: 0..1; begin end;", "'y' is declared twice"),
        ("procedure f(); begin later(); end; procedure later(); begin end;", "used before its declaration"),
        ("rule x ==> end;", "the guard of a rule must be a boolean"),
        ("invariant x;", "must be a boolean"),
        ("ruleset i: 0..x do rule begin end; end;", "must be a constant"),
        ("ruleset i := 0 to x do rule begin end; end;", "must be constants"),
        ("ruleset i: Pair do end;", "cannot run through"),
        ("ruleset i: 0..3 do rule begin i := 1; end; end;", "a ruleset parameter and cannot be assigned"),
        ("alias v: unknown do rule begin end; rule begin v := 1; end; end;", "unknown name 'unknown'"),
        ("choose i: a do rule begin end; end;", "not a multiset"),
        ("choose i: m do startstate begin end; end;", "cannot choose"),
    ],
)
def test_a_wrong_item_is_one_error(item: str, message: str) -> None:
    found = errors(DECLARATIONS + item)
    assert len(found) == 1
    assert message in found[0].message


def test_independent_errors_are_all_reported_and_follow_ups_are_not() -> None:
    found = errors(
        "var y: nothing;\n"
        "function f(z: nowhere): 0..1; begin return z; end;\n"
        "rule y.a[3] = y + 1 ==> y := f(y); alias q: y do q := 1; end; end;\n"
        "rule begin unknown(y, other); end;\n"
    )
    assert [(each.span.line if each.span else 0, each.message) for each in found] == [
        (1, "unknown name 'nothing'"),
        (2, "unknown name 'nowhere'"),
        (4, "unknown procedure or function 'unknown'"),
        (4, "unknown name 'other'"),
    ]


def test_the_copies_of_an_alias_report_once() -> None:
    assert len(errors("alias v: w do rule begin end; rule begin end; end;")) == 1


def test_errors_are_capped() -> None:
    assert len(errors("\n".join(f"var v{i}: missing{i};" for i in range(100)))) == MAX_ERRORS


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("var counter: 0..3; rule couter = 1 ==> end;", "did you mean 'counter'?"),
        ("var counter: 0..3; rule Counter = 1 ==> end;", "did you mean 'counter'?"),
        ("var r: record state: 0..1 end; rule r.stat = 1 ==> end;", "did you mean 'state'?"),
        ("type Node: 0..1; var n: Nodes;", "did you mean 'Node'?"),
        ("procedure send(); begin end; rule begin sent(); end;", "did you mean 'send'?"),
        ("var b: boolen;", "did you mean 'boolean'?"),
    ],
)
def test_names_spelt_almost_alike_are_offered(text: str, hint: str) -> None:
    assert errors(text)[0].hint == hint


@pytest.mark.parametrize(
    ("constants", "message", "hint"),
    [
        ({"NODE": "4"}, "the model has no constant 'NODE'", "did you mean 'NODES'?"),
        ({"NODES": "true"}, "'NODES' is an integer in the model", ""),
        ({"NODES": "1.5"}, "'NODES' is an integer in the model", ""),
        ({"flag": "1"}, "'flag' is of type boolean in the model", ""),
        ({"NODES": ""}, "is not a constant", "a number"),
        ({"NODES": "3; var z: boolean"}, "is not a constant", "a number"),
        ({"NODES": "-1"}, "the range 0..-1 is empty", "bounds"),
        ({"NODES": "other"}, "unknown name 'other'", ""),
    ],
)
def test_wrong_constants_from_outside(constants: dict[str, str], message: str, hint: str) -> None:
    (found,) = errors("const NODES: 3; flag: true; var x: 0..NODES;", LoadOptions(constants=constants))
    assert message in found.message
    assert hint in found.hint


# --- Warnings ----------------------------------------------------------------------------------------------

_START = "startstate begin x := 0; end; "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("var x: 0..3; invariant x = 0;" + _START, "no rules"),
        ("const on: false; var x: 0..3; rule x = 0 & on ==> x := 0; end;" + _START, "can never be enabled"),
        ("var x: 0..3; rule x > 3 ==> x := 0; end;" + _START, "can never be enabled"),
        ("var x: 0..3; rule x = 0 & 4 <= x ==> x := 0; end;" + _START, "can never be enabled"),
        ("var x: 0..3; ruleset i: enum {} do rule x = 0 ==> x := 0; end; end;" + _START, "has no instances"),
        ("var x: 0..3; rule begin x := 1; end;" + _START, "'x' is never read"),
        ("var x: 0..3; rule x = 0 ==> x := 4; end;" + _START, "4 is never a value of 0..3"),
        ("var x: 0..3; rule x = 0 ==> switch x case 1: case 1: end; end;" + _START, "the same label"),
        ("var x: scalarset(3); " + _START.replace("0", "x") + "rule begin end;", "carries no symmetry"),
        (
            "var x: 0..3; function f(): boolean; begin x := 1; return true; end; rule f() ==> put x; end;" + _START,
            "'f' may change the state, and is called in a guard",
        ),
        (
            "var x: 0..3; function f(): boolean; begin put x; end; rule f() ==> x := 0; end;" + _START,
            "the function 'f' has no 'return'",
        ),
        (
            "type S: scalarset(3); var x: S; startstate begin for i: S do x := i; end; end; rule begin put x; end;",
            "the order of S matters",
        ),
    ],
)
def test_doubtful_models_get_one_warning(text: str, message: str) -> None:
    (found,) = warnings(text)
    assert message in found


def test_a_sound_loop_over_a_scalarset_gets_none() -> None:
    text = (
        "type S: scalarset(3); var a: array [S] of S; n: 0..3;"
        "startstate begin n := 0; for i: S do a[i] := i; n := n + 1; end; end;"
        "rule n = 3 ==> for i: S do if a[i] = i then undefine a[i]; end; end; end;"
    )
    assert warnings(text) == []


def test_clearing_a_scalarset_is_a_warning_with_rumurs_rules() -> None:
    text = "type S: scalarset(3); var x: S; startstate begin clear x; end; rule begin put x; end;"
    (found,) = warnings(text, LoadOptions(own=(MurphiOptions(UndefinedReads.ERROR),)))
    assert "clearing 'x'" in found
    errors(text)


# --- Sizes -------------------------------------------------------------------------------------------------


def _nested(leaf: str, width: int, depth: int) -> str:
    layers = [f"type t0: {leaf};"]
    fields = ", ".join(f"f{i}" for i in range(width))
    layers += [f"type t{i + 1}: record {fields}: t{i} end;" for i in range(depth)]
    return "\n".join(layers) + f"\nvar x, y: t{depth}; rule x = y ==> end;"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("var x: array [0..999999999999] of boolean;", "1,000,000,000,000 components"),
        ("var x: array [0..999] of array [0..999] of boolean; y: boolean;", "a state has more than"),
        ("var x: 0..99999999999999999999999999;", "does not fit into 64 bits"),
        ("var x: -9223372036854775808..9223372036854775807;", "too many values"),
        ("var x: multiset [9999999999] of boolean;", "components"),
        ("ruleset i: 0..9223372036854775806 do rule begin end; end;", "at most"),
        ("ruleset i := 9223372036854775806 to 0 by -3 do rule begin end; end;", "at most"),
        ("var x: 0..1; invariant exists i: 0..99999999999 do i = x end;", "runs through 100,000,000,000 values"),
        ("ruleset i: 0..99999; j: 0..9999 do rule begin end; end;", "1,000,000,000 instances"),
        ("type S: scalarset(4000000000); var x: S; ruleset i: S do invariant x = i; end;", "instances"),
        (_nested("record end", 4, 60), "nested too deeply"),
        (_nested("boolean", 4, 60), "components"),
        ("rule " + "(" * 20000 + "true" + ")" * 20000 + " ==> end;", "nested too deeply"),
        ("var b: boolean; rule b ==> " + "if b then " * 5000 + "end " * 5000 + "end;", "nested too deeply"),
    ],
)
def test_sizes_that_nothing_can_hold_are_refused_at_once(text: str, message: str) -> None:
    assert message in errors(text)[0].message


@pytest.mark.parametrize(
    "text",
    [
        "var x: 0..9223372036854775807; y: -9223372036854775807..9223372036854775807; rule x = y ==> end;",
        "const c: 1 << 99999999999999999; d: 1 >> 99999999999999999;",
        "var x: 0..4000000000; rule forall i: 0..4000000000 do i != x end ==> for i: 0..4000000000 do end; end;",
        "type e: enum {"
        + ", ".join(f"m{i}" for i in range(20000))
        + "}; var x: array [e] of e; rule x[m1] = m2 ==> end;",
        "const c: " + " * ".join(["0"] + ["9223372036854775807"] * 300) + ";",
    ],
)
def test_large_models_are_lowered_at_once(text: str) -> None:
    load_text(text, "test.m", LoadOptions())


def test_long_lines_are_shown_around_the_place() -> None:
    text = "var x: boolean; " + "startstate begin x := true; end; " * 4_000 + "rule y ==> begin end;" + " " * 100_000
    with pytest.raises(ModelError) as caught:
        load_text(text, "long.m", LoadOptions())
    message = str(caught.value)
    assert len(message) < 2_000
    excerpt, caret = message.splitlines()[1:3]
    assert excerpt.startswith("  ... ") and excerpt.endswith(" ...")
    assert excerpt[caret.index("^")] == "y" and caret.count("^") == 1
