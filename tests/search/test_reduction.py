"""Partial-order reduction: verdicts stay, known traps are avoided, the conditions on sets hold, and properties that it
would change are refused."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "fuzz"))

from compare_reduced import reduced_disagreement, reduced_formula_disagreement
from generator.processes import generate_processes, generate_processes_dve
from generator.rare import generate_rare
from generator.staged import generate_staged
from reduced_models import both, model_of

from outcrop.api import load
from outcrop.errors import UsageError
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.product import product
from outcrop.ltl.binding import bind
from outcrop.ltl.translate import translate
from outcrop.reduction.interpreted import ReducedMoves
from outcrop.reduction.prepare import Unreduced, reduction_of
from outcrop.reduction.stubborn import Reduction

sys.setrecursionlimit(100_000)


_WORKERS = """
type process: 0..4;
var at: array [process] of 0..3;
startstate begin for p: process do at[p] := 0; end; end;
ruleset p: process do
  rule "a" at[p] = 0 ==> at[p] := 1; end;
  rule "b" at[p] = 1 ==> at[p] := 2; end;
  rule "c" at[p] = 2 ==> at[p] := 3; end;
end;
"""


# --- Random models -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["model.m", "model.dve"])
def test_the_interpreter_decides_the_same(name: str, seed: int) -> None:
    make = generate_processes if name == "model.m" else generate_processes_dve
    for number in range(6 * seed, 6 * seed + 6):
        assert reduced_disagreement(make(Random(number)), name, number, native=False) == ""
        assert reduced_formula_disagreement(make(Random(number), formulas=True), name, number, native=False) == ""


@pytest.mark.parametrize("language", ["m", "dve", "pml"])
def test_models_in_which_errors_are_rare_are_decided_the_same(language: str) -> None:
    name = f"model.{language}"
    for seed in range(3):
        assert reduced_disagreement(generate_rare(Random(seed), language), name, seed, native=False) == ""
        text = generate_rare(Random(seed), language, formulas=True)
        assert reduced_formula_disagreement(text, name, seed, native=False) == ""


@pytest.mark.parametrize("seed", range(24))
def test_models_of_any_kind_are_decided_the_same(seed: int) -> None:
    assert reduced_disagreement(generate_staged(Random(seed)), "model.m", seed, native=False) == ""


@pytest.mark.parametrize("seed", [1])
def test_compiled_code_chooses_the_same_sets(seed: int) -> None:
    assert reduced_disagreement(generate_processes(Random(seed)), "model.m", seed) == ""
    assert reduced_disagreement(generate_processes_dve(Random(seed)), "model.dve", seed) == ""


def test_sets_depend_on_the_state_of_the_system_alone() -> None:
    """The automaton must not take part in the choice (Siegel 2019)."""
    model = model_of(_WORKERS + 'ltl "f" : G F {at[0] = 3} -> F G {at[0] = 1};')
    (subject,) = model.system.temporal
    automaton = translate(subject.formula)
    system = product(model.system, bind(automaton, subject.meaning, subject.span, subject.frame, (), ()))
    reduction = reduction_of(system, False, samples=False)
    assert isinstance(reduction, Reduction)
    interpreter = Interpreter(system, False)
    moves = interpreter.selection = ReducedMoves(interpreter, reduction)
    pending = [each.successor for each in interpreter.start_states() if each.successor]
    fired: dict[object, set[object]] = {}
    seen = set(pending)
    while pending:
        state = pending.pop()
        steps = {(each.label, each.raw and each.raw[: model.system.leaf_count]) for each in moves(state)}
        assert fired.setdefault(state[: model.system.leaf_count], steps) == steps
        for each in interpreter.successors(state):
            if each.successor is not None and each.successor not in seen:
                seen.add(each.successor)
                pending.append(each.successor)
    assert moves.reduced and len(fired) < len(seen)


# --- Traps -------------------------------------------------------------------------------------------------

_SPINNER = """
var spin: 0..1; there: 0..{steps};
startstate begin spin := 0; there := 0; end;
rule "spin" spin = 0 ==> spin := 1; end;
rule "back" spin = 1 ==> spin := 0; end;
rule "go" there < {steps} ==> there := there + 1; end;
{property}
"""


@pytest.mark.parametrize(
    "property",
    ['invariant "far" there != 2;', 'cover "far" there = 2;', 'rule "fails" there = 2 ==> error "too far"; end;'],
)
def test_a_process_that_turns_in_circles_does_not_hide_another(property: str) -> None:
    both(_SPINNER.format(steps=3, property=property))


def test_a_formula_is_not_blind_to_a_process_that_waits() -> None:
    for formula in ("F {there = 3}", "G F {spin = 1}", "G {there != 3}", "F G {there = 3}"):
        both(_SPINNER.format(steps=3, property=f'ltl "f" : {formula};'))


def test_a_loop_on_one_state_is_no_deadlock_if_others_move() -> None:
    text = """
    var still: boolean; x: 0..2;
    startstate begin still := true; x := 0; end;
    rule "still" still ==> still := true; end;
    rule "move" x < 2 ==> x := x + 1; end;
    """
    for definition in ("stuttering", "stuck", "off"):
        full, reduced = both(text, deadlock=definition)
        assert len(full.violations) == len(reduced.violations)


def test_a_guard_that_fails_only_after_another_step_is_met() -> None:
    both(
        """
        var x: 0..2; y: array [0..1] of boolean; z: 0..3;
        startstate begin x := 0; z := 0; for i: 0..1 do y[i] := true; end; end;
        rule "far" x = 0 ==> x := 2; end;
        rule "work" z < 3 ==> z := z + 1; end;
        rule "reads" z = 3 & y[x] ==> z := 0; end;
        """
    )


def test_a_state_between_two_steps_is_seen_in_both_orders() -> None:
    text = """
    var x, y: 0..1;
    startstate begin x := 0; y := 0; end;
    rule "a" x = 0 ==> x := 1; end;
    rule "b" y = 0 ==> y := 1; end;
    invariant "a first" !(x = 1 & y = 0);
    invariant "b first" !(x = 0 & y = 1);
    cover "only a" x = 1 & y = 0;
    cover "only b" x = 0 & y = 1;
    """
    full, _ = both(text, deadlock="off")
    assert full.violations


def test_a_property_of_some_element_is_one_part() -> None:
    """Each element alone has all its values in any order of the steps."""
    full, _ = both(
        """
        var at: array [0..1] of 0..2;
        startstate begin at[0] := 0; at[1] := 0; end;
        ruleset i: 0..1 do rule "step" at[i] < 2 ==> at[i] := at[i] + 1; end; end;
        invariant "not both" exists i: 0..1 do at[i] != 1 end;
        """,
        deadlock="off",
    )
    assert full.violations


def test_a_formula_sees_both_orders_of_two_steps() -> None:
    text = """
    var x, y: 0..1; z: 0..1;
    startstate begin x := 0; y := 0; z := 0; end;
    rule "a" x = 0 ==> x := 1; end;
    rule "b" y = 0 ==> y := 1; end;
    rule "c" z = 0 ==> z := 1; end;
    """
    for formula in ("G {!(x = 1 & y = 0)}", "G {!(x = 0 & y = 1)}"):
        full, _ = both(f'{text} ltl "f" : {formula};', deadlock="off")
        assert full.violations


def test_a_guard_that_fails_in_one_order_only_is_met() -> None:
    full, _ = both(
        """
        var z: 0..2; x: 0..2; y: array [0..1] of boolean;
        startstate begin x := 0; z := 0; for i: 0..1 do y[i] := true; end; end;
        rule "hides" z = 0 ==> z := 2; end;
        rule "far" x = 0 ==> x := 2; end;
        rule "reads" (z = 2 | y[x]) & z = 1 ==> z := 0; end;
        """,
        deadlock="off",
    )
    assert full.violations


_GUARDS_THAT_FAIL = {
    # The first conjunct keeps the second from failing, whatever the third is.
    "protected": (
        """
        byte y[2] = {1, 1};
        byte x = 2, z = 0, w = 0;
        process T { state a, b; init a; trans a -> b { effect x = 0; }; }
        process Z { state a, b; init a; trans a -> b { effect z = 3; }; }
        process R { state a, b; init a; trans a -> b { guard z == 3 and y[x] == 1 and w == 1; }; }
        system async;
        """,
        "model.dve",
    ),
    # No step makes the second conjunct true, but one makes it fail.
    "undefined": (
        """
        var v, x, u: 0..1;
        startstate begin v := 0; x := 0; u := 0; end;
        rule "hides" v = 0 ==> v := 1; end;
        rule "forgets" u = 0 ==> u := 1; undefine x; end;
        rule "reads" v = 0 & x = 1 ==> v := 0; end;
        """,
        "model.m",
    ),
    "divided": (
        """
        var v, u: 0..1; x: 0..2;
        startstate begin v := 0; x := 2; u := 0; end;
        rule "hides" v = 0 ==> v := 1; end;
        rule "zero" u = 0 ==> u := 1; x := 0; end;
        rule "reads" v = 0 & !(10 / x != 3 | x != 1) ==> v := 0; end;
        """,
        "model.m",
    ),
    # The value of the first conjunct is known, but not whether it has one.
    "chosen": (
        """
        var z: 0..2; x: 0..2; y: array [0..1] of boolean;
        startstate begin x := 0; z := 0; for i: 0..1 do y[i] := true; end; end;
        rule "hides" z = 0 ==> z := 2; end;
        rule "far" x = 0 ==> x := 2; end;
        rule "reads" ((z = 2 | y[x]) ? 1 : 1) = 1 & z = 1 ==> z := 0; end;
        """,
        "model.m",
    ),
    # The second conjunct is a test of a single place, but its index is outside.
    "an array of one element": (
        """
        byte a[1] = {3};
        byte x = 0;
        process H { state p, q; init p; trans p -> q { guard a[0] == 3; effect a[0] = 0; }; }
        process X { state p, q; init p; trans p -> q { effect x = 1; }; }
        process R { state p, q; init p; trans p -> q { guard x == 1 and a[a[0]] == 2; }; }
        system async;
        """,
        "model.dve",
    ),
}


@pytest.mark.parametrize("trap", _GUARDS_THAT_FAIL)
def test_a_guard_that_another_step_keeps_from_failing_is_met(trap: str) -> None:
    text, name = _GUARDS_THAT_FAIL[trap]
    full, _ = both(text, name, deadlock="off")
    assert full.violations


def test_an_index_in_a_variable_depends_on_all_elements() -> None:
    full, _ = both(
        """
        var i: 0..1; a: array [0..1] of 0..2; done: boolean;
        startstate begin i := 0; a[0] := 0; a[1] := 0; done := false; end;
        rule "one" a[1] = 0 ==> a[1] := 1; end;
        rule "copy" !done ==> assert a[1 - i] = 0; done := true; end;
        """,
        deadlock="off",
    )
    assert full.violations


_STEPS_THAT_MUST_NOT_WAIT = {
    # A function decides whether the assertion is reached.
    "a function as a guard": """
        var v, z: 0..1;
        function ready(): boolean; begin return z = 1; end;
        startstate begin v := 0; z := 0; end;
        rule "hides" v = 0 ==> v := 1; end;
        rule "opens" z = 0 ==> z := 1; end;
        rule "looks" ready() ==> assert v = 1; end;
        """,
    "one of two values": """
        var x, y, d: 0..1;
        startstate begin x := 0; y := 0; d := 0; end;
        rule "looks" x = 0 & d = 0 ==> assert y = 0; d := 1; end;
        rule "spoils" (x = 0 | x = 1) ==> y := 1; end;
        """,
    "a count of a multiset": """
        var k, d: 0..1; m: multiset [2] of 0..1;
        startstate begin k := 0; d := 0; undefine m; end;
        rule "looks" d = 0 ==> assert multisetcount(i: m, true) = 0; d := 1; end;
        rule "fills" k = 0 ==> multisetadd(1, m); k := 1; end;
        """,
    "the second field of a record": """
        type pair: record first, second: 0..1; end;
        var a, b: pair; d, k: 0..1;
        startstate begin a.first := 0; a.second := 0; b := a; d := 0; k := 0; end;
        rule "copies" d = 0 ==> b := a; assert b.second = 0; d := 1; end;
        rule "spoils" k = 0 ==> a.second := 1; k := 1; end;
        """,
    # Only the body reads the index, which is known in the first states.
    "an index of a body": """
        var x, d: 0..1; a: array [0..1] of 0..1;
        startstate begin x := 0; d := 0; clear a; end;
        rule "looks" d = 0 ==> assert a[1] = 0; d := 1; end;
        rule "moves" x = 0 ==> x := 1; end;
        rule "spoils" begin a[x] := 1; end;
        """,
    # The second statement is executed only sometimes.
    "a value that is stored first": """
        var x, y, z: 0..2; w: 0..1;
        startstate begin x := 0; y := 2; z := 0; w := 0; end;
        rule "hides" z = 0 ==> z := 1; end;
        rule "copies" x = 0 ==> x := y; if w = 1 then x := 1; end; end;
        rule "later" z = 1 & w = 0 ==> w := 1; y := 0; end;
        rule "looks" x = 2 & z = 0 ==> error "it is there"; end;
        """,
    # The step stays where it is.
    "a return": """
        var x, y, z: 0..1;
        procedure turn(); begin if y = 0 then return; end; x := 1; end;
        ruleset i: 0..1 do startstate begin x := 0; y := i; z := 0; end; end;
        rule "turns" x = 0 ==> turn(); end;
        rule "goes" z = 0 ==> z := 1; end;
        invariant "near" z = 0 | y = 1;
        """,
    "a branch that is not taken": """
        var x, y, z: 0..1;
        ruleset i: 0..1 do startstate begin x := 0; y := i; z := 0; end; end;
        rule "turns" x = 0 ==> if y = 1 then x := 1; end; end;
        rule "goes" z = 0 ==> z := 1; end;
        invariant "near" z = 0 | y = 1;
        """,
    "an assumption": """
        var u: 0..2; x, y, z: 0..1;
        startstate begin u := 0; x := 0; y := 0; z := 0; end;
        rule "first" u = 0 ==> u := 1; end;
        rule "then" u = 1 ==> u := 2; end;
        rule "leads nowhere" x = 0 ==> assume y = 1; x := 1; end;
        rule "goes" z = 0 ==> z := 1; end;
        invariant "near" z = 0;
        """,
}


@pytest.mark.parametrize("trap", _STEPS_THAT_MUST_NOT_WAIT)
def test_a_step_that_leads_to_a_violation_does_not_wait_for_ever(trap: str) -> None:
    full, _ = both(_STEPS_THAT_MUST_NOT_WAIT[trap], deadlock="off")
    assert full.violations


_FAILING_GUARD = """
    var i, x, y, z: 0..2; a: array [0..1] of boolean;
    startstate begin i := 0; x := 0; y := 0; z := 0; a[0] := false; a[1] := false; end;
    rule "far" i = 0 ==> i := 2; end;
    rule "reads" a[i] ==> i := 1; end;
    rule "x" x < 2 ==> x := x + 1; end;
    rule "y" y = 0 ==> y := 1; end;
    rule "z" z = 0 ==> z := 1; end;
    """


@pytest.mark.parametrize("text", [_STEPS_THAT_MUST_NOT_WAIT["an assumption"], _FAILING_GUARD])
def test_compiled_code_fires_everything_where_a_set_leads_nowhere_or_a_guard_fails(text: str) -> None:
    options = {"reduce": "por", "deadlock": "off", "max_errors": None}
    interpreted, compiled = (model_of(text).check(engine=each, **options) for each in ("interpreter", "native"))
    assert compiled.violations and compiled.reduction is not None and compiled.reduction.reduced
    assert (compiled.levels, compiled.rules_fired) == (interpreted.levels, interpreted.rules_fired)


def test_private_work_is_not_interleaved() -> None:
    full, reduced = both(_WORKERS)
    assert full.states == 4**5
    assert reduced.states == 5 * 3 + 1
    assert reduced.reduction is not None and reduced.reduction.reduced > 0


# --- Interface ---------------------------------------------------------------------------------------------


def test_a_model_without_independent_steps_is_searched_in_full() -> None:
    full, reduced = both("var x: 0..3; startstate begin x := 0; end; rule x < 3 ==> x := x + 1; end;")
    assert reduced.states == full.states
    assert reduced.reduction is not None and reduced.reduction.reason and reduced.reduction.blamed == ("x",)


def test_an_order_that_an_assumption_drops_is_not_the_only_one() -> None:
    full, reduced = both(
        """
        var x, y, z: 0..1;
        startstate begin x := 0; y := 0; z := 0; end;
        rule "y" y = 0 ==> y := 1; end;
        rule "x" x = 0 ==> x := 1; end;
        rule "z" z = 0 & x = 1 & y = 1 ==> z := 1; end;
        assume "x first" x = 1 | y = 0;
        invariant "never" z = 0;
        """,
        deadlock="off",
    )
    assert full.violations and reduced.reduction is not None and "assumption" in reduced.reduction.reason


def test_a_model_that_goes_on_after_failures_is_searched_in_full() -> None:
    found = reduction_of(replace(model_of(_WORKERS).system, forgives_failures=True), False)
    assert isinstance(found, Unreduced) and "after a failure" in found.reason


def test_the_document_has_the_reduction() -> None:
    _, reduced = both(generate_processes(Random(2)))
    document = json.loads(json.dumps(reduced.to_dict(), default=str))
    assert document["reduction"]["fired"] <= document["reduction"]["enabled"]
    assert document["options"]["reduce"] == "por"


@pytest.mark.parametrize(
    ("property", "options"),
    [
        ('liveness "l" there = 0;', {}),
        ('ltl "next" : G X {spin = 0};', {}),
        ('ltl "fair" : G F {spin = 0};', {"fair": "weak"}),
        ("", {"keep_states": "kept"}),
    ],
)
def test_what_reduction_would_change_is_refused(property: str, options: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="leave out --reduce"):
        model_of(_SPINNER.format(steps=3, property=property)).check(reduce="por", engine="interpreter", **options)


def test_a_property_process_that_counts_is_refused(tmp_path: Path) -> None:
    text = "process A { state a, b; init a; trans a -> b {}, b -> a {}; }\n"
    text += "process N { state n, m; init n; accept m; trans n -> m { guard A.b; }, m -> n { guard A.a; }; }\n"
    text += "system async property N;\n"
    (tmp_path / "model.dve").write_text(text)
    with pytest.raises(UsageError, match="leave out --reduce"):
        load(tmp_path / "model.dve").check(reduce="por", engine="interpreter")
