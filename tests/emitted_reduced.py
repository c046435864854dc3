"""Compares emitted code that reduces with the interpreter, state by state and without the kernels."""

from __future__ import annotations

import os
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from emitted_model import HERE, NATIVE, compile_c

from outcrop.codegen.c import Emitted, emit
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import Layout, Leaf, State
from outcrop.ir.system import Rule, System
from outcrop.ir.types import Real, Simple
from outcrop.reduction.instances import instances_of
from outcrop.reduction.interpreted import ReducedMoves
from outcrop.reduction.stubborn import COUNTERS, Reduction

#: Flags of a program that ends at the first access or operation that C leaves undefined.
SANITIZED = ("-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
#: Products leave functions unused; room for one successor shows writes behind it.
_FLAGS = ("-DSUCCESSOR_ROOM=1", "-Wno-unused-function", "-I", os.fspath(NATIVE))
_SECONDS = 120
#: Distances from the least value of a type at which packed values need one more bit, or one more word of a set.
_EDGES = (0, 1, 2, 62, 63, 64, 65, 126, 127, 128, 129, 254, 255, 256, 257)


@dataclass(frozen=True)
class Expansion:
    """What a state fires: instances with packed successors, whether something failed, and the gain of the counters."""

    firings: Counter[tuple[int, bytes]]
    has_failed: bool
    counters: tuple[int, ...]


class ReducedProgram:
    """An emitted model that is reduced, as a program that expands states. Runs in a process of its own."""

    def __init__(
        self, system: System, reduction: Reduction, symmetry: bool, directory: Path, *flags: str, tiny: bool = False
    ) -> None:
        """Compiles it. ``tiny``: by tcc, which takes a twentieth of the time, or by the C compiler if tcc cannot."""
        emitted: Emitted = emit(system, symmetry, instances=True, reduction=reduction)
        self.layout = emitted.layout
        self.symmetry = symmetry
        made = _compile_tiny(emitted.source, directory) if tiny else None
        self.is_tiny = made is not None
        self.states = 0  #: number of states expanded
        self._program = made or compile_c(emitted.source, directory, "reduced.c", *(flags or ("-O0",)), *_FLAGS)

    def expand(self, states: Sequence[State]) -> Iterator[Expansion]:
        """Yields what each state fires."""
        self.states += len(states)
        packed = b"".join(map(self.layout.pack, states))
        done = subprocess.run([self._program], input=packed, capture_output=True, timeout=_SECONDS, check=False)
        assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr.decode()[:4000]}"
        at = 0
        for _ in states:
            firings: Counter[tuple[int, bytes]] = Counter()
            while True:
                is_firing, number = struct.unpack_from("=QQ", done.stdout, at)
                at += 16
                if not is_firing:
                    break
                firings[number, done.stdout[at : at + self.layout.byte_count]] += 1
                at += self.layout.byte_count
            yield Expansion(firings, bool(number), struct.unpack_from(f"={len(COUNTERS)}Q", done.stdout, at))
            at += 8 * len(COUNTERS)
        assert at == len(done.stdout)


def _compile_tiny(source: str, directory: Path) -> Path | None:
    """Compiles a model with tcc. Returns None if that knows not all of it, such as integers of 128 bits."""
    c_file, made = directory / "tiny.c", directory / "tiny"
    c_file.write_text(f'#include "tiny.h"\n{source}\n#include "reduced.c"\n')
    command = ["tcc", "-w", *_FLAGS, "-I", os.fspath(HERE / "emitted"), os.fspath(c_file), "-o", os.fspath(made), "-lm"]
    return made if subprocess.run(command, capture_output=True, check=False).returncode == 0 else None


# --- The interpreter ---------------------------------------------------------------------------------------


