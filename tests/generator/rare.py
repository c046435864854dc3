"""Random models for partial-order reduction, in Murphi, DVE and Promela, in which what is wrong is rare.

Processes take steps of their own, so that most orders do not matter, and meet in shared variables, arrays, queues and
multisets. Guards have several conjuncts in any order, some of which can fail. A few steps assert that shared variables
do not have one combination of values, which often only a single order of steps gives them.
"""

from __future__ import annotations

from random import Random

#: Shared variables, and the number of their values.
_SHARED = {"x": 3, "y": 3, "z": 2, "w": 2}
#: Signs in formulas, as Promela writes them.
SIGNS = {"{": "(", "}": ")", " M ": " U ", " R ": " V ", " -> ": " implies ", "G": "[]", "F": "<>"}


def generate_rare(random: Random, language: str, formulas: bool = False) -> str:
    """Returns a model in the language with the suffix ``m``, ``dve`` or ``pml``; with formulas, one of these."""
    made: Rare = {"m": _Murphi, "dve": _Dve, "pml": _Promela}[language](random)
    made.can_fail = not formulas or made.chance(0.2)  # a run that fails says little about formulas
    return made.model(formulas)


class Rare:
    equal, unequal, both, either, negation = "==", "!=", "&&", "||", "!"

    def __init__(self, random: Random) -> None:
        self.random = random
        self.processes = random.choice((2, 3, 3, 3, 4))
        self.locations = random.randint(3, 8 - self.processes)
        self.has_cycles = random.random() < 0.5
        self.can_fail = True
        self.has_queue = random.random() < 0.5
        self.capacity = random.randint(1, 3)
        #: Probability that a step touches what others use.
        self.sociable = random.choice((0.15, 0.3, 0.3, 0.5))

    def model(self, formulas: bool) -> str:
        raise NotImplementedError

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def choice(self, *options: str) -> str:
        return self.random.choice(options)

    # --- Parts of all languages --------------------------------------------------------------------------------

    def own(self, process: int) -> str:
        return "own"

    def shared(self) -> str:
        return self.choice("x", "x", "y", "y", "z", "w")

    def test_of(self, name: str) -> str:
        value = self.random.randrange(_SHARED.get(name, 3))
        if self.chance(0.6):  # often true
            return self.choice(f"{name} {self.unequal} {value}", f"{name} <= {value}", f"{name} >= {value}")
        return f"{name} {self.choice(self.equal, '<', '>')} {value}"

    def test(self, process: int) -> str:
        if not self.chance(self.sociable):
            name, value = self.own(process), self.random.choice((1, 2))
            return self.choice(f"{name} <= {value}", f"{name} {self.unequal} {value}", self.test_of(name))
        roll = self.random.random()
        if roll < 0.6:
            return self.test_of(self.shared())
        if roll < 0.75:
            return f"({self.test(process)} {self.choice(self.both, self.either)} {self.test(process)})"
        if roll < 0.8:
            return f"{self.negation}({self.test(process)})"
        return self.failing_test(process) if self.can_fail else self.test_of(self.shared())

    def failing_test(self, process: int) -> str:
        """Returns a test that is an error in some states."""
        name, value = self.choice(self.shared(), self.own(process)), self.random.randrange(3)
        return self.choice(
            f"table[{name}] {self.equal} {value}",
            f"table[{name} + 1] {self.unequal} {value}",
            f"one[{name}] {self.equal} {value}",
            f"one[one[0]] {self.equal} {value}",
            f"4 / {name} > {value}",
        )

    def guard(self, process: int, first: list[str], is_free: bool) -> str:
        """Returns a guard with some conjuncts. A step that is free to go has mostly no tests but ``first``."""
        if is_free and self.chance(0.8):
            return f" {self.both} ".join(first)
        tests = [self.test(process) for _ in range(self.random.choice((0, 1, 1, 1, 2, 2, 3)))]
        if self.can_fail and self.chance(0.15):
            tests.append(self.failing_test(process))
        self.random.shuffle(tests)
        if self.chance(0.2):
            tests = [*tests, *first]
            self.random.shuffle(tests)
        else:
            tests = [*first, *tests]
        return f" {self.both} ".join(tests)

    def targets(self) -> list[list[int]]:
        """Returns the locations that the steps of each location lead to."""
        found = []
        for source in range(self.locations):
            later = [*range(source + 1, self.locations)]
            if not later and not self.has_cycles:
                found.append([])
                continue
            count = self.random.choice((1, 1, 2))
            every = later or [*range(self.locations)]
            found.append([self.random.choice(every[:2] if later else every) for _ in range(count)])
        return found

    def assignment(self, process: int) -> tuple[str, str]:
        own, value = self.own(process), self.random.randrange(3)
        if not self.chance(self.sociable):
            return own, self.choice(str(value), f"({own} + 1) % 3", f"({own} + {value}) % 3")
        name = self.shared()
        if self.chance(0.2):
            return self.choice(
                f"table[{value}]", f"table[{own}]", f"one[{value if self.can_fail and self.chance(0.1) else 0}]"
            ), str(value)
        return name, self.choice(str(value % _SHARED[name]), f"({name} + 1) % {_SHARED[name]}")

    def combination(self) -> str:
        """Returns that shared variables have one combination of values."""
        names = self.random.sample(list(_SHARED), self.random.choice((2, 2, 3)))
        tests = [f"{name} {self.equal} {self.random.randrange(_SHARED[name])}" for name in names]
        return f" {self.both} ".join(tests)

    def formula(self, conditions: list[str]) -> str:
        def inner(depth: int) -> str:
            if depth == 0 or self.chance(0.15):
                return f"{{{self.random.choice(conditions)}}}"
            if self.chance(0.5):
                return f"{self.choice('G', 'F', '!', 'G F', 'F G')} ({inner(depth - 1)})"
            return f"({inner(depth - 1)} {self.choice('U', 'R', 'W', 'M', '&&', '||', '->')} {inner(depth - 1)})"

        return inner(self.random.randint(1, 4))


