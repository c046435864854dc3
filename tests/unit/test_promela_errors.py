"""Errors that SPIN reports as well: in the text of a model, in messages with too few values, and in never claims."""

from __future__ import annotations

import re

import pytest

import outcrop
from outcrop.errors import ModelError

_CHANNELS = "chan c = [1] of { byte, byte }; chan r = [0] of { byte, byte }; byte x; "
_TOGGLE = "byte x; active proctype P() { do :: x = 1 - x od } "


def verdict_of(text: str, **options: bool) -> str:
    return str(outcrop.loads(text, "m.pml", **options).check(engine="interpreter", deadlock="off").verdict)


@pytest.mark.parametrize(
    ("statements", "verdict"),
    [
        ("c!1,2; c?x,_", "holds"),
        ("c!1; c?x,_", "violated"),
        ("c!!1; c?x,_", "violated"),
        ("chan v = c; v!1; c?x,_", "violated"),
        ("c!1,2; c?x", "violated"),
        ("c!1,2; c?1", "violated"),
        ("c!1,2; c??x", "violated"),
        ("c!1,2; c?<x>; c??<1>; c?[1]; c?x,_", "holds"),
        ("if :: false -> c!1 :: else fi", "holds"),
    ],
)
def test_messages_have_as_many_values_as_their_channel(statements: str, verdict: str) -> None:
    text = f"{_CHANNELS} active proctype P() {{ {statements} }}"
    assert verdict_of(text) == verdict
    assert verdict_of(text, assertions=False) == "holds"


@pytest.mark.parametrize(("send", "receive"), [("r!1", "r?x,_"), ("r!1,2", "r?x"), ("r!1,2", "r?1")])
def test_a_rendezvous_has_as_many_values_as_its_channel(send: str, receive: str) -> None:
    text = f"{_CHANNELS} active proctype P() {{ {send} }} active proctype Q() {{ {receive} }}"
    result = outcrop.loads(text, "m.pml").check(engine="interpreter", deadlock="off")
    assert [each.message for each in result.violations] == ["the messages of channel 'r' have 2 values, not 1"]


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("do :: x == 1 -> assert(x == 1) :: else od", "violated"),  # the process moves in between
        ("do :: x == 1 -> assert(x == 0) :: else od", "holds"),
        ("do :: atomic { x == 1 -> assert(x == 0) } :: else od", "violated"),
        ("do :: atomic { x == 1 -> assert(x == 1) } :: else od", "holds"),
        ("do :: assert(x < 2) od", "holds"),
        ("do :: assert(x == 0) :: else -> assert(false) od", "violated"),
        ("do :: atomic { x == 1 -> x == 0 } -> break :: else od", "holds"),
        ("do :: atomic { x == 1 -> x == 1 } -> break :: else od", "violated"),
        ("do :: atomic { true -> if :: x == 1 -> x == 1 :: x == 0 -> assert(x == 1) fi } od", "violated"),
        ('do :: printf("x") od', "holds"),
        # What spin -f writes for [] (x == 0) and [] (x < 2).
        ("T: do :: atomic { (!(x == 0)) -> assert(!(!(x == 0))) } :: (1) -> goto T od; accept_all: skip", "violated"),
        ("T: do :: atomic { (!(x < 2)) -> assert(!(!(x < 2))) } :: (1) -> goto T od; accept_all: skip", "holds"),
    ],
)
def test_assertions_of_never_claims_are_checked(claim: str, verdict: str) -> None:
    assert verdict_of(f"{_TOGGLE} never {{ {claim} }}") == verdict


def test_assertions_of_never_claims_can_be_left_out() -> None:
    assert verdict_of(f"{_TOGGLE} never {{ do :: assert(x == 0) od }}", assertions=False) == "holds"


def test_an_endless_atomic_sequence_of_a_claim_is_refused() -> None:
    with pytest.raises(ModelError, match="an atomic sequence of a never claim is too long"):
        outcrop.loads(f"{_TOGGLE} never {{ atomic {{ do :: true :: false -> break od }} }}", "m.pml")


def test_a_result_needs_a_variable() -> None:
    with pytest.raises(ModelError, match="'return' stands outside of any inline whose value is stored"):
        outcrop.loads("inline f(a) { return a } active proctype P() { f(1) }", "m.pml")


