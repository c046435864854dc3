"""The product of a model and an automaton: its steps, and the same steps in emitted C."""

from __future__ import annotations

import ctypes
import os
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from emitted_model import NATIVE, compile_c
from generator import generate

from outcrop.codegen.c import emit
from outcrop.codegen.features import Feature
from outcrop.ir.automaton import Automaton, Edge
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import Layout, State
from outcrop.ir.nodes import Expression, Unary, UnaryOperator
from outcrop.ir.product import product, weak_fairness
from outcrop.ir.system import Instantiable, Rule, System
from outcrop.ir.types import BOOLEAN
from outcrop.lang import load_text
from outcrop.lang.murphi.language import UndefinedReads
from outcrop.lang.registry import read_options
from outcrop.options import LoadOptions

MOST_STATES = 80


def system_of(text: str, name: str = "model.m", **options: object) -> System:
    return load_text(text, name, LoadOptions(own=read_options(name, options)))[0]


# --- Random products -----------------------------------------------------------------------------------------


def conditions(system: System) -> list[tuple[Instantiable, Expression]]:
    """Returns the conditions that an automaton may use."""
    guards = [(rule, rule.guard) for rule in system.rules if rule.guard is not None and rule.instance_count]
    return [*guards, *((each, each.condition) for each in system.properties if each.instance_count)]


def random_automaton(system: System, random: Random, symmetric: bool) -> Automaton:
    """Returns an automaton over one condition of the model; ``symmetric``: of a rule or property without parameters."""
    known = [each for each in conditions(system) if not (symmetric and each[0].parameters)]
    states = tuple(f"q{number}" for number in range(random.randint(1, 3)))
    owner, condition = random.choice(known) if known else (system.rules[0], None)
    edges = []
    for _ in range(2 * len(states)):
        guard = random.choice((None, condition, condition))
        if guard is not None and random.random() < 0.5:
            guard = Unary(type=BOOLEAN, span=guard.span, operator=UnaryOperator.NOT, operand=guard)
        edges.append(Edge(random.randrange(len(states)), random.randrange(len(states)), guard, owner.span))
    accepting = frozenset(number for number in range(len(states)) if random.random() < 0.5)
    arguments = random.choice(list(owner.instances())) if known else ()
    parameters = owner.parameters if known else ()
    return Automaton("Q", states, 0, accepting, tuple(edges), owner.span, owner.frame, parameters, arguments)


class Emitted:
    """An emitted product, compiled with successor buffers of three states so that they overflow."""

    def __init__(self, system: System, symmetry: bool, directory: Path) -> None:
        source = emit(system, symmetry).source
        flags = ("-O0", "-DSUCCESSOR_ROOM=3", "-I", os.fspath(NATIVE), "-fPIC", "-shared", "-Wno-unused-function")
        self.library = ctypes.CDLL(os.fspath(compile_c(source, directory, "product.c", *flags)))
        self.library.driver_expand.restype = self.library.driver_fired.restype = ctypes.c_uint64
        self._bytes = Layout(system).byte_count

    def start(self, instance: int) -> bytes | None:
        state = ctypes.create_string_buffer(self._bytes)
        return None if self.library.driver_start(ctypes.c_uint64(instance), state) else state.raw

    def successors(self, state: bytes) -> tuple[list[bytes], bool]:
        failed = ctypes.c_int()
        count = self.library.driver_expand(state, ctypes.byref(failed))
        room = ctypes.create_string_buffer(max(1, count * self._bytes))
        self.library.driver_successors(room)
        return [room.raw[at * self._bytes : (at + 1) * self._bytes] for at in range(count)], bool(failed.value)


def compare(system: System, symmetry: bool, directory: Path) -> int:
    """Asserts that interpreter and emitted C agree on the states of a product. Returns their number."""
    emitted, interpreter, layout = Emitted(system, symmetry, directory), Interpreter(system, symmetry), Layout(system)
    product_steps = interpreter.product_steps
    assert product_steps is not None
    fired: Counter[Rule] = Counter()

    def normal(packed: bytes) -> State:
        """Returns the interpreter's representative, because the native code may choose another one."""
        return interpreter.normalise(layout.unpack(packed)) if symmetry else layout.unpack(packed)

    seen: dict[State, None] = {}
    for number, firing in enumerate(interpreter.start_states()):
        started = emitted.start(number)
        assert firing.successor == (None if started is None else normal(started))
        if firing.successor is not None and interpreter.check(firing.successor).is_kept:
            seen[firing.successor] = None
    pending = list(seen)
    while pending:
        state = pending.pop(0)
        assert emitted.library.driver_accepting(layout.pack(state)) == product_steps.is_accepting(state)
        firings = list(interpreter.successors(state))
        reached = [each for each in firings if each.successor and interpreter.check(each.successor).is_kept]
        found, failed = emitted.successors(layout.pack(state))
        assert Counter(each.successor for each in reached) == Counter(map(normal, found)), state
        assert failed == any(each.fault is not None for each in firings)
        fired.update(each.origin for each in firings if each.successor and isinstance(each.origin, Rule))
        for each in reached:
            assert each.successor is not None
            if each.successor not in seen and len(seen) < MOST_STATES:
                seen[each.successor] = None
                pending.append(each.successor)
    for number, rule in enumerate(system.rules):
        assert emitted.library.driver_fired(ctypes.c_uint64(number)) == fired[rule]
    return len(seen)


