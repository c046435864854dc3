"""The breadth-first search with the interpreter: counts, limits, and the order of findings."""

from __future__ import annotations

import pytest

from outcrop.ir.layout import Layout
from outcrop.ir.system import System
from outcrop.lang import load_text
from outcrop.options import CheckOptions, Deadlock, LoadOptions
from outcrop.oracle.search import search
from outcrop.outcome import FindingKind, Outcome, Progress, Stop

#: Counts from 0 to 9 and starts again.
CLOCK = 'var x: 0..9; startstate "zero" x := 0; end; rule "tick" true ==> x := (x + 1) % 10; end;'


def load(text: str) -> System:
    return load_text(text, "test.m", LoadOptions())[0]


def explore(text: str, **options: object) -> Outcome:
    return search(load(text), CheckOptions(**options))  # type: ignore[arg-type]


def last_states(text: str, outcome: Outcome) -> list[tuple[FindingKind, tuple[int | float | None, ...]]]:
    layout = Layout(load(text))
    return [(each.kind, layout.unpack(each.path[-1])) for each in outcome.findings]


def test_counts_states_levels_and_firings() -> None:
    outcome = explore(CLOCK)
    assert (outcome.stop, outcome.levels, outcome.fired) == (Stop.COMPLETE, [1] * 10, [10])


def test_a_state_reached_twice_is_counted_once_and_its_firings_all() -> None:
    text = """
        var x: 0..3;
        ruleset i: 0..1 do startstate x := i; end; end;
        ruleset j: 0..1 do rule "same" true ==> x := (x + 1) % 3; end; end;
        rule "idle" x = 0 ==> end;
    """
    outcome = explore(text)
    assert (outcome.levels, outcome.fired) == ([2, 1], [6, 1])


def test_no_startstate_is_an_empty_state_space() -> None:
    outcome = explore('var x: 0..3; rule "r" true ==> x := 0; end;')
    assert (outcome.stop, outcome.states, outcome.findings) == (Stop.COMPLETE, 0, [])


# --- Deadlock ----------------------------------------------------------------------------------------------

STUTTER = 'var x: 0..1; startstate x := 0; end; rule "go" true ==> x := 1; end;'
HALT = 'var x: 0..1; startstate x := 0; end; rule "go" x = 0 ==> x := 1; end;'


@pytest.mark.parametrize(
    ("text", "definition", "expected"),
    [
        (STUTTER, Deadlock.STUTTERING, [(FindingKind.DEADLOCK, (1,))]),
        (STUTTER, Deadlock.STUCK, []),
        (STUTTER, Deadlock.OFF, []),
        (HALT, Deadlock.STUTTERING, [(FindingKind.DEADLOCK, (1,))]),
        (HALT, Deadlock.STUCK, [(FindingKind.DEADLOCK, (1,))]),
        (HALT, Deadlock.OFF, []),
    ],
)
def test_deadlock_definitions(text: str, definition: Deadlock, expected: list[object]) -> None:
    assert last_states(text, explore(text, deadlock=definition)) == expected


def test_an_abandoned_rule_does_not_prevent_a_deadlock_and_a_failing_one_does() -> None:
    abandoned = HALT + 'rule "no" x = 1 ==> x := 0; assume false; end;'
    failing = HALT + 'rule "no" x = 1 ==> error "no"; end;'
    assert last_states(abandoned, explore(abandoned, deadlock=Deadlock.STUCK)) == [(FindingKind.DEADLOCK, (1,))]
    assert last_states(failing, explore(failing)) == [(FindingKind.RULE, (1,))]


# --- Assumptions and covers --------------------------------------------------------------------------------


def test_an_assumption_drops_states_but_their_firings_count() -> None:
    outcome = explore(CLOCK + "ruleset i: 4..6 do startstate x := i; end; end; assume x < 6;")
    assert (outcome.stop, outcome.levels, outcome.fired) == (Stop.COMPLETE, [3, 1, 1, 1], [6])


def test_covers_count_properties_per_state_and_statements_per_execution() -> None:
    text = """
        var x: 0..9;
        startstate x := 0; end;
        rule "tick" true ==> x := (x + 1) % 10; cover x > 7; end;
        ruleset i: 0..1 do cover "low" x = i | x = 5; end;
        cover "never" x > 9;
    """
    system = load(text)
    counts = {goal.name: count for goal, count in zip(system.covers, explore(text).covered, strict=True)}
    assert counts["low"] == 4
    assert counts["never"] == 0
    assert sorted(counts.values()) == [0, 2, 4]


# --- Limits ------------------------------------------------------------------------------------------------


def test_depth_bound() -> None:
    assert explore(CLOCK, depth=3).stop is Stop.DEPTH
    assert explore(CLOCK, depth=3).levels == [1, 1, 1, 1]
    assert explore(CLOCK, depth=10).stop is Stop.COMPLETE


def test_state_bound_stops_after_the_level() -> None:
    text = 'var x: 0..99; startstate x := 1; end; ruleset i: 0..1 do rule "r" x < 32 ==> x := 2 * x + i; end; end;'
    outcome = explore(text, states=4, deadlock=Deadlock.OFF)
    assert (outcome.stop, outcome.levels) == (Stop.STATES, [1, 2, 4])


