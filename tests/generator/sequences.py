"""Random Promela models of atomic sequences that test what they have assigned, wait, and hand control on.

Variables that take values of messages hold all of them: SPIN restores a message from the variable that took it.
"""

from __future__ import annotations

from random import Random

_DEPTH = 2
#: Values for each variable: those to assign, of which its type cannot hold all, and those to compare with.
_VALUES = {
    "x": (("0", "1", "2", "255", "256", "x + 1", "y", "x - 1", "_pid"), ("0", "1", "2", "255")),
    "y": (("0", "1", "3", "y + 1", "x", "y * 2", "v", "w", "i"), ("0", "1", "3")),
    "h": (("0", "1", "1 - h", "2", "h + 1", "x"), ("0", "1")),
    "s": (("0", "32767", "s + 1", "-1", "0 - s", "32768", "i", "x"), ("0", "-1", "1", "-32768")),
    "u": (("0", "7", "u + 1", "8", "i", "u - 1"), ("0", "7", "1")),
    "v": (("0", "1", "v + 1", "x", "255", "v - 1", "~v"), ("0", "1", "255")),
    "w": (("0", "1", "w + 1", "!w", "3"), ("0", "1")),
    "m": (("red", "green", "x"), ("red", "green")),
}
#: Variables that hold all values of a message.
_BYTES = ("x", "y", "v")
_OPERATORS = ("==", "==", "!=", "<", "<=", ">", ">=")
#: Starts, tests and ends of loops that turn two or three times.
_LOOPS = (
    ("i = 0", "i < 3", "i >= 3", "i++"),
    ("i = 254", "i > 1", "i <= 1", "i++"),
    ("w = 0", "w == 0", "w != 0", "w = w + 1"),
    ("x = 1", "x < 3", "x == 3", "x++"),
    ("v = 2", "v != 0", "v == 0", "v = v - 1"),
    ("i = v & 1", "i <= v && i < 2", "i > v || i >= 2", "i++"),
    ("s = 32766", "s > 0", "s < 0", "s = s + 1"),
)


