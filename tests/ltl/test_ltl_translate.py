"""Automata accept exactly the words that satisfy their formula, and stay small."""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ltl_patterns import PATTERNS
from ltl_random import PROPOSITIONS, formulas, random_words

from outcrop.ir.formula import FALSE, TRUE, Formula, negate, proposition
from outcrop.ir.graph import Strength, components
from outcrop.ltl.automaton import Automaton, Label, Transition
from outcrop.ltl.parser import parse
from outcrop.ltl.simplify import gathered, normal_form
from outcrop.ltl.tableau import TooLarge
from outcrop.ltl.translate import translate
from outcrop.ltl.words import accepts, holds

p, q, r = PROPOSITIONS


def agree(formula: Formula, automaton: Automaton, seed: int, count: int = 40) -> None:
    propositions = formula.propositions() or PROPOSITIONS
    for word in random_words(Random(seed), propositions, count):
        assert accepts(automaton, word) == holds(formula, word), (str(formula), word)


@given(formulas(), st.integers(0, 1_000))
@settings(max_examples=250)
def test_random_formulas(formula: Formula, seed: int) -> None:
    agree(formula, translate(formula), seed)


@given(formulas(14), st.integers(0, 1_000))
@settings(max_examples=250)
def test_normal_forms_mean_the_same(formula: Formula, seed: int) -> None:
    normal = normal_form(formula)
    opposite = normal_form(negate(formula))
    joined = gathered(normal)
    for word in random_words(Random(seed), PROPOSITIONS, 40):
        truth = holds(formula, word)
        assert (holds(normal, word), holds(opposite, word), holds(joined, word)) == (truth, not truth, truth), str(
            normal
        )


@given(formulas())
@settings(max_examples=100)
def test_clean_automata(formula: Formula) -> None:
    automaton = translate(formula)
    useful = set()
    for component in automaton.components:
        targets = {each.target for state in component for each in automaton.transitions[state]}
        accepting = automaton.accepting.intersection(component)
        # An accepting state lies on a cycle.
        assert not accepting or targets.intersection(component)
        if accepting or targets & useful:
            useful.update(component)
    assert useful | {automaton.initial} == set(range(automaton.size))
    for leaving in automaton.transitions:
        for each in leaving:
            assert not each.label.excludes(each.label)


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns(name: str) -> None:
    text, most, most_negated = PATTERNS[name]
    formula = parse(text).formula
    automaton, opposite = translate(formula), translate(negate(formula))
    agree(formula, automaton, 1)
    agree(negate(formula), opposite, 2)
    assert automaton.size <= most
    assert opposite.size <= most_negated


def test_beem(shared: Path) -> None:
    with (shared / "models" / "dve" / "FORMULAS.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "LTL"]
    texts = sorted({row["formula"] for row in rows})
    sizes = 0
    for text in texts:
        violation = negate(parse(text).formula)
        automaton = translate(violation)
        agree(violation, automaton, 3)
        sizes += automaton.size
    assert (len(texts), sizes) <= (35, 91)


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("GF p", 2),
        ("FG p", 2),
        ("GF p && GF q", 3),
        ("GF p -> GF q", 4),
        ("!((GF p && GF q) -> GF r)", 4),
        ("!((GF p -> GF q) && (GF q -> GF r))", 5),
        ("p U (q U r)", 3),
        ("(p U q) U r", 4),
        ("X X X p", 5),
        ("F (p && X (q && X r))", 4),
        ("G (p || X q)", 2),
        ("F p || F q || F r", 2),
        ("G p || G q", 3),
        (" && ".join(f"GF p{index}" for index in range(8)), 9),
    ],
)
def test_sizes(text: str, most: int) -> None:
    formula = parse(text).formula
    automaton = translate(formula)
    agree(formula, automaton, 4)
    assert automaton.size <= most


@pytest.mark.parametrize(
    ("text", "strength", "very_weak", "deterministic"),
    [
        ("true", Strength.TERMINAL, True, True),
        ("F p", Strength.TERMINAL, True, True),
        ("p U q", Strength.TERMINAL, True, True),
        ("G p", Strength.WEAK, True, True),
        ("F G p", Strength.WEAK, True, False),
        ("F (p && G q)", Strength.WEAK, True, False),
        ("GF p", Strength.GENERAL, False, True),
        ("G (p -> X !p)", Strength.WEAK, False, True),
    ],
)
def test_classification(text: str, strength: Strength, very_weak: bool, deterministic: bool) -> None:
    automaton = translate(parse(text).formula)
    assert (automaton.strength, automaton.very_weak, automaton.deterministic) == (strength, very_weak, deterministic)


def test_constants() -> None:
    assert translate(TRUE) == Automaton((), 0, ((Transition(Label(), 0),),), frozenset({0}))
    assert translate(FALSE) == Automaton((), 0, ((),), frozenset())
    assert translate(parse("p && !p || G (q && F !q)").formula) == translate(FALSE)


def test_the_same_every_time() -> None:
    formula = parse("G (p -> (q U r)) || GF (p && q)").formula
    first = translate(formula)
    translate(parse("r || q || p").formula)
    assert translate(formula) == first


@pytest.mark.parametrize(
    "text",
    [
        " && ".join(f"F p{index}" for index in range(14)),
        " <-> ".join(f"F p{index}" for index in range(10)),
        "G (p -> " + "X" * 20 + "p)",
    ],
)
def test_too_large(text: str) -> None:
    with pytest.raises(TooLarge, match="the automaton of this formula has more than"):
        translate(parse(text).formula)


def test_deep_formulas() -> None:
    """Every formula that the parser accepts can be translated without exhausting Python's stack."""
    for text in ("(" * 90 + "p" + " U q)" * 90, "(F" * 45 + "p" + " && q)" * 45, "p -> " * 90 + "p", "X" * 95 + "p"):
        assert translate(parse(text).formula).size <= 100


def test_components() -> None:
    assert components([[1], [0, 2], [3], [], [4]]) == [[3], [2], [0, 1], [4]]


def test_dot_and_text() -> None:
    automaton = translate(negate(parse('G ({x > "3"} -> F ack)').formula))
    assert automaton.propositions == (proposition('x > "3"', verbatim=True), proposition("ack"))
    assert r'0 -> 1 [label="{x > \"3\"} && !ack"];' in automaton.to_dot("name")
    assert "1 [shape=doublecircle];" in automaton.to_dot("name")
    assert automaton.to_text().splitlines()[0] == "state 0 (initial)"
    assert automaton.to_json()["accepting"] == [1]
