"""Random small systems and formulas: every search compared with strongly connected components of the interpreter's
product, and weak fairness compared with an independent definition."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest
from cycle_graphs import SEARCHES, Graph
from explored import Explored, has_fair_accepting_cycle
from ltl_random import PROPOSITIONS, random_formula

import outcrop
from outcrop.ir.automaton import Automaton
from outcrop.ir.formula import Operator, negate
from outcrop.ir.product import product, weak_fairness
from outcrop.ir.system import System
from outcrop.lang import load_text
from outcrop.ltl.binding import bind
from outcrop.ltl.translate import translate
from outcrop.options import LoadOptions
from outcrop.outcome import Stop

OPERATORS = [each for each in Operator if each not in (Operator.TRUE, Operator.FALSE, Operator.PROPOSITION)]


def random_system(random: Random) -> System:
    """Returns a system with a few variables and rules, and conditions called p, q and r."""

    def condition() -> str:
        name, most = random.choice([("x", 3), ("y", 2)])
        return random.choice(["b", "!b", f"{name} = {random.randint(0, most)}", f"{name} < {random.randint(1, most)}"])

    def change() -> str:
        name, most = random.choice([("x", 3), ("y", 2)])
        chosen = [f"{name} := ({name} + 1) % {most + 1}", f"{name} := {random.randint(0, most)}", "b := !b"]
        return random.choice([*chosen, f"b := {condition()}"])

    rules = [
        f'rule "{number}" {random.choice(["true", condition(), condition()])} ==> {change()}; {change()}; end;'
        for number in range(random.randint(1, 4))
    ]
    names = [f'invariant "{each}" {condition()};' for each in PROPOSITIONS]
    text = "var x: 0..3; y: 0..2; b: boolean; startstate x := 0; y := 0; b := false; end;"
    return load_text("\n".join([text, *rules, *names]), "model.m", LoadOptions())[0]


def random_products(seed: int, count: int) -> Iterator[tuple[System, Automaton]]:
    random = Random(seed)
    for _ in range(count // 4):
        system = random_system(random)
        meaning = dict(zip(PROPOSITIONS, (each.condition for each in system.properties), strict=True))
        for _ in range(4):
            violating = translate(negate(random_formula(random, 3, OPERATORS)))
            yield system, bind(violating, meaning, system.rules[0].span)


@cache
def explored(seed: int, count: int) -> list[tuple[str, Graph]]:
    return [
        (str(automaton.strength), Explored(product(system, automaton)).graph)
        for system, automaton in random_products(seed, count)
    ]


@pytest.mark.parametrize("name", SEARCHES)
def test_every_search_agrees_with_components(name: str) -> None:
    verdicts, strengths = set(), set()
    for strength, graph in explored(1, 240)[:: 4 if "compact" in name else 1]:
        expected = graph.has_accepting_cycle()
        verdicts.add(expected)
        strengths.add(strength)
        assert (graph.search(SEARCHES[name], strength).stop is Stop.VIOLATION) == expected
    assert len(verdicts) == 2
    assert len(strengths) == 3


def test_weak_fairness_agrees_with_its_definition() -> None:
    both = set()
    for number, (system, automaton) in enumerate(random_products(2, 160)):
        plain = Explored(product(system, automaton))
        expected = has_fair_accepting_cycle(system, plain)
        fair = Explored(product(system, automaton, weak_fairness(system))).graph
        both.add((plain.graph.has_accepting_cycle(), expected))
        assert fair.has_accepting_cycle() == expected
        name = ["ndfs", "owcty"][number % 2]
        assert (fair.search(SEARCHES[name]).stop is Stop.VIOLATION) == expected
    assert both == {(False, False), (True, False), (True, True)}


#: Properties of small BEEM models, some of which hold.
BEEM = (
    "phils/phils.1.prop1",
    "phils/phils.2.prop3",
    "phils/phils.3.prop3",
    "lup/lup.1.prop2",
    "bakery/bakery.2.prop2",
    "anderson/anderson.2.prop3",
)


@pytest.mark.parametrize("name", BEEM)
def test_verdicts_of_beem(name: str, shared: Path) -> None:
    models = shared / "models" / "dve"
    with (models / "PROPERTIES.csv").open(encoding="utf-8") as table:
        verdict = {row["file"]: row["verdict"] for row in csv.DictReader(table)}[f"{name}.dve"]
    system = outcrop.load(models / f"{name}.dve").system
    assert system.automaton is not None
    graph = Explored(product(system, system.automaton)).graph
    assert graph.has_accepting_cycle() == (verdict == "violated")
    for options in SEARCHES.values():
        outcome = graph.search(options, str(system.automaton.strength))
        assert outcome.stop is (Stop.VIOLATION if verdict == "violated" else Stop.COMPLETE)