class _Murphi(Rare):
    equal, both, either = "=", "&", "|"

    def own(self, process: int) -> str:
        return f"own[{process}]"

    def model(self, formulas: bool) -> str:
        self.has_bag, self.has_priorities = self.chance(0.25), self.chance(0.15)
        lines = [
            f"var at: array [0..{self.processes - 1}] of 0..{self.locations - 1};",
            f"own: array [0..{self.processes - 1}] of 0..2; x, y: 0..2; z, w: 0..1; u: 0..1;",
            "table: array [0..2] of 0..2; one: array [0..0] of 0..2;",
            *(["bag: multiset [2] of 0..1;"] if self.has_bag else []),
            "function twice(v: 0..2): 0..2; begin return (2 * v) % 3; end;",
            "procedure swap(var a, b: 0..2); var c: 0..2; begin c := a; a := b; b := c; end;",
            "startstate begin x := 0; y := 0; z := 0; w := 0; one[0] := 0;",
            *(["u := 0;"] if self.chance(0.6) else []),
            *(["undefine bag;"] if self.has_bag else []),
            f"for p: 0..{self.processes - 1} do at[p] := 0; own[p] := 0; end; for i: 0..2 do table[i] := i; end; end;",
        ]
        for process in range(self.processes):
            for source, targets in enumerate(self.targets()):
                lines += [self._rule(process, source, *each) for each in enumerate(targets)]
        for number in range(self.random.choice((0, 1, 1, 2))):
            kind, sign = self.choice("invariant", "cover"), "!"
            lines.append(f'{kind} "p{number}" {sign if kind == "invariant" else ""}({self.combination()});')
        if formulas:
            conditions = [self.test_of(self.shared()) for _ in range(2)]
            conditions += [f"own[{self.random.randrange(self.processes)}] = 1", self.combination(), "table[x] = 1"]
            lines.append(f'ltl "f" : {self.formula(conditions)};')
        return "\n".join(lines) + "\n"

    def _rule(self, process: int, source: int, number: int, target: int) -> str:
        effects = [f"{place} := {value};" for place, value in self._assignments(process)]
        if self.can_fail and self.chance(0.08):
            effects.append(f"assert !({self.combination()});")
        if self.chance(0.03):
            effects.append(f"assume {self.test(process)};")
        if self.has_bag and self.chance(0.2):
            effects.append(self.choice("multisetadd(1, bag);", "multisetremovepred(i: bag, bag[i] = 1);"))
        if self.chance(0.2):
            effects = [f"if {self.test(process)} then {' '.join(effects)} end;"]
        if target != source or self.chance(0.5):
            effects.append(f"at[{process}] := {target};")
        self.random.shuffle(effects)
        guard = self.guard(process, [f"at[{process}] = {source}"], not number)
        if self.has_bag and self.chance(0.1):
            guard += f" & multisetcount(i: bag, true) {self.choice('=', '<')} 1"
        priority = f"{self.random.randrange(2)} " if self.has_priorities else ""
        name = f'"{process}.{source}.{self.random.random()}"'
        return f"rule {priority}{name} {guard} ==> {' '.join(effects)} end;"

    def _assignments(self, process: int) -> list[tuple[str, str]]:
        found = [self.assignment(process) for _ in range(self.random.choice((0, 1, 1, 2)))]
        if self.chance(0.05):
            found.append(("u", self.choice("0", "1", "undefined")))
        if self.chance(0.05):
            found.append((self.own(process), f"twice({self.choice(self.own(process), self.shared())})"))
        return found

    def failing_test(self, process: int) -> str:
        if self.chance(0.25):
            return self.choice("u = 0", "u = 1", "twice(x) = 1", "twice(own[0] + 1) != 0", "!isundefined(u) & u = 1")
        return super().failing_test(process)


