"""The interpreter on statements, expressions and rules, written as small models."""

from __future__ import annotations

import pytest

from outcrop.ir.faults import Fault, FaultKind
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import Leaf
from outcrop.ir.system import System
from outcrop.lang import load_text
from outcrop.lang.murphi.language import MurphiOptions, UndefinedReads
from outcrop.lang.while_limit import LoopOptions
from outcrop.options import LoadOptions


def load(text: str, undefined: UndefinedReads = UndefinedReads.ERROR, while_limit: int | None = 1000) -> System:
    return load_text(text, "test.m", LoadOptions(own=(MurphiOptions(undefined), LoopOptions(while_limit))))[0]


def start(declarations: str, body: str, undefined: UndefinedReads = UndefinedReads.ERROR) -> tuple[Leaf, ...] | Fault:
    """Returns the state after a startstate, or its failure."""
    system = load(f"{declarations}\nstartstate begin {body} end;", undefined)
    (firing,) = Interpreter(system, symmetry=False).start_states()
    result = firing.fault or firing.successor
    assert result is not None
    return result


def fails(declarations: str, body: str) -> tuple[FaultKind, str, str]:
    """Returns the kind, message and source text of a fault."""
    fault = start(declarations, body)
    assert isinstance(fault, Fault)
    return fault.kind, fault.message, fault.span.text


# --- Faults ------------------------------------------------------------------------------------------------


def test_range_fault_names_the_leaf_and_the_value() -> None:
    kind, message, _ = fails("var x: array [1..3] of record a: boolean; n: 0..5 end;", "x[2].n := 7;")
    assert (kind, message) == (FaultKind.RANGE, "value 7 is outside 0..5 of x[2].n")


def test_range_fault_of_a_local_names_the_local() -> None:
    declarations = "var x: 0..9; procedure p(n: 0..9); var t: array [0..1] of 0..5; begin t[1] := n; end;"
    assert fails(declarations, "p(7);")[:2] == (FaultKind.RANGE, "value 7 is outside 0..5 of t[1]")


def test_range_fault_through_a_reference_names_what_it_refers_to() -> None:
    declarations = "type T: 0..5; var x: array [0..2] of T; procedure p(var t: T); begin t := 3 * 3; end;"
    assert fails(declarations, "p(x[1]);")[:2] == (FaultKind.RANGE, "value 9 is outside 0..5 of x[1]")


def test_by_value_argument_is_checked() -> None:
    declarations = "var x: 0..9; function f(n: 0..5): boolean; begin return n = 0; end;"
    kind, message, _ = fails(declarations, "x := 8; if f(x) then x := 0; end;")
    assert (kind, message) == (FaultKind.RANGE, "value 8 is outside 0..5 of n")


def test_undefined_read_names_the_leaf() -> None:
    kind, message, text = fails("var x: array [1..2] of 0..5; y: 0..9;", "x[1] := 1; y := x[1] + x[2];")
    assert (kind, message, text) == (FaultKind.UNDEFINED, "x[2] is undefined", "x[2]")


def test_index_fault() -> None:
    kind, message, _ = fails("var x: array [1..2] of 0..5; i: 0..9;", "i := 4; x[i] := 1;")
    assert (kind, message) == (FaultKind.INDEX, "index 4 is outside 1..2 of x")


def test_division_by_zero_shows_the_operands() -> None:
    kind, message, _ = fails("var x: 0..9;", "x := 0; x := 7 / x;")
    assert (kind, message) == (FaultKind.DIVISION, "7 / 0 divides by zero")


def test_overflow_shows_the_operands() -> None:
    declarations = "const BIG: 9223372036854775807; var x: 0..9;"
    kind, message, _ = fails(declarations, "x := 1; if BIG + x > 0 then end;")
    assert (kind, message) == (FaultKind.OVERFLOW, "9223372036854775807 + 1 does not fit in 64 bits")


