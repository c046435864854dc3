"""Instances that use the same leaves and accord all the same: those that do, and those that only seem to."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from reduced_models import both, model_of

from outcrop.ir.conditions import Condition, Instances
from outcrop.ir.faults import Fault
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import State
from outcrop.reduction.prepare import reduction_of
from outcrop.reduction.stubborn import Reduction

# --- Pairs of rules ----------------------------------------------------------------------------------------

_VARIABLES = """
var x: 0..3; y: 0..3; i: 0..2; a: array [0..2] of 0..2; b: boolean; u: 0..2;
    wide: -2000000000..2000000000; widest: -2000000000..2000000000;
startstate begin x := 1; y := 0; i := 0; clear a; b := false; wide := 5; end;
"""
#: Rules that lead to every state.
_EVERYTHING = """
ruleset v: 0..3 do rule "x" begin x := v; end; rule "y" begin y := v; end; end;
ruleset v: 0..2 do rule "i" begin i := v; end; rule "u" begin u := v; end; rule "no u" begin undefine u; end; end;
ruleset v: 0..2; w: 0..2 do rule "a" begin a[v] := w; end; end;
ruleset v: boolean do rule "b" begin b := v; end; end;
rule "wide" begin wide := 2000000000; end; rule "widest" begin widest := wide; end;
"""


def _reduction(text: str) -> tuple[Interpreter, Reduction]:
    system = model_of(text).system
    found = reduction_of(system, False, samples=False)
    assert isinstance(found, Reduction)
    return Interpreter(system, False), found


def _accord(one: str, other: str) -> bool:
    _, found = _reduction(f"{_VARIABLES} rule {one} end; rule {other} end; {_EVERYTHING}")
    assert (found.phases[-1].dependents[0] >> 1 & 1) == (found.phases[-1].dependents[1] & 1)
    return not found.phases[-1].dependents[0] >> 1 & 1


#: Pairs that accord in every state, each with the reason.
_ACCORD = {
    "a guard that stays true": ("x != 0 ==> y := 1;", "i = 0 ==> x := 2;"),
    "one value stored twice": ("x = 1 ==> y := 2;", "i = 0 ==> y := 2;"),
    "elements that are apart": ("i = 0 ==> a[i] := 1;", "i = 0 ==> a[i + 1] := 2;"),
    "a copy of a symbol": ("x = 1 ==> y := a[0];", "i = 0 ==> y := a[0];"),
    "guards that exclude each other": ("x + y = 2 ==> x := 1;", "x + y = 3 ==> x := 0;"),
    "undefined twice": ("x = 1 ==> undefine u;", "i = 0 ==> undefine u;"),
    "a failure that no order changes": ("x != 0 ==> a[0] := y;", "i = 0 ==> x := 1; a[0] := y;"),
    "a check that is true": ("x = 1 ==> assert y < 4; b := true;", "i = 0 ==> y := 2;"),
}


@pytest.mark.parametrize("name", _ACCORD)
def test_instances_that_commute_accord(name: str) -> None:
    assert _accord(*_ACCORD[name])


#: Pairs that do not accord, each with what one of them does to the other.
_DEPEND = {
    "refuses": ("x != 0 ==> y := 1;", "i = 0 ==> x := 0;"),
    "refuses one value": ("x != 2 ==> y := 1;", "i = 0 ==> x := y;"),
    "is seen by the body": ("x != 0 ==> y := x;", "i = 0 ==> x := 2;"),
    "is seen by a branch": ("x != 0 ==> if x = 2 then y := 1; endif;", "i = 0 ==> x := 2;"),
    "stores another value": ("x = 1 ==> y := 2;", "i = 0 ==> y := 3;"),
    "moves an index": ("x = 1 ==> a[i] := 1;", "y = 0 ==> i := 1;"),
    "may use the same element": ("x = 1 ==> a[i] := 1;", "y = 0 ==> a[0] := 2;"),
    "keeps from failing": ("x = 1 ==> y := y + 1;", "i = 0 ==> if y > 0 then y := y - 1; endif;"),
    "makes fail": ("x = 1 ==> y := y + 2;", "i = 0 ==> y := y + 1;"),
    "fails with another value": ("x = 1 ==> a[0] := y;", "i = 0 ==> y := 1;"),
    "makes a guard fail": ("a[i + x] = 0 ==> y := 1;", "y = 0 ==> x := 3;"),
    "keeps a guard from failing": ("a[i + x] = 0 ==> y := 1;", "y = 0 ==> x := 0;"),
    "is a constant like a leaf": ("i = 0 ==> wide := wide + x;", "y = 0 ==> x := 0;"),
    "counts to the end": ("x = 1 ==> wide := wide + 1;", "i = 0 ==> wide := wide + 1;"),
    "moves what undefined is copied to": ("x = 1 ==> y := u;", "i = 0 ==> u := 1;"),
    "defines": ("x = 1 ==> if isundefined(u) then y := 1; endif;", "i = 0 ==> u := 1;"),
    "defines a wide value": ("x = 1 ==> if isundefined(widest) then y := 1; endif;", "i = 0 ==> widest := 1;"),
    "sums in another order": ("x = 1 ==> y := y - 1;", "i = 0 ==> y := 3 - y;"),
    "asserts": ("x = 1 ==> assert y = 0;", "i = 0 ==> y := 1;"),
    "keeps from failing with what is overwritten": ("x = 1 ==> a[0] := y; a[0] := 0;", "i = 0 ==> y := 1;"),
    "makes fail what is overwritten": ("x = 1 ==> a[0] := y + 1; a[0] := 0;", "i = 0 ==> y := y + 1;"),
    "covers": ("x = 1 ==> cover y = 1; b := true;", "i = 0 ==> y := 1;"),
    "notes": ("x = 1 ==> a[0] := u; a[0] := 0;", "i = 0 ==> undefine u;"),
    "makes a difference positive": ("x = 1 ==> if y - i < 0 then b := true; endif;", "x < 3 ==> i := 0;"),
    "makes a product zero": ("x = 1 ==> if y * (i - 2) < 0 then b := true; endif;", "x < 3 ==> i := 2;"),
    "makes a remainder zero": ("x = 1 ==> if i % 2 = 1 then b := true; endif;", "x < 3 ==> i := 2;"),
    "makes equal": ("x = 1 ==> if y = 0 then b := true; endif;", "i = 0 ==> y := 0;"),
    "makes less": ("x = 1 ==> if y < 3 then b := true; endif;", "i = 0 ==> y := 1;"),
    "makes greater": ("x = 1 ==> if y <= 0 then b := true; endif;", "i = 0 ==> y := 1;"),
    "makes true": ("x = 1 ==> if b then y := 1; endif;", "i = 0 ==> b := true;"),
    "prints": ("x = 1 ==> put y; b := true;", "i = 0 ==> y := 1;"),
    "loops": ("x = 1 ==> while y > 0 do y := y - 1; end;", "i = 0 ==> y := 1;"),
}


@pytest.mark.parametrize("name", _DEPEND)
def test_instances_that_only_seem_to_commute_depend_on_each_other(name: str) -> None:
    one, other = _DEPEND[name]
    assert not _accord(one, other)
    assert not _accord(other, one)


#: Transitions of DVE, whose variables always have values, and whether they accord.
_TRANSITIONS = {
    "one value stored twice": ("effect z = y;", "effect z = y;", True),
    "a guard that stays true": ("guard y < 256; effect z = 1;", "effect y = x;", True),
    "a guard that it refuses": ("guard x != 2; effect z = 1;", "effect x = y;", False),
    "another order of operations": ("effect y = y / 2;", "effect y = 255 - y;", False),
    "an overflow": ("guard n * n * n * n * n * 0 == 0; effect z = 1;", "effect n = 5;", False),
    "sums that become too large": ("effect y = y + 1;", "effect y = y + 1;", False),
}


@pytest.mark.parametrize("name", _TRANSITIONS)
def test_transitions_on_values_that_are_computed(name: str) -> None:
    one, other, do_accord = _TRANSITIONS[name]
    more = "effect x = x + 1, y = y + x, z = z + x, n = n + x;"
    each = (
        f"process P{number} {{ state s; init s; trans s -> s {{ {text} }}; }}"
        for number, text in enumerate((one, other, more))
    )
    system = model_of(f"byte x, y, z; int n; {' '.join(each)} system async;", "model.dve").system
    found = reduction_of(system, False, samples=False)
    assert isinstance(found, Reduction)
    assert found.phases[-1].dependents[0] >> 1 & 1 == (not do_accord)


_TESTS = " ".join(f":: (b[j] + b[j + 1] + b[j + 2] < {number})" for number in range(9, 21))

# In most states j is known, which makes a box; in all of these i is 0 or 1. A state with i = 2 passes the tests of it.
_BESIDE_THE_BOX = f"""
byte a[3]; byte b[4]; byte i, j; bit go;
active proctype B() {{ if :: skip :: skip :: i = 2 fi; j = 1; go = 1 }}
active proctype S() {{ byte x; (go == 1); x = a[2]; assert(x != 1) }}
active proctype H() {{ (go == 1); do :: i = 1 :: i = 0 od }}
active proctype R() {{ (go == 1); do :: a[i] = 1 od }}
active proctype K() {{ (go == 1); do :: b[i + 1] = 1 {_TESTS} od }}
"""


def test_instances_accord_with_values_outside_of_a_box_too() -> None:
    system = model_of(_BESIDE_THE_BOX, "model.pml").system
    found = reduction_of(system, False, samples=False)
    assert isinstance(found, Reduction)
    tested = {leaf for leaf, _ in found.phases[0].tests}
    (index,) = [each.offset for each in system.variables if each.name == "i"]
    assert tested and index not in tested
    full, _ = both(_BESIDE_THE_BOX, "model.pml")
    assert full.violations


# --- Queues that a model keeps itself ----------------------------------------------------------------------


def _ring(append: str, remove: str, extra: str = "") -> str:
    """Returns a sender and a receiver with a queue in an array between them, for each of two pairs."""
    parts = []
    for name in "pq":
        parts.append(f"""
        byte {name}[3]; byte {name}n = 0; byte {name}got = 0;
        process S{name} {{ byte k = 0; state a; init a; trans
            a -> a {{ guard k < 3 && {name}n != 3; effect {append.replace("Q", name)}, k = k + 1; }}; }}
        process R{name} {{ byte m = 0; state a, b; init a; trans
            a -> b {{ guard {name}n != 0; effect m = {name}[0], {remove.replace("Q", name)}; }},
            b -> a {{ guard m < 9; effect {name}got = m; }}; }}""")
    return "\n".join(parts) + extra + "\nsystem async;"


_APPEND, _REMOVE = "Q[Qn] = k, Qn = Qn + 1", "Q[0] = Q[1], Q[1] = Q[2], Q[2] = 0, Qn = Qn - 1"


def test_both_ends_of_a_queue_in_an_array_accord() -> None:
    full, reduced = both(_ring(_APPEND, _REMOVE), "model.dve")
    assert full.states and reduced.states and reduced.states < full.states / 10


@pytest.mark.parametrize(
    ("append", "remove"),
    [
        (_APPEND, "Q[0] = Q[1], Q[1] = Q[2], Q[2] = 0, Qn = 0"),
        (_APPEND, "Q[0] = Q[1], Q[1] = Q[2], Qn = Qn - 1"),
        (_APPEND, "Q[0] = Qn, Q[1] = Q[2], Q[2] = 0, Qn = Qn - 1"),
        ("Q[0] = k, Qn = Qn + 1", _REMOVE),
        ("Q[Qn] = k + Q[0], Qn = Qn + 1", _REMOVE),
    ],
)
def test_other_queues_are_decided_the_same(append: str, remove: str) -> None:
    watch = """
        process W { state a, bad; init a; trans
            a -> bad { guard pgot == 2 && qgot == 1 && pn == 1 && qn == 2 && p[0] == 2 && q[2] == 0; }; }"""
    both(_ring(append, remove, watch), "model.dve")


# --- Random pairs ------------------------------------------------------------------------------------------


#: Random rules of one model.
_RULES = 6


class _Random:
    """Random rules on few variables; ``Random(seed)`` decides."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def _one_of(self, *choices: str) -> str:
        return self._random.choice(choices)

    def number(self) -> int:
        return self._random.randint(0, 3)

    def value(self) -> str:
        simple = self._one_of("x", "y", "i", "a[0]", "a[i]", "a[1]", "u", str(self.number()), str(self.number()))
        return simple if self._random.random() < 0.6 else f"({simple} {self._one_of('+', '-', '*')} {self.number()})"

    def condition(self) -> str:
        return f"{self.value()} {self._one_of('=', '!=', '<', '>=')} {self.value()}"

    def statement(self) -> str:
        store = f"{self._one_of('x', 'y', 'i', 'a[0]', 'a[i]', 'a[1]', 'u')} := {self.value()};"
        return store if self._random.random() < 0.7 else f"if {self.condition()} then {store} endif;"

    def rule(self) -> str:
        guard = " & ".join(self.condition() for _ in range(self._random.randint(1, 3)))
        return f"{guard} ==> {' '.join(self.statement() for _ in range(self._random.randint(1, 3)))}"

    def model(self) -> str:
        return _VARIABLES + " ".join(f"rule {self.rule()} end;" for _ in range(_RULES)) + _EVERYTHING


