"""Formulas about the runs of models: verdicts, fairness, symmetry, and valid lassos."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from generator import generate
from ltl_random import BINARY, random_formula
from runs import random_lasso, word

import outcrop
from outcrop.check import engines, temporal
from outcrop.check.temporal import plan
from outcrop.errors import InternalError, ModelError, UsageError
from outcrop.ir.formula import UNARY, Operator
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.symmetry import Normaliser
from outcrop.ltl.words import holds
from outcrop.options import CheckOptions
from outcrop.oracle.cycles import search
from outcrop.outcome import Finding
from outcrop.result import FormulaResult, Result, Trace, Verdict
from outcrop.trace.lasso import explain_lasso

ENGINES = ("interpreter",)


def model_of(text: str, directory: Path, name: str = "model.m", **options: Any) -> outcrop.Model:
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return outcrop.load(path, **options)


def check(text: str, directory: Path, *formulas: str, name: str = "model.m", **options: Any) -> Result:
    model = model_of(text, directory, name, ltl=formulas)
    return model.check(**{"engine": "interpreter", "deadlock": "off", **options})


def statuses(result: Result) -> list[str]:
    return [row.status for row in result.properties if row.kind == "ltl"]


LIGHT = """
var red, broken: boolean;
function green(): boolean; begin return !red; end;
startstate begin red := true; broken := false; end;
rule "switch" !broken ==> red := !red; end;
rule "break" red & !broken ==> broken := true; end;
"""


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        ("G F red", "holds"),
        ("G F green", "violated"),
        ("G F green || F broken", "holds"),
        ("G (red -> X green)", "violated"),
        ("G ({!red} -> X red)", "holds"),
        ("F broken", "violated"),
        # Deadlocks stutter: nothing is enabled once the light is broken.
        ("F broken -> F G red", "holds"),
        ("red W broken", "violated"),
        ("broken R !{broken & !red}", "holds"),
        ("true", "holds"),
        ("false", "violated"),
    ],
)
def test_verdicts(formula: str, verdict: str, tmp_path: Path) -> None:
    assert statuses(check(LIGHT, tmp_path, formula)) == [verdict]


def test_a_lasso_shows_its_loop_and_the_propositions(tmp_path: Path) -> None:
    result = check(LIGHT, tmp_path, "G F green")
    (violation,) = result.violations
    trace = violation.trace
    assert (result.kind, violation.message) == ("ltl", 'ltl "G F green" is violated')
    assert trace is not None and trace.closing is not None
    assert [step.label for step in trace.steps] == ["Startstate 1", "break"]
    assert (trace.loop_start, trace.closing.label) == (1, "(nothing is enabled)")
    assert [step.truths for step in trace.steps] == [(False,), (False,)]
    assert trace.propositions == ("green",)


CLIENTS = """
type client: scalarset(2);
var asks, has: array [client] of boolean;
startstate begin for c: client do asks[c] := false; has[c] := false; end; end;
ruleset c: client do
  rule "ask" !asks[c] & !has[c] ==> asks[c] := true; end;
  rule "get" asks[c] & forall d: client do !has[d] end ==> has[c] := true; asks[c] := false; end;
  rule "give back" has[c] ==> has[c] := false; end;
  ltl "served" : G ({asks[c]} -> F {has[c]});
  ltl "gives back" : G ({has[c]} -> F {!has[c]});
end;
rule "idle" begin end;
ltl "somebody" : G F {exists c: client do has[c] end};
"""


def test_a_proposition_that_fails_where_nothing_looks_at_it(tmp_path: Path) -> None:
    """It divides by zero in the start state, where the automaton does not evaluate it."""
    model = """
