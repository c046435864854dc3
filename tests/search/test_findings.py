"""Lists of violations: each once, and the same ones for every visited set and number of workers."""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import TINY
from matrices import taken
from native_models import compiled

import outcrop
from outcrop.options import CheckOptions
from outcrop.oracle import search as reference
from outcrop.outcome import EventKind
from outcrop.result import Violation
from outcrop.search import ram
from outcrop.strategies import STRATEGIES, names

#: Number of violations that are listed.
LISTED = 10_000

#: More violating states in one level than are listed, and rules that lead back to them from later levels.
MANY = """
const N: 105;
var x, z: 0 .. N; y: 0 .. 3;
startstate begin x := 0; z := 0; y := 0; end;
ruleset i: 1 .. N do rule "one" y = 0 ==> begin x := i; y := 1; end; end;
ruleset i: 1 .. N do rule "two" y = 1 ==> begin z := i; y := 2; end; end;
rule "on" y = 2 ==> begin y := 3; end;
rule "back" y = 3 ==> begin y := 2; end;
rule "next" y = 3 & x < N ==> begin x := x + 1; y := 2; end;
invariant "never" y != 2;
"""

#: Deadlocks, failing rules and a false invariant, in states to which transitions lead back from everywhere.
SOME = """
const N: 16;
var x, y: 0 .. N;
startstate begin x := 0; y := 0; end;
rule "right" x < N & x + y < N + 8 ==> begin x := x + 1; end;
rule "up" y < N & x + y < N + 8 ==> begin y := y + 1; end;
rule "half" x > 0 & x + y < N + 8 ==> begin x := x / 2; y := y / 2; end;
rule "again" x > 5 & x + y < N + 8 ==> begin x := 0; end;
rule "fail" x % 9 = 7 & y % 5 = 3 ==> begin error "failed"; end;
invariant "false" x % 6 != 5 | y % 7 != 6;
"""

REVISITING = {name: STRATEGIES[name].function() for name in names(revisits=True)}


@pytest.mark.parametrize("strategy", REVISITING)
def test_list_of_violations_ends_alike_whatever_is_visited_again(strategy: str) -> None:
    expected = ram.search(compiled(MANY), CheckOptions(max_errors=None, deadlock="off", threads=1))
    assert len(expected.findings) == LISTED
    assert [event.kind for event in expected.events] == [EventKind.UNLISTED]
    tiny = {**TINY, "state_memory": 100_000, "block_states": 500, "block_size": 500}
    for threads, max_errors in ((1, None), (2, LISTED + 1000)):
        options = CheckOptions(strategy=strategy, max_errors=max_errors, deadlock="off", threads=threads, **tiny)
        found = REVISITING[strategy](compiled(MANY), options)
        assert found.revisits
        assert found.stop is expected.stop
        assert found.findings == expected.findings


@pytest.mark.slow
def test_list_of_violations_is_that_of_the_interpreter(tmp_path: Path) -> None:
    path = tmp_path / "many.m"
    path.write_text(MANY, encoding="utf-8")
    options = CheckOptions(max_errors=None, deadlock="off", threads=2, symmetry=False)
    expected = reference.search(outcrop.load(path).system, options)
    assert ram.search(compiled(MANY), options).findings == expected.findings


@pytest.mark.parametrize("strategy", REVISITING)
def test_violation_in_a_state_that_is_visited_again_is_listed_once(strategy: str, tmp_path: Path) -> None:
    path = tmp_path / "some.m"
    path.write_text(SOME, encoding="utf-8")
    model = outcrop.load(path)
    in_ram = model.check(max_errors=None, strategy="ram")
    expected = [_identity(each) for each in in_ram.violations]
    assert {kind for kind, *_ in expected} == {"deadlock", "error", "invariant"}
    assert len(expected) == len(set(expected))
    for threads in (1, 2):
        result = model.check(max_errors=None, strategy=strategy, threads=threads, **taken(strategy, TINY))
        assert result.states is None
        assert result.states_visited > in_ram.states_visited
        assert [_identity(each) for each in result.violations] == expected


def _identity(violation: Violation) -> tuple[str, str, str, object]:
    assert violation.trace is not None
    return str(violation.kind), violation.property, violation.failing_step, violation.trace.steps[-1].state