def _outcome(interpreter: Interpreter, number: int, state: State) -> tuple[str, State | None]:
    """Returns what becomes of an instance without parameters in a state: "off", "fails" or "fires"."""
    rule = interpreter.system.rules[number]
    assert rule.guard is not None
    guard = Condition(rule.guard, interpreter.executor)
    try:
        if not guard(list(state), Instances(rule, interpreter.executor).frame(())):
            return "off", None
    except Fault:
        return "guard fails", None
    firing = interpreter.fire(rule, (), state)
    assert firing is not None
    return ("fails", None) if firing.fault else ("fires", firing.successor)


def problem_of(seed: int, states: int = 120) -> str:
    """Returns two rules of a random model that are said to accord, and do not in some state; "": there are none."""
    interpreter, found = _reduction(_Random(seed).model())
    random = Random(seed)
    for one, other in combinations(range(_RULES), 2):
        for _ in range(states):
            values = [random.randint(0, each.cardinality - 1) for each in interpreter.system.leaf_types[:-3]]
            state = (*values, random.choice([None, 0, 1, 2]), 5, None)
            for first, second in ((one, other), (other, one)):
                if found.phases[-1].dependents[first] >> second & 1:
                    continue
                before, (kind, after) = _outcome(interpreter, second, state), _outcome(interpreter, first, state)
                if kind == "off" or before[0] == "off" or after is None:
                    continue
                then = _outcome(interpreter, second, after)
                if then[0] != before[0]:
                    return f"{first} changes the outcome of {second} in {state}"
                if before[1] is not None and then[1] != _outcome(interpreter, first, before[1])[1]:
                    return f"{first} and {second} do not commute in {state}"
    return ""