@pytest.mark.parametrize("seed", range(20))
def test_emitted_products_agree_with_the_interpreter(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    undefined = UndefinedReads.ERROR if seed % 2 else UndefinedReads.PERMIT
    system = system_of(generate(random), while_limit=50, undefined=undefined)
    symmetry, fair = seed % 4 == 0, seed % 4 in (1, 2)
    automaton = random_automaton(system, random, symmetry)
    compare(product(system, automaton, weak_fairness(system) if fair else None), symmetry, tmp_path)


PROCESSES = """
byte x;
channel c;
process P { state a, b; init a; trans a -> b { guard x < 3; effect x = x + 1; }, b -> a { sync c!; }; }
process Q { state a, b; init a; trans a -> a { sync c?; }, a -> b { guard x == 3; }; }
process R { state q, r; init q; accept r; trans q -> q {}, q -> r { guard Q.b; }, r -> r { guard x > 1; }; }
system async property R;
"""


@pytest.mark.parametrize("fair", [False, True])
def test_products_with_processes_agree_with_the_interpreter(fair: bool, tmp_path: Path) -> None:
    system = system_of(PROCESSES, "model.dve")
    assert system.automaton is not None
    assert compare(product(system, system.automaton, weak_fairness(system) if fair else None), False, tmp_path) > 5


# --- Steps of a product --------------------------------------------------------------------------------------


def steps(system: System, state: State) -> list[tuple[str, State]]:
    return [(each.label, each.successor) for each in Interpreter(system, False).successors(state) if each.successor]


def test_a_process_of_the_model_runs_beside_it() -> None:
    system = system_of(PROCESSES, "model.dve")
    assert system.automaton is not None
    both = product(system, system.automaton)
    assert [each.name for each in both.variables] == ["x", "P", "Q", "R"]
    (start,) = Interpreter(both, False).start_states()
    assert start.successor == (0, 0, 0, 0)
    # The guard applies to the source state: Q is in b there, so R may go to r.
    assert steps(both, (3, 1, 0, 0)) == [("P -> Q: c!", (3, 0, 0, 0)), ("Q: a -> b", (3, 1, 1, 0))]
    # Nothing is enabled: the system stays where it is while the automaton moves.
    assert [state for _, state in steps(both, (3, 1, 1, 0))] == [(3, 1, 1, 0), (3, 1, 1, 1)]
    # No edge of the automaton: no step at all.
    assert steps(both, (1, 1, 0, 1)) == []


FAIR = """
var x, y: 0 .. 1;
startstate begin x := 0; y := 0; end;
rule "flip x" begin x := 1 - x; end;
rule "set y" y = 0 ==> y := 1; end;
"""


def test_the_fairness_counter_waits_for_each_set() -> None:
    system = system_of(FAIR)
    span = system.rules[0].span
    always = Automaton("Q", ("q",), 0, frozenset({0}), (Edge(0, 0, None, span),), span)
    fairness = weak_fairness(system)
    assert fairness.sets == ("flip x", "set y")
    both = product(system, always, fairness)
    interpreter = Interpreter(both, False)
    assert interpreter.product_steps is not None
    # Flipping x satisfies the first set, but "set y" stays enabled and does not move: the counter waits for it.
    assert steps(both, (0, 0, 0, 0)) == [("flip x", (1, 0, 0, 2)), ("set y", (0, 1, 0, 1))]
    assert steps(both, (1, 0, 0, 2)) == [("flip x", (0, 0, 0, 2)), ("set y", (1, 1, 0, 0))]
    # Once "set y" is not enabled, every step satisfies it.
    assert steps(both, (0, 1, 0, 0)) == [("flip x", (1, 1, 0, 0))]
    assert [interpreter.product_steps.is_accepting((0, 0, 0, counter)) for counter in range(3)] == [True, False, False]


def test_dropped_states_are_no_deadlocks_and_do_not_count_as_enabled() -> None:
    system = system_of(FAIR + 'assume "never y" y = 0;')
    span = system.rules[0].span
    always = Automaton("Q", ("q",), 0, frozenset({0}), (Edge(0, 0, None, span),), span)
    both = product(system, always, weak_fairness(system))
    assert steps(both, (0, 0, 0, 0))[0] == ("flip x", (1, 0, 0, 0))


def test_plain_models_have_nothing_of_a_product() -> None:
    emitted = emit(system_of(FAIR), False)
    source = emitted.source
    assert Feature.AUTOMATON not in emitted.features
    assert "targets" not in source and "mover" not in source and "product.h" not in source