var x: 0 .. 2;
startstate begin x := 2; end;
rule "leave" x = 2 ==> x := 0; end;
rule "stay" x = 0 ==> x := 0; end;
"""
    for engine in ("interpreter", "native"):
        result = check(model, tmp_path, "G ({x < 2} -> F {10 / (2 - x) > 100})", engine=engine)
        (violation,) = result.violations
        assert violation.trace is not None
        assert (len(violation.trace.steps), violation.trace.loop_start) == (2, 1)


def test_weak_fairness(tmp_path: Path) -> None:
    assert statuses(check(CLIENTS, tmp_path)) == ["violated", "violated", "violated"]
    fair = check(CLIENTS, tmp_path, fair="weak")
    # "get" is not enabled continuously while the other client comes and goes, so strong fairness would be needed.
    assert statuses(fair) == ["violated", "holds", "holds"]
    assert any("fairness" in note.message for note in fair.notes)


def test_strong_fairness(tmp_path: Path) -> None:
    assert statuses(check(CLIENTS, tmp_path, fair="strong")) == ["holds", "holds", "holds"]


def test_fairness_without_formulas_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs a formula"):
        check(LIGHT, tmp_path, fair="weak")


def test_instances_that_are_alike_are_checked_once(tmp_path: Path) -> None:
    rows = [row for row in check(CLIENTS, tmp_path).properties if isinstance(row, FormulaResult)]
    assert [(row.name, row.instances) for row in rows] == [
        ("served, c: client_1", 2),
        ("gives back, c: client_1", 2),
        ("somebody", 1),
    ]
    assert len(statuses(check(CLIENTS, tmp_path, symmetry=False))) == 5


def test_symmetry_is_used_only_for_symmetric_formulas(tmp_path: Path) -> None:
    result = check(CLIENTS, tmp_path, properties=("somebody",))
    assert not result.notes
    unreduced = check(CLIENTS, tmp_path, properties=("somebody",), symmetry=False)
    counts = [each.to_dict()["properties"][-1]["states"] for each in (result, unreduced)]
    assert counts[0] < counts[1]
    named = check(CLIENTS, tmp_path, properties=("served",))
    assert ["symmetry is off for this formula" in note.message for note in named.notes] == [True]


ROTATING = """
type node: scalarset(3); var token: node; last: node;
startstate begin for n: node do token := n; end; undefine last; end;
ruleset n: node do rule "pass" n != token & (isundefined(last) | n != last) ==> last := token; token := n; end; end;
"""


def test_a_loop_of_representatives_is_unwound(tmp_path: Path) -> None:
    """Passing the token on visits two representatives, but takes three steps to come back."""
    (violation,) = check(ROTATING, tmp_path, "F {isundefined(last) & !isundefined(last)}").violations
    trace = violation.trace
    assert trace is not None and trace.loop_start is not None
    assert len(trace) - trace.loop_start == 3
    assert is_run(trace)


def is_run(trace: Trace) -> bool:
    """Returns whether each step leads to the next, and the last one back."""
    interpreter = Interpreter(trace.system, symmetry=False)
    assert trace.closing is not None and trace.loop_start is not None
    states = [step.state for step in (*trace.steps, trace.closing)]
    follows = [
        after in [each.successor for each in interpreter.successors(before)] or before == after
        for before, after in pairwise(states)
    ]
    return all(follows) and trace.closing.state == states[trace.loop_start]


def test_what_is_no_lasso_is_never_shown(tmp_path: Path) -> None:
    system = model_of(LIGHT, tmp_path, ltl="G F red").system
    options = CheckOptions()
    (one,) = plan(system, options)
    other = plan(model_of(LIGHT, tmp_path, ltl="G !broken").system, options)[0]
    (finding,) = search(other.product, options).findings
    canonical = Normaliser(one.product, False)
    with pytest.raises(InternalError):  # the loop satisfies the formula
        explain_lasso(one.product, one.shown, finding, one.property_instance, canonical)
    with pytest.raises(InternalError):  # the last state does not lead back to the first
        wrong = Finding(finding.kind, finding.path, loop_start=0)
        explain_lasso(other.product, other.shown, wrong, other.property_instance, Normaliser(other.product, False))


# --- Random models and formulas ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_no_run_contradicts_the_verdict(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    text = generate(random)
    variables = [each for each in model_of(text, tmp_path).system.variables if each.type.is_simple]
    names = {letter: random.choice(variables).name if variables else "" for letter in "pqr"}
    definitions = "".join(
        f"#define {letter} {f'!isundefined({name})' if name else 'true'}\n" for letter, name in names.items()
    )
    formula = random_formula(random, 3, [*sorted(UNARY - {Operator.NOT}), *BINARY])
    (tmp_path / "model.ltl").write_text(f"{definitions}#property {formula}\n", encoding="utf-8")
    model = model_of(text, tmp_path)
    result = model.check(engine="interpreter", deadlock="off", max_errors=None)
    if any(each.kind != "ltl" and each.kind != "invariant" and each.kind != "cover" for each in result.violations):
        return  # formulas say nothing about a run that ends in an error
    (subject,) = model.system.temporal
    runs = [run for run in (random_lasso(model.system, random) for _ in range(30)) if run is not None]
    violated = [run for run in runs if not holds(subject.formula, word(model.system, run, subject))]
    if violated:
        assert statuses(result) == ["violated"]
    for each in result.violations:
        if each.kind == "ltl":
            assert each.trace is not None and is_run(each.trace)


# --- DVE -----------------------------------------------------------------------------------------------------

TWO = """
byte x;
process P { state a, b; init a; trans a -> b { effect x = 1; }, b -> a { effect x = 0; }; }
process Q { state c, d; init c; trans c -> d {}; }
"""
FORMULAS = """
Things that should hold.
#define atb P.b
#define one x == 1
#define both atb && one
#property G (one -> atb)
#property G F atb
#property F { Q.d }
#property G(both -> F !both)
"""


def test_formulas_beside_a_dve_model(tmp_path: Path) -> None:
    (tmp_path / "model.ltl").write_text(FORMULAS, encoding="utf-8")
    text = TWO + "system async;"
    assert statuses(check(text, tmp_path, name="model.dve")) == ["holds", "holds", "violated", "holds"]
    assert statuses(check(text, tmp_path, name="model.dve", fair="weak")) == ["holds"] * 4
    chosen = check(text, tmp_path, "F G atb", name="model.dve", properties=("2", "F G atb"))
    assert statuses(chosen) == ["holds", "violated"]


def test_a_formula_may_name_variables_of_a_dve_model(tmp_path: Path) -> None:
    assert statuses(check(TWO + "system async;", tmp_path, "G (x -> {P.b})", name="model.dve")) == ["holds"]
    with pytest.raises(ModelError, match="unknown name 'y'"):
        check(TWO + "system async;", tmp_path, "G y", name="model.dve")
    with pytest.raises(ModelError, match="process 'P' has no state 'z'"):
        check(TWO + "system async;", tmp_path, "G {P.z}", name="model.dve")


def test_a_property_process_is_checked(tmp_path: Path) -> None:
    edges = "q -> q {}, q -> r { guard GUARD; }, r -> r { guard GUARD; }"
    text = f"{TWO} process N {{ state q, r; init q; accept r; trans {edges}; }} system async property N;"
    result = check(text.replace("GUARD", "Q.c"), tmp_path, name="model.dve")
    assert (result.verdict, statuses(result)) == (Verdict.VIOLATED, ["violated"])
    assert result.violations[0].message == 'property process "N" accepts a run of the model'
    assert result.trace is not None and [each.name for each in result.trace.system.variables] == ["x", "P", "Q", "N"]
    assert statuses(check(text.replace("GUARD", "Q.c"), tmp_path, name="model.dve", fair="weak")) == ["holds"]


def test_errors_are_found_in_a_product(tmp_path: Path) -> None:
    text = TWO.replace("x = 1", "x = x - 1") + "process N { state q; init q; accept q; trans q -> q { guard x > 5; }; }"
    result = check(text + " system async property N;", tmp_path, name="model.dve")
    assert (result.verdict, result.kind) == (Verdict.HOLDS, "")  # the automaton follows no run to the error
    result = check(text.replace("x > 5", "true") + " system async property N;", tmp_path, name="model.dve")
    assert result.verdict is Verdict.VIOLATED
    assert [str(each.kind) for each in result.violations] == ["ltl", "runtime"]  # a run continues after the error


# --- Mistakes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("G {red + 1}", "--ltl:1:8: error"),
        ("G {red &}", "found the end of the expression"),
        ("G gren", "did you mean 'green'?"),
        ("G Red", "a name with a capital in braces"),
        ("G (red", "this bracket is never closed"),
        ("F {change}", "unknown name 'change'"),
    ],
)
def test_mistakes_are_shown_where_they_are(formula: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        model_of(LIGHT, tmp_path, ltl=formula)
    assert message in str(caught.value)
    assert "^" in str(caught.value)


def test_mistakes_in_a_declaration(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        model_of(LIGHT + 'ltl "odd" : G (red /\\ -- a remark; with a semicolon\n  F {gren()});\n', tmp_path)
    assert "model.m:8:6: error: unknown procedure or function 'gren'" in str(caught.value)
    with pytest.raises(ModelError, match="expected ':' after the name of the formula"):
        model_of(LIGHT + 'ltl "odd" G red;\n', tmp_path)


def test_ltl_is_no_reserved_word(tmp_path: Path) -> None:
    text = LIGHT.replace("red", "ltl")
    assert statuses(check(text + 'ltl "again" : G F ltl\n', tmp_path)) == ["holds"]


def test_a_formula_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'3'.*1: G F red.*2: F red"):
        check(LIGHT, tmp_path, "G F red", "F red", properties=("3",))


def test_auto_goes_on_with_signatures_where_memory_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled: the interpreter stands in, and reports that the first search ran out of memory."""
    from outcrop.check import temporal
    from outcrop.options import Engine
    from outcrop.outcome import Stop
    from outcrop.strategies import OwctyOptions

    real, asked = temporal.search, []

    def stand_in(system: Any, load: Any, options: CheckOptions, *others: Any) -> Any:
        is_compact = options.of(OwctyOptions).compact
        asked.append(is_compact)
        searched = real(system, load, dataclasses.replace(options, engine=Engine.INTERPRETER, compact=False), *others)
        if not is_compact:
            searched.outcome.stop, searched.outcome.findings = Stop.MEMORY, []
        return searched

    monkeypatch.setattr(temporal, "search", stand_in)
    model = model_of(LIGHT, tmp_path, ltl=["G F green"])
    (each,) = plan(model.system, CheckOptions())
    for strategy, steps, status in (("auto", [False, True], "violated"), ("owcty", [False], "unknown")):
        asked.clear()
        options = CheckOptions(strategy=strategy)
        checked = temporal.run_check(each, model.options, options, None, None)
        assert (asked, checked.result(options, None).status) == (steps, status)
        (note,) = temporal.memory_notes([checked], options)
        assert "--compact" in note.message