@pytest.mark.parametrize("seed", range(12))
def test_random_rules_that_accord_commute(seed: int) -> None:
    assert problem_of(seed) == ""


def _counting(start: str) -> str:
    return f"""
        var a: array [0..3] of 0..6; d, h: 0..1;
        procedure clear_up_to(n: 0..3); begin for i: 0..3 do a[i] := 0; if i >= n then return; end; end; end;
        startstate begin {start} d := 0; h := 0; end;
        ruleset i: 0..3 do rule "counts" !isundefined(a[i]) & a[i] < 6 ==> a[i] := a[i] + 1; end; end;
        rule "sets" d = 0 ==> a[3] := 0; d := 1; end;
        rule "looks" h = 0 & isundefined(a[3]) ==> h := 1; end;
        rule "fails" h = 1 ==> error "it was undefined"; end;
        """


def test_a_loop_of_the_start_state_gives_each_element_a_value() -> None:
    full, reduced = both(_counting("for i: 0..3 do a[i] := 0; end;"), deadlock="off")
    assert full.states and reduced.states and reduced.states < full.states / 100


_SOME = "for i := 0 to 2 do a[i] := 0; end; h := 0;"


@pytest.mark.parametrize(
    "start",
    [
        "clear_up_to(2);",
        _SOME,
        f"{_SOME} for i := 1 to h do a[3] := 0; end;",
        "for i: 0..3 do if i < 3 then a[i] := 0; end; end;",
    ],
)
def test_a_loop_that_leaves_an_element_out_is_noticed(start: str) -> None:
    full, _ = both(_counting(start), deadlock="off")
    assert full.violations
