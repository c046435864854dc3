"""Our automata and Spin's accept the same words, and ours are smaller. Skipped where Spin is not installed."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest
from ltl_patterns import PATTERNS
from ltl_random import BINARY, random_formula, random_words
from spin import read_claim, spin_automaton

from outcrop.ir.formula import TRUE, Formula, Operator, negate, proposition
from outcrop.ltl.parser import parse
from outcrop.ltl.translate import translate
from outcrop.ltl.words import accepts

needs_spin = pytest.mark.skipif(shutil.which("spin") is None, reason="Spin is not installed")

CLAIM = """never  {    /* []<>p -> <>q */
T0_init:
\tdo
\t:: atomic { ((q)) -> assert(!((q))) }
\t:: (! ((p))) -> goto accept_S5
\t:: (1) -> goto T0_init
\tod;
accept_S5:
\tdo
\t:: (! ((p))) -> goto accept_S5
\tod;
accept_all:
\tskip
}
"""


def test_claims_are_read() -> None:
    automaton = read_claim(CLAIM)
    assert automaton.size == 3
    assert automaton.accepting == {1, 2}
    assert [[each.target for each in leaving] for leaving in automaton.transitions] == [[2, 1, 0], [1], [2]]
    assert read_claim("never {\naccept_init:\nT0_init:\n\tdo\n\t:: (p) -> goto T0_init\n\tod;\n}").size == 1


def compare(formulas: Iterable[Formula]) -> tuple[int, int, int]:
    """Returns the number of formulas compared, of our states and of Spin's."""
    count = ours = theirs = 0
    for formula in formulas:
        peer = spin_automaton(formula)
        if peer is None:
            continue
        automaton = translate(formula)
        words = random_words(Random(count), formula.propositions() or [proposition("p")], 30)
        for word in words:
            assert accepts(automaton, word) == accepts(peer, word), (str(formula), word)
        count += 1
        ours += automaton.size
        theirs += peer.size
    return count, ours, theirs


@needs_spin
def test_random_formulas() -> None:
    operators = [*BINARY, Operator.NOT, Operator.FINALLY, Operator.GLOBALLY]
    random = Random(7)
    count, ours, theirs = compare(random_formula(random, 3, operators) for _ in range(40))
    assert count > 10
    assert ours < theirs


@needs_spin
def test_patterns() -> None:
    formulas = [negate(parse(text).formula) for text, _, _ in PATTERNS.values() if "X" not in text]
    count, ours, theirs = compare(formulas)
    assert count > 10
    assert ours < theirs


@needs_spin
def test_beem(shared: Path) -> None:
    with (shared / "models" / "dve" / "FORMULAS.csv").open(newline="") as file:
        texts = sorted({row["formula"] for row in csv.DictReader(file) if row["kind"] == "LTL"})
    count, ours, theirs = compare(negate(parse(text).formula) for text in texts)
    assert count > 20
    assert ours < theirs


@needs_spin
def test_constants() -> None:
    assert compare([TRUE, negate(TRUE), Formula(Operator.AND, proposition("p"), negate(proposition("p")))])[0] == 3