class Sequences:
    """Two or three active processes. Some begin alone, and some change what the sequences of others know."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._labels = 0
        self._is_inside = False

    def text(self) -> str:
        initial = {name: f" = {self._choice('1', '2', '255')}" if self._some(0.25) else "" for name in "xy"}
        lines = [
            "mtype = { red, green };",
            f"byte x{initial['x']}, y{initial['y']}; bit h; short s; unsigned u : 3; mtype m;",
            "chan r = [0] of { byte }; chan z = [0] of { byte, byte };",
            "chan e = [1] of { byte };",
        ]
        count = self._random.choice((1, 2, 2, 2, 3))
        names = [f"P{number}" for number in range(count)]
        lines += [self._proctype(name) for name in names]
        return "\n".join([*lines, ""])

    def _some(self, probability: float) -> bool:
        return self._random.random() < probability

    def _choice(self, *values: str) -> str:
        return self._random.choice(values)

    def _proctype(self, name: str) -> str:
        several = "active [2]" if self._some(0.12) else "active"
        provided = " provided (x < 3)" if self._some(0.05) else ""
        values = f"byte v{self._choice('', '', ' = 1', ' = 256')}, i; bool w{self._choice('', ' = 1')};"
        parts = [self._part() for _ in range(self._random.choice((1, 1, 2)))]
        body = ";\n".join(parts)
        if self._some(0.15):
            body = f"do :: {body} :: {self._test()} -> break od"
        return f"{several} proctype {name}(){provided} {{ {values}\n{body}\n}}"

    def _part(self) -> str:
        if self._some(0.3):
            return self._several(0, 3)
        self._is_inside = True
        first = self._choice("skip; ", "", "", "", f"{self._test()}; ", f"{self._assign(0)}; ")
        inside = f"atomic {{ {first}{self._several(_DEPTH, 3)} }}"
        self._is_inside = False
        if self._some(0.1):
            return f"skip; {inside} unless {{ {self._test()}; {self._assign(0)} }}"
        return inside

    def _several(self, depth: int, most: int = 2) -> str:
        most = most if depth == _DEPTH else 1
        return "; ".join(self._step(depth) for _ in range(self._random.randint(1, most)))

    def _step(self, depth: int) -> str:
        choices = ["assign"] * 9 + ["send"] * 2 + ["receive"] * 2 + ["buffer"] * 2 + ["wait", "print"]
        if depth:
            choices += ["choose", "table", "table", "loop", "jump", "d_step"] * 2
            choices += ["nested", "select"] if depth == _DEPTH else []
        return str(getattr(self, f"_{self._random.choice(choices)}")(depth))

    # --- Statements --------------------------------------------------------------------------------------------

    def _assign(self, depth: int) -> str:
        name = self._choice(*_VALUES)
        return f"{name} = {self._choice(*_VALUES[name][0])}"

    def _test(self) -> str:
        name = self._choice(*_VALUES)
        test = f"{name} {self._choice(*_OPERATORS)} {self._choice(*_VALUES[name][1])}"
        if self._some(0.1):
            return f"({test} {self._choice('&&', '||')} {self._test()})"
        return self._choice(test, test, test, test, f"!({test})", "timeout" if self._some(0.3) else test)

    def _wait(self, depth: int) -> str:
        return self._test()

    def _print(self, depth: int) -> str:
        return self._choice('printf("x\\n")', f"assert({self._test()})", "skip")

    def _send(self, depth: int) -> str:
        return self._choice("r!1", "r!x", "r!v", "z!1,v", "z!x,2")

    def _receive(self, depth: int) -> str:
        return self._choice("r?x", "r?v", "r?y", "r?1", "r?_", "z?x,v", "z?v,y", "z?eval(x),v", "z?1,_")

    def _buffer(self, depth: int) -> str:
        return self._choice("e!3", "e!v", "e!x", "e?x", "e?v", "e?_", "e?<y>", "e!2; e?x", "e!300; e?v")

    def _choose(self, depth: int) -> str:
        name = self._choice(*_VALUES)
        tests = [f"{name} {self._choice(*_OPERATORS)} {each}" for each in _VALUES[name][1]]
        options = [f":: {each} -> {self._several(0)}" for each in tests[: self._random.randint(1, 2)]]
        if self._some(0.15):
            options.append(f":: {self._several(0)}")
        elif self._some(0.7):
            options.append(f":: else -> {self._several(0)}" if self._some(0.8) else ":: else")
            options = [each for each in options if "?" not in each.partition("->")[0]]
        self._random.shuffle(options)
        return f"if {' '.join(options)} fi"

    def _loop(self, depth: int) -> str:
        start, test, end, step = self._random.choice(_LOOPS)
        body = self._choose(1) if self._some(0.4) else self._several(0, 1)
        name = test.partition(" ")[0]
        if body.startswith(f"{name} =") or f" {name} =" in body.replace("==", "") or f"?{name}" in body:
            body = "y++"
        leave = "else" if self._some(0.5) else end
        return f"{start}; do :: {test} -> {body}; {step} :: {leave} -> break od"

    def _jump(self, depth: int) -> str:
        """Returns a loop that a ``goto`` makes, or a jump over statements."""
        self._labels += 1
        label = f"L{self._labels}"
        if self._some(0.5):
            begin, test, _, step = self._random.choice(_LOOPS[:2])
            return f"{begin}; {label}: {step}; {self._assign(0)}; if :: {test} -> goto {label} :: else fi"
        return f"if :: {self._test()} -> goto {label} :: else fi; {self._several(0)}; {label}: {self._assign(0)}"

    def _nested(self, depth: int) -> str:
        inner = self._several(depth - 1)
        if self._some(0.3):
            return f"skip; {{ {inner} }} unless {{ {self._test()}; {self._assign(0)} }}"
        return f"atomic {{ {inner} }}"

    def _d_step(self, depth: int) -> str:
        options = f":: {self._test()} -> {self._assign(0)} :: {self._choice('else -> skip', self._assign(0))}"
        middle = f"if {options} fi".replace("timeout", "x == 1")
        return f"d_step {{ skip; {self._assign(0)}; {middle}; {self._assign(0)} }}"

    def _select(self, depth: int) -> str:
        return f"select ({self._choice('x', 'v', 'y')} : 0 .. {self._random.randint(1, 2)})"

    def _table(self, depth: int) -> str:
        """Returns an assignment and a choice about the same variable, perhaps with another change between them."""
        name = self._choice(*_VALUES, *_BYTES)
        values, compared = _VALUES[name]
        between = self._choice("", "", "r!1; ", f"{self._test()}; ", f"{self._d_step(0)}; ")
        if name in _BYTES and self._some(0.6):
            value = self._choice(*compared)
            between = self._choice(f"r?{name}; ", f"e!{value}; e?{name}; ", f"e!{value}; e?<{name}>; ", "z!1,v; ")
        options = " ".join(f":: {name} == {each} -> {self._several(depth - 1)}" for each in compared[:2])
        return f"{name} = {self._choice(*values)}; {between}if {options} :: else -> {self._assign(0)} fi"


def generate_sequences(random: Random) -> str:
    """Returns a model."""
    return Sequences(random).text()
