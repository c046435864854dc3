"""Vacuity: properties that hold because the antecedent of an implication is never true."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from expectations import TINY
from matrices import taken

import outcrop
from outcrop.codegen.c import emit
from outcrop.ir import vacuity
from outcrop.lang import load_text
from outcrop.options import Keep, LoadOptions
from outcrop.result import Result
from outcrop.source import Severity
from outcrop.strategies import names

#: A counter from 0 to 20; ``gone`` is true in the first state only, ``last`` in the last one.
COUNTER = """
var x: 0..20; y: array [0..2] of 0..20;
startstate begin x := 0; for i: 0..2 do y[i] := i; end; end;
rule x < 20 ==> begin x := x + 1; if x > 5 then undefine y[1]; end; end;
rule x = 20 ==> begin x := 20; end;
function odd(n: 0..20): boolean; begin return n % 2 = 1; end;
function loud(n: 0..20): boolean; begin put "asked\\n"; return n = 20; end;
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return tmp_path / "counter.m"


def check(path: Path, more: str, ltl: str = "", **options: object) -> Result:
    path.write_text(COUNTER + more)
    return outcrop.load(path, ltl=[ltl] if ltl else []).check(deadlock="off", **options)


def unmet(result: Result) -> list[list[str] | None]:
    return [row["vacuous"] for row in result.to_dict()["properties"] if "vacuous" in row]


#: Invariants, and their antecedents that are never true.
INVARIANTS = [
    ("x <= 20", []),
    ("x = 0 -> x < 1", []),
    ("x = 20 -> x > 1", []),
    ("x > 20 -> false", ["x > 20"]),
    ("x = 3 & x = 4 -> false", ["x = 3 & x = 4"]),
    ("!(x > 20) | x = 3", ["x > 20"]),
    ("x <= 20 & (x > 20 -> false)", ["x > 20"]),
    ("x > 3 -> (x < 4 -> false)", ["x < 4"]),
    ("x > 20 -> (x < 4 -> false)", ["x > 20"]),  # and not the one behind it
    ("odd(x) -> (x % 2 = 0 -> false)", ["x % 2 = 0"]),
    ("forall i: 0..2 do x = i + 18 -> x > 17 end", []),
    ("forall i: 0..2 do i = 5 -> false end", ["i = 5"]),
    ("forall i: 0..2 do i = 1 -> x < 21 end", []),
    ("forall i: 0..2 do x < 21 -> (i = 1 -> y[0] = 0) end", []),
    ("forall i: 0..2 do forall j: 0..2 do i < j & x = j + 20 -> false end end", ["i < j & x = j + 20"]),
    ("(x > 20 -> false) & (x < 0 -> false) & (x = 1 -> true)", ["x > 20", "x < 0"]),
    ("(x > 20 -> false) | x < 30", []),  # not examined: it may be needed
    ("!(x = 3 -> x = 4) | x < 30", []),
    # The part in front protects what follows, there as here.
    ("x > 0 -> (20 / x > 30 -> false)", ["20 / x > 30"]),
    ("(isundefined(y[1]) | true) & (!isundefined(y[1]) -> (y[1] = 7 -> false))", ["y[1] = 7"]),
]
FORMULAS = [
    ("G ({x = 3} -> F {x = 4})", []),
    ("G ({x > 20} -> F {x = 4})", ["{x > 20}"]),
    ("G (!{x > 20} || F {x = 4})", ["{x > 20}"]),
    ("G !{x > 20}", []),
    ("F G {x = 20} && G ({x > 20} -> X {x = 4})", ["{x > 20}"]),
    ("GF {x > 20} -> G {x = 4}", ["{x > 20}"]),
    ("({x < 9} U {x > 20}) -> G {x = 4}", ["{x > 20}"]),
    ("G (({x = 3} && F {x > 20}) -> F {x = 4})", []),  # the first operand decides
    ("G ({x = 3} && !{x < 4} -> {x = 7})", ["{x = 3} && !{x < 4}"]),
    ("G ({x = 3} -> ({x = 4} -> false))", []),  # each is true somewhere
    ("({x > 20} -> {x = 3}) U {x = 20}", []),  # the formula still says that 20 is reached
    ("({x > 20} -> {x = 3}) W {x = 19}", ["{x > 20}"]),
]


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_invariants(engine: str, model: Path) -> None:
    properties = [f'invariant "{number}" {condition};' for number, (condition, _) in enumerate(INVARIANTS)]
    result = check(model, "\n".join(properties), engine=engine)
    assert str(result.verdict) == "holds"
    assert unmet(result) == [expected for _, expected in INVARIANTS]
    warnings = [note for note in result.notes if "holds vacuously" in note.message]
    assert [note.span.text for note in warnings if note.span] == [text for _, texts in INVARIANTS for text in texts]
    assert all(note.severity is Severity.WARNING for note in warnings)


