"""Random Promela models of processes that start others: in atomic loops, behind choices, by several processes."""

from __future__ import annotations

from random import Random

_PROCTYPES = ("A", "B", "C")
_DEPTH = 2
#: Starts of counters, and tests that hold for two or three turns of a loop. Some wrap around.
_COUNTERS = {
    "i": (("0", "i < 2", "i >= 2"), ("1", "i <= 3", "i > 3"), ("254", "i > 9", "i <= 9"), ("0", "i != 3", "i == 3")),
    "b": (("0", "b == 0", "b == 1"), ("1", "b == 1", "b != 1")),
    "k": (("32766", "k > 0", "k <= 0"), ("0", "k > -2", "k <= -2")),
    "g": (("0", "g < 2", "g >= 2"), ("255", "g != 1", "g == 1")),
}


class Starting:
    """A process that starts others, these, and in some models further ones that are active from the start."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._has_parameter = {name: random.random() < 0.4 for name in _PROCTYPES}
        self._priority = random.random() < 0.06
        self._jumps = 0
        self._shared = random.random() < 0.6  # whether other processes change what the starter counts with

    def text(self) -> str:
        some = self._some
        initial = f" = {self._choice('1', '2', '255', '256')}" if some(0.2) else ""
        lines = [f"byte x, g{initial}; bit h; chan c = [1] of {{ byte }};", "mtype = { red, green };"]
        parts = [self._proctype(name) for name in _PROCTYPES]
        parts += [self._active(name) for name in ("Y", "Z") if some(0.25)]
        self._random.shuffle(parts)
        parts.insert(self._random.randint(0, len(parts)), self._starter())
        return "\n".join([*lines, *parts, ""])

    def _some(self, probability: float) -> bool:
        return self._random.random() < probability

    def _choice(self, *values: str) -> str:
        return self._random.choice(values)

    # --- Proctypes ---------------------------------------------------------------------------------------------

    def _starter(self) -> str:
        name = "init" if self._some(0.6) else "active proctype S()"
        provided = " provided (x < 3)" if name != "init" and self._some(0.15) else ""
        values = self._choice("", " = 1", " = 254", " = 256"), self._choice("", " = 1", " = 2")
        declared = f"byte i{values[0]}; bit b{values[1]}; short k; pid p; mtype m{self._choice('', ' = red')};"
        steps = [self._step(_DEPTH) for _ in range(self._random.randint(1, 3))]
        return f"{name}{provided} {{ {declared}\n" + ";\n".join(steps) + "\n}"

    def _proctype(self, name: str) -> str:
        later = _PROCTYPES[_PROCTYPES.index(name) + 1 :]
        steps = [self._inner() for _ in range(self._random.choice((1, 1, 2)))]
        if later and self._some(0.15):
            steps.append(self._run(self._random.choice(later)))
        if self._has_parameter[name]:
            steps.append(self._choice("x = n", "skip", f"if :: n > 0 -> {self._choice('x = n', 'skip')} :: else fi"))
            if self._some(0.15):
                steps.append(f"if :: n > 0 -> run {name}(n - 1) :: else fi")
        body = "; ".join(steps)
        if self._some(0.1):
            body = f"do :: {body} :: x == 7 -> break od"
        elif self._some(0.2):
            body = f"atomic {{ {body} }}"
        return f"proctype {name}({'byte n' if self._has_parameter[name] else ''}) {{ {body} }}"

    def _active(self, name: str) -> str:
        body = self._inner()
        if self._some(0.15):
            body = f"if :: x < 2 -> {body}; {self._run(self._random.choice(_PROCTYPES))} :: else fi"
        elif self._some(0.3):
            body = f"do :: {body} :: x == 1 -> x = 0 od"
        elif self._some(0.25):
            body = f"if :: h == 0 -> h = 1; run {name}() :: else fi; {body}"
        return f"active proctype {name}() {{ {body} }}"

    def _inner(self) -> str:
        """Returns a statement of a process that is started."""
        shared = ("g = 1", "g = 2", "g = 0", "h = 1 - h", "c!2", "c?x", "g == 2") if self._shared else ()
        return self._choice("x = _pid", "x = _pid", "skip", "x = 1", "x = 2", *shared, "x = _nr_pr", "assert(x < 9)")

    # --- The starter -------------------------------------------------------------------------------------------

    def _run(self, name: str = "") -> str:
        name = name or self._random.choice(_PROCTYPES)
        argument = self._choice("1", "2", "0", "g", "x") if self._has_parameter[name] else ""
        priority = f" priority {self._random.randint(1, 3)}" if self._priority and self._some(0.5) else ""
        return f"run {name}({argument}){priority}"

    def _start(self, depth: int = 0) -> str:
        return self._choice(f"p = {self._run()}", self._run(), self._run(), self._run())

    def _step(self, depth: int) -> str:
        choices = ["start"] * 4 + ["assign"] * 3 + ["wait"]
        if depth:
            choices += ["atomic"] * 5 + ["choose"] * 4 + ["loop"] * 4 + ["sequences"] * 4
            choices += ["jump", "unless", "select", "d_step", "receive"]
        return str(getattr(self, f"_{self._random.choice(choices)}")(depth))

    def _assign(self, depth: int) -> str:
        return self._choice(
            *("g = 1", "g = 2", "g++", "b = b + 1", "b = 1", "i = 255", "i++", "i = 1", "k = i", "k = k - 1"),
            *("i = p", "m = green", "g = i", "x = g", "i = _nr_pr", "b = i", "skip", "i = ~i", "i = -i"),
        )

    def _wait(self, depth: int) -> str:
        return self._choice("x == 1", "timeout", "_nr_pr == 1", "g == 2", "x > 0", "c?i", "nempty(c)", "g < 9")

    def _test(self) -> str:
        name, value = self._choice("i", "b", "k", "g", "h", "x"), self._random.randint(0, 3)
        test = f"{name} {self._choice('==', '==', '!=', '<', '>', '<=', '>=')} {value}"
        return self._choice(test, test, test, f"!({test})", f"{test} && {name} >= 0", "m == green", f"i + 1 > {value}")

    def _several(self, depth: int, most: int = 2) -> str:
        return "; ".join(self._step(depth) for _ in range(self._random.randint(1, most)))

    def _atomic(self, depth: int) -> str:
        return f"atomic {{ {self._choice('skip; ', '', '', 'b = 1; ')}{self._several(depth - 1, 3)} }}"

    def _choose(self, depth: int) -> str:
        test = self._test()
        options = [f":: {test} -> {self._several(depth - 1)}"]
        if self._some(0.3):
            options.append(f":: {self._test()} -> {self._several(depth - 1)}")
        last = f"!({test})" if self._some(0.3) else "else"
        options.append(f":: {last} -> {self._several(depth - 1)}" if self._some(0.7) else f":: {last}")
        return f"if {' '.join(options)} fi"

    def _loop(self, depth: int) -> str:
        name = self._choice(*_COUNTERS)
        start, test, end = self._random.choice(_COUNTERS[name])
        begin = "" if self._some(0.2) else f"{name} = {start}; "
        body = self._several(0, 1) if self._some(0.6) else self._choose(1)
        step = f"{name} = {name} - 1" if "-2" in test else f"{name}++"
        leave = "else" if self._some(0.5) else end
        return f"{begin}do :: {test} -> {body}; {step} :: {leave} -> break od"

    def _sequences(self, depth: int) -> str:
        """Returns a loop whose turns are atomic sequences, between which others move."""
        name = self._choice("i", "g", "i")
        start, test, end = self._random.choice(_COUNTERS[name])
        options = " ".join(f":: {name} == {self._random.randint(0, 2)} -> {self._start()}" for _ in range(2))
        body = self._start() if self._some(0.4) else f"if {options} :: else fi"
        return f"{name} = {start}; do :: atomic {{ {test} -> {body}; {name}++ }} :: {end} -> break od"

    def _jump(self, depth: int) -> str:
        self._jumps += 1
        label = f"L{self._jumps}"
        return f"if :: {self._test()} -> goto {label} :: else fi; {self._several(depth - 1)}; {label}: {self._start()}"

    def _unless(self, depth: int) -> str:
        return f"skip; {{ {self._several(0)} }} unless {{ {self._test()}; {self._several(0)} }}"

    def _select(self, depth: int) -> str:
        return f"select (i : 0 .. {self._random.randint(1, 2)}); {self._choose(depth)}"

    def _d_step(self, depth: int) -> str:
        inner = f"if :: {self._test()} -> {self._assign(0)} :: else -> {self._assign(0)} fi"
        return f"d_step {{ skip; {self._assign(0)}; {inner} }}; {self._choose(depth)}"

    def _receive(self, depth: int) -> str:
        return f"c!{self._random.randint(0, 3)}; c?{self._choice('i', 'g', 'i', 'eval(i)')}; {self._choose(depth)}"


def generate_starting(random: Random) -> str:
    """Returns a model."""
    return Starting(random).text()