@pytest.mark.parametrize(("accepting", "status"), [("q", "violated"), ("r", "holds")])
def test_runs_through_the_error_state_are_judged(accepting: str, status: str, tmp_path: Path) -> None:
    """The failure is reported together with the verdict of the property process: P has no state from then on."""
    text = f"""
    byte x = 250;
    process P {{ state s; init s; trans s -> s {{ effect x = x + 1; }}; }}
    process N {{ state p, q, r; init p; accept {accepting};
      trans p -> p {{}}, p -> q {{ guard not P.s; }}, q -> q {{ guard not P.s; }},
            q -> r {{ guard P.s; }}, r -> r {{}}; }}
    system async property N;
    """
    result = check(text, tmp_path, name="model.dve")
    assert result.verdict is Verdict.VIOLATED and statuses(result) == [status]
    messages = [each.message for each in result.violations]
    assert messages[-1] == "value 256 is outside 0..255 of x"
    assert [str(each.kind) for each in result.violations] == (["ltl"] if status == "violated" else []) + ["runtime"]


def test_time_is_shared_by_all_searches_for_a_formula(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step fails, so the product is searched a second time."""
    path = tmp_path / "m.dve"
    path.write_text(
        "byte x = 254; process P { state a, b; init a; trans a -> b { effect x = x + 1; }, b -> a {}; } system async;"
    )
    limits: list[float | None] = []

    def slow_search(*arguments: Any) -> engines.EngineOutcome:
        limits.append(arguments[2].time_limit)
        searched = engines.search(*arguments)
        return dataclasses.replace(searched, outcome=dataclasses.replace(searched.outcome, seconds=4.0))

    monkeypatch.setattr(temporal, "search", slow_search)
    model = outcrop.load(path, ltl=["G F {P.a}"])
    model.check(engine="interpreter", strategy="ram", deadlock="off", time_limit=100.0, max_errors=None)
    first, second = limits
    assert first is not None and second is not None
    assert second == pytest.approx(first - 4.0)
