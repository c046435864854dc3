"""The semantics of DVE: order of effects, channels, committed states, overflow, and corner cases."""

from __future__ import annotations

import pytest

from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import State
from outcrop.ir.names import state_leaf_names
from outcrop.ir.system import PropertyKind, System
from outcrop.lang import load_text
from outcrop.lang.dve.language import DveOptions, Overflow
from outcrop.options import LoadOptions

IDLE = "state s, t; init s;"


def system(text: str, overflow: Overflow = Overflow.ERROR, **constants: str) -> System:
    return load_text(text, "m.dve", LoadOptions(constants, (DveOptions(overflow),)))[0]


def one_process(body: str, declarations: str = "") -> str:
    return f"{declarations} process P {{ {body} }} system async;"


class Run:
    """Steps through the states of a model."""

    def __init__(self, model: System) -> None:
        self.interpreter = Interpreter(model, symmetry=False)
        self.names = state_leaf_names(model)
        [start] = self.interpreter.start_states()
        assert start.successor is not None, start.fault
        self.state: State = start.successor

    def labels(self) -> list[str]:
        return [firing.label for firing in self.interpreter.successors(self.state)]

    def step(self) -> Run:
        [firing] = self.interpreter.successors(self.state)
        assert firing.successor is not None, firing.fault
        self.state = firing.successor
        return self

    def faults(self) -> list[str]:
        return [str(each.fault) for each in self.interpreter.successors(self.state) if each.fault is not None]

    def __getitem__(self, name: str) -> object:
        return self.state[self.names.index(name)]


def value_of(expression: str, declarations: str = "int x = 5, y = -3; byte a[3] = {4, 5, 6};") -> object:
    body = f"int result; {IDLE} trans s -> t {{ effect result = {expression}; }};"
    return Run(system(one_process(body, declarations))).step()["P.result"]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("10 - 4 - 3", 3),
        ("2 + 3 * 4", 14),
        ("1 or 0 and 0", 0),
        ("0 and 0 or 1", 1),
        ("1 | 2 & 4", 0),
        ("x | 2 == 7", 5),
        ("1 << 2 + 1", 8),
        ("x > 3 == 1", 1),
        ("0 imply 1 imply 0", 0),
        ("-7 / 2", -3),
        ("y % 2", -1),
        ("~x", -6),
        ("not x", 0),
        ("not not x", 1),
        ("not x == 0", 1),
        ("- -x", 5),
        ("x ^ 1", 4),
        ("true + true", 2),
        ("(x > 1) + (y > 1)", 1),
        ("x and y", 1),
        ("y", -3),
        ("a[1 + 1] - a[0]", 2),
        ("P.t + 2 * P.s", 1),
        ("(x == 5) == (y == 3)", 0),
        ("(x == 5) != 0", 1),
        ("(x == 5) == 2", 0),
        ("x == 0 or 1 / (x - 5) == 0 and 0 or x == 0 and 1 / 0", None),
    ],
)
def test_expressions(expression: str, value: int | None) -> None:
    if value is None:
        body = f"int result; {IDLE} trans s -> t {{ effect result = {expression}; }};"
        assert Run(system(one_process(body, "int x = 5;"))).faults()
    else:
        assert value_of(expression) == value


@pytest.mark.parametrize("expression", ["0 and 1 / zero", "1 or a[zero - 1]", "0 imply 1 % zero"])
def test_the_right_operand_may_be_left_unevaluated(expression: str) -> None:
    assert value_of(expression, "byte zero, a[2];") in (0, 1)


def test_effects_see_earlier_ones_and_the_new_state() -> None:
    body = f"byte x, y, z; {IDLE} trans s -> t {{ effect x = 1, y = x + 1, z = P.t; }};"
    run = Run(system(one_process(body))).step()
    assert (run["P.x"], run["P.y"], run["P.z"]) == (1, 2, 1)


