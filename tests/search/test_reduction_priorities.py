"""Partial-order reduction with steps that wait for all others: they make no set larger, and none is forgotten."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "fuzz"))

from compare_emitted import emitted_disagreement
from compare_reduced import reduced_disagreement
from reduced_models import both

_WORKERS = """
byte a, b, late;
active [2] proctype worker() {{
  byte i;
  i = 1; i = 2; i = 3; i = 4;
  if :: _pid == 0 -> a = 1 :: _pid == 1 -> b = 1 fi
}}
{last}
"""
_WAITING = "active proctype last() { timeout -> late = a + b; timeout -> late++; assert(late == 3) }"
_TOO_EARLY = "active proctype last() { timeout -> late = a + b; timeout -> late++; assert(late != 3) }"
#: The second of two timeouts finds what the first has stored.
_TWO = "active [2] proctype last() { timeout -> late = 2 * late + _pid; assert(late != %d) }"
#: A timeout lets a worker go on, so that the second timeout has to wait again.
_AGAIN = """active proctype last() { timeout -> late = 1; timeout -> assert(late == 2) }
active proctype woken() { late == 1 -> late = 2 }"""
#: Nobody waits for what a timeout leads to.
_DEADLOCK = "active proctype last() { timeout -> late = 1; late == 2 }"


@pytest.mark.parametrize("last", [_WAITING, _TOO_EARLY, _TWO % 7, _TWO % 8, _TWO % 2, _AGAIN, _DEADLOCK])
def test_timeouts_do_not_hide_a_violation(last: str) -> None:
    text = _WORKERS.format(last=last)
    both(text, "model.pml")
    assert reduced_disagreement(text, "model.pml", 1, native=False) == ""
    assert emitted_disagreement(text, "model.pml", 1, False) == ""


def test_a_process_that_waits_for_a_timeout_does_not_keep_others_from_being_reduced() -> None:
    full, reduced = both(_WORKERS.format(last=_WAITING), "model.pml")
    assert full.states and reduced.states and reduced.states < full.states / 2


_RULES = """
var x, y: 0..3; done: boolean;
startstate begin x := 0; y := 0; done := false; end;
rule "x" x < 3 ==> x := x + 1; end;
rule "y" y < 3 ==> y := y + 1; end;
rule 1 "last" {guard} ==> done := true; end;
invariant "late" done -> x + y {bound};
"""


@pytest.mark.parametrize("guard", ["!done", "!done & x > 1", "!done & 6 / (y + 1) > 1"])
@pytest.mark.parametrize("bound", ["= 6", "< 6"])
def test_rules_with_a_later_priority_do_not_hide_a_violation(guard: str, bound: str) -> None:
    text = _RULES.format(guard=guard, bound=bound)
    both(text)
    assert reduced_disagreement(text, "model.m", 1, native=False) == ""


def test_steps_that_commute_do_not_accord_if_one_calls_a_step_that_goes_first() -> None:
    """Behind the call, "stops" goes before "works", so that "works" is to be tried before the call."""
    full, _ = both(
        """
        var x, y, z: 0..2;
        startstate begin x := 0; y := 0; z := 0; end;
        rule 1 "calls" x = 0 ==> x := 1; end;
        rule 1 "works" y = 0 ==> y := 2; end;
        rule 0 "stops" x = 1 & z = 0 ==> z := 1; y := 1; end;
        rule 1 "fails" y = 2 ==> error "it worked"; end;
        """
    )
    assert full.violations