@pytest.mark.parametrize(("formula", "expected"), FORMULAS)
def test_formulas(formula: str, expected: list[str], model: Path) -> None:
    result = check(model, "", formula, engine="interpreter")
    assert unmet(result) == [expected]
    assert sum("holds vacuously" in note.message for note in result.notes) == len(expected)
    assert not any("undefined value" in note.message for note in result.notes)


def test_formulas_in_compiled_code(model: Path) -> None:
    """Formulas may be declared in the model, or given on the command line."""
    result = check(model, 'ltl "it" : G ({x = 3} -> F {x = 4});', "G ({x > 20} -> F {x = 4})")
    assert unmet(result) == [[], ["{x > 20}"]]


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_a_failure_is_that_of_the_formula(engine: str, model: Path) -> None:
    """Its antecedent fails from 3 on: the search for bad states says nothing about that."""
    result = check(model, "", "G ({y[x] = 20} -> F {x = 4})", engine=engine, max_errors=None)
    assert len(result.violations) == 1
    assert unmet(result) == [None]
    assert result.states_checked == "all"
    assert len(result.levels) == 21


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_what_fails_where_the_formula_does_not_look_is_not_true_there(engine: str, model: Path) -> None:
    """It asks about the start state alone; from 3 on its antecedent cannot be evaluated."""
    result = check(model, "", "{y[x] = 20} -> F {x = 4}", engine=engine)
    assert str(result.verdict) == "holds"
    assert unmet(result) == [["{y[x] = 20}"]]


def test_instances_share_what_they_are_about(model: Path) -> None:
    """An invariant inside rulesets is not vacuous if one of its instances is not."""
    some = 'ruleset i: 10..30 do invariant "some" x = i -> x > 9; end;'
    none = 'ruleset i: 21..30 do invariant "none" x = i -> false; end;'
    named = 'alias z: y[0] do invariant "named" z = 1 -> false; end;'
    assert unmet(check(model, some + none + named)) == [[], ["x = i"], ["z = 1"]]


def test_symmetry() -> None:
    text = """
        type P: scalarset(3); var s: array [P] of 0..2;
        startstate begin for p: P do s[p] := 0; end; end;
        ruleset p: P do rule s[p] < 1 ==> begin s[p] := s[p] + 1; end; end;
        ruleset p: P do invariant "one" s[p] = 1 -> s[p] != 2; invariant "two" s[p] = 2 -> false; end;
    """
    system, _ = load_text(text, "m.m", LoadOptions())
    model = outcrop.Model(system, (), LoadOptions())
    for symmetry in (True, False):
        assert unmet(model.check(deadlock="off", symmetry=symmetry)) == [[], ["s[p] = 2"]]


def test_only_a_complete_search_knows(model: Path) -> None:
    result = check(model, 'invariant "it" x > 20 -> false;', depth=5)
    assert str(result.verdict) == "unknown"
    assert unmet(result) == [None]
    assert not any("holds vacuously" in note.message for note in result.notes)


def test_what_prints_is_not_asked_twice(model: Path) -> None:
    printed: list[str] = []
    properties = 'invariant "it" loud(x) -> x = 20; invariant "never" loud(x) & x = 3 -> false;'
    result = check(model, properties, "G ({loud(x) & x = 3} -> false)", prints=True, output=printed.append)
    assert "".join(printed) == 2 * 21 * "asked\n"
    assert unmet(result) == [[], ["loud(x) & x = 3"], None]
    result = check(model, properties, "G ({loud(x) & x = 3} -> false)")
    assert unmet(result) == [[], ["loud(x) & x = 3"], ["{loud(x) & x = 3}"]]


def test_what_changes_the_state_meanwhile(model: Path) -> None:
    """An iteration of a loop starts with the state that the previous one has left."""
    bump = "function bump(): boolean; begin x := (x + 1) % 21; return true; end;"
    assert unmet(check(model, bump + 'invariant "it" forall i: 0..20 do (x = 30 - i -> true) & bump() end;')) == [[]]


