"""Mistakes of people who are used to other languages: each is one error, in a plain sentence, with a hint."""

from __future__ import annotations

import pytest

from outcrop.errors import ModelError
from outcrop.lang import load_text
from outcrop.options import LoadOptions
from outcrop.source import Diagnostic, Severity

DECLARATIONS = """\
type S: scalarset(3); T: 0..3;
var x: 0..10; b: boolean; e: enum {A, B}; a: array [0..3] of boolean; s: S; c: array [S] of boolean;
startstate begin x := 0; b := false; e := A; end;
"""
AFTER = "\nrule x = 1 ==> begin x := 2; end;\n"


def errors(text: str) -> list[Diagnostic]:
    with pytest.raises(ModelError) as refused:
        load_text(text, "test.m", LoadOptions())
    return [each for each in refused.value.diagnostics if each.severity is Severity.ERROR]


def only_error(text: str) -> Diagnostic:
    (found,) = errors(text)
    return found


def expect(found: Diagnostic, message: str, hint: str) -> None:
    assert message in found.message
    assert hint in found.hint


@pytest.mark.parametrize(
    ("statement", "message", "hint"),
    [
        ("x++;", "expected ':='", "x := x + 1"),
        ("++x;", "expected a statement", "x := x + 1"),
        ("x := x++;", "expected an expression", "x := x + 1"),
        ("x--;\n b := true;", "'--' starts a comment", "x := x - 1"),
        ("x--\n", "'--' starts a comment", "x := x - 1"),
        ("x += 1;", "found '+='", "x := x + 1"),
        ("a[1] |= b;", "found '|='", "x := x | 2"),
        ("x == 1;", "found '=='", "':='"),
        ("x = 1;", "found '='", "':='"),
        ("x : 1;", "found ':'", "':='"),
        ("if x := 1 then b := true; end;", "expected 'then'", "a comparison is written '='"),
        ("if (x = 1) { x := 2; }", "expected 'then'", "if ... then ... end"),
        ("if (x = 1) { x := 2; } else { x := 3; }", "expected 'then'", "if ... then ... end"),
        ("while (x < 3) { x := 2; }", "expected 'do'", "while ... do ... end"),
        ("switch (x) { case 1: x := 2; }", "expected 'case'", "not with braces"),
        ("for (i = 0; i < 3; i++) { x := i; }", "found '('", "i := 0 to 3"),
        ("for i in T do x := i; end;", "found 'in'", "for i: T do"),
        ("for i = 0 to 3 do x := i; end;", "found '='", "i := 0 to 3"),
        ("for i := 0..3 do x := i; end;", "expected 'to'", "i: 0..3"),
        ("for i: T, j: T do x := i; end;", "expected ';' or 'do'", "i: T; j: T"),
        ("if b then x := 1 elif b then x := 2; end;", "found 'elif'", "'elsif'"),
        ("x := 1\n b := true;", "expected ';'", "a ';' is missing"),
        ("a(1) := true;", "expected ';'", "a[1]"),
        ("b := a(1);", "cannot be called", "a[1]"),
        ("a := true;", "not array", "a[i]"),
        ("a[b] := true;", "the index is boolean, not 0..3", ""),
        ("x := if b then 1 else 2;", "'if' is a statement", "a ? b : c"),
        ("case x of 1: x := 2; end;", "found 'case'", "switch x case 1:"),
        ("switch x case 1: x := 2; default: x := 3; end;", "found ':'", "'else'"),
        ("while b do break; end;", "found ';'", "'return'"),
        ("b := b and x = 1;", "found 'and'", "'&'"),
        ("b := b <> true;", "there is no '<>' in Murphi", "'!='"),
        ("b := x =< 1;", "there is no '=<' in Murphi", "'<='"),
        ("b := ~b;", "'~' needs an integer", "'!'"),
        ("b := 1;", "not boolean", "true and false"),
        ("if x then b := true; end;", "must be a boolean", "x != 0"),
        ("put(\"x\");", "found a string", "without parentheses"),
        ("error(\"x\");", "found '('", "without parentheses"),
        ("print \"x\";", "found a string", "put"),
        ("return 1;", "'return' in a rule or startstate cannot have a value", ""),
        ("var y: T; y := 1;", "expected a statement, found 'var'", "before 'begin'"),
        ("y := y + 1; y := 3;", "unknown name 'y'", ""),
        ("s := 1;", "the value for 's'", "have no numbers"),
        ("s := S_1;", "unknown name 'S_1'", "have no numbers"),
        ("c[0] := true;", "the index is integer, not S", "have no numbers"),
        ("b := s = 1;", "'=' cannot be applied to", "have no numbers"),
        ("s := s + 1;", "'+' cannot be applied to", "have no numbers"),
        ("switch s case 1: x := 1; end;", "the label is integer", "have no numbers"),
        ("for i := 0 to 2 do c[i] := true; end;", "the index is 0..2", "have no numbers"),
        ("x := s;", "the value for 'x' is S", "have no numbers"),
    ],
)  # fmt: skip
def test_a_statement_of_another_language_is_one_error(statement: str, message: str, hint: str) -> None:
    expect(only_error(f"{DECLARATIONS}rule b ==> begin\n {statement}\nend;{AFTER}"), message, hint)


