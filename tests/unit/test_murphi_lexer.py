"""The Murphi lexer: spellings, literals, comments, strings, and invalid characters."""

import pytest

from outcrop.lang.murphi.lexer import END_OF_FILE, IDENTIFIER, INTEGER, REAL, STRING, tokenize
from outcrop.source import Severity, Source


def tokens(text: str) -> list[tuple[str, str]]:
    found = tokenize(Source("m.m", text))
    assert not found.diagnostics
    assert found.kinds[-1] == END_OF_FILE
    return list(zip(found.kinds, found.texts, strict=True))[:-1]


def kinds(text: str) -> list[str]:
    return [kind for kind, _ in tokens(text)]


def messages(text: str) -> list[str]:
    return [each.message for each in tokenize(Source("m.m", text)).diagnostics]


def test_keywords_ignore_case_and_identifiers_do_not() -> None:
    assert tokens("RULE Rule x X endIF Boolean") == [
        ("rule", "RULE"),
        ("rule", "Rule"),
        (IDENTIFIER, "x"),
        (IDENTIFIER, "X"),
        ("endif", "endIF"),
        ("boolean", "Boolean"),
    ]


def test_true_and_false_are_names_in_lower_case() -> None:
    assert tokens("TRUE False") == [(IDENTIFIER, "true"), (IDENTIFIER, "false")]


@pytest.mark.parametrize("word", ["multiset", "choose", "undefined", "assume", "cover", "liveness", "until", "log"])
def test_words_of_one_tool_only_are_identifiers(word: str) -> None:
    assert tokens(word) == [(IDENTIFIER, word)]


def test_numbers() -> None:
    assert tokens("0 12 0x1F 0XaB 010 1.5 2.5e-3 1..5 1 ..N") == [
        (INTEGER, "0"),
        (INTEGER, "12"),
        (INTEGER, "0x1F"),
        (INTEGER, "0XaB"),
        (INTEGER, "010"),
        (REAL, "1.5"),
        (REAL, "2.5e-3"),
        (INTEGER, "1"),
        ("..", ".."),
        (INTEGER, "5"),
        (INTEGER, "1"),
        ("..", ".."),
        (IDENTIFIER, "N"),
    ]


def test_the_longest_operator_wins() -> None:
    text = "==> := : .. . <= << < >= >> > != ! -> - && & || | ^ ~ ? / * % + = ; , ( ) [ ] { }"
    assert kinds(text) == text.split()
    assert kinds("==") == ["="]
    assert kinds("<= >") == ["<=", ">"]
    assert kinds("x++1 <-1 =!b") == [IDENTIFIER, "+", "+", INTEGER, "<", "-", INTEGER, "=", "!", IDENTIFIER]


def test_operators_of_other_languages_are_one_token() -> None:
    text = "=> <=> <-> === != += -= /= =< <> ..."
    assert kinds(text) == text.split()


@pytest.mark.parametrize(
    ("sign", "kind"),
    [
        ("∀", "forall"),
        ("∃", "exists"),
        ("≔", ":="),
        ("≥", ">="),
        ("≤", "<="),
        ("→", "->"),
        ("≠", "!="),
        ("⇒", "==>"),
        ("¬", "!"),
        ("∧", "&&"),
        ("\N{LOGICAL OR}", "||"),
        ("÷", "/"),
        ("\N{MINUS SIGN}", "-"),
        ("\N{MULTIPLICATION SIGN}", "*"),
    ],
)
def test_unicode_signs(sign: str, kind: str) -> None:
    assert kinds(sign) == [kind]


def test_white_space_and_comments() -> None:
    assert kinds("\ufeffa\r\n\tb\f-- c */ \\\nd /* e -- \n * / */ f /**/ g -- at the end") == [IDENTIFIER] * 5
    assert kinds("a--b") == [IDENTIFIER]
    assert kinds("") == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"plain"', "plain"),
        ('""', ""),
        (r'"a \"quoted\" word"', 'a "quoted" word'),
        (r'"tab\tnewline\nbackslash\\"', "tab\tnewline\nbackslash\\"),
        (r'"\x41\102\q"', "ABq"),
        ('"two\nlines"', "two\nlines"),
        ("“curly”", "curly"),
        ('“mixed"', "mixed"),
        ('"mixed”', "mixed"),
        ('"a ” inside"', "a ” inside"),
        (r"“an escaped \” quote”", "an escaped ” quote"),
        ('"no -- comment /* here"', "no -- comment /* here"),
    ],
)
def test_strings(text: str, value: str) -> None:
    assert tokens(text) == [(STRING, value)]


def test_offsets_cover_the_text() -> None:
    text = 'rule "é" x ≔ 0x10 -- c'
    found = tokenize(Source("m.m", text))
    pieces = [text[start:end] for start, end in zip(found.starts, found.ends, strict=True)]
    assert pieces == ["rule", '"é"', "x", "≔", "0x10", ""]


def test_an_open_comment_ends_the_text_with_a_warning() -> None:
    found = tokenize(Source("m.m", "a /* b\nc"))
    assert found.texts == ["a", ""]
    assert [(each.severity, each.span and each.span.start) for each in found.diagnostics] == [(Severity.WARNING, 2)]


def test_an_open_string_is_an_error() -> None:
    assert messages('rule "name\\" begin\nend') == ["this string is never closed"]


def test_what_is_no_token() -> None:
    assert messages("a @ b _c 'd") == [
        "unexpected character '@'",
        "'_c' is not an identifier: an identifier starts with a letter",
        "unexpected character '''",
    ]
    assert messages("\x00\x01") == ["unexpected character U+0000"]


def test_the_errors_are_capped() -> None:
    assert len(messages("@ " * 1000)) == 20