_BODY = "byte x, y; active proctype P() {{ {} }}"


@pytest.mark.parametrize(
    "text",
    [
        'c_decl { \\#include "a.h" typedef struct { int a; } T; } byte x; active proctype P() { x = 1 }',
        _BODY.format("c_code [now.x > 0] { char c = '\\n'; if (c) { now.x++; } }; x = 1"),
        _BODY.format("do :: c_expr { now.x $ 3 } -> x = 1 od"),
        _BODY.format("x = c_expr { `now.x` } + 1"),
    ],
)
def test_embedded_c_is_refused_once_at_its_place(text: str) -> None:
    with pytest.raises(ModelError) as caught:
        outcrop.loads(text, "m.pml")
    (found,) = caught.value.diagnostics
    assert found.span is not None
    assert "is not supported: it is C, not Promela" in found.message
    assert found.span.text in ("c_decl", "c_code", "c_expr")
    assert found.hint


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        ("x = 1 y = 2", "expected ';' or '->' before the next statement, found 'y'"),
        ("(x == 0) (y == 0)", "expected ';' or '->' before the next statement, found '('"),
        ("if :: x = 1 fi y = 2", "expected ';' or '->' before the next statement, found 'y'"),
        ("if :: else -> x = 1 :: else -> y = 1 fi", "there are two options 'else'"),
        ("x!1", "'x' is not a channel"),
        ("xs x; x = 1", "'x' is not a channel"),
        ("chan c = [1] of { byte, byte }; c?x,y; c?x,x", "'x' takes two values of this message"),
    ],
)
def test_what_spin_refuses(statements: str, message: str) -> None:
    with pytest.raises(ModelError, match=re.escape(message)):
        outcrop.loads(_BODY.format(statements), "m.pml")


_SIZE = "the number of elements is {} here, as in SPIN, whatever the value of '{}' is later"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("byte n = 2; byte a[n];", _SIZE.format(2, "n")),
        ("byte n; byte a[n];", _SIZE.format(8, "n")),
        ("byte n = 1 + 1; byte a[n];", _SIZE.format(8, "n")),
        ("proctype Q(byte n) { byte a[n] }", _SIZE.format(8, "n")),
    ],
)
def test_sizes_that_variables_give_are_warned_of(text: str, message: str) -> None:
    model = outcrop.loads(f"{text} active proctype P() {{ skip }}", "m.pml")
    assert [each.message for each in model.warnings] == [message]
    assert model.warnings[0].hint.startswith("write #define n ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("byte n = 2; byte a[n + 1];", "the number of elements must be a constant, and 'n' is a variable"),
        ("byte n; chan c = [n] of { byte };", "the capacity of a channel must be a constant, and 'n' is a variable"),
        ("proctype Q(byte k) { byte a[k + 1] }", "the number of elements must be a constant, and 'k' is a variable"),
        ("proctype Q(byte k[2]) { skip }", "parameter 'k' holds an array"),
        (
            "chan r = [0] of { byte }; active proctype S() { r!1 } active proctype R() { byte x; r?x,x }",
            "channel 'r' carries 1 values, not 2",
        ),
        ("typedef T { byte a[2] } proctype Q(T t) { skip }", "parameter 't' holds an array"),
        ("typedef T { byte a; bit b } proctype Q(T t) { run Q(1) }", "proctype 'Q' has 2 parameters, not 1"),
    ],
)
def test_sizes_and_parameters_that_spin_refuses(text: str, message: str) -> None:
    with pytest.raises(ModelError, match=re.escape(message)):
        outcrop.loads(f"{text} active proctype P() {{ skip }}", "m.pml")