def test_initial_values() -> None:
    text = "const byte N = 2; byte x = N + 1, y, a[N + 2] = {1, 2}; int z = -1; byte w = x;"
    run = Run(system(one_process("int v = z; state s; init s;", text)))
    assert [run[name] for name in ("x", "y", "a[0]", "a[1]", "a[2]", "a[3]", "z", "w", "P.v")] == [
        *(3, 0, 1, 2, 0, 0, -1, 3, -1)
    ]


def test_constant_arrays() -> None:
    declarations = "const int table[4] = {7, -8, 9}; byte i = 1;"
    assert value_of("table[i]", declarations) == -8
    assert value_of("table[3]", declarations) == 0
    model = system(one_process(f"{IDLE} trans s -> t {{ guard table[i + 3]; }};", declarations))
    assert "outside 0..3" in Run(model).faults()[0]
    assert model.leaf_types == (model.variables[0].type, model.variables[1].type)


def test_constants_are_replaced() -> None:
    text = one_process("byte x = N, y = M; state s; init s;", "const byte N = 3; input int M = N + 1;")
    model = system(text, N="2 * 5")
    assert (Run(model)["P.x"], Run(model)["P.y"], model.constants) == (10, 11, {"N": 10, "M": 11})


# --- Overflow ----------------------------------------------------------------------------------------------

_STORES = [
    ("byte x = 255", "x + 1", 0),
    ("byte x", "x - 1", 255),
    ("int x = 32767", "x + 1", -32768),
    ("int x = -32768", "x - 1", 32767),
    ("byte x = 200", "x * x * x", 200**3 % 256),
]


@pytest.mark.parametrize(("declaration", "value", "wrapped"), _STORES)
def test_overflow(declaration: str, value: str, wrapped: int) -> None:
    text = one_process(f"{declaration}; {IDLE} trans s -> t {{ effect x = {value}; }};")
    [fault] = Run(system(text)).faults()
    assert "outside" in fault
    assert Run(system(text, Overflow.WRAP)).step()["P.x"] == wrapped


def test_a_guard_that_fails_is_a_fault() -> None:
    text = one_process(f"byte a[2], i = 2; {IDLE} trans s -> t {{ guard a[i] == 0; }}, s -> t {{ guard 1 / a[0]; }};")
    assert len(Run(system(text)).faults()) == 2


# --- Channels ----------------------------------------------------------------------------------------------


def pair(channel: str, send: str, receive: str, declarations: str = "") -> System:
    return system(
        f"{channel} {declarations} process S {{ byte u = 7; {IDLE} trans s -> t {{ {send} }}; }}"
        f" process R {{ byte x, y, a[3]; {IDLE} trans s -> t {{ {receive} }}; }} system async;"
    )


def test_rendezvous_needs_both() -> None:
    model = pair("channel c;", "sync c!;", "sync c?;")
    run = Run(model)
    assert run.labels() == ["S -> R: c!"]
    assert (run.step()["S"], run["R"], run.labels()) == (1, 1, [])
    assert Run(pair("channel c;", "sync c!;", "guard x > 0; sync c?;")).labels() == []


def test_rendezvous_order_received_then_receiver_then_sender() -> None:
    run = Run(
        pair(
            "channel c;",
            "sync c!u + g; effect u = g, g = g + 100;",
            "sync c?x; effect y = x + 1, g = 5;",
            "byte g = 1;",
        )
    ).step()
    assert [run[name] for name in ("R.x", "R.y", "S.u", "g")] == [8, 9, 5, 105]


def test_sent_values_and_indices_belong_to_the_state_before() -> None:
    run = Run(
        pair("channel c;", "sync c!{2, i, j};", "sync c?{i, j, a[i]};", "byte i, j = 1;"),
    ).step()
    assert [run[name] for name in ("i", "j", "R.a[0]", "R.a[2]")] == [2, 0, 1, 0]