def test_assertion_and_error_statement() -> None:
    assert fails("var x: 0..9;", 'x := 1; assert x = 2 "two";')[:2] == (FaultKind.ASSERTION, "assertion failed: two")
    assert fails("var x: 0..9;", 'error "oh no";')[:2] == (FaultKind.ERROR, "oh no")


def test_end_of_function() -> None:
    declarations = "var x: 0..9; function f(b: boolean): 0..9; begin if b then return 1; end; end;"
    assert start(declarations, "x := f(true);") == (1,)
    assert fails(declarations, "x := f(false);")[0] is FaultKind.NO_RETURN


@pytest.mark.parametrize(("turns", "fine"), [(1000, True), (1001, False)])
def test_while_limit(turns: int, fine: bool) -> None:
    result = start("var x: 0..2000;", f"x := 0; while x < {turns} do x := x + 1; end;")
    if fine:
        assert result == (turns,)
    else:
        assert isinstance(result, Fault) and result.kind is FaultKind.WHILE_LIMIT


def test_endless_recursion_is_a_fault_and_a_deep_one_is_not() -> None:
    declarations = """
        var x: 0..2000;
        function f(n: 0..2000): 0..2000;
        begin if n = 0 then return 0; else return (1 + (0 + (0 + f(n - 1)))); end; end;
    """
    assert start(declarations, "x := f(999);") == (999,)
    assert fails(declarations, "x := f(1000);")[0] is FaultKind.RECURSION


def test_loop_step_of_zero() -> None:
    kind, message, _ = fails("var x: 0..9;", "x := 0; for i := 1 to 5 by x do end;")
    assert (kind, message) == (FaultKind.STEP, "the loop from 1 to 5 has step 0")


# --- Statements and expressions ----------------------------------------------------------------------------


def test_loops() -> None:
    declarations = "var x: 0..999;"
    assert start(declarations, "x := 0; for i := 1 to 9 by 3 do x := 10 * x + i; end;") == (147,)
    assert start(declarations, "x := 0; for i := 3 to 1 by -1 do x := 10 * x + i; end;") == (321,)
    assert start(declarations, "x := 3; for i := x to 1 do x := 99; end;") == (3,)
    assert start(declarations, "x := 0; for i: boolean do if i then x := x + 5; end; end;") == (5,)


def test_switch_takes_the_first_match_and_does_not_fall_through() -> None:
    declarations = "var x, y: 0..9;"
    switch = "switch x case 1, 2: y := 1; case 2, 3: y := 2; else y := 9; end;"
    assert [start(declarations, f"x := {x}; {switch}") for x in (2, 3, 4)] == [(2, 1), (3, 2), (4, 9)]


def test_locals_are_undefined_at_every_call() -> None:
    declarations = """
        var x: boolean;
        function fresh(): boolean; var t: 0..3; was: boolean;
        begin was := isundefined(t); t := 1; return was; end;
    """
    assert start(declarations, "x := fresh(); x := fresh();") == (1,)


def test_by_value_formals_are_copies_and_var_formals_references() -> None:
    declarations = """
        type R: record a, b: 0..9 end;
        var x, y: R;
        procedure p(r: R; var s: R); begin x.a := 5; s.b := r.a; end;
    """
    assert start(declarations, "x.a := 1; x.b := 2; p(x, x);") == (5, 1, None, None)


def test_a_reference_to_a_local_of_the_caller() -> None:
    declarations = """
        type T: 0..9;
        var x: T;
        procedure inner(var t: T); begin t := t + 1; end;
        procedure outer(); var t: T; begin t := 4; inner(t); inner(t); x := t; end;
    """
    assert start(declarations, "outer();") == (6,)


def test_alias_is_fixed_at_entry() -> None:
    declarations = "var i: 0..2; x: array [0..2] of 0..9;"
    assert start(declarations, "i := 0; alias a: x[i] do i := 1; a := 7; end;") == (1, 7, None, None)


def test_aggregates_are_copied_and_compared_with_their_undefined_parts() -> None:
    declarations = "type R: record a, b: 0..9 end; var x, y: R; same: boolean;"
    assert start(declarations, "x.a := 1; y := x; same := x = y;") == (1, None, 1, None, 1)
    assert start(declarations, "x.a := 1; same := x = y;") == (1, None, None, None, 0)