_JUMP = "no jump can lead into or out of a 'd_step'"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("byte a[2]; active proctype P() { a = 1 }", "'a' is an array, and an index is missing", "a[0]"),
        ("byte a[2]; active proctype P() { byte b; b = 1 + a }", "'a' is an array, and an index is missing", "a[0]"),
        ("chan c[2] = [1] of { bit }; active proctype P() { c!1 }", "'c' is an array, and an index is missing", "c[0]"),
        ("typedef T { bit b } T t[2]; active proctype P() { t.b = 1 }", "'t' is an array, and an index is mis", "t[0]"),
        ("active proctype P() { _pid = 1 }", "'_pid' cannot be used here", "nothing can change it"),
        ("active proctype P() { byte b; b = _ }", "'_' cannot be used here", "cannot be read"),
        ("active proctype[2] P() { skip }", "expected the name of a proctype, found '['", "active [2] proctype P()"),
        ("byte a[2]; active proctype P() { a[1][0] = 1 }", "expected ';' or '->'", "arrays have one dimension"),
        ("chan c = [1] of { byte }; active proctype P() { byte x; 1 && c?x }", "expected ';' or '->'", "c?[x] asks"),
        ("chan c = [0] of { byte }; active proctype P() { d_step { c!1 } }", "has no buffer", "only a receive"),
        ("active proctype P() { d_step { skip; goto L }; L: skip }", _JUMP, "use 'atomic'"),
        ("active proctype P() { goto L; d_step { skip; L: skip } }", _JUMP, "use 'atomic'"),
        ("active proctype P() { L: d_step { skip; goto L } }", _JUMP, "use 'atomic'"),
        ("active proctype P() { do :: d_step { skip; if :: skip -> break fi } od }", _JUMP, "use 'atomic'"),
        ("byte x : 3; active proctype P() { x = 1 }", "only 'unsigned' has a width", "declare it as unsigned"),
        ("unsigned x; active proctype P() { x = 1 }", "'unsigned' needs a width of 1 to 31 bits", "unsigned x : 5"),
        ("unsigned x : 32; active proctype P() { x = 1 }", "'unsigned' needs a width of 1 to 31 bits", "unsigned x"),
        ("proctype P() { skip }", "no process starts", "make a proctype active"),
        ("active [0] proctype P() { skip }", "no process starts", "make a proctype active"),
        ("active [256] proctype P() { skip }", "there are at most 255 processes, not 256", "start fewer"),
        ("chan c = [0] of { bit }; active proctype P() { c?[1] }", "nothing ever waits in a rendezvous ch", "a buffer"),
        ("chan c = [0] of { bit }; active proctype P() { c?<1> }", "nothing ever waits in a rendezvous ch", "a buffer"),
        ("byte x; ltl f { [] x } ltl f { <> x } init { skip }", "there is a formula 'f' already", "rename one"),
        ("active proctype P() { L: byte x; x = 1 }", "a label cannot stand before a declaration", "write 'skip'"),
        (
            "T t; typedef T { bit b } init { skip }",
            "expected a declaration, a proctype or init, found 'T'",
            "no typedef 'T'",
        ),
        (
            "init { f(1) } inline f(a) { skip }",
            "before the next statement, found '('",
            "no inline 'f' is defined above",
        ),
        ("init { int x, byte y; x = y }", "expected the name of another variable, found 'byte'", "by ';'"),
        ("byte x; init { for (x : 3 .. 1) { skip } }", "the range of this 'for' is empty", "the smaller bound first"),
        ("byte x; init { x += 1 }", "expected an expression, found '='", "write x = x + ..."),
        ("byte x; /* init { skip }", "this comment is not closed", "ends with '*/'"),
        ("#define A 1 /* one\ninit { skip }", "this comment is not closed", "ends with '*/'"),
        ("byte x; init { ++x }", "expected an expression, found '++'", "write x++"),
    ],
)
def test_mistakes_are_named_with_a_remedy(text: str, message: str, hint: str) -> None:
    with pytest.raises(ModelError) as caught:
        outcrop.loads(text, "m.pml")
    (found,) = caught.value.diagnostics
    assert message in found.message
    assert hint in found.hint


def test_jumps_within_a_d_step_are_none_out_of_it() -> None:
    text = _BODY.format("goto L; d_step { do :: x < 2 -> x++ :: x == 2 -> goto E od; E: y = 1 }; L: d_step { M: y++ }")
    assert verdict_of(text) == "holds"