@pytest.mark.parametrize(
    ("item", "message", "hint"),
    [
        ("invariant forall i: T, j: T do i = j end;", "expected ';' or 'do'", "i: T; j: T"),
        ("invariant forall i, j: T do i = j end;", "found ','", "i: T; j: T"),
        ("invariant forall i in T do x = i end;", "found 'in'", "i: T"),
        ("invariant forall i: T . x = i;", "expected '..'", "'do'"),
        ("invariant b => x = 1;", "there is no '=>' in Murphi", "'->'"),
        ("invariant b ==> x = 1;", "found '==>'", "'implies' is written '->'"),
        ("invariant b <=> x = 1;", "there is no '<=>'", "'='"),
        ("invariant holds x = 1;", "found 'x'", 'invariant "holds"'),
        ('invariant "n": x = 1;', "there is no ':' after 'invariant'", ""),
        ("ruleset i: T, j: T do rule x = i ==> x := j; end; end;", "expected ';' or 'do'", "i: T; j: T"),
        ("rule x = 1 => begin x := 2; end;", "there is no '=>' in Murphi", "a guard ends with '==>'"),
        ("rule x = 1 --> begin x := 2; end;", "'-->' starts a comment", "a guard ends with '==>'"),
        ("rule x = 1 -->\n x := 2;\nend;", "'-->' starts a comment", "a guard ends with '==>'"),
        ("rule x = 1 -> begin x := 2; end;", "found 'begin'", "the '==>' of a rule"),
        ("rule step x = 1 ==> begin x := 2; end;", "found 'x'", 'rule "step"'),
        ('rule "n": x = 1 ==> begin x := 2; end;', "there is no ':' after 'rule'", ""),
        ("rule 'n' x = 1 ==> begin x := 2; end;", "unexpected character '''", "double quotes"),
        ("// a comment's text\nrule b ==> x := 1; end; // another", "'//' does not start a comment", "'--'"),
        ("# a comment\n# more", "'#' does not start a comment", "'--'"),
        ("(* a comment\n x := 1; *)", "'(*' does not start a comment", "'--'"),
        ("startstate: begin x := 0; b := true; end;", "there is no ':' after 'startstate'", ""),
        ("start state begin x := 0; b := true; end;", "found 'start'", "startstate"),
        ("init begin x := 0; b := true; end;", "found 'init'", "startstate"),
        ("begin x := 0; b := true; end;", "found 'begin'", "the head of a startstate"),
    ],
)  # fmt: skip
def test_an_item_of_another_language_is_one_error(item: str, message: str, hint: str) -> None:
    expect(only_error(f"{DECLARATIONS}{AFTER}{item}{AFTER}"), message, hint)


