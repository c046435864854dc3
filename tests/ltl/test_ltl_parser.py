"""The parser of formulas: all spellings, precedence, propositions, mistakes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ltl_random import formulas

from outcrop.errors import ModelError
from outcrop.ir.formula import Formula, Operator, negate, proposition
from outcrop.ltl.parser import parse
from outcrop.source import Source


def tree(text: str, known: tuple[str, ...] = ()) -> str:
    """Returns a formula with all its brackets."""
    return show(parse(text, known).formula)


def show(formula: Formula) -> str:
    if not formula.operands:
        return str(formula)
    if len(formula.operands) == 1:
        return f"{formula.operator}({show(formula.operands[0])})"
    return "(" + f" {formula.operator} ".join(map(show, formula.operands)) + ")"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GFp", "G(F(p))"),
        ("GFp0cs", "G(F(p0cs))"),
        ("[]<>p", "G(F(p))"),
        ("[ ] p", "G(p)"),
        ("XOp", "X(X(p))"),
        ("G!Fp", "G(!(F(p)))"),
        ("~p", "!(p)"),
        ("not p and q or r", "((!(p) && q) || r)"),
        ("p implies q iff q xor r", "((p -> q) <-> (q ^ r))"),
        ("p & q | r", "((p && q) || r)"),
        ("p * q + r", "((p && q) || r)"),
        (r"p /\ q \/ r", "((p && q) || r)"),
        ("p => q <=> r", "((p -> q) <-> r)"),
        ("p -> q -> r", "(p -> (q -> r))"),
        ("p U q R s", "(p U (q R s))"),
        ("p V q", "(p R q)"),
        ("p && q && r", "(p && q && r)"),
        ("p && (q && r)", "(p && (q && r))"),
        ("(p && q) && r", "((p && q) && r)"),
        ("p || q && r U s", "(p || (q && (r U s)))"),
        ("p ^ q || r", "(p ^ (q || r))"),
        ("p ^ q ^ r", "((p ^ q) ^ r)"),
        ("p <-> q <-> r", "((p <-> q) <-> r)"),
        ("G p U q", "(G(p) U q)"),
        ("G p -> q", "(G(p) -> q)"),
        ("1 U 0", "(true U false)"),
        ("Ftrue", "F(true)"),
        ("G{ x > {3} }", "G({x > {3}})"),
        ('G"x > 3"', "G({x > 3})"),
        # Operators directly before a proposition.
        ("G(r1->(!p1U(p1U(p1&& co))))", "G((r1 -> (!(p1) U (p1 U (p1 && co)))))"),
        ("pU!q", "(p U !(q))"),
        ("pU q", "(p U q)"),
        ("pUX(q)", "(p U X(q))"),
        ("pW{x}", "(p W {x})"),
        # A word that may be a name is one.
        ("pUq", "pUq"),
        ("readyM && p", "(readyM && p)"),
        ("readyM and p", "(readyM && p)"),
        ("stateU U p", "(stateU U p)"),
        ("not_p", "not_p"),
        ("_x", "_x"),
    ],
)
def test_syntax(text: str, expected: str) -> None:
    assert tree(text) == expected


@pytest.mark.parametrize(
    ("text", "known", "expected"),
    [
        ("Grant", ("Grant",), "Grant"),
        ("G Grant", ("Grant",), "G(Grant)"),
        ("pUq", ("p", "q"), "(p U q)"),
        ("pUq", ("p", "q", "pUq"), "pUq"),
        ("pUGFq", ("p", "q"), "(p U G(F(q)))"),
    ],
)
def test_known_names(text: str, known: tuple[str, ...], expected: str) -> None:
    assert tree(text, known) == expected


def test_verbatim_and_named_propositions_differ() -> None:
    parsed = parse('p && {p} && "p" && { p }')
    assert parsed.formula.propositions() == (proposition("p"), proposition("p", verbatim=True))
    spans = {each.verbatim: (span.start, span.text) for each, span in parsed.propositions.items()}
    assert spans == {False: (0, "p"), True: (6, "p")}


def test_formulas_are_shared() -> None:
    assert parse("G (p -> F q)").formula is parse("[]((p)=><>q)").formula
    assert negate(negate(proposition("p"))) is proposition("p")


@given(formulas(20))
@settings(max_examples=300)
def test_printed_formulas_are_read_back(formula: Formula) -> None:
    assert parse(str(formula)).formula is formula


@given(st.text(alphabet='pqGFXUR!&|->()[]<>{}"^ 1aM', max_size=20))
@settings(max_examples=400)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        formula = parse(text).formula
    except ModelError as error:
        assert error.diagnostics[0].span is not None
    else:
        assert parse(str(formula)).formula is formula


@pytest.mark.parametrize(
    ("text", "column", "message", "hint"),
    [
        ("", 1, "expected a proposition, a prefix operator or '(', found the end of the formula", ""),
        ("G (p -> ", 9, "found the end of the formula", ""),
        ("(p", 1, "this bracket is never closed", ""),
        ("(p q)", 4, "expected an operator or ')', found 'q'", "operator is missing"),
        ("p )", 3, "expected an operator or the end of the formula, found ')'", ""),
        ("p && && q", 6, "found '&&'", ""),
        ("p q", 3, "found 'q'", "operator is missing"),
        ("Ack", 1, "'Ack' is neither an operator nor a proposition", "{Ack}"),
        ("AG p", 1, "'AG' is an operator of CTL", "write G p for AG p"),
        ("AGEF p", 1, "'AGEF' is an operator of CTL", "write G p"),
        ("A [p U q]", 1, "'A' is an operator of CTL", "write p U q"),
        ("G (p -> EF q)", 9, "'EF' is an operator of CTL", "G !p for EF p"),
        ("E(p U q)", 1, "'E' is an operator of CTL", "!(p U q)"),
        ("Alarm", 1, "'Alarm' is neither an operator nor a proposition", "{Alarm}"),
        ("Request", 1, "found 'R'", "braces"),
        ("G x<3", 4, "'<' is not allowed in a formula", "braces"),
        ("always p", 8, "found 'p'", "'always' is written G"),
        ("G {x", 3, "this brace is never closed", ""),
        ('G "x', 3, "this string is not closed", ""),
        ("{ }", 1, "there is no expression here", ""),
        ("p U", 4, "found the end of the formula", ""),
        ("p # q", 3, "'#' is not allowed in a formula", ""),
        ("!" * 101 + "p", 102, "nested too deeply: more than 100 levels", ""),
        ("p -> " * 101 + "p", 506, "nested too deeply", ""),
        ("(" * 51 + "p" + " ^ p)" * 101, 102, "", ""),
    ],
)
def test_mistakes(text: str, column: int, message: str, hint: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse(Source("property", text))
    (diagnostic,) = caught.value.diagnostics
    assert message in diagnostic.message
    assert hint in diagnostic.hint
    if message:
        assert diagnostic.span is not None
        assert diagnostic.span.column == column


def test_long_chains_are_flat() -> None:
    formula = parse(" && ".join(f"p{index}" for index in range(900))).formula
    assert (formula.operator, len(formula.operands), formula.height) == (Operator.AND, 900, 1)


def test_too_long() -> None:
    with pytest.raises(ModelError, match="this formula is too long"):
        parse(" && ".join(["p"] * 1_500))