def test_time_limit_keeps_what_is_known() -> None:
    outcome = explore(CLOCK, time_limit=0.0)
    assert (outcome.stop, outcome.levels) == (Stop.TIME, [1])


def test_an_interrupt_keeps_what_is_known() -> None:
    calls: list[Progress] = []

    def watch(progress: Progress) -> None:
        calls.append(progress)
        if len(calls) == 3:
            raise KeyboardInterrupt

    outcome = search(load(CLOCK), CheckOptions(), progress=watch)
    assert (outcome.stop, outcome.states) == (Stop.INTERRUPTED, 4)


# --- Findings ----------------------------------------------------------------------------------------------

#: A binary tree of numbers: x leads to 2x and 2x + 1.
TREE = 'var x: 0..63; startstate x := 1; end; ruleset i: 0..1 do rule "child" x < 32 ==> x := 2 * x + i; end; end;'


def test_the_level_of_a_violation_is_finished() -> None:
    text = TREE + "invariant x != 2;"
    outcome = explore(text, deadlock=Deadlock.OFF)
    assert (outcome.stop, outcome.levels, outcome.fired) == (Stop.VIOLATION, [1, 2], [2])
    assert last_states(text, outcome) == [(FindingKind.STATE, (2,))]


def test_the_least_state_of_the_shortest_paths_is_reported() -> None:
    text = TREE + "invariant x != 7; invariant x != 5; invariant x < 8;"
    outcome = explore(text, deadlock=Deadlock.OFF)
    assert last_states(text, outcome) == [(FindingKind.STATE, (5,))]
    path = [Layout(load(text)).unpack(each) for each in outcome.findings[0].path]
    assert path == [(1,), (2,), (5,)]


def test_the_path_goes_through_the_least_predecessors() -> None:
    text = """
        var x: 0..9;
        startstate x := 0; end;
        rule "a" x = 0 ==> x := 4; end;
        rule "b" x = 0 ==> x := 3; end;
        rule "c" x = 3 | x = 4 ==> x := 9; end;
        invariant x != 9;
    """
    layout = Layout(load(text))
    (finding,) = explore(text).findings
    assert [layout.unpack(each) for each in finding.path] == [(0,), (3,), (9,)]


def test_max_errors_goes_on() -> None:
    text = TREE + "invariant x != 2; invariant x != 3; invariant x != 63;"
    everything = explore(text, max_errors=None, deadlock=Deadlock.OFF)
    assert (everything.stop, everything.states) == (Stop.COMPLETE, 63)
    assert [state for _, state in last_states(text, everything)] == [(2,), (3,), (63,)]
    one = explore(text, deadlock=Deadlock.OFF)
    assert [state for _, state in last_states(text, one)] == [(2,)]
    three = explore(text, max_errors=3, deadlock=Deadlock.OFF)
    assert len(three.findings) == 3


def test_an_error_in_a_startstate_has_no_path() -> None:
    text = TREE + 'startstate error "no"; end;'
    outcome = explore(text)
    assert (outcome.stop, outcome.levels) == (Stop.VIOLATION, [1])
    assert [(each.kind, each.path) for each in outcome.findings] == [(FindingKind.START, ())]


def test_liveness_finds_the_least_state_that_cannot_get_there() -> None:
    text = """
        var x: 0..9;
        startstate x := 0; end;
        rule "round" x < 3 ==> x := (x + 1) % 3; end;
        rule "trap" x = 2 ==> x := 7; end;
        rule "trapped" x >= 7 ==> x := x = 7 ? 8 : 7; end;
        ruleset i: 7..8 do liveness "trap" x = i; end;
        liveness "round" x = 0;
    """
    outcome = explore(text)
    assert outcome.stop is Stop.VIOLATION
    assert [(each.kind, each.liveness, len(each.path)) for each in outcome.findings] == [(FindingKind.LIVENESS, 2, 4)]
    assert last_states(text, outcome) == [(FindingKind.LIVENESS, (7,))]


def test_liveness_is_not_judged_on_a_part_of_the_states() -> None:
    assert explore(CLOCK + "liveness x = 9;", depth=3).findings == []
    assert explore(CLOCK + "liveness x = 9;").findings == []


def test_symmetry_counts_orbits() -> None:
    text = """
        type P: scalarset(3);
        var x: array [P] of boolean;
        startstate for p: P do x[p] := false; end; end;
        ruleset p: P do rule "flip" true ==> x[p] := !x[p]; end; end;
    """
    assert explore(text).levels == [1, 1, 1, 1]
    assert explore(text, symmetry=False).levels == [1, 3, 3, 1]


def test_undefined_reads_are_listed_by_offset() -> None:
    text = 'var x, y: 0..9; startstate x := y; end; rule "r" true ==> x := y; end;'
    starts = [at for at in range(len(text)) if text.startswith("y;", at)]
    assert explore(text, deadlock=Deadlock.OFF).noted == starts


def test_liveness_of_one_scalarset_value_turns_the_reduction_off() -> None:
    text = """
        type Node: scalarset(2);
        var owner: Node;
        ruleset n: Node do startstate owner := n; end; end;
        ruleset n: Node do
          rule "give" owner != n ==> owner := n; end;
          liveness "everybody gets it" owner = n;
        end;
    """
    outcome = explore(text)
    assert (outcome.findings, outcome.levels) == ([], [2])