class _Dve(Rare):
    both, either, negation = "and", "or", "not "

    def model(self, formulas: bool) -> str:
        lines = ["byte x = 0; byte y = 0; byte z = 0; byte w = 0; byte table[3] = {0, 1, 2}; byte one[1] = {0};"]
        if self.has_queue:
            lines.append(f"channel {{byte}} q[{self.random.choice((0, self.capacity, self.capacity))}];")
        lines += [self._process(number) for number in range(self.processes)]
        text = "\n".join([*lines, "system async;", ""])
        if formulas:
            conditions = [self.test_of(self.shared()), self.test_of(self.shared()), "P0.L1", "P1->own == 1"]
            text = f"// ltl: {self.formula([*conditions, self.combination()])}\n{text}"
        return text

    def _process(self, number: int) -> str:
        names = [f"L{each}" for each in range(self.locations)]
        steps = [
            self._step(number, source, target, not count)
            for source, each in enumerate(self.targets())
            for count, target in enumerate(each)
        ] or ["L0 -> L1 {}"]
        commit = f" commit {self.random.choice(names[1:])};" if self.chance(0.15) else ""
        assertion = (
            f" assert {self.random.choice(names)}: not ({self.combination()});"
            if self.can_fail and self.chance(0.2)
            else ""
        )
        inside = f"byte own = 0; state {', '.join(names)}; init L0;{commit}{assertion}"
        return f"process P{number} {{ {inside} trans\n  " + ",\n  ".join(steps) + ";\n}"

    def _step(self, number: int, source: int, target: int, is_free: bool) -> str:
        guard = self.guard(number, [], is_free)
        parts = [f"guard {guard};"] if guard else []
        if self.has_queue and self.chance(0.35):
            sends = self.chance(0.8 if number % 2 else 0.3)
            parts.append(
                f"sync q!{self.choice('1', 'own', '2', 'x')};" if sends else f"sync q?{self.choice('own', 'own', 'y')};"
            )
        effects = [" = ".join(self.assignment(number)) for _ in range(self.random.choice((0, 1, 1, 2)))]
        if effects:
            parts.append(f"effect {', '.join(effects)};")
        return f"L{source} -> L{target} {{ {' '.join(parts)} }}"


class _Promela(Rare):
    def model(self, formulas: bool) -> str:
        lines = ["byte x, y, z, w; byte table[3]; byte one[1];"]
        if self.has_queue:
            capacity = self.random.choice((0, self.capacity, self.capacity))
            lines.append(f"chan q = [{capacity}] of {{ byte }};")
            self.capacity = capacity
        lines += [self._process(number) for number in range(self.processes)]
        if formulas:
            conditions = [self.test_of(self.shared()), self.test_of(self.shared()), self.combination(), "x == y"]
            text = self.formula(conditions)
            for before, after in SIGNS.items():
                text = text.replace(before, after)
            lines.append(f"ltl f {{ {text} }}")
        return "\n".join(lines) + "\n"

    def _process(self, number: int) -> str:
        lines = [f"active proctype P{number}() {{ byte own;"]
        for source, targets in enumerate(self.targets()):
            options = [self._option(number, target, not count) for count, target in enumerate(targets)]
            if options and self.chance(0.15):
                options.append(f":: else -> {self._effect(number)}; goto L{self.random.choice(targets)}")
            lines.append(f"L{source}: " + (f"if {' '.join(options)} fi;" if options else "skip;"))
        return "\n".join([*lines, "}"])

    def _option(self, number: int, target: int, is_free: bool) -> str:
        guard = self.guard(number, [], is_free)
        steps = [f"({guard})"] if guard else []
        if self.has_queue and self.chance(0.35):
            steps.append(self._message(number))
        elif not guard and self.chance(0.1):
            steps.append("timeout")
        steps += [self._effect(number) for _ in range(self.random.choice((0, 1, 1, 2)))]
        if self.can_fail and self.chance(0.1):
            steps.append(f"assert(!({self.combination()}))")
        steps = steps or ["skip"]
        whole = "; ".join(steps)
        if self.chance(0.3):
            is_met = self.has_queue and not self.capacity  # a d_step never waits for a partner
            return (
                f":: {'atomic' if is_met else self.choice('atomic', 'atomic', 'd_step')} {{ {whole} }}; goto L{target}"
            )
        return f":: {whole}; goto L{target}"

    def _effect(self, number: int) -> str:
        return " = ".join(self.assignment(number))

    def _message(self, number: int) -> str:
        if self.chance(0.1) and self.capacity:
            return self.choice("nempty(q)", "nfull(q)", "len(q) == 1", "q?[1]", "q??1", "q!!own")
        if self.chance(0.8 if number % 2 else 0.3):
            return f"q!{self.choice('1', 'own', '2', 'x', 'len(q)' if self.capacity else '0')}"
        return f"q?{self.choice('own', 'own', 'y', '1', 'eval(own)')}"