def test_clear_and_undefine() -> None:
    declarations = """
        type E: enum {A, B}; M: 0..3;
        var r: record e: E; n: 2..5; m: multiset [2] of M end; t: M;
    """
    assert start(declarations, "t := 1; multisetadd(t, r.m); clear r;") == (0, 2, None, None, None, None, 1)
    assert start(declarations, "t := 1; clear r; undefine r;") == (None,) * 6 + (1,)


def test_return_leaves_a_startstate() -> None:
    assert start("var x: 0..9;", "x := 1; return; x := 2;") == (1,)


def test_short_circuit_keeps_from_undefined_operands() -> None:
    declarations = "var x: 0..9; b: boolean;"
    for condition in ("false & x = 1", "true | x = 1", "!(false -> x = 1)", "!(exists i: boolean do !i | x = 1 end)"):
        assert start(declarations, f"b := {condition};")[0] is None  # type: ignore[index]


def test_permitted_undefined_copy_goes_through_and_is_noted() -> None:
    system = load("var x, y: 0..9; startstate begin x := y; end;", UndefinedReads.PERMIT)
    interpreter = Interpreter(system, symmetry=False)
    assert [firing.successor for firing in interpreter.start_states()] == [(None, None)]
    assert interpreter.noted == {system.source.text.rindex("y")}


def test_put_prints_texts_places_and_values() -> None:
    printed: list[str] = []
    declarations = "var x: array [0..1] of record n: 0..5; b: boolean end;"
    body = r'x[1].n := 3; put "now\n"; put x; put x[1].n; put x[1].n + 1;'
    system = load(f"{declarations} startstate begin {body} end;")
    list(Interpreter(system, symmetry=False, put=printed.append).start_states())
    lines = ["now", "x[0].n:Undefined", "x[0].b:Undefined", "x[1].n:3", "x[1].b:Undefined", "x[1].n:3", "4"]
    assert "".join(printed).split("\n") == lines


# --- Multisets, unions, reals ------------------------------------------------------------------------------

BAG = "type T: 0..3; M: multiset [2] of T; var m: M; t: T; n: 0..9;"


def test_multiset_is_sorted_and_compacted() -> None:
    assert start(BAG, "t := 3; multisetadd(t, m); t := 1; multisetadd(t, m);") == (0, 1, 0, 3, 1, None)


def test_multiset_full() -> None:
    kind, message, _ = fails(BAG, "t := 3; for i: T do multisetadd(t, m); end;")
    assert (kind, message) == (FaultKind.MULTISET_FULL, "m is full: it holds 2 elements")
    one = fails(BAG.replace("[2]", "[1]"), "t := 3; for i: T do multisetadd(t, m); end;")
    assert one[1] == "m is full: it holds 1 element"


def test_large_numbers_in_messages_have_separators() -> None:
    assert fails("var n: 0..9;", "while true do n := 1; end;")[1] == "the loop runs more than 1,000 times"


def test_multiset_count_and_remove() -> None:
    fill = "t := 3; multisetadd(t, m); t := 1; multisetadd(t, m);"
    assert start(BAG, f"{fill} n := multisetcount(i: m, m[i] > 2);") == (0, 1, 0, 3, 1, 1)
    assert start(BAG, f"{fill} multisetremovepred(i: m, m[i] = 3);") == (0, 1, None, None, 1, None)


def test_choose_has_an_instance_for_each_used_slot() -> None:
    system = load(
        BAG
        + "startstate begin t := 3; multisetadd(t, m); end;"
        + 'choose i: m do rule "take" begin multisetremove(i, m); end; end;'
    )
    interpreter = Interpreter(system, symmetry=False)
    (state,) = (firing.successor for firing in interpreter.start_states())
    assert state is not None
    firings = list(interpreter.successors(state))
    assert [(firing.label, firing.successor) for firing in firings] == [("take, i: 0", (None,) * 4 + (3, None))]


