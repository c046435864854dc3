"""Partial-order reduction where values are known: channels that are passed to processes, both ends of a queue, and
values that are known only after the first steps. Traps are models in which an order that seems not to matter does."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "fuzz"))

from compare_reduced import reduced_disagreement
from generator.rings import generate_ring

from outcrop.api import Model
from outcrop.lang import load_text
from outcrop.options import LoadOptions
from outcrop.result import Result


def both(text: str, name: str = "model.pml", **options: object) -> tuple[Result, Result]:
    system, warnings = load_text(text, name, LoadOptions())
    model = Model(system, tuple(warnings), LoadOptions())
    full, reduced = (
        model.check(engine="interpreter", reduce=each, max_errors=None, **options) for each in ("off", "por")
    )
    assert reduced.verdict == full.verdict
    assert {(each.kind, each.property) for each in reduced.violations} == {
        (each.kind, each.property) for each in full.violations
    }
    return full, reduced


@pytest.mark.parametrize("seed", range(4))
def test_random_rings_are_decided_the_same(seed: int) -> None:
    for number in range(3 * seed, 3 * seed + 3):
        assert reduced_disagreement(generate_ring(Random(number)), "model.pml", number, native=False) == ""


def test_compiled_code_knows_the_same_values() -> None:
    assert reduced_disagreement(generate_ring(Random(1)), "model.pml", 1) == ""


_RING = """
chan q[3] = [2] of {{ byte }};
byte rounds;
proctype node(chan inp, out; byte me) {{
  byte x;
  out!me;
  do
  :: inp?x -> if :: x != me -> out!x :: else -> break fi
  od;
  {last}
}}
init {{ {start} }}
"""
_RUNS = "run node(q[0], q[1], 1); run node(q[1], q[2], 2); run node(q[2], q[0], 3)"


@pytest.mark.parametrize("start", [f"atomic {{ {_RUNS} }}", _RUNS])
def test_processes_that_pass_messages_round_a_ring_take_turns(start: str) -> None:
    full, reduced = both(_RING.format(start=start, last="skip"))
    assert full.states and reduced.states and reduced.states * 2 < full.states
    both(_RING.format(start=start, last="rounds++; assert(rounds < 3)"))


def test_a_ring_of_queues_in_dve_takes_turns() -> None:
    process = """
    process P{0} {{
      byte x = 0;
      state a, b, c, d; init a;
      trans a -> b {{ sync q{1}!{0}; }}, b -> c {{ sync q{0}?x; }}, c -> b {{ guard x != {0}; sync q{1}!x; }},
        c -> d {{ guard x == {0}; }};
    }}"""
    ring = "".join(process.format(each, (each + 1) % 3) for each in range(3))
    full, reduced = both(f"channel {{byte}} q0[2], q1[2], q2[2]; {ring} system async;", "model.dve", deadlock="off")
    assert full.states and reduced.states and reduced.states * 2 < full.states


_TRAPS = {
    "a message that is sorted in": """
        chan q = [2] of { byte };
        active proctype A() { q!!1 }
        active proctype B() { byte x; q!2; q?x; assert(x == 2) }
    """,
    "the length as a message": """
        chan q = [2] of { byte }; byte x;
        active proctype A() { q!len(q) }
        active proctype B() { byte y; q!7; q?y; q?x; assert(x == 1) }
    """,
    "two messages at once": """
        chan q = [2] of { byte }; byte done;
        active proctype A() { atomic { q!1; q!2 }; done = 1 }
        active proctype B() { q!7; if :: done == 0 -> q?_; assert(len(q) < 2) fi }
    """,
    "a test for room": """
        chan q = [1] of { byte }; byte room;
        active proctype A() { q!1; if :: full(q) -> room = 1 :: else -> room = 2 fi }
        active proctype B() { byte x; q?x; assert(room != 1) }
    """,
    "two that receive": """
        chan q = [2] of { byte }; byte last;
        active proctype A() { q!1; q!2 }
        active [2] proctype B() { byte x; q?x; last = x; assert(last != 1 || _pid != 2) }
    """,
    "a channel that changes hands": """
        chan q[2] = [2] of { byte };
        proctype A(chan c) { c = q[1]; c!1 }
        proctype B() { byte x; q[1]!5; q[1]?x; assert(x == 5); q[1]?x }
        init { atomic { run A(q[0]); run B() } }
    """,
    "a test for room that a receive makes false": """
        chan q = [3] of { byte };
        active proctype B() { byte own; q!1; q!2; own = 1; q?_ }
        active proctype A() { nfull(q) && len(q) == 2 -> assert(false) }
    """,
    "a test for messages beside a test for none": """
        chan q = [2] of { byte }; byte seen;
        active proctype A() { byte own; own = 1; q!1; own = 2; q!2 }
        active proctype B() { nempty(q) && len(q) < 2 -> seen = 1; len(q) == 2 && seen == 1 -> assert(false) }
    """,
    "a queue that one step sends to and receives from": """
        chan q[2] = [2] of { byte }; byte x;
        proctype A(chan in, out) { atomic { nempty(in) && nfull(out) -> in?x; out!x + 1 } }
        proctype B(chan c) { byte own; c!1; own = 1; c!5; own = 2; c?x; assert(x != 5) }
        init { atomic { run B(q[0]); run A(q[0], q[0]) } }
    """,
    "room that is tested behind a send": """
        chan q = [2] of { byte }; byte none;
        active proctype B() { byte own; q!7; own = 1; q?_ }
        active proctype A() { atomic { nfull(q) -> q!1; none = full(q) }; assert(none == 0) }
    """,
    "an index that becomes too large": """
        byte one[1]; byte x;
        active proctype A() { x = 1; x = 0 }
        active proctype B() { if :: one[x] == 1 -> skip :: x == 9 -> skip fi }
    """,
    "a guard that is never true but fails": """
        byte table[3]; byte y; byte z;
        active proctype A() { y = 2; y = 0 }
        active proctype B() { if :: table[y + 1] != 0 && z == 2 -> skip :: y == 9 -> skip fi }
        active proctype C() { byte own; own = 1; own = 2 }
    """,
}


@pytest.mark.parametrize("trap", _TRAPS)
def test_orders_that_matter_are_kept(trap: str) -> None:
    full, _ = both(_TRAPS[trap], deadlock="off")
    assert full.violations


_RELAY = """
chan q[3] = [2] of {{ byte }};
byte wrong;
proctype relay(chan in, out) {{
  byte x;
end: do :: atomic {{ {test} -> in?x; x = x + 1; out!x }} od
}}
proctype source(chan out) {{ byte n; do :: n < 2 -> out!n; n++ :: n == 2 -> break od }}
proctype sink(chan in) {{ byte y, n; do :: n < 2 -> in?y; assert(y != n + {wrong}); n++ :: n == 2 -> break od }}
init {{ atomic {{ run source(q[0]); run relay(q[0], q[1]); run relay(q[1], q[2]); run sink(q[2]) }} }}
"""


@pytest.mark.parametrize("test", ["nempty(in) && nfull(out)", "x < 9 && nfull(out) && nempty(in)"])
def test_steps_that_receive_and_send_use_both_queues_at_one_end(test: str) -> None:
    full, reduced = both(_RELAY.format(test=test, wrong=0))
    assert full.states and reduced.states and reduced.states * 2 < full.states
    both(_RELAY.format(test=test, wrong=2))


def test_a_value_that_a_later_step_forgets_is_not_known() -> None:
    full, _ = both(
        """
        var x: 0..2; u, v: 0..1;
        startstate begin x := 0; u := 0; v := 0; end;
        rule "forgets" u = 0 ==> u := 1; undefine x; end;
        rule "hides" v = 0 ==> v := 1; end;
        rule "reads" v = 0 & x = 1 ==> v := 0; end;
        """,
        "model.m",
        deadlock="off",
    )
    assert full.violations


@pytest.mark.parametrize("after", ["x := y; y := 1;", "y := 1; x := y;"])
def test_a_value_that_a_step_writes_itself_is_not_known(after: str) -> None:
    """The second order copies the new value, which the assertion sees only if both rules are thought to depend."""
    both(
        f"""
        var x, y, z: 0..1; p: 0..2;
        startstate begin x := 0; y := 0; z := 0; p := 0; end;
        rule "copy" p = 0 ==> {after} y := 0; p := 1; end;
        rule "use" z = 0 ==> assert x = 0; z := 1; end;
        """,
        "model.m",
        deadlock="off",
    )


def test_shared_variables_are_blamed_rather_than_the_places_of_processes() -> None:
    process = "process P{} {{ state a, b, c; init a; trans {}; }}"
    steps = ", ".join(f"{here} -> {there} {{ guard x == 0; effect x = 1; }}" for here in "abc" for there in "abc")
    text = "byte x = 0; " + "".join(process.format(each, steps) for each in range(2)) + " system async;"
    _, reduced = both(text, "model.dve", deadlock="off")
    assert reduced.reduction is not None and reduced.reduction.blamed[0] == "x"
