"""Diagnostics of the DVE front-end for invalid and doubtful models. No text breaks it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.errors import ModelError, UsageError
from outcrop.lang import load_text
from outcrop.lang.dve.lexer import KEYWORDS
from outcrop.options import LoadOptions
from outcrop.source import Diagnostic, Severity

GOOD = """\
const byte N = 2;
byte x, z, a[3] = {{1, 2}};
channel c, {0};
process P {{
  byte y;
  state s, t;
  init s;
  trans
    s -> t {{ guard x < N and not Q.u; sync c!x + 1; effect y = a[x], x = 0; }},
    -> s {{ {1} }};
}}
process Q {{
  state u;
  init u;
  trans u -> u {{ sync c?z; }};
}}
system async{2};
"""


def errors(text: str, **constants: str) -> list[Diagnostic]:
    with pytest.raises(ModelError) as caught:
        load_text(text, "m.dve", LoadOptions(constants))
    return list(caught.value.diagnostics)


def model(extra: str = "guard true;", channel: str = "d", end: str = "") -> str:
    return GOOD.format(channel, extra, end)


def warnings(text: str) -> list[tuple[Severity, str]]:
    return [(each.severity, each.message) for each in load_text(text, "m.dve", LoadOptions())[1]]


def test_the_good_model_is_good() -> None:
    assert warnings(model()) == []


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("guard x = 1;", "expected ';' after the guard, found '='"),
        ("guard !x;", "expected an expression, found '!'"),
        ("guard x++;", "expected an expression, found '+'"),
        ("guard (x;", "expected ')' after an expression in parentheses, found ';'"),
        ("guard a[1][2];", "arrays have one dimension only"),
        ("guard f(x);", "'f' cannot be called"),
        ("guard 99999999999999999999;", "this number does not fit in 64 bits"),
        ("effect x == 1;", "expected '=' in an effect, found '=='"),
        ("effect x = 1; guard x;", "'guard' is not allowed here"),
        ("sync c;", "expected '!' or '?' after channel 'c', found ';'"),
        ("guard nobody;", "unknown name 'nobody'"),
        ("guard a;", "'a' is an array and needs an index"),
        ("guard x[1];", "'x' is not an array"),
        ("guard N[1];", "'N' is a constant, not an array"),
        ("guard c;", "'c' is a channel and has no value"),
        ("guard Q;", "'Q' is a process and has no value"),
        ("guard Q.v;", "process 'Q' has no state 'v'"),
        ("guard R.u;", "unknown process 'R'"),
        ("guard x.u;", "'x' is a variable, not a process"),
        ("guard Q->y;", "process 'Q' declares no 'y'"),
        ("effect N = 1;", "'N' is a constant and cannot be assigned"),
        ("effect c = 1;", "'c' is a channel and cannot be assigned"),
        ("sync x!;", "'x' is a variable, not a channel"),
        ("sync c!;", "channel 'c' carries 1 value, not 0"),
        ("guard 9223372036854775807 + 1;", "this constant does not fit in 64 bits"),
    ],
)
def test_mistakes_in_a_transition(part: str, message: str) -> None:
    found = errors(model(part))
    assert [each.message for each in found] == [message]
    assert found[0].span is not None and found[0].span.line in (9, 10)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("byte x;", "the model has no system line"),
        ("byte x; byte x; system async;", "'x' is declared twice"),
        ("byte a[0]; system async;", "the number of elements must be from 1 to 100,000, not 0"),
        ("byte n; byte a[n]; system async;", "the number of elements must be a constant"),
        ("byte a[2] = 1; system async;", "'a' is an array and takes a list of values"),
        ("byte x = {1}; system async;", "'x' is not an array and takes one value"),
        ("system sync;", "this is a synchronous system"),
        ("system async property Q;", "there is no process 'Q'"),
        ("system async; system async;", "this is a second system line; delete one"),
        ("process P { init s; } system async;", "process 'P' has no states"),
        ("process P { state s; } system async;", "process 'P' has no initial state"),
        ("process P { state s, t; init s, t; } system async;", "process 'P' has two initial states"),
        ("process P { state s, s; init s; } system async;", "state 's' is declared twice"),
        ("process P { state s; init s; commit t; } system async;", "process 'P' has no state 't'"),
        ("process P(key i) { state s; init s; } system async;", "process templates of DiVinE 3 are not supported"),
        (
            "process P { state s; init s; trans s => { s: 1 }; } system async;",
            "probabilistic transitions are not supported",
        ),
        (
            "process P { state s; init s; trans -> s {}; } system async;",
            "the first transition must name the state it leaves",
        ),
        ("process P { state s; init s; accept rabin (s); } system async;", "acceptance by 'rabin' is not supported"),
        (
            "expression p(x) { x } system async;",
            "'expression' at the top level is an unsupported extension of DiVinE 3",
        ),
        ("/* system async;", "this comment is not closed"),
        ("byte x; forloop(`i', 1); system async;", "a DVE model cannot contain `"),
        (
            "process P { byte x; state s; init s; } system async property P;",
            "a property process can only declare constants",
        ),
    ],
)
def test_mistakes_around(text: str, message: str) -> None:
    assert errors(text)[0].message == message


def test_a_diagnostic_points_at_its_place_and_guesses() -> None:
    [found] = errors(model("guard P.tt;").replace("state s, t", "state s, t, tt_"))
    assert found.render().splitlines() == [
        "m.dve:10:20: error: process 'P' has no state 'tt'",
        "      -> s { guard P.tt; };",
        "                     ^^",
        "  hint: did you mean 'tt_'?",
    ]
    assert "did you mean 'guard'" in errors(model("gaurd x;"))[0].render()


def test_several_mistakes_are_reported_in_one_run() -> None:
    broken = model("guard x = 1;").replace("state u;", "state u v;").replace("byte x,", "byte x y,")
    assert [each.span.line for each in errors(broken) if each.span] == [2, 10, 13]
    wrong = model("effect zzz = 1;").replace("a[x], x", "b[x], q")
    assert [each.message for each in errors(wrong)] == [f"unknown name '{name}'" for name in ("b", "q", "zzz")]


def test_a_semicolon_between_transitions_is_one_error() -> None:
    text = "process P {{ state s, t; init s; trans s -> t {{ {0} }}; t -> s {{}}; -> t {{}}; }} system async;"
    first, second = errors(text.format(""))
    assert first.message == second.message == "expected ',' between two transitions, found ';'"
    assert "guard" in errors(text.format("guard 1 = 0;"))[0].message


def test_one_element_is_one_element() -> None:
    text = model(channel="d; byte b[1] = {1, 2}")
    assert "'b' has 1 element; the values after the first 1 are ignored" in [each for _, each in warnings(text)]


def test_wrong_constants_from_outside() -> None:
    assert errors(model(), M="1")[0].message == "-D M: the model has no constant of this name"
    assert errors(model(), N="1 +")[0].message.startswith("expected an expression")
    assert errors(model(), N="x")[0].message == "unknown name 'x'"


@pytest.mark.parametrize(
    ("text", "severity", "message"),
    [
        (
            model(channel="d; byte b[2] = {1, 2, 3}"),
            Severity.WARNING,
            "'b' has 2 elements; the values after the first 2 are ignored",
        ),
        (model(channel="d; byte b = 256"), Severity.WARNING, "256 does not fit into byte; the value is 0"),
        (model("guard a[3];"), Severity.WARNING, "index 3 is outside 0..2 of 'a': executing this is a runtime error"),
        (model("sync d!;"), Severity.WARNING, "no process receives from channel 'd', so this never happens"),
        (model().replace("byte y;", "byte y, c2; int x;"), Severity.WARNING, "'x' hides a variable of the same name"),
        (
            model("sync c!1; effect z = 2;"),
            Severity.WARNING,
            "this is assigned twice in one step: here and by the transition that receives",
        ),
        (
            model("sync d?y; effect x = y;", "d; channel {byte} d[1]").replace("c, d;", "c;"),
            Severity.NOTE,
            "the value is received before the effects run, as in DiVinE 3; DiVinE 2 runs the effects first",
        ),
        (
            model("sync d!y; effect y = 1;", "d; channel {byte} d[1]").replace("c, d;", "c;"),
            Severity.NOTE,
            "the value is sent before the effects run, as in DiVinE 3; DiVinE 2 runs the effects first",
        ),
    ],
)
def test_warnings(text: str, severity: Severity, message: str) -> None:
    assert (severity, message) in warnings(text)


def test_the_order_is_not_mentioned_where_it_means_nothing() -> None:
    text = model("sync d!y; effect x = 1;", "d; channel {byte} d[1]").replace("c, d;", "c;")
    assert not [each for each in warnings(text) if each[0] is Severity.NOTE]


@pytest.mark.parametrize(("name", "hint"), [("m.mdve", "m4"), ("m.probdve", "probabilistic"), ("m.txt", ".dve, .m")])
def test_other_suffixes_are_refused(name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint):
        load_text("system async;", name, LoadOptions())


def _survives(text: str) -> None:
    try:
        load_text(text, "m.dve", LoadOptions())
    except ModelError as error:
        assert 0 < len(error.diagnostics) <= 20
        assert all(each.render() for each in error.diagnostics)


_TOKENS = model("sync c!{1, 2}; effect x = -1, y = ~P->y;", "d", " property Q").split()


@settings(max_examples=150)
@given(
    st.lists(st.sampled_from([*_TOKENS, *sorted(KEYWORDS), *"{}[]();,=!?<>+-*/.", "->", "1", "x", "P"]), max_size=60)
)
def test_no_row_of_tokens_breaks_it(tokens: list[str]) -> None:
    _survives(" ".join(tokens))


@settings(max_examples=150)
@given(st.data())
def test_no_mutation_breaks_it(data: st.DataObject) -> None:
    tokens = list(_TOKENS)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(tokens) - 1))
        tokens[at : at + data.draw(st.integers(0, 2))] = data.draw(st.lists(st.sampled_from(_TOKENS), max_size=2))
    _survives(" ".join(tokens))


@settings(max_examples=100)
@given(st.text(max_size=80))
def test_no_text_breaks_it(text: str) -> None:
    _survives(text)


@pytest.mark.parametrize("text", ["(" * 100_000, "not " * 100_000, "x + " * 100_000, "{" * 50_000, "a[" * 50_000])
def test_depth_and_length_are_limited(text: str) -> None:
    _survives(model(f"guard {text}"))
