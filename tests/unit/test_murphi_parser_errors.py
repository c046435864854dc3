"""The Murphi parser on invalid texts: its messages, and its recovery after a mistake. No text breaks it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.errors import ModelError
from outcrop.lang.murphi.lexer import KEYWORDS
from outcrop.lang.murphi.parser import parse
from outcrop.source import Diagnostic, Severity, Source, Span


def errors(text: str) -> list[Diagnostic]:
    with pytest.raises(ModelError) as caught:
        parse(Source("m.m", text))
    return [each for each in caught.value.diagnostics if each.severity is Severity.ERROR]


def messages(text: str) -> list[str]:
    return [each.message for each in errors(text)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a < b < c", "comparisons cannot be chained"),
        ("a = b != c", "comparisons cannot be chained"),
        ("a -> b -> c", "'->' cannot be chained"),
        ("a ? b : c ? d : e", "'?:' cannot be chained"),
        ("a ? b ? c : d : e", "'?:' cannot be chained"),
        ("09", "'09' is not an octal number"),
        ("1" * 5000, "this number is too large: 5,000 digits"),
        ("(a", "expected ')' after this expression, found ';'"),
        ("a[1", "expected ']' after the index, found ';'"),
        ("a +", "expected an expression, found ';'"),
        ("a.1", "expected the name of a field after '.', found '1'"),
        ("exists i: T do x", "expected 'end' or 'endexists' to close 'exists', found ';'"),
        ("exists i: T do x endforall", "expected 'end' or 'endexists' to close 'exists', found 'endforall'"),
        ("a ? b", "expected ':' between the two values of '?:', found ';'"),
    ],
)
def test_wrong_expressions(text: str, message: str) -> None:
    assert messages(f"invariant {text};") == [message]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("type boolean: 0..1;", "'boolean' is a type of the language and cannot be declared"),
        ("var x boolean;", "expected ':' or ',' after this name, found 'boolean'"),
        ("var x: ;", "expected a type, found ';'"),
        ("var x: 3;", "expected '..' and the upper bound of a range, found ';'"),
        ("var x: (T);", "expected '..' and the upper bound of a range, found ';'"),
        ("type T: enum {A B};", "expected '}' or ',' after this enum member, found 'B'"),
        ("type T: enum {A, Return};", "expected the name of an enum member, found 'return'"),
        ("type T: record a: U", "expected the name of a field, 'end' or 'endrecord', found the end of the file"),
        ('externfun f(x: T; var y: T): T "f.h";', "external C++ functions (externfun) are not supported"),
        ("externproc p(var x: T); var y: T;", "external C++ procedures (externproc) are not supported"),
        ("rule begin end; pctl [a until <= 3 b] >= 0.5", "probabilistic properties (pctl) are not supported"),
    ],
)
def test_wrong_declarations(text: str, message: str) -> None:
    assert messages(text) == [message]


# --- Messages ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("rule begin x = 1; end", "expected ':=' or '(' after this name, found '='", "':='"),
        ("rule begin x[1] = 1; end", "expected ':=', found '='", "':='"),
        ("rule begin wile x do end; end", "expected ':=' or '(' after this name, found 'x'", "'while'"),
        ("rule begin if x := 1 then end; end", "expected 'then' after the condition, found ':='", "'='"),
        ("rule x := 1; end", "expected '==>' after the guard, found ':='", "'begin'"),
        ("rule x => y := 1; end", "there is no '=>' in Murphi", "'==>'"),
        ("invariant a <> b", "there is no '<>' in Murphi", "'!='"),
        ("invariant a and b", "expected a declaration, a function or a rule, found 'and'", "'&'"),
        ("invarient x", "expected a declaration, a function or a rule, found 'invarient'", "'invariant'"),
        ("rule begin x := 1 y := 2 end", "expected ';', 'end' or 'endrule' after this statement, found 'y'", ""),
        ("rule begin if a then b := 1 elseif c then end end",
         "expected ';', 'end' or 'endif' after this statement, found 'elseif'", "'elsif'"),
        ("rule begin x := 1", "expected ';', 'end' or 'endrule' after this statement, found the end of the file", ""),
        ("rule begin end; end;", "expected a declaration, a function or a rule, found 'end'", "too many"),
        ("rule begin var x: T; end", "expected a statement, found 'var'", "before 'begin'"),
        ("startstate var x: T; x := 1; end", "expected 'begin' after the declarations, found 'x'", ""),
        ("function f(a: T, b: T); end", "expected ';' or ')' after this parameter, found ','", "semicolons"),
        ("var rule: T;", "expected a name, found 'rule'", "reserved"),
        ("var x, rule: T;", "expected a name, found 'rule'", "'rule' is a reserved word, in capitals too"),
        ("ruleset i: T do function f(); end; end", "'function' cannot stand inside 'ruleset'", ""),
    ],
)  # fmt: skip
def test_messages(text: str, message: str, hint: str) -> None:
    first = errors(text)[0]
    assert first.message == message
    assert hint in first.hint


def test_a_wrong_end_points_at_what_it_should_close() -> None:
    (error,) = errors("rule begin\n  if x then y := 1; endfor;\n  z := 3\nend")
    assert error.message == "expected 'end' or 'endif' to close 'if', found 'endfor'"
    ((_, opener),) = error.related
    assert (opener.line, opener.text) == (2, "if")


def test_a_missing_end_is_reported_once_at_the_next_rule() -> None:
    (error,) = errors("rule begin\n if x then y := 1;\nend;\nrule begin y := 2; end;")
    assert error.message == "expected 'end' or 'endrule' to close 'rule', found 'rule'"
    assert str(error.span) == "m.m:4:1"


def test_independent_mistakes_are_all_reported_and_nothing_else() -> None:
    text = """
    var x boolean; y: 0..; z: record a: boolean; b 0..3; c: boolean; end; w: boolean;
    rule begin if x = then x := 1; else x := 2; end; x 3; x := 4 end;
    rule begin if x then y = 1; endrule;
    ruleset i T do rule begin x = 2; end; end;
    invariant a < b < c;
    invariant forall i: T do x = 1;
    function f(a T): T; begin end;
    rule begin switch x case 1: y := 1; case 2 y := 2; end; w = 1; end
    """
    assert [(each.span.line, each.span.text) for each in errors(text) if each.span] == [
        (2, "boolean"),
        (2, ";"),
        (2, "0"),
        (3, "then"),
        (3, "3"),
        (4, "="),
        (4, "endrule"),
        (5, "T"),
        (5, "="),
        (6, "<"),
        (7, ";"),
        (8, "T"),
        (9, "y"),
        (9, "="),
    ]


def test_a_lexical_error_hides_what_it_causes() -> None:
    assert messages("var x: @;\nrule begin x = 1 end") == [
        "unexpected character '@'",
        "expected ':=' or '(' after this name, found '='",
    ]
    assert messages('rule "open begin x := 1; end;') == ["this string is never closed"]


def test_mistakes_are_capped() -> None:
    assert len(errors("rule begin " + "x = 1; " * 1000 + "end")) == 20


def test_warnings_come_with_the_errors_in_the_order_of_the_text() -> None:
    with pytest.raises(ModelError) as caught:
        parse(Source("m.m", "const a: 010;\nvar x: ;\nconst b: 020; /* open"))
    assert [each.severity.value for each in caught.value.diagnostics] == ["warning", "error", "warning", "warning"]


# --- Robustness --------------------------------------------------------------------------------------------

DEEP = 100_000


@pytest.mark.parametrize(
    "text",
    [
        "invariant " + "(" * DEEP,
        "invariant " + "!" * DEEP + "x",
        "invariant " + "- " * DEEP + "x",
        "invariant " + "f(" * DEEP,
        "invariant " + "a[" * DEEP,
        "invariant a" + "[1]" * DEEP,
        "invariant a" + ".b" * DEEP,
        "invariant a" + " + a" * DEEP,
        "invariant a" + " & (a" * DEEP,
        "invariant " + "forall i: T do " * DEEP,
        "invariant " + "ismember(a, 0.." * DEEP,
        "invariant " + "multisetcount(i: m, " * DEEP,
        "rule begin " + "if x then " * DEEP,
        "rule begin " + "for i: T do " * DEEP,
        "rule begin " + "switch x case 1: " * DEEP,
        "rule begin " + "alias a: b do " * DEEP,
        "ruleset i: T do " * DEEP,
        "choose i: m do " * DEEP,
        "type T: " + "record a: " * DEEP,
        "type T: " + "array [T] of " * DEEP,
        "type T: " + "array [" * DEEP,
        "type T: " + "union {" * DEEP,
    ],
)
def test_deep_nesting_is_refused_in_words(text: str) -> None:
    (message,) = messages(text)
    assert message.startswith("nested too deeply")


def test_nesting_is_forgotten_after_a_mistake() -> None:
    wrong = "invariant " + "(" * 90 + ";\n"
    assert len(errors(wrong * 5 + "invariant " + "(" * 90 + "x" + ")" * 90)) == 5


SOUND = """
const N: 3; type T: record a: 0..N; end; var x: T
function f(var p: T): boolean; begin return (p.a + 1) * 2 = N; end;
ruleset i: 0..N do rule 5 "n" !(x.a = i) ==> if f(x) then x.a := -i elsif true then p() end; end; end;
invariant forall j: T do j = (a ? b : c) end;
"""

# fmt: off
SOUP = [
    *sorted(KEYWORDS), "x", "y", "T", "f", "1", "010", "1.5", '"s"', ":=", "==", "=", "!=", "<", "->", "==>", "&", "|",
    "!", "?", ":", ";", ";", ";", ",", ".", "..", "(", ")", "[", "]", "{", "}", "+", "-", "*", "assume", "cover",
    "choose", "endchoose", "multiset", "multisetadd", "multisetremovepred", "multisetcount", "undefined", "pctl",
    "externfun", "real", "@", '"', "/*", "--", "∀", "≔", "\\",
]
# fmt: on


@settings(max_examples=300)
@given(st.lists(st.sampled_from(SOUP), max_size=60))
def test_token_soup_gives_a_tree_or_a_model_error(words: list[str]) -> None:
    check_totality(" ".join(words))


@settings(max_examples=200)
@given(st.text(max_size=80))
def test_any_text_gives_a_tree_or_a_model_error(text: str) -> None:
    check_totality(text)


@settings(max_examples=200)
@given(st.integers(0, len(SOUND)), st.integers(0, len(SOUND)), st.sampled_from(SOUP))
def test_a_damaged_model_gives_a_tree_or_a_model_error(start: int, end: int, word: str) -> None:
    check_totality(f"{SOUND[:start]} {word} {SOUND[end:]}")


def check_totality(text: str) -> None:
    try:
        parse(Source("m.m", text))
    except ModelError as error:
        assert any(each.severity is Severity.ERROR for each in error.diagnostics)
        assert str(error)
        for each in error.diagnostics:
            assert isinstance(each.span, Span)
            assert 0 <= each.span.start <= each.span.end <= len(text)


@pytest.mark.parametrize("text", ["\x00" * 10**6, "\xff\xfe" * 10**6, "'" * 10**6, '"' + "\\" * 10**6, "/*" * 10**6])
def test_large_junk_ends_soon(text: str) -> None:
    check_totality(text)