class Reference:
    """The reduced moves of a System by the interpreter."""

    def __init__(self, system: System, reduction: Reduction, symmetry: bool) -> None:
        self.system = system
        self.interpreter = Interpreter(system, symmetry)
        self._moves = self.interpreter.selection = ReducedMoves(self.interpreter, reduction)
        self._layout = Layout(system)
        self._packed: dict[State, bytes] = {}  #: each successor, in order of discovery
        self._numbers = {(rule, each): at for at, (_, rule, each) in enumerate(instances_of(system))}

    def expand(self, state: State) -> Expansion:
        before = self._moves.counters
        firings: Counter[tuple[int, bytes]] = Counter()
        has_failed = False
        for each in self.interpreter.successors(state):
            has_failed |= each.fault is not None
            if each.successor is not None:
                # The automaton alone moves where nothing is enabled.
                origin = self._numbers[each.origin, each.arguments] if isinstance(each.origin, Rule) else -1
                firings[origin, self._pack(each.successor)] += 1
        gained = tuple(now - then for now, then in zip(self._moves.counters, before, strict=True))
        return Expansion(firings, has_failed, gained)

    def _pack(self, state: State) -> bytes:
        if state not in self._packed:
            self._packed[state] = self._layout.pack(state)
        return self._packed[state]

    def visited(self, most: int) -> dict[State, Expansion]:
        """Returns states of the reduced search, up to a number of them, and what each fires."""
        for start in self.interpreter.start_states():
            if start.successor is not None:
                self._pack(start.successor)
        found: dict[State, Expansion] = {}
        while len(found) < min(most, len(self._packed)):
            for state in list(self._packed)[len(found) : most]:
                found[state] = self.expand(state)
        return found

    def changed(self, state: State, random: Random) -> State:
        """Returns the state with other values in one or two leaves, at the edges of types or behind them. Variables
        that are not wholly defined keep their values, because a queue has no items behind its end."""
        leaves: list[Leaf] = list(state)
        for _ in range(random.choice((1, 1, 2))):
            variable = random.choice(self.system.variables)
            leaf = variable.offset + random.randrange(variable.type.leaf_count)
            kind = self.system.leaf_types[leaf]
            if not isinstance(kind, Real) and None not in state[variable.offset :][: variable.type.leaf_count]:
                leaves[leaf] = _value(kind, state[leaf], random)
        return self.interpreter.normalise(tuple(leaves))

    def sample(self, most: int, changed: int, random: Random) -> dict[State, Expansion]:
        """Returns what states of the reduced search fire, and ``changed`` others that may be unreachable."""
        found = self.visited(most)
        visited = list(found)
        for _ in range(changed if visited else 0):
            state = self.changed(random.choice(visited), random)
            found[state] = self.expand(state)
        return found

    def normal(self, expansion: Expansion) -> Expansion:
        """Returns an expansion with the interpreter's representatives, where native code has chosen others."""
        firings: Counter[tuple[int, bytes]] = Counter()
        for (instance, successor), count in expansion.firings.items():
            firings[instance, self._pack(self.interpreter.normalise(self._layout.unpack(successor)))] += count
        return replace(expansion, firings=firings)


def _value(kind: Simple, present: Leaf, random: Random) -> Leaf:
    """Returns a value of a type: one that differs by a multiple of 64 from the present one, or at an edge."""
    assert isinstance(present, int)
    low, high, roll = kind.low, kind.low + kind.cardinality - 1, random.random()
    if roll < 0.4:
        found = [present + 64 * each for each in (-4, -2, -1, 1, 2, 4)]
    elif roll < 0.8:
        found = [low + each for each in _EDGES]
    else:
        found = [low, low + 1, low + 2, high]
    return random.choice([each for each in found if low <= each <= high] or [low, high])


def difference(program: ReducedProgram, reference: Reference, expected: dict[State, Expansion]) -> str:
    """Returns a state in which emitted code does not do what is expected of it; "" if there is none."""

    def shown(expansion: Expansion) -> str:
        firings = sorted(expansion.firings.elements())
        steps = ", ".join(f"{instance} to {program.layout.unpack(successor)}" for instance, successor in firings)
        return f"[{steps}], fails {expansion.has_failed}, counters {expansion.counters}"

    for (state, wanted), got in zip(expected.items(), program.expand(list(expected)), strict=True):
        found = reference.normal(got) if program.symmetry else got
        if wanted.firings and all(instance < 0 for instance, _ in wanted.firings):
            found = replace(found, firings=Counter({(-1, each): n for (_, each), n in found.firings.items()}))
        if found != wanted:
            return f"in {state}: emitted code fires {shown(found)}, the interpreter {shown(wanted)}"
    return ""
