"""Findings become violations: the trace, its labels, the message, and the false parts."""

from __future__ import annotations

import pytest

from outcrop.errors import InternalError
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import Layout
from outcrop.ir.system import System
from outcrop.lang import load_text
from outcrop.options import CheckOptions, Deadlock, LoadOptions
from outcrop.oracle.search import search
from outcrop.outcome import Finding, FindingKind
from outcrop.result import Violation, ViolationKind
from outcrop.trace.replay import explain


def load(text: str) -> System:
    return load_text(text, "test.m", LoadOptions())[0]


def violation(text: str, options: CheckOptions | None = None) -> Violation:
    options = options or CheckOptions()
    system = load(text)
    (finding,) = search(system, options).findings
    return explain(system, finding, options)


COUNTER = (
    'var x: 0..9; startstate "zero" x := 0; end; ruleset i: 1..2 do rule "add" x + i < 9 ==> x := x + i; end; end;'
)


def test_labels_and_states_of_a_trace() -> None:
    found = violation(COUNTER + 'invariant "small" x < 3;')
    assert found.trace is not None
    assert [(step.label, step.state) for step in found.trace.steps] == [
        ("zero", (0,)),
        ("add, i: 1", (1,)),
        ("add, i: 2", (3,)),
    ]
    assert (found.kind, found.property, found.message) == (
        ViolationKind.INVARIANT,
        "small",
        'invariant "small" is false',
    )
    assert found.because == ("x < 3 (x = 3)",)


def test_a_runtime_error_names_the_rule_that_fails() -> None:
    found = violation(COUNTER + 'rule "bad" x = 8 ==> x := x + 2; end;')
    assert (found.kind, found.failing_step) == (ViolationKind.RUNTIME, "bad")
    assert found.message == "value 10 is outside 0..9 of x"
    assert found.trace is not None and found.trace.steps[-1].state == (8,)
    assert found.span is not None and found.span.line == 1


@pytest.mark.parametrize(
    ("statement", "kind"),
    [("assert x = 0;", ViolationKind.ASSERTION), ('error "no";', ViolationKind.ERROR)],
)
def test_assertions_and_errors_have_their_own_kind(statement: str, kind: ViolationKind) -> None:
    assert violation(COUNTER + f'rule "bad" x = 1 ==> {statement} end;').kind is kind


def test_an_error_in_a_startstate() -> None:
    found = violation(COUNTER + 'ruleset i: 0..3 do startstate "other" assert i != 2; end; end;')
    assert (found.kind, found.failing_step, found.trace) == (ViolationKind.ASSERTION, "other, i: 2", None)


def test_a_property_that_cannot_be_evaluated() -> None:
    found = violation(COUNTER + 'invariant "divides" 10 / (2 - x) < 20;')
    assert (found.kind, found.property, found.message) == (ViolationKind.RUNTIME, "divides", "10 / 0 divides by zero")


def test_deadlock() -> None:
    found = violation(COUNTER)
    assert (found.kind, found.message) == (ViolationKind.DEADLOCK, "deadlock: no rule is enabled")


@pytest.mark.parametrize(
    ("end", "definition", "hint"),
    [
        ("", Deadlock.STUTTERING, "in this state and use --deadlock stuck"),
        ("", Deadlock.STUCK, "a rule that changes nothing in this state"),
        (
            "rule x = 8 ==> end;",
            Deadlock.STUTTERING,
            "--deadlock stuck, which only requires that some rule is enabled",
        ),
    ],
)
def test_a_deadlock_says_how_to_allow_an_intended_end(end: str, definition: Deadlock, hint: str) -> None:
    found = violation(COUNTER + end, CheckOptions(deadlock=definition))
    assert found.hint.startswith("if this is an intended end, use --deadlock off") and found.hint.endswith(hint)


def test_liveness_names_the_instance() -> None:
    text = COUNTER + 'ruleset k: 3..4 do liveness "come back" x <= k; end;'
    found = violation(text, CheckOptions(deadlock=Deadlock.OFF))
    assert found.kind is ViolationKind.LIVENESS
    assert found.message.startswith('liveness "come back" is violated for k: 3')