def test_a_process_does_not_meet_itself() -> None:
    text = f"channel c; process P {{ {IDLE} trans s -> t {{ sync c!; }}, s -> t {{ sync c?; }}; }} system async;"
    assert Run(system(text)).labels() == []


def test_typed_channels_cast() -> None:
    run = Run(pair("channel {byte, int} c[0];", "sync c!{u + 250, 70000 + u};", "sync c?{x, z};", "int z;"))
    assert (run.step()["R.x"], run["z"]) == (1, 4471)
    assert Run(pair("channel c;", "sync c!u + 250;", "sync c?x;")).faults()
    assert Run(pair("channel {int} c;", "sync c!u + 250;", "sync c?x;")).faults()


def test_buffered_channel_is_a_queue() -> None:
    model = system(
        f"channel {{byte}} c[2]; process S {{ byte u = 1; {IDLE}"
        " trans s -> s { guard u < 4; sync c!u; effect u = u + 1; }; }"
        f" process R {{ byte x; {IDLE} trans s -> s {{ guard S->u > 2; sync c?x; }}; }} system async;"
    )
    run = Run(model).step().step()
    assert [run[name] for name in ("c.count", "c[0]", "c[1]")] == [2, 1, 2]
    assert run.labels() == ["R: s -> s, c?"]
    run.step()
    assert [run[name] for name in ("c.count", "c[0]", "c[1]", "R.x")] == [1, 2, None, 1]
    assert run.labels() == ["S: s -> s, c!", "R: s -> s, c?"]


def test_the_channel_comes_before_the_effects() -> None:
    model = system(
        f"channel {{byte, int}} c[1]; process P {{ byte x, y; int u = -7; {IDLE}"
        " trans s -> t { sync c!{1, u}; effect u = 5; }, t -> s { sync c?{x, u}; effect y = x + 1; }; } system async;"
    )
    run = Run(model).step()
    assert [run[name] for name in ("c[0].1", "c[0].2", "P.u")] == [1, -7, 5]
    run.step()
    assert [run[name] for name in ("P.x", "P.y", "P.u", "c[0].1", "c.count")] == [1, 2, -7, None, 0]


def test_signals_in_a_buffer() -> None:
    run = Run(pair("channel c[2];", "sync c!;", "sync c?;")).step()
    assert (run["c.count"], run.step()["c.count"]) == (1, 0)


def test_channel_of_a_process() -> None:
    text = f"process A {{ channel c; {IDLE} trans s -> t {{ sync c!; }}; }}"
    text += f"process B {{ {IDLE} trans s -> t {{ sync A->c?; }}; }} system async;"
    assert Run(system(text)).labels() == ["A -> B: A.c!"]


# --- Committed states --------------------------------------------------------------------------------------


def committed(first: str, second: str) -> Run:
    return Run(system(f"channel c; process A {{ {first} }} process B {{ {second} }} system async;"))


def test_only_committed_processes_move() -> None:
    run = committed(f"{IDLE} commit s; trans s -> t {{}};", f"{IDLE} trans s -> t {{}};")
    assert run.labels() == ["A: s -> t"]
    assert run.step().labels() == ["B: s -> t"]


def test_a_committed_process_that_cannot_move_stops_all() -> None:
    run = committed(f"{IDLE} commit s; trans s -> t {{ guard false; }};", f"{IDLE} trans s -> t {{}};")
    assert run.labels() == []


def test_a_committed_state_that_nothing_leaves_commits_to_nothing() -> None:
    run = committed(f"{IDLE} commit s; trans t -> s {{}};", f"{IDLE} trans s -> t {{}};")
    assert run.labels() == ["B: s -> t"]


def test_rendezvous_of_committed_processes() -> None:
    send, receive = "trans s -> t { sync c!; };", "trans s -> t { sync c?; };"
    assert committed(f"{IDLE} commit s; {send}", f"{IDLE} commit s; {receive}").labels() == ["A -> B: c!"]
    assert committed(f"{IDLE} commit s; {send}", f"{IDLE} {receive}").labels() == []
    assert committed(f"{IDLE} {send}", f"{IDLE} {receive}").labels() == ["A -> B: c!"]