@pytest.mark.parametrize(
    ("declaration", "message", "hint"),
    [
        ("const N = 3;", "found '='", "const N: 3"),
        ("const N := 3;", "found ':='", "const N: 3"),
        ("const N 3;", "found '3'", "const N: 3"),
        ("type N = 0..3;", "found '='", "type N: 0..7"),
        ("type N := 0..3;", "found ':='", "type N: 0..7"),
        ("var n = 0..3;", "found '='", "var n: 0..7"),
        ("var n: 0..3 := 0;", "expected ';' after this type", "in a startstate"),
        ("var n: 0..3 = 0;", "a declaration cannot give a value", "in a startstate"),
        ("var n: int;", "unknown name 'int'", "give a range: 0..7"),
        ("var n: Integer;", "unknown name 'Integer'", "give a range: 0..7"),
        ("var n: array [int] of boolean;", "unknown name 'int'", "give a range: 0..7"),
        ("var int n;", "found 'n'", "var n: 0..7"),
        ("var n: bool;", "unknown name 'bool'", "'boolean'"),
        ("var n: string;", "unknown name 'string'", "enum {A, B}"),
        ("var n: boolean[3];", "found '['", "array [0..7] of boolean"),
        ("var n: array [3] of boolean;", "expected '..'", "0..7"),
        ("var n: 0...3;", "there is no '...' in Murphi", "0..7"),
        ("var n: [0..3];", "expected a type", "0..7"),
        ("type N: {A, B};", "expected a type", "enum {A, B}"),
        ("type N: (A, B);", "expected a type", "enum {A, B}"),
        ("type N: enum {A; B};", "expected '}' or ','", ""),
        ("type N: record {a: boolean; b: boolean};", "found '{'", "record a: boolean"),
    ],
)  # fmt: skip
def test_a_declaration_of_another_language_is_one_error(declaration: str, message: str, hint: str) -> None:
    text = f"{declaration}\nvar x: 0..3;\nstartstate begin x := 0; end;{AFTER}"
    expect(only_error(text), message, hint)


def test_else_if_without_its_end_is_shown_where_it_stands() -> None:
    body = "if x = 1 then x := 2; else if x = 2 then x := 3; else x := 4; end;"
    found = only_error(f"{DECLARATIONS}rule b ==> begin\n {body}\nend;{AFTER}")
    ((note, place),) = found.related
    assert "'elsif'" in note
    assert (place.line, place.text) == (5, "else if")


def test_an_arrow_that_cuts_a_property_short_is_a_warning() -> None:
    text = f"{DECLARATIONS}invariant b --> x = 1;\n;{AFTER} --> a comment, after a whole rule\n"
    found = [each for each in load_text(text, "test.m", LoadOptions())[1] if "-->" in each.message]
    assert [each.span.line for each in found if each.span] == [4]
    assert "'->'" in found[0].hint


def test_an_unknown_name_is_reported_once_in_each_rule() -> None:
    rule = "rule y = 1 ==> y := y + 1; end;\n"
    assert [each.span.line for each in errors(DECLARATIONS + rule + rule) if each.span] == [4, 5]


@pytest.mark.parametrize(
    "statement",
    [
        "if x == 1 && b || x != 2 then b := True; else if b then x := 1; end; end;",
        "x := x++1; b := x <-1; b := b =!b;",
        "b := FALSE; return;",
        "x := 1; -- a comment --> with an arrow\n x := 2-- no blank before it\n",
        "while b do x := 1; --> a comment\n end; /* C */",
    ],
)
def test_what_only_looks_like_a_mistake_is_accepted(statement: str) -> None:
    load_text(f"{DECLARATIONS}rule b ==> {statement} end;{AFTER}", "test.m", LoadOptions())


def test_words_of_other_languages_can_be_declared() -> None:
    text = """
    type int: 0..3; bool: boolean; string: enum {none, null};
    var print: int; skip: bool; init: int; break: string; process: int; start: int; module: int; let: int;
    procedure call(); begin print := 1; end;
    startstate begin print := 0; skip := false; init := 1; break := none; process := 1; start := 2; module := 3;
      let := 0; end;
    rule skip & print = init ==> call(); skip := !skip; break := null; process := start; module := let; end;
    """
    load_text(text, "test.m", LoadOptions())