def test_union_values_follow_one_another() -> None:
    declarations = """
        type S: scalarset(2); E: enum {A, B}; U: union {S, E};
        var u: U; e: E; b: boolean;
    """
    assert start(declarations, "u := B; e := u; b := ismember(u, E);") == (3, 1, 1)
    assert start(declarations, "b := ismember(u, S);") == (None, None, 0)
    kind, message, _ = fails(declarations, "for s: S do u := s; end; e := u;")
    assert (kind, message) == (FaultKind.UNION, "S_2 is not a value of E")


def test_reals_are_rounded_when_they_are_stored() -> None:
    declarations = "var r: real(3, 20); b: boolean;"
    assert start(declarations, "r := 2.0 / 3.0; b := r = 0.667;") == (0.667, 1)
    assert start(declarations, "r := 2; b := r * 1.5 = 3.0;") == (2.0, 1)


@pytest.mark.parametrize("body", ["r := pow(10.0, 21.0);", "r := sqrt(-1.0);", "r := exp(1000.0);"])
def test_reals_that_do_not_fit(body: str) -> None:
    assert fails("var r: real(3, 20);", body)[0] is FaultKind.REAL


# --- Rules and properties ----------------------------------------------------------------------------------


def test_instances_come_in_order_with_the_last_parameter_fastest() -> None:
    system = load(
        "var x: 0..9; startstate begin x := 0; end;"
        'ruleset i: 0..1; j: boolean do rule "r" i = 1 | j ==> x := i; end; end;'
    )
    labels = [firing.label for firing in Interpreter(system, symmetry=False).successors((0,))]
    assert labels == ["r, i: 0, j: true", "r, i: 1, j: false", "r, i: 1, j: true"]


def test_a_guard_that_writes_works_on_a_copy() -> None:
    system = load(
        "var x: 0..9; function tick(): boolean; begin x := 9; return true; end;"
        'startstate begin x := 0; end; rule "r" tick() ==> begin x := x + 1; end;'
    )
    assert [firing.successor for firing in Interpreter(system, symmetry=False).successors((3,))] == [(4,)]


def test_an_abandoned_rule_has_no_successor() -> None:
    system = load('var x: 0..9; startstate begin x := 0; end; rule "r" x < 9 ==> x := 5; assume false; end;')
    (firing,) = Interpreter(system, symmetry=False).successors((0,))
    assert firing.is_abandoned


def test_failing_guards_and_bodies() -> None:
    system = load(
        'var x, y: 0..9; startstate begin x := 9; end; rule "guard" y = 0 ==> x := 1; end;'
        'rule "body" true ==> x := x + 1; end; rule "fine" true ==> x := 0; end;'
    )
    firings = list(Interpreter(system, symmetry=False).successors((9, None)))
    kinds = [firing.fault and firing.fault.kind for firing in firings]
    assert kinds == [FaultKind.UNDEFINED, FaultKind.RANGE, None]


def test_check_finds_the_first_failing_invariant_instance() -> None:
    system = load(
        'var x: 0..9; startstate begin x := 0; end; invariant "small" x < 9;'
        'ruleset i: 3..5 do invariant "not" x != i; end;'
        'assume "even more" x != 8; cover "seven" x >= 7;'
    )
    interpreter = Interpreter(system, symmetry=False)
    assert interpreter.check((2,)).failure is None
    failure = interpreter.check((4,)).failure
    assert failure is not None and failure.label == "not, i: 4"
    assert interpreter.covered == [0]
    assert not interpreter.check((8,)).is_kept
    assert interpreter.check((7,)).is_kept
    assert interpreter.covered == [1]


def test_liveness_truth_per_instance() -> None:
    system = load('var x: 0..9; startstate begin x := 0; end; ruleset i: 0..2 do liveness "visit" x = i; end;')
    interpreter = Interpreter(system, symmetry=False)
    assert interpreter.liveness((1,)) == [False, True, False]
    assert interpreter.liveness_instance(2)[1] == (2,)
