"""Random Promela models that SPIN accepts, with few states.

A model has a handful of small variables, channels and proctypes. Everything that it contains is drawn from one random
generator, so a seed names a model.
"""

from __future__ import annotations

from random import Random

#: Largest number of statements of a proctype's body, not counting nested ones.
_BODY = 4
_DEPTH = 3
#: Beginnings of a ``d_step`` that SPIN takes even between the send and the receive of a rendezvous.
_SEPARATING = ("printf", "assert", "if", "select", "{", "d_step")


class PromelaModel:
    """A random model. ``purpose``: "ltl" adds a formula, "never" a claim; "cycles" adds nothing.

    With any of these its processes never end and need no condition, and in half of the models one process can always
    move: SPIN's search for fair cycles misses some that run beside a process that has ended or is not ``provided`` for,
    and some where all processes wait. Models with a formula have no accept labels, which SPIN takes for part of it.
    """

    def __init__(self, seed: int, purpose: str = "") -> None:
        self._random = Random(seed)
        self._purpose = purpose
        self._globals = {"g0": 2, "g1": 3, "g2": 4}
        self._locals: list[str] = []
        self._channels: list[tuple[str, int, int]] = []
        self._labels: list[str] = []
        self._fresh = 0
        self._loops = 0
        self._guarded = False
        self._in_d_step = self._in_atomic = False
        self._names: list[str] = []
        self._counts: dict[str, int] = {}

    def text(self) -> str:
        self._declare()
        count = self._random.randint(1, 3)
        self._names = [f"P{number}" for number in range(count)]
        bodies = [self._proctype(name, number) for number, name in enumerate(self._names)]
        lines = [*self._head, *bodies]
        if self._purpose and self._some(0.5):
            lines.append("bit idle; active proctype Idle() { do :: idle = 1 - idle od }")
        if self._purpose in ("ltl", "never"):
            lines.append(self._formula_block() if self._purpose == "ltl" else self._never())
        elif not self._purpose and self._some(0.3):
            lines.append(self._init())
        return "\n".join(lines) + "\n"

    # --- Choices -----------------------------------------------------------------------------------------------

    def _some(self, probability: float) -> bool:
        return self._random.random() < probability

    def _declare(self) -> None:
        self._head = ["mtype = { red, green };", "typedef Pair { bit a; byte b[2] };"]
        kinds = ["bit", "byte", "bool", "unsigned", "short", "int"]
        for name in self._globals:
            kind = self._random.choice(kinds)
            bits = " : 2" if kind == "unsigned" else ""
            initial = f" = {self._random.randint(0, 1)}" if self._some(0.4) else ""
            self._head.append(f"{kind} {name}{bits}{initial};")
        self._head.append("byte array[2];")
        self._head.append("Pair pair;")
        for number in range(self._random.randint(0, 2)):
            capacity = self._random.choice((0, 0, 1, 2))
            width = self._random.randint(1, 2)
            name = f"c{number}"
            kinds_of = ", ".join(self._random.choice(("bit", "byte", "mtype")) for _ in range(width))
            self._head.append(f"chan {name} = [{capacity}] of {{ {kinds_of} }};")
            self._channels.append((name, capacity, width))

    def _proctype(self, name: str, number: int) -> str:
        self._locals, self._labels, self._loops = ["x"], [], 0
        active = self._random.choice(("active ", "active ", "active [2] "))
        self._counts[name] = 2 if "2" in active else 1
        provided = f" provided ({self._random.choice([*self._globals])} < 2)" if self._some(0.07) else ""
        provided = "" if self._purpose else provided
        declared = "byte x;"
        if self._some(0.3):
            declared += f" bit y = {self._random.randint(0, 1)};"
            self._locals.append("y")
        body = self._sequence(_BODY, _DEPTH)
        for label in self._labels:
            if f"{label}:" not in body:
                body += f";\n{label}: skip"
        if self._purpose:
            body += ";\ng0 > 99"
        return f"{active}proctype {name}(){provided} {{ {declared}\n{body}\n}}"

    def _init(self) -> str:
        self._locals, self._labels, self._loops = [], [], 0
        names = [each for each in self._names if self._some(0.5)][:2]
        runs = "; ".join(f"run {each}()" for each in names) or "skip"
        return f"init {{ atomic {{ {runs} }} }}" if self._some(0.5) else f"init {{ {runs} }}"

    # --- Claims ------------------------------------------------------------------------------------------------

    def _formula_block(self) -> str:
        return f"ltl f {{ {self._formula(2)} }}"

    def _formula(self, depth: int) -> str:
        if depth == 0 or self._some(0.2):
            return f"({self._atom()})"
        operator = self._random.choice(("[]", "<>", "[]", "<>", "X", "!", "&&", "||", "->", "<->", "U", "W", "V"))
        if operator in ("[]", "<>", "X", "!"):
            return f"({operator} {self._formula(depth - 1)})"
        return f"({self._formula(depth - 1)} {operator} {self._formula(depth - 1)})"

    def _atom(self) -> str:
        name = self._random.choice([*self._globals, "array[0]", "array[1]", "pair.a", "pair.b[1]"])
        atom = f"{name} {self._random.choice(('==', '!=', '<', '>'))} {self._random.randint(0, 2)}"
        if self._channels and self._some(0.2):
            atom = f"len({self._random.choice(self._channels)[0]}) > 0"
        return atom

    def _never(self) -> str:
        """Returns a claim with a few states. Some of them accept, and some lead to the end, which is an error."""
        count = self._random.randint(1, 3)
        names = [self._random.choice((f"S{number}", f"accept_S{number}")) for number in range(count)]
        states = []
        for name in names:
            options = []
            for _ in range(self._random.randint(1, 3)):
                goal = self._random.choice(names * 3 + ["done"])
                guard = self._random.choice(("true", self._atom(), f"!({self._atom()})"))
                options.append(f":: ({guard}) -> goto {goal}")
            states.append(f"{name}: if {' '.join(options)} fi")
        return f"never {{ {'; '.join(states)}; done: skip }}"

    # --- Statements --------------------------------------------------------------------------------------------

    def _sequence(self, most: int, depth: int, is_first: bool = True) -> str:
        """Returns statements. SPIN wants no label and no ``unless`` at the first one of a block or an option."""
        steps = [self._statement(depth, is_first and not number) for number in range(self._random.randint(1, most))]
        return ";\n".join(steps)

    def _statement(self, depth: int, is_first: bool) -> str:
        choices = ["assign"] * 6 + ["test"] * 2 + ["skip", "print", "assert", "increment", "goto"]
        if self._loops:
            choices.append("break")
        if self._channels:
            choices += ["send"] * 3 + ["receive"] * 3
        if depth > 0:
            choices += ["if"] * 3 + ["do"] * 2 + ["atomic"] * 2 + ["d_step", "block", "unless", "for", "select"]
        what = self._random.choice(choices)
        if self._in_d_step and what in ("goto", "unless", "send", "receive", "atomic", "test", "break"):
            what = "assign"
        if self._in_atomic and what == "unless":  # SPIN gives a process no transition there
            what = "assign"
        if is_first and what in ("unless", "if", "do"):
            what = "assign" if self._some(0.7) or what == "unless" else what
        made = getattr(self, f"_{what}_")(depth)
        may_label = what not in ("for", "select", "unless", "break") and not is_first and not self._in_d_step
        if may_label and self._some(0.08):
            return f"{self._label()}: {made}"
        return str(made)

    def _label(self) -> str:
        self._fresh += 1
        kind = self._random.choice(("L", "end", "accept", "progress"))
        kind = "L" if kind == "accept" and self._purpose == "ltl" else kind
        return kind + str(self._fresh)

    def _target(self) -> str:
        return self._random.choice(
            [*self._globals, *self._locals * 2, f"array[{self._index()}]", "pair.a", "pair.b[1]"]
        )

    def _assign_(self, depth: int) -> str:
        return f"{self._target()} = {self._small(2)}"

    def _increment_(self, depth: int) -> str:
        name = self._random.choice([*self._globals])
        return f"{name} = ({name} + 1) % {self._globals[name]}"

    def _test_(self, depth: int) -> str:
        return f"({self._condition(2)})"

    def _skip_(self, depth: int) -> str:
        return self._random.choice(("skip", "true", "1"))

    def _print_(self, depth: int) -> str:
        return 'printf("x\\n")'

    def _assert_(self, depth: int) -> str:
        # SPIN states safety formulas as assertions, which must then be the only ones that can fail.
        return f"assert({self._condition(1)})" if self._some(0.4) and not self._purpose else "assert(true)"

    def _goto_(self, depth: int) -> str:
        if not self._labels or self._some(0.3):
            self._fresh += 1
            self._labels.append(f"G{self._fresh}")
        return f"goto {self._random.choice(self._labels)}"

    def _break_(self, depth: int) -> str:
        return "break"

    def _block_(self, depth: int) -> str:
        return f"{{ {self._declaration()}{self._sequence(2, depth - 1)} }}"

    def _declaration(self) -> str:
        if not self._some(0.2):
            return ""
        return self._random.choice(("byte z; ", "byte z = 1; ", "byte w[2]; ", "Pair q; "))

    def _atomic_(self, depth: int) -> str:
        was, self._in_atomic = self._in_atomic, True
        body = self._sequence(3, depth - 1)
        self._in_atomic = was
        return f"atomic {{ {body} }}"

    def _d_step_(self, depth: int) -> str:
        was, self._in_d_step = self._in_d_step, True
        loops, self._loops = self._loops, 0
        first = f"({self._condition(1)}); " if self._some(0.3) and not was else ""
        body = self._sequence(3, min(depth - 1, 1))
        self._in_d_step, self._loops = was, loops
        if not (first or was) and body.startswith(_SEPARATING):
            first = "skip; "
        return f"d_step {{ {first}{body} }}"

    def _if_(self, depth: int) -> str:
        return f"if {self._options(depth)} fi"

    def _do_(self, depth: int) -> str:
        self._loops += 1
        if self._in_d_step or self._in_atomic:  # an atomic sequence that never ends has no successor in SPIN
            name = "x"
            options = f":: {name} > 0 -> {name} = {name} - 1 :: else -> break"
        else:
            options = self._options(depth)
            if self._some(0.6):
                options += f"\n:: {self._condition(1)} -> break"
        self._loops -= 1
        return f"do {options} od"

    def _options(self, depth: int) -> str:
        options = []
        for _ in range(self._random.randint(1, 3)):
            options.append(f":: {self._sequence(2, depth - 1)}")
        if self._in_d_step or self._some(0.3):
            options.append(f":: else -> {self._sequence(2, depth - 1)}")
        self._random.shuffle(options)
        return "\n".join(options)

    def _unless_(self, depth: int) -> str:
        main = f"{{ {self._sequence(2, depth - 1)} }}"
        guard = self._receive_(0) if self._channels and self._some(0.3) else f"({self._condition(1)})"
        return f"{main} unless {{ {guard}; {self._sequence(1, depth - 1)} }}"

    def _for_(self, depth: int) -> str:
        if not {"x", "y"} <= set(self._locals) or self._in_d_step:
            return self._assign_(depth)
        name = "x"
        self._locals.remove(name)
        body = self._sequence(1, depth - 1)
        self._locals.append(name)
        return f"for ({name} : 0 .. {self._random.randint(0, 2)}) {{ {body} }}"

    def _select_(self, depth: int) -> str:
        return f"select (x : 0 .. {self._random.randint(0, 2)})"

    # --- Messages ----------------------------------------------------------------------------------------------

    def _send_(self, depth: int) -> str:
        name, capacity, width = self._random.choice(self._channels)
        operator = "!!" if capacity and self._some(0.2) else "!"
        values = ", ".join(self._value() for _ in range(width))
        return f"{name}{operator}{values}"

    def _receive_(self, depth: int) -> str:
        name, capacity, width = self._random.choice(self._channels)
        operator = "??" if capacity and self._some(0.2) else "?"
        arguments = ", ".join(self._argument(number) for number in range(width))
        if capacity and self._some(0.15):
            return f"{name}{operator}<{arguments}>"
        return f"{name}{operator}{arguments}"

    def _argument(self, number: int) -> str:
        """Returns an argument of a receive. SPIN wants different variables in one message."""
        variable = "x" if number == 0 and "x" in self._locals else f"g{number}"
        return self._random.choice(("_", variable, variable, "1", "red", f"eval({self._value()})"))

    def _value(self) -> str:
        return self._random.choice(("0", "1", "red", "green", *self._globals, *self._locals, "_pid"))

    # --- Expressions -------------------------------------------------------------------------------------------

    def _index(self) -> str:
        return self._random.choice(("0", "1", f"({self._random.choice([*self._globals])} & 1)"))

    def _small(self, depth: int) -> str:
        """Returns an expression with few values."""
        if depth == 0 or self._some(0.5):
            return self._random.choice(
                ("0", "1", "2", *self._globals, *self._locals, f"array[{self._index()}]", "pair.a")
            )
        operator = self._random.choice(("+", "-", "*", "%", "/", "&", "|", "^"))
        left, right = self._small(depth - 1), self._small(depth - 1)
        if operator in "/%":
            right = str(self._random.randint(1, 3))
        if self._some(0.1):
            return f"({self._condition(1)} -> {left} : {right})"
        return f"(({left} {operator} {right}) & {self._random.choice((1, 3))})"

    def _condition(self, depth: int) -> str:
        roll = self._random.random()
        if depth > 0 and roll < 0.25:
            operator = self._random.choice(("&&", "||"))
            return f"({self._condition(depth - 1)} {operator} {self._condition(depth - 1)})"
        if roll < 0.3:
            return f"!({self._condition(0)})"
        if roll < 0.36 and self._channels and not self._in_d_step:
            name, capacity, width = self._random.choice(self._channels)
            if capacity:
                return self._random.choice((f"len({name}) < {capacity}", f"{name}?[{', '.join(['_'] * width)}]"))
        if roll < 0.4 and not self._in_d_step and depth < 3:
            return "timeout"
        if roll < 0.43:
            return "_nr_pr < 3"
        operator = self._random.choice(("==", "!=", "<", ">", "<=", ">="))
        return f"{self._small(1)} {operator} {self._small(1)}"
