"""Random DVE models: processes with few states, variables kept small by ``% k``, channels with and without a buffer,
typed or not, global or of a process.

Most assignments stay in range and most indices inside their arrays; the rest is left to chance, so that every runtime
error occurs. Generated models are accepted by construction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from generator.formulas import generate_formula

#: Prefix of a line with a formula, because DVE models cannot contain formulas.
FORMULA = "// ltl: "
_STATES = ("idle", "wait", "busy", "done")
_MODULUS = 3
_ARRAY = 3


@dataclass(frozen=True)
class _Channel:
    name: str
    values: int  #: number of values of an item
    capacity: int  #: 0: sender and receiver step together
    owner: str = ""  #: the process that declares it


@dataclass
class _Process:
    name: str
    states: tuple[str, ...]
    numbers: list[str] = field(default_factory=list)
    arrays: list[str] = field(default_factory=list)


def generate_dve(random: Random) -> str:
    """Returns the text of a model that the front-end accepts."""
    return _Generator(random).model()


def generate_dve_with_formulas(random: Random) -> str:
    """Returns a model with a formula about its runs in a comment, and sometimes a property process."""
    generator = _Generator(random)
    outside = _Process("", ())
    formula = generate_formula(random, lambda: generator.expression(outside, 1))
    text = f"{FORMULA}{formula}\n{generator.model()}"
    if random.random() < 0.3:
        text = text.replace("system async;", f"{generator.automaton(outside)}\nsystem async property N;")
    return text


def propositions(random: Random, text: str) -> list[str]:
    """Returns conditions on the states of a model of ``generate_dve``, for formulas about its runs."""
    names = [line.split()[1] for line in text.splitlines() if line.startswith("process ")]
    found = [f"{random.choice(names)}.{_STATES[0]}" for _ in range(2)]
    return [*found, f"g0 == {random.randrange(_MODULUS)}", f"g0 > {random.randrange(_MODULUS)}"]


class _Generator:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.numbers = ["g0"] + (["g1"] if self.chance(0.5) else [])
        self.arrays = ["a0"] if self.chance(0.4) else []
        self.constants = ["k0"] if self.chance(0.2) else []
        self.channels = [
            _Channel(
                f"c{number}",
                random.choice((0, 1, 1, 2)),
                random.choice((0, 0, 1, 2)),
                "P0" if self.chance(0.1) else "",
            )
            for number in range(random.randint(0, 2))
        ]
        self.processes = [
            _Process(
                f"P{number}",
                _STATES[: random.randint(2, 4)],
                ["x"] if self.chance(0.5) else [],
                ["y"] if self.chance(0.15) else [],
            )
            for number in range(random.randint(2, 3))
        ]

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def model(self) -> str:
        lines = [f"byte {name} = {self.random.randrange(_MODULUS)};" for name in self.numbers]
        lines += [f"{self.random.choice(('byte', 'int'))} {name}[{_ARRAY}];" for name in self.arrays]
        lines += [f"const int {name}[{_ARRAY}] = {{2, -1}};" for name in self.constants]
        lines += [self._channel(channel) for channel in self.channels if not channel.owner]
        lines += [self._process(process) for process in self.processes]
        return "\n".join([*lines, "system async;", ""])

    def automaton(self, outside: _Process) -> str:
        """Returns a property process, which follows the others without taking part."""
        states = _STATES[: self.random.randint(2, 3)]
        edges = []
        for source in states:
            for _ in range(self.random.randint(1, 3)):
                guard = f"guard {self.expression(outside, 1)};" if self.chance(0.6) else ""
                edges.append(f"    {source} -> {self.random.choice(states)} {{ {guard} }}")
        rows = [f"  state {', '.join(states)};", f"  init {states[0]};", f"  accept {self.random.choice(states)};"]
        return "\n".join(["process N {", *rows, "  trans", ",\n".join(edges) + ";", "}"])

    def _channel(self, channel: _Channel) -> str:
        types = ", ".join(self.random.choice(("byte", "byte", "int")) for _ in range(channel.values))
        items = f"{{{types}}} " if types and self.chance(0.8) else ""
        return f"channel {items}{channel.name}[{channel.capacity}];"

    def _process(self, process: _Process) -> str:
        inside = [f"  {self.random.choice(('byte', 'int'))} {name};" for name in process.numbers]
        inside += [f"  byte {name}[{_ARRAY}];" for name in process.arrays]
        inside += [f"  {self._channel(channel)}" for channel in self.channels if channel.owner == process.name]
        inside += [f"  state {', '.join(process.states)};", f"  init {self.random.choice(process.states)};"]
        if self.chance(0.15):
            inside.append(f"  commit {self.random.choice(process.states)};")
        if self.chance(0.2):
            weak = f"{self.expression(process)} or {self.expression(process)} or {self.expression(process)}"
            inside.append(f"  assert {self.random.choice(process.states)}: {weak};")
        transitions = []
        for state in process.states:
            for number in range(self._count()):
                # Without a name, the source is the state above.
                source = "" if number and self.chance(0.2) else state
                transitions.append(self._transition(process, source))
        transitions = transitions or [self._transition(process, process.states[0])]
        inside += ["  trans", ",\n".join(f"    {each}" for each in transitions) + ";"]
        return "\n".join([f"process {process.name} {{", *inside, "}"])

    def _count(self) -> int:
        return self.random.choice((0, 1, 2, 2, 3))

    def _transition(self, process: _Process, source: str) -> str:
        parts = []
        if self.chance(0.4):
            more = f", {self.expression(process, 1)}" if self.chance(0.1) else ""
            parts.append(f"guard {self.expression(process)}{more};")
        if self.channels and self.chance(0.3):
            parts.append(f"sync {self._synchronisation(process)};")
        effects = [self._effect(process) for _ in range(self.random.choice((0, 1, 1, 2)))]
        if effects:
            parts.append(f"effect {', '.join(effects)};")
        return f"{source} -> {self.random.choice(process.states)} {{ {' '.join(parts)} }}"

    def _synchronisation(self, process: _Process) -> str:
        channel = self.random.choice(self.channels)
        is_sender = self.chance(0.5)
        values = [self._small(process) if is_sender else self._target(process) for _ in range(channel.values)]
        item = "" if not values else values[0] if len(values) == 1 else "{" + ", ".join(values) + "}"
        name = f"{channel.owner}->{channel.name}" if channel.owner else channel.name
        return f"{name}{'!' if is_sender else '?'}{item}"

    def _effect(self, process: _Process) -> str:
        value = self._small(process) if self.chance(0.98) else self.expression(process)
        return f"{self._target(process)} = {value}"

    # --- Expressions ---------------------------------------------------------------------------------------

    def _small(self, process: _Process) -> str:
        """Returns an expression whose value is in range, if it has one."""
        expression = self.expression(process)
        return f"(({expression}) % {_MODULUS} + {_MODULUS}) % {_MODULUS}"

    def _target(self, process: _Process) -> str:
        arrays = [*self.arrays, *process.arrays]
        if arrays and self.chance(0.3):
            return f"{self.random.choice(arrays)}[{self._index(process)}]"
        return self.random.choice([*self.numbers, *process.numbers])

    def _index(self, process: _Process) -> str:
        name = self.random.choice([*self.numbers, *process.numbers])
        return f"{name} % {_ARRAY}" if self.chance(0.9) else f"{name} + {self.random.randrange(_ARRAY)}"

    def expression(self, process: _Process, depth: int = 2) -> str:
        if depth == 0 or self.chance(0.3):
            return self._atom(process)
        left, right = self.expression(process, depth - 1), self.expression(process, depth - 1)
        kind = self.random.randrange(10)
        if kind == 0:
            return f"{self.random.choice(('not ', '-', '~'))}({left})"
        if kind == 1:
            divisor = right if self.chance(0.1) else "2"
            return f"({left} {self.random.choice(('/', '%'))} {divisor})"
        if kind <= 4:
            return f"({left} {self.random.choice(('+', '-', '*', '&', '|', '^'))} {right})"
        if kind == 5:
            return f"({left} {self.random.choice(('<<', '>>'))} {self.random.randrange(3)})"
        if kind <= 7:
            return f"({left} {self.random.choice(('and', 'or', 'imply'))} {right})"
        return f"({left} {self.random.choice(('==', '!=', '<', '<=', '>', '>='))} {right})"

    def _atom(self, process: _Process) -> str:
        choices = [str(self.random.randint(0, 4)), *self.numbers, *process.numbers]
        arrays = [*self.arrays, *process.arrays]
        if arrays:
            choices.append(f"{self.random.choice(arrays)}[{self._index(process)}]" if self.chance(0.5) else "1")
        if self.constants:
            choices.append(f"{self.constants[0]}[{self._index(process)}]")
        other = self.random.choice(self.processes)
        choices.append(f"{other.name}.{self.random.choice(other.states)}")
        if other.numbers and other is not process:
            choices.append(f"{other.name}->{self.random.choice(other.numbers)}")
        if other.arrays and other is not process:
            choices.append(f"{other.name}->{other.arrays[0]}[{self._index(process)}]")
        return self.random.choice(choices)