@pytest.mark.parametrize(
    ("statements", "verdict"),
    [
        ("chan v; v!1", "violated"),
        ("chan v; if :: v?x :: x = 1 fi", "violated"),
        ("chan v[2]; atomic { x = 1; v[x]?x }", "violated"),
        ("chan v; if :: false -> v!1 :: else fi", "holds"),
        ("chan v; v = d; v!1", "holds"),
    ],
)
def test_variables_that_never_hold_a_channel_are_errors_when_they_are_used(statements: str, verdict: str) -> None:
    text = f"chan d = [1] of {{ byte }}; byte x; active proctype P() {{ {statements} }}"
    assert verdict_of(text) == verdict
    assert verdict_of(text, assertions=False) == "holds"


def test_a_formula_can_stand_inside_a_proctype() -> None:
    assert verdict_of("byte x; init { x = 1; ltl f { [] (x < 2) } x = 2 }") == "violated"
    assert verdict_of("byte x; init { x = 1; ltl f { [] (x < 3) } x = 2 }") == "holds"


def test_a_new_line_and_a_brace_separate_statements() -> None:
    text = _BODY.format("x = 1\n y = x\n if :: y -> { x = 2 } y = 3 fi\n L: assert(x == 2 && y == 3)")
    assert verdict_of(text) == "holds"
    outcrop.loads("typedef T { byte a\n bit b; short c } T t; active proctype P() { t.a = 1 }", "m.pml")
    with pytest.raises(ModelError, match="expected ';' before the next field"):
        outcrop.loads("typedef T { byte a bit b } T t; active proctype P() { t.a = 1 }", "m.pml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("byte x = y; active proctype P() { skip }", "unknown name 'y'"),
        ("byte x = len(c); active proctype P() { skip }", "unknown name 'c'"),
        ("active [2] proctype P() { byte x = y; skip }", "unknown name 'y'"),
        ("active proctype P() { byte x = P[0]@there; skip }", "proctype 'P' has no label 'there'"),
        ("proctype Q() { skip } active proctype P() { pid q = run Q(); skip }", "'run' cannot stand in an initial"),
        ("proctype Q() { skip } active proctype P() { skip; pid q = run Q() }", "'run' cannot stand in an initial"),
    ],
)
def test_wrong_initial_values_are_errors(text: str, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        outcrop.loads(text, "m.pml")
    assert [each.message.startswith(message) for each in caught.value.diagnostics] == [True]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("proctype Worker() { skip } init { run Wroker() }", "did you mean 'Worker'?"),
        ("bool b = True; active proctype P() { skip }", "did you mean 'true'?"),
        (
            "chan c = [2] of byte; active proctype P() { skip }",
            "a channel is declared: chan c = [2] of { mtype, byte }",
        ),
        (
            "chan c = [2] { byte }; active proctype P() { skip }",
            "a channel is declared: chan c = [2] of { mtype, byte }",
        ),
        ("byte x; active proctype P() { skip } ltl { G (x == 0) }", "'always' is written []"),
        (
            "proctype W() { skip } run W(); init { skip }",
            "a process starts others: write 'run' in init or in a proctype",
        ),
        ("active proctype P() { skip }}", "there are more '}' than '{' above"),
        ("boolean b; active proctype P() { skip }", "did you mean 'bool'?"),
        ("active proctype P() { byte _pid; _pid = 2 }", "give the variable another name"),
        ("byte i; active proctype P() { select(i, 0, 3) }", "a choice of a number is written: select(i : 0 .. 3)"),
    ],
)
def test_frequent_mistakes_have_a_hint(text: str, hint: str) -> None:
    with pytest.raises(ModelError) as caught:
        outcrop.loads(text, "m.pml")
    assert caught.value.diagnostics[0].hint == hint


@pytest.mark.parametrize(
    ("values", "warning"),
    [
        ('"%d %d", x', "the text of 'printf' has 2 conversions, and there is 1 value"),
        ('"%d", x, x', "the text of 'printf' has 1 conversion, and there are 2 values"),
        ('"100%% %d%c", x, 65', None),
        ('"none"', None),
    ],
)
def test_values_of_printf_are_counted(values: str, warning: str | None) -> None:
    model = outcrop.loads(f"byte x; active [2] proctype P() {{ printf({values}) }}", "m.pml")
    assert [each.message for each in model.warnings] == ([] if warning is None else [warning])