def test_constants(model: Path) -> None:
    properties = """
        invariant "some" forall i: 1..N do forall j: 1..N do N > 1 & i != j -> x < 21 end end;
        invariant "several" N > 1 -> x < 21;
    """
    model.write_text("const N: 2;" + COUNTER + properties)
    for nodes, expected in ((2, [[], []]), (1, [["N > 1"], ["N > 1"]])):
        assert unmet(outcrop.load(model, N=nodes).check(deadlock="off")) == expected


def test_only_what_is_checked(model: Path) -> None:
    formulas = 'ltl "a" : G ({x > 20} -> false); ltl "b" : G ({x < 0} -> false);'
    result = check(model, formulas, engine="interpreter", properties=("b",))
    told = [note.message for note in result.notes if "vacuously" in note.message]
    assert told == ["ltl \"b\" holds vacuously: '{x < 0}' is true in no state reached"]


def test_nothing_is_said_of_what_is_violated(model: Path) -> None:
    result = check(
        model, 'invariant "it" x < 20 & (x > 20 -> false); invariant "never" x > 20 -> false;', max_errors=None
    )
    assert unmet(result) == [None, None]
    assert not any("holds vacuously" in note.message for note in result.notes)


def test_parts_are_told_from_the_whole(model: Path) -> None:
    result = check(
        model, 'invariant "a" x > 20 -> false; invariant "b" x < 21 & (x > 20 -> false);', engine="interpreter"
    )
    told = [note.message.split(" holds")[0] for note in result.notes if "vacuously" in note.message]
    assert told == ['invariant "a"', 'part of invariant "b"']


def test_what_choose_stands_for_is_no_arrow(model: Path) -> None:
    bag = 'var bag: multiset [2] of 0..3; choose j: bag do invariant "it" bag[j] < 3; end;'
    assert unmet(check(model, bag)) == [[]]


def test_code_grows_with_the_model(model: Path) -> None:
    """It does not grow with the square, if every implication stands behind all others."""
    sizes = []
    for count in (20, 80):
        arrows = " & ".join(f"(x = {number % 20} & y[0] = {number} -> x < 21)" for number in range(count))
        system, _ = load_text(COUNTER + f'invariant "it" {arrows};', "m.m", LoadOptions())
        sizes.append(len(emit(vacuity.vacuity(system).system, False).source))
    assert sizes[1] < 5 * sizes[0]


@pytest.mark.parametrize("strategy", names(finds_cycles=False, decides=True))
def test_strategies(strategy: str, model: Path, tmp_path: Path) -> None:
    """Every strategy checks each new state for it."""
    model.write_text("""
        var x: 0..40; y: 0..40;
        startstate begin x := 0; y := 0; end;
        rule x < 40 ==> begin x := x + 1; end;
        rule y < 40 ==> begin y := y + 1; end;
        ruleset i: 0..40 do invariant "all" x = i & y = 40 - i -> x + y = 40; end;
        invariant "last" x = 40 -> (y = 40 -> true);
        invariant "never" x = 41 - y -> (x + y = 40 -> true);
    """)
    small = TINY if strategy in names(past_ram=True) and strategy != "cached" else {}  # a tiny cache gives up
    own = taken(strategy, {"bits": 64, "keep": Keep.SIGNATURES, **small})
    result = outcrop.load(model).check(strategy=strategy, deadlock="off", workdir=str(tmp_path), threads=2, **own)
    assert unmet(result) == [[], [], ["x + y = 40"]]


@pytest.mark.parametrize("strategy", names(exact=True, liveness=True, finds_cycles=False))
def test_resumed(strategy: str, model: Path, tmp_path: Path) -> None:
    """What was true before a checkpoint is remembered. Nothing is said about formulas that may be new."""
    place = str(tmp_path / "saved")
    properties = 'invariant "first" x = 0 -> true; invariant "never" x > 20 -> true;'
    check(model, properties, checkpoint=place, depth=10)
    result = check(model, properties, "G ({x = 0} -> {x = 0})", resume=place, strategy=strategy)
    assert str(result.verdict) == "holds"
    assert unmet(result) == [[], ["x > 20"], None]


def test_doctests() -> None:
    assert doctest.testmod(vacuity).attempted > 0
    assert doctest.testmod(vacuity).failed == 0