def test_a_path_that_is_no_run_is_our_error() -> None:
    system = load(COUNTER)
    packed = [Layout(system).pack((value,)) for value in (0, 3)]
    with pytest.raises(InternalError, match="no rule leads to its next state"):
        explain(system, Finding(FindingKind.STATE, tuple(packed)), CheckOptions())


@pytest.mark.parametrize("kind", [FindingKind.STATE, FindingKind.RULE, FindingKind.DEADLOCK])
def test_a_finding_that_is_not_confirmed_is_our_error(kind: FindingKind) -> None:
    system = load(COUNTER)
    with pytest.raises(InternalError, match="does not replay"):
        explain(system, Finding(kind, (Layout(system).pack((0,)),)), CheckOptions())


RING = """
    type Node: scalarset(3);
    var token: Node; served: array [Node] of boolean; last: Node;
    startstate "start" for n: Node do served[n] := false; end; for n: Node do token := n; end; end;
    ruleset n: Node do rule "pass" token != n ==> served[token] := true; last := token; token := n; end; end;
    invariant "somebody waits" exists n: Node do !served[n] end;
"""


def test_under_symmetry_the_trace_is_a_run_of_the_model() -> None:
    found = violation(RING)
    system = load(RING)
    interpreter = Interpreter(system, symmetry=False)
    assert found.trace is not None and len(found.trace) == 4
    state = found.trace.steps[0].state
    assert state in [firing.successor for firing in interpreter.start_states()]
    for step in found.trace.steps[1:]:
        assert (step.label, step.state) in [(each.label, each.successor) for each in interpreter.successors(state)]
        state = step.state
    assert found.kind is ViolationKind.INVARIANT


def test_a_canonical_map_can_be_given() -> None:
    system = load(RING)
    (finding,) = search(system, CheckOptions()).findings
    normal = Interpreter(system, symmetry=True).normalise
    calls = []

    def canonical(state: tuple[int | float | None, ...]) -> tuple[int | float | None, ...]:
        calls.append(state)
        return normal(state)

    assert explain(system, finding, CheckOptions(), canonical).kind is ViolationKind.INVARIANT
    assert calls


# --- Which part is false -----------------------------------------------------------------------------------

PARTS = """
    type Id: 1..3;
    var x: array [Id] of 0..9; b: boolean;
    startstate x[1] := 1; x[2] := 5; x[3] := 5; b := true; end;
    rule "idle" true ==> b := !b; end;
"""


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("b & x[2] = 4", ("x[2] = 4 (x[2] = 5)",)),
        ("!b | x[1] = x[2]", ("!b (b = true)", "x[1] = x[2] (x[1] = 1, x[2] = 5)")),
        ("forall i: Id do x[i] < 3 end", ("x[i] < 3 (i: 2, x[2] = 5)",)),
        (
            "forall i: Id do forall j: Id do i != j -> x[i] != x[j] end end",
            ("i != j -> x[i] != x[j] (i: 2, j: 3)", "x[i] != x[j] (x[2] = 5, x[3] = 5)"),
        ),
        ("!(exists i: Id do x[i] = 5 end)", ("!(exists i: Id do x[i] = 5 end) (i: 2, x[2] = 5)",)),
        ("exists i: Id do x[i] = 7 end", ("exists i: Id do x[i] = 7 end",)),
        ("b ? x[1] = 2 : x[1] = 3", ("x[1] = 2 (x[1] = 1)",)),
        ("!(b & x[1] = 1)", ("!(b & x[1] = 1) (b = true, x[1] = 1)",)),
    ],
)
def test_the_false_parts_of_an_invariant(condition: str, expected: tuple[str, ...]) -> None:
    assert violation(PARTS + f'invariant "parts" {condition};').because == expected


def test_a_ruleset_invariant_names_its_instance() -> None:
    found = violation(PARTS + 'ruleset i: Id do invariant "small" x[i] < 3; end;')
    assert found.message == 'invariant "small" is false for i: 2'
    assert found.because == ("x[i] < 3 (x[2] = 5)",)


def test_operands_that_were_not_evaluated_do_not_disturb() -> None:
    found = violation(PARTS + 'invariant "careful" (b ? false : x[x[2]] = 1) = true;')
    assert found.because == ("(b ? false : x[x[2]] = 1) = true (b = true, x[2] = 5)",)
