"""Known traps of partial-order reduction, as models that are decided in full and reduced: cycles that hide a step from
formulas and from errors, queues, priorities, and what processes of Promela see of each other."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from reduced_models import both, model_of

from outcrop.ir.arithmetic import COMPARISONS, INTEGER_OPERATIONS
from outcrop.ir.nodes import BinaryOperator
from outcrop.reduction.boxes import widest_box
from outcrop.reduction.folding import combined
from outcrop.reduction.truths import truths_of

# --- Cycles ------------------------------------------------------------------------------------------------

# Two processes turn in circles that no formula sees; the others take a visible step each. Reduction in the product,
# with a cycle proviso over pairs of states, would let the circles put a visible step off for ever (Siegel 2019).
_CIRCLES = """
var a: 0..1; b: 0..2; v, w: 0..1;
startstate begin a := 0; b := 0; v := 0; w := 0; end;
rule "a there" a = 0 ==> a := 1; end;
rule "a back" a = 1 ==> a := 0; end;
rule "b first" b = 0 ==> b := 1; end;
rule "b second" b = 1 ==> b := 2; end;
rule "b back" b = 2 ==> b := 0; end;
rule "v" v = 0 ==> v := 1; end;
rule "w" w = 0 ==> w := 1; end;
"""

#: Formulas, and whether all runs satisfy them.
_FORMULAS = {
    "F {v = 1}": False,
    "G ({v = 1} -> F {w = 1})": False,
    "F G {v = 0} || F G {v = 1}": True,
    "{v = 0} U {w = 1}": False,
    "{w = 0} W {v = 1}": False,
    "!({v = 0} U ({v = 1} && ({w = 0} U {w = 1})))": False,
    "G ({v = 1} -> G {v = 1})": True,
    "F ({v = 1} && {w = 0}) -> G ({w = 0} || {v = 1})": True,
    "G F {v = 0} -> G {w = 0}": False,
    "(F {v = 1} && F {w = 1}) -> F ({v = 1} && {w = 1})": True,
    "F {v = 1 & w = 0} || F {v = 0 & w = 1} || G {v = 0 & w = 0}": True,
    "G !({v = 0} && {w = 1})": False,
    "G F {a = 0} || F G {a = 0}": False,
    "G F {a = 1} -> F {v = 1}": False,
}


@pytest.mark.parametrize("formula", _FORMULAS)
def test_circles_hide_no_visible_step(formula: str) -> None:
    full, reduced = both(f'{_CIRCLES} ltl "f" : {formula};', deadlock="off")
    assert (full.verdict == "holds") == _FORMULAS[formula] == (reduced.verdict == "holds")


# Every state has a small set that goes round, and each circle passes through states of the others (Evangelista and
# Pajault 2010).
_ROUND_AND_ROUND = """
var a, b: 0..2; c: 0..1; z: 0..2;
startstate begin a := 0; b := 0; c := 0; z := 0; end;
rule "a1" a = 0 ==> a := 1; end; rule "a2" a = 1 ==> a := 2; end; rule "a3" a = 2 ==> a := 0; end;
rule "b1" b = 0 ==> b := 1; end; rule "b2" b = 1 ==> b := 2; end; rule "b3" b = 2 ==> b := 0; end;
rule "c1" c = 0 ==> c := 1; end; rule "c2" c = 1 ==> c := 0; end;
rule "z1" z = 0 ==> z := 1; end;
rule "z2" z = 1 & a = 1 & b = 2 ==> z := 2; end;
rule "fails" z = 2 & c = 1 ==> error "it went there"; end;
"""


@pytest.mark.parametrize("property", ["", 'invariant "near" z != 2 | a = 0;', 'cover "far" z = 2 & a = 0 & b = 0;'])
def test_no_step_is_ignored(property: str) -> None:
    full, _ = both(_ROUND_AND_ROUND + property)
    assert full.violations


def test_a_counter_that_is_set_first_does_not_count() -> None:
    text = """
    var x: 0..3; z: 0..1;
    startstate begin x := 0; z := 0; end;
    rule "turns" begin x := 0; x := x + 1; end;
    rule "goes" z = 0 ==> z := 1; end;
    invariant "near" z = 0;
    """
    full, _ = both(text)
    assert full.violations


def test_a_step_that_may_go_back_does_not_surely_ascend() -> None:
    text = """
    var x, y: 0..2; z: 0..1;
    startstate "round" begin x := 0; y := 0; z := 0; end;
    startstate "up" begin x := 0; y := 2; z := 0; end;
    rule "there" x = 0 ==> x := 1; end;
    rule "back" x = 1 ==> x := y; end;
    rule "up" x = 1 & y = 2 ==> x := 2; end;
    rule "goes" z = 0 & y = 0 ==> z := 1; end;
    invariant "near" z = 0;
    """
    full, _ = both(text)
    assert "near" in {each.property for each in full.violations}


def test_a_run_that_ends_is_decided_as_if_it_stayed() -> None:
    text = """
    var x, y, z: 0..2;
    startstate begin x := 0; y := 0; z := 0; end;
    rule "x" x < 2 & z = 0 ==> x := x + 1; end;
    rule "y" y = 0 ==> y := 1; end;
    rule "y more" y = 1 ==> y := 2; end;
    rule "stops" z = 0 ==> z := 1; end;
    """
    for formula, holds in {"F {x = 2}": False, "F {y = 2}": True, "F G {z = 1}": True, "G F {x = 1}": False}.items():
        full, _ = both(f'{text} ltl "f" : {formula};', deadlock="off")
        assert (full.verdict == "holds") == holds


# --- Priorities and assumptions ----------------------------------------------------------------------------

_PRIORITIES = {
    # A guard that fails, but is not evaluated before the others have nothing to do.
    "a guard behind others": """
        var x, y, z: 0..2; t: array [0..1] of 0..1;
        startstate begin x := 2; y := 0; z := 0; t[0] := 0; t[1] := 0; end;
        rule 0 "hides" y = 0 ==> y := 1; end;
        rule 0 "mends" z = 1 ==> x := 0; z := 2; end;
        rule 0 "opens" z = 0 & y = 1 ==> z := 1; end;
        rule 1 "looks" t[x] = 1 & y = 2 ==> y := 0; end;
        rule 1 "idles" z = 2 & x = 0 ==> x := 2; end;
        """,
    # The step with precedence is enabled by one that has none.
    "a step that goes first": """
        var x, y, d: 0..1;
        startstate begin x := 0; y := 0; d := 0; end;
        rule 1 "calls" x = 0 ==> x := 1; end;
        rule 1 "looks" d = 0 ==> assert !(x = 1 & y = 1); d := 1; end;
        rule 0 "comes" x = 1 & y = 0 ==> y := 1; end;
        """,
    # A step that is abandoned keeps others from going.
    "an assumption that goes first": """
        var x, y, d: 0..1;
        startstate begin x := 0; y := 0; d := 0; end;
        rule 1 "looks" d = 0 ==> d := 1; end;
        rule 1 "opens" y = 0 ==> y := 1; end;
        rule 0 "abandoned" d = 1 & x = 0 ==> assume y = 1; x := 1; end;
        invariant "never" x = 0;
        """,
}


@pytest.mark.parametrize("trap", _PRIORITIES)
def test_priorities_are_seen(trap: str) -> None:
    full, _ = both(_PRIORITIES[trap], deadlock="stuck")
    assert full.violations


# --- Queues ------------------------------------------------------------------------------------------------

_QUEUES = {
    "two senders": """
        channel {byte} q[2];
        process S { state a, b; init a; trans a -> b { sync q!1; }; }
        process T { state a, b; init a; trans a -> b { sync q!2; }; }
        process R { byte y = 0; state a, b, c; init a; assert b: y != 2; trans a -> b { sync q?y; }; }
        system async;
        """,
    "two receivers": """
        channel {byte} q[2];
        process S { state a, b, c; init a; trans a -> b { sync q!1; }, b -> c { sync q!2; }; }
        process R { byte y = 0; state a, b; init a; assert b: y == 1; trans a -> b { sync q?y; }; }
        process U { byte y = 0; state a, b; init a; assert b: y == 2; trans a -> b { sync q?y; }; }
        system async;
        """,
    "a full queue": """
        channel {byte} q[1];
        byte late = 0;
        process S { state a, b, c; init a; trans a -> b { sync q!1; }, b -> c { sync q!2; effect late = 1; }; }
        process R { byte y = 0; state a, b, c; init a; trans a -> b { sync q?y; }, b -> c { guard late == 0; }; }
        process O { state a, b; init a; assert b: late == 1; trans a -> b { guard R.c; }; }
        system async;
        """,
    "a sender that is committed": """
        channel {byte} q[2];
        byte t = 0;
        process S { state a, b, c; init a; commit b; trans a -> b { sync q!1; }, b -> c { sync q!2; }; }
        process R { byte y = 0; state a, b, c; init a; trans a -> b { sync q?y; effect t = 1; }, b -> c { sync q?y; }; }
        process O { state a, b; init a; assert b: t == 0; trans a -> b { guard S.b or S.c; }; }
        system async;
        """,
}


@pytest.mark.parametrize("trap", _QUEUES)
def test_both_ends_of_a_queue_are_seen(trap: str) -> None:
    full, _ = both(_QUEUES[trap], "model.dve", deadlock="off")
    assert full.violations


# --- Processes of Promela ----------------------------------------------------------------------------------

_PROMELA = {
    "timeout": """
        byte x, y;
        active proctype A() { x = 1; (y == 1); x = 2 }
        active proctype B() { (x == 1); y = 1; (x == 2); y = 2 }
        active proctype T() { timeout -> assert(y != 2) }
        """,
    "else": """
        byte x, y;
        active proctype A() { byte k; k = 1; x = 1; y = 1 }
        active proctype B() { byte k; k = 1; if :: x == 1 -> skip :: else -> assert(y == 1) fi }
        """,
    "run": """
        byte n; chan c = [1] of { byte };
        proctype W(byte k) { c!k; n++ }
        init { byte k; run W(1); run W(2);
          do :: c?k -> assert(!(k == 2 && n == 0)) :: _nr_pr == 1 -> break od; assert(n == 2 && _nr_pr == 1) }
        """,
    "number of processes": """
        byte k;
        active proctype A() { byte i; i = 1; assert(_nr_pr == 2) }
        active proctype B() { byte i; i = 1; i = 2 }
        """,
    "provided": """
        byte x; bit t;
        active proctype A() provided (t == 0) { x = 1; x = 2; x = 3 }
        active proctype B() provided (x < 2) { byte k; k = 1; t = 1; k = 2; t = 0; assert(x != 1) }
        active proctype C() { (x == 1 && t == 1) -> assert(false) }
        """,
    "priority": """
        byte x;
        active proctype A() priority 5 { byte k; (x == 1); k = 1; x = 2 }
        active proctype B() priority 1 { byte k; k = 1; x = 1; k = 2; assert(x == 1) }
        active proctype C() priority 1 { byte k; k = 1; assert(x != 2); k = 2 }
        """,
    "unless": """
        byte x, y;
        active proctype A() { { x = 1; x = 2; x = 3 } unless { y == 1 -> assert(x != 2) } }
        active proctype B() { byte t; t = 1; t = 2; y = 1 }
        """,
    "d_step and atomic": """
        byte y; chan q = [2] of { byte };
        active proctype A() { byte x; d_step { (y == 0) -> x = 1; x = 0 }; atomic { q!1; (y == 1) -> q!2 } }
        active proctype B() { byte k; y = 1; q?k; y = 0; q?k; assert(y == 1) }
        active proctype C() { byte k; k = 1; k = 2; assert(len(q) < 2) }
        """,
    "rendezvous in an atomic sequence": """
        chan c = [0] of { byte }; byte g;
        active proctype A() { atomic { c!1; g = 1; c!2; g = 0 } }
        active proctype B() { byte x; c?x; x = 0; c?x }
        active proctype C() { byte k; k = 1; assert(g == 0) }
        """,
    "sorted messages": """
        chan q = [3] of { byte };
        active proctype A() { q!!3; q!!1 }
        active proctype B() { byte k; q!!2; q??1; q?k; assert(k == 2); q?<k>; assert(k != 3) }
        active proctype C() { byte k; k = 1; k = 2; (q?[2]) -> assert(false) }
        """,
    "length of a queue that is sent": """
        chan q = [3] of { byte };
        active proctype A() { byte k; k = 1; q!len(q) }
        active proctype B() { byte k; q!7; k = 1; q?k }
        active proctype C() { byte k; (len(q) > 1); q?k; q?k; assert(k != 1) }
        """,
    "a message that is sorted in front": """
        chan q = [3] of { byte }; bit go;
        active proctype R() { byte k; (go == 1); q?k; assert(k != 1) }
        active proctype A() { q!5; go = 1; q!!1 }
        """,
    "a length that is sent while another receives": """
        chan q = [3] of { byte }; bit go;
        active proctype R() { byte k; (go == 1); q?k; q?k; assert(k != 1) }
        active proctype A() { q!7; go = 1; q!len(q) }
        """,
    "a length that an atomic sequence tests": """
        chan q = [3] of { byte }; bit go, x;
        active proctype R() { byte k; (go == 1); q?k }
        active proctype A() { q!7; go = 1; atomic { q!1; (len(q) == 2) -> x = 1 } }
        active proctype O() { (x == 1) -> assert(false) }
        """,
    "a message that is awaited": """
        chan q = [2] of { byte }; byte x;
        active proctype A() { q!1; q!2 }
        active proctype B() { byte k; q?2; assert(x == 1) }
        active proctype C() { byte k; q?1; k = 1; x = 1 }
        """,
    "channels in messages": """
        chan p = [1] of { chan }; chan r = [1] of { byte }; chan s = [1] of { byte };
        active proctype A() { p!r; r!1; s!2 }
        active proctype B() { chan c; byte k; p?c; c?k; assert(k == 1); s?k }
        active proctype C() { byte k; if :: r?k -> assert(false) :: s?k -> skip fi }
        """,
    "last process": """
        active proctype A() { byte k; k = 1; k = 2 }
        active proctype B() { byte k; k = 1; assert(_last != 0); k = 2 }
        """,
    "priorities that change": """
        byte x, y;
        active proctype A() { byte k; set_priority(_pid, 5); x = 1; x = 2; set_priority(_pid, 1); k = 2 }
        active proctype B() { byte k; k = 1; y = 1; k = 2 }
        active proctype C() { byte k; k = 1; assert(!(x == 2 && y == 0)) }
        """,
    "a trace that is observed": """
        mtype = { a, b };
        chan p = [2] of { mtype }; chan q = [2] of { mtype };
        trace { do :: p!a; q!b od }
        active proctype A() { byte k; k = 1; p!a; k = 2 }
        active proctype B() { byte k; k = 1; q!b; k = 2 }
        active proctype C() { mtype m; p?m; q?m }
        """,
    "an escape that looks at the queue": """
        chan q = [3] of { byte }; byte x; bit go;
        active proctype A() { q!1; go = 1; { q!2 } unless { len(q) == 0 -> x = 2 } }
        active proctype R() { byte k; (go == 1); q?k; k = 0 }
        active proctype O() { (x == 2) -> assert(false) }
        """,
    "a variable with the name of the place of its process": """
        bit go;
        active proctype A() { byte at; bit y;
          d_step { at = 1; y = 1; go = 1 };
          do
          :: d_step { (at == 200 && y == 0) -> at = 1; y = 1 }
          :: d_step { (at == 1 && y == 1) -> at = 200; y = 0 }
          od }
        active proctype C() { byte x; (go == 1); x = 1; x = 2; assert(false) }
        """,
    "an index that is demanded later": """
        byte a[3]; byte b[9]; byte x, j; bit go;
        active proctype B() { a[2] = 5; j = 2; if :: x = 2 :: x = 2 :: x = 4 fi; go = 1 }
        active proctype H() { d_step { (go == 1 && a[2] == 5); x = 7 } }
        active proctype S() { (b[4] + b[5] == 1); a[2] = 1 }
        active proctype R() { (go == 1); (x < 5 && a[x] == 1 && x == 2) }
        active proctype K() { (go == 1); b[j] = 1; b[j] = 2; b[j] = 3; b[j] = 4 }
        """,
    "a guard that contradicts itself": """
        byte b[9]; byte n, j; bit go;
        active proctype B() { j = 2; go = 1 }
        active proctype N() { byte k; do :: n = (n + 1) % 3 :: (n == 2 && n <= 1 && n <= 2) -> k = 1 od }
        active proctype K() { (go == 1); b[j] = 1; b[j] = 2; assert(n != 2); b[j] = 3 }
        """,
    "a test that is never true but fails": """
        byte x = 1; bit z;
        active proctype A() { x = 0; x = 1 }
        active proctype B() { z = 1 }
        active proctype L() { (z * (12 / (x + 1 - z)) == 4) }
        """,
    "an index of another branch": """
        byte a[9]; byte b[9]; byte i, j; bit go;
        active proctype B() { a[0] = 2; if :: skip :: skip :: i = 12 fi; if :: j = 1 :: j = 2 fi; go = 1 }
        active proctype H() { atomic { (go == 1 && a[0] == 2); i = 0 } }
        active proctype S() { (b[4] + b[5] == 1); a[0] = 1 }
        active proctype R() { (go == 1); (a[i] == 1 && i == 0) }
        active proctype K() { (go == 1); b[j] = 1; b[j] = 2; b[j] = 3; b[j] = 4 }
        """,
}


@pytest.mark.parametrize("trap", _PROMELA)
def test_what_processes_see_of_each_other(trap: str) -> None:
    full, _ = both(_PROMELA[trap], "model.pml")
    assert full.violations


def test_compiled_code_tests_values_beyond_those_of_the_box() -> None:
    """Packed, 66 has the low bits of 2, which is in the box."""
    text = """
    byte a[3]; byte b[9]; byte x, j; bit go;
    active proctype B() { a[2] = 5; j = 2; if :: x = 2 :: x = 2 :: x = 66 fi; go = 1 }
    active proctype H() { d_step { (go == 1 && a[2] == 5); x = 7 } }
    active proctype S() { (b[4] + b[5] == 1); a[2] = 1 }
    active proctype R() { (go == 1); ((x < 5 || x == 66) && a[x] == 1 && x == 2) }
    active proctype K() { (go == 1); b[j] = 1; b[j] = 2; b[j] = 3; b[j] = 4 }
    """
    _, reduced = both(text, "model.pml")
    compiled = model_of(text, "model.pml").check(engine="native", reduce="por", max_errors=None)
    assert (compiled.states, compiled.rules_fired) == (reduced.states, reduced.rules_fired)
    assert {each.kind for each in compiled.violations} == {"runtime", "deadlock"}


# --- Parts -------------------------------------------------------------------------------------------------


def test_leaves_that_symmetry_exchanges_are_tested_together() -> None:
    """A state would otherwise be in a box, and its representative not."""
    text = """
    type process: scalarset(3); var at: array [process] of 0..1;
    startstate begin clear at; end;
    ruleset p: process do rule "never" at[p] = 1 ==> at[p] := 0; end; end;
    """
    system = model_of(text).system
    box = widest_box(system)
    assert box.live == 0
    assert replace(box, live=0b110).tests(system).keys() == {0, 1, 2}


def test_a_known_value_outside_of_its_type_is_never_stored() -> None:
    text = """
    var low: 0..7; x: 0..7; a: array [0..7] of 0..1; there: boolean; k: 0..3;
    startstate begin low := 2; x := 6; clear a; there := false; k := 0; end;
    rule "reads" x < 5 & a[x] = 1 ==> clear a; end;
    rule "stores" there ==> x := low - 5; end;
    rule "goes there" !there ==> there := true; end;
    rule "counts" k < 3 ==> k := k + 1; end;
    """
    full, _ = both(text)
    assert full.violations
    assert widest_box(model_of(text).system).values[1] == {6}


def test_constants_are_combined_as_the_interpreter_does() -> None:
    numbers = (-3, -1, 0, 1, 2, 3, 7, 61, 62, 64, 2**31, 2**40)
    folded = set()
    for sign, apply in (COMPARISONS | INTEGER_OPERATIONS).items():
        for left, right in product(numbers, repeat=2):
            value = combined(sign, left, right)
            if value is not None:
                assert value == apply(left, right)
                folded.add(sign)
    assert folded == COMPARISONS.keys() | INTEGER_OPERATIONS.keys()
    assert combined(BinaryOperator.REMAINDER, 5, 0) is None


def test_a_constant_that_overflows_has_no_value() -> None:
    assert combined(BinaryOperator.MULTIPLY, 6, 7) == 42
    assert combined(BinaryOperator.MULTIPLY, 2**40, 2**40) is None


@pytest.mark.parametrize(
    ("domain", "is_short"), [("k: 0..3", True), ("k := 0 to 3", True), ("k: 0..20000", False), ("k := 0 to x", False)]
)
def test_guards_with_long_loops_are_not_evaluated_for_all_values(domain: str, is_short: bool) -> None:
    text = f"""
    var x: 0..3;
    startstate begin x := 0; end;
    rule "looks" exists {domain} do k * x = 2 end ==> x := 1; end;
    """
    system = model_of(text).system
    (rule,) = system.rules
    assert rule.guard is not None
    assert (truths_of(system).of(rule.guard, rule, (), 1, {}) is not None) == is_short


def test_a_guard_demands_other_values_for_other_parameters() -> None:
    full, _ = both(
        """
        var x: 0..3; y, u: 0..1;
        startstate begin x := 0; y := 0; u := 0; end;
        rule "steps" x = 0 ==> x := 1; end;
        ruleset p: 0..1 do rule "goes" (x + p) % 3 = 2 & y = 0 ==> y := 1; end; end;
        rule "looks" u = 0 ==> assert y = 0; u := 1; end;
        """,
        deadlock="off",
    )
    assert full.violations


def test_an_element_that_is_computed_from_a_parameter_is_known() -> None:
    full, reduced = both(
        """
        var at: array [0..5] of 0..2;
        startstate begin for p: 0..5 do at[p] := 0; end; end;
        ruleset p: 0..2 do
          rule "first" at[p * 2] = 0 ==> at[p * 2] := 1; end;
          rule "next" at[p * 2] = 1 & at[(p * 2 + 7) % 6] = 0 ==> at[(p * 2 + 7) % 6] := 1; end;
        end;
        """,
        deadlock="off",
    )
    assert full.states and reduced.states and reduced.states < full.states / 2
