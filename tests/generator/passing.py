"""Random Promela models that pass channels around: in variables, arrays, structures, messages and parameters.

No receive changes the index of its own channel: SPIN restores the message into the channel that the new index names.
"""

from __future__ import annotations

from random import Random

#: Variables of a process that hold the number of a channel of bytes.
_OWN = ("k", "l", "c", "d")


class Passing:
    """Two or three processes, mostly started with channels, that store channels, send them, and use them."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._capacities = {name: random.choice((0, 1, 1, 2)) for name in ("a", "b", "e")}
        self._has_struct = random.random() < 0.3

    def text(self) -> str:
        size = self._capacities
        carried = self._choice("chan", "byte", "chan", "byte, chan")
        room = self._choice("0", "1", "2")
        self._pair, self._can_wait = carried == "byte, chan", room != "0"
        lines = [
            f"chan a = [{size['a']}] of {{ byte }};",
            f"chan b[2] = [{size['b']}] of {{ byte }};",
            f"chan q = [{room}] of {{ {carried} }};",
            f"chan e = [{size['e']}] of {{ byte }};",
        ]
        self._random.shuffle(lines)
        lines += ["byte x, n; bit ready; chan v[2]; chan g;", "typedef T { byte m; chan h };"]
        lines += ["T t;"] if self._has_struct else []
        lines.append("inline put(to, value) { to!value }")
        begin = [f"v[{at}] = {self._named()}" for at in range(2)] + [f"g = {self._named()}"]
        if self._has_struct:
            begin.append(f"t.h = {self._named()}")
        names = ("P", "Q")
        bodies = [f"proctype {name}(chan c, d) {{ {self._body(2)} }}" for name in names]
        if self._some(0.3):
            own = f"chan c = {self._named()}; chan d = {self._named()};"
            bodies.append(f"active proctype R() {{ {own} ready == 1; {self._body(1)} }}")
        runs = [self._run(self._choice(*names)) for _ in range(2)]
        steps = [*begin, "ready = 1", *runs]
        start = f"atomic {{ {'; '.join(steps)} }}" if self._some(0.8) else "; ".join(steps)
        bodies.insert(self._random.randint(0, len(bodies)), f"init {{ {start} }}")
        return "\n".join([*lines, *bodies, ""])

    def _some(self, probability: float) -> bool:
        return self._random.random() < probability

    def _choice(self, *values: str) -> str:
        return self._random.choice(values)

    def _run(self, name: str) -> str:
        return f"run {name}({self._channel('init')}, {self._channel('init')})"

    def _body(self, depth: int) -> str:
        declared = f"byte y; chan k = {self._channel('first')}; chan l = {self._choice('c', 'd', self._named())};"
        steps = [self._step(depth) for _ in range(self._random.choice((1, 2, 2, 3)))]
        return f"{declared}\n" + ";\n".join(steps)

    # --- Channels ----------------------------------------------------------------------------------------------

    def _named(self) -> str:
        return self._choice("a", "b[0]", "b[1]", "a", "e")

    def _index(self) -> str:
        return self._choice("0", "1", "(x & 1)", "(y & 1)")

    def _channel(self, where: str = "") -> str:
        """Returns a channel of bytes: its name, or a variable that has its number."""
        if where == "init":
            return self._choice(self._named(), self._named(), "v[0]", "g")
        if where == "first":
            return self._choice(self._named(), "c", "d")
        return self._choice(self._named(), *_OWN, *_OWN, f"v[{self._index()}]", "g", *self._field())

    def _target(self) -> str:
        return self._choice("k", "l", "k", "l", "c", f"v[{self._index()}]", "g", *self._field())

    def _field(self) -> tuple[str, ...]:
        return ("t.h",) if self._has_struct else ()

    # --- Statements --------------------------------------------------------------------------------------------

    def _step(self, depth: int) -> str:
        choices = (
            ["store"] * 3 + ["send"] * 4 + ["receive"] * 4 + ["pass"] * 3 + ["take"] * 3 + ["test"] * 2 + ["local"]
        )
        if depth:
            choices += ["atomic"] * 4 + ["choose"] * 3 + ["loop"]
            if 0 not in self._capacities.values():
                choices += ["d_step"] * 2
            if depth > 1:
                choices += ["number", "start"]
        return str(getattr(self, f"_{self._random.choice(choices)}_")(depth))

    def _store_(self, depth: int) -> str:
        return f"{self._target()} = {self._channel()}"

    def _send_(self, depth: int) -> str:
        channel = self._channel()
        if self._some(0.15):
            return f"put({self._choice('a', 'k', 'l', 'c')}, {self._value()})"
        return f"{channel}{self._choice('!', '!', '!', '!!')}{self._value()}"

    def _receive_(self, depth: int) -> str:
        got = self._choice("x", "y", "y", "_", "eval(y)", "1")
        channel = self._channel().replace("(x & 1)", "0").replace("(y & 1)", "1")
        return f"{channel}{self._choice('?', '?', '?', '??')}{got}"

    def _pass_(self, depth: int) -> str:
        """Returns a send of a channel in a message, also through a channel of bytes."""
        if self._some(0.15):
            return f"{self._choice('a', 'k')}!{self._channel()}"
        return f"q!{self._value() + ', ' if self._pair else ''}{self._channel()}"

    def _take_(self, depth: int) -> str:
        target = self._target()
        if self._some(0.1):
            return f"n = {self._named()}; {target} = n"
        if self._some(0.1) and not self._pair and self._can_wait:
            return f"q?<{target}>; {target}{self._choice('!1', '?y')}"
        return f"q?{self._choice('y', '_', '1') + ', ' if self._pair else ''}{target}"

    def _value(self) -> str:
        return self._choice("0", "1", "2", "x", "y", "_pid")

    def _condition(self) -> str:
        channel = self._channel()
        return self._choice(
            *(f"len({channel}) < 1", f"nfull({channel})", f"empty({channel})", f"nempty({channel})"),
            *(self._comparison() for _ in range(4)),
        )

    def _comparison(self) -> str:
        name = self._choice("k", "l", "c")
        return self._choice(f"{name} == {self._choice('d', 'l', 'g', 'v[1]')}", f"{name} != d", "x < 2", "y == 0")

    def _test_(self, depth: int) -> str:
        return f"({self._condition()})"

    def _local_(self, depth: int) -> str:
        return self._choice("x = 1", "x = y", "y = 1 - y", "y++", "x = 2", "assert(x < 3)", "x = len(k)")

    def _number_(self, depth: int) -> str:
        """Returns arithmetic with the number of a channel."""
        return self._choice("n = b[0]; n++; k = n", "n = b[1]; n = n - 1; k = n", "n = b[0]; n = n + (x & 1); l = n")

    def _start_(self, depth: int) -> str:
        return f"if :: ready -> ready = 0; {self._run('Q')} :: else fi"

    def _several(self, depth: int, most: int = 3) -> str:
        return "; ".join(self._step(depth) for _ in range(self._random.randint(1, most)))

    def _atomic_(self, depth: int) -> str:
        return f"atomic {{ {self._several(depth - 1)} }}"

    def _d_step_(self, depth: int) -> str:
        middle = f"if :: {self._comparison()} -> {self._store_(0)} :: else -> {self._local_(0)} fi"
        return f"d_step {{ skip; {self._store_(0)}; {middle}; {self._local_(0)} }}"

    def _choose_(self, depth: int) -> str:
        options = [f":: {self._several(depth - 1, 2)}" for _ in range(self._random.randint(1, 2))]
        if self._some(0.4):
            options = [f":: {self._comparison()} -> {self._several(depth - 1, 2)}", ":: else"]
        return f"if {' '.join(options)} fi"

    def _loop_(self, depth: int) -> str:
        return f"y = 0; do :: y < 2 -> {self._store_(0)}; {self._several(0, 1)}; y++ :: y >= 2 -> break od"


def generate_passing(random: Random) -> str:
    """Returns a model."""
    return Passing(random).text()