# --- Properties --------------------------------------------------------------------------------------------


def test_assertions_are_invariants() -> None:
    model = system(one_process(f"byte x; {IDLE} assert t: x > 0, s: x == 0; trans s -> t {{ effect x = 1; }};"))
    assert [each.name for each in model.of_kind(PropertyKind.INVARIANT)] == ["P.t: x > 0", "P.s: x == 0"]
    run = Run(model)
    assert run.interpreter.check(run.state).failure is None
    assert run.interpreter.check(run.step().state).failure is None
    broken = list(run.state)
    broken[run.names.index("P.x")] = 0
    failure = run.interpreter.check(tuple(broken)).failure
    assert failure is not None and failure.label == "P.t: x > 0"


def test_the_property_process_stays_out_of_the_model() -> None:
    model = system(
        f"process P {{ {IDLE} trans s -> t {{}}, -> s {{}}; }}"
        " process Q { state a, b; init a; accept b;"
        " trans a -> a {}, a -> b { guard P.t; }, b -> b { guard not P.s; }; }"
        " system async property Q;"
    )
    assert [variable.name for variable in model.variables] == ["P"]
    assert len(model.rules) == 2
    automaton = model.automaton
    assert automaton is not None
    assert (automaton.states, automaton.initial, automaton.accepting) == (("a", "b"), 0, {1})
    assert [(edge.source, edge.target, edge.guard is None) for edge in automaton.edges] == [
        *((0, 0, True), (0, 1, False), (1, 1, False))
    ]


# --- The error state -------------------------------------------------------------------------------------------

#: Two processes that do not start in their first states. A step of the first one fails.
_FAILING = """
byte x = 7; int a[2] = {3, 4}; channel c;
process P { byte y = 9; state p, q; init q; trans q -> p { effect x = x - 8; }; }
process Q { byte z = 1; state u, v; init v; trans u -> v { effect z = z + 2; }; }
system async;
"""


def test_a_step_that_fails_leads_to_the_error_state() -> None:
    model = system(_FAILING)
    run = Run(model)
    assert run.faults() == ["value -1 is outside 0..255 of x"]
    [firing] = run.interpreter.successors(run.state)
    assert firing.successor is not None
    run.state = firing.successor
    values = {name: run[name] for name in run.names}
    # Zeroes: the first process is in no state, the other one in its first state, not in its initial one.
    assert values == {"x": 0, "a[0]": 0, "a[1]": 0, "P": None, "P.y": 0, "Q": 0, "Q.z": 0}
    assert run.labels() == ["Q: u -> v"]
    assert run.step()["Q.z"] == 2 and run.labels() == []


def test_a_guard_that_fails_leads_to_the_error_state() -> None:
    text = one_process(f"byte i = 3; {IDLE} trans s -> t {{ guard a[i] == 0; }};", "byte a[2];")
    run = Run(system(text))
    [firing] = run.interpreter.successors(run.state)
    assert firing.fault is not None and firing.is_enabled and firing.successor == (0, 0, None, 0)


def test_wrapping_models_have_no_error_state() -> None:
    run = Run(system(_FAILING.replace("x = x - 8", "x = x / y - y / x, x = 1 / (x - x)"), Overflow.WRAP))
    [firing] = run.interpreter.successors(run.state)
    assert firing.fault is not None and firing.successor is None


def test_a_channel_that_is_not_ready_spares_a_failing_guard() -> None:
    """As in DiVinE 2, a step that cannot happen cannot fail."""
    body = f"byte i = 3; {IDLE} trans s -> t {{ guard a[i] == 0; sync d?i; }};"
    text = one_process(body, "byte a[2]; channel {byte} d[1];")
    assert Run(system(text)).labels() == []
