"""Random models for partial-order reduction with large values and many rule instances, in Murphi, DVE and Promela.

Types have 63 to 257 values or many more, some negative. Tests and assignments take values at the edges of 6, 7 and 8
bits, and pairs that differ by 64. Arrays have up to 130 elements, and rules up to 200 instances, which take several
words of a set. A first process stores an index and other values that no step changes afterwards, so that a narrower box
begins behind it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from generator.rare import SIGNS, Rare

#: Bounds of ranges in Murphi; the last ones have leaves of more than 32 and of more than 57 bits.
_RANGES = (
    *((0, high) for high in (62, 63, 64, 65, 126, 127, 128, 254, 255, 256, 1022, 1024, 100_000)),
    *((1, 64), (-1, 62), (-3, 70), (-128, 127), (1, 300), (-70, -1), (60, 70), (-1000, 1000), (-64, 63)),
    *((-(2**31), 2**31 - 1), (-(2**40), 2**40), (-(2**61), 2**61)),
)
#: Types with their bounds.
_DVE = {"byte": (0, 255), "int": (-(2**31), 2**31 - 1)}
_PROMELA = {
    "byte": (0, 255),
    "short": (-(2**15), 2**15 - 1),
    "int": (-(2**31), 2**31 - 1),
    **{f"unsigned {{}} : {bits}": (0, 2**bits - 1) for bits in (6, 7, 8, 9)},
}
_EDGES = (0, 1, 2, 62, 63, 64, 65, 66, 126, 127, 128, 129, 254, 255, 256, 257)
_SIZES = (3, 9, 63, 64, 65, 66, 70, 130)
_MANY = (20, 63, 64, 65, 70, 127, 128, 129, 130, 200)


@dataclass(frozen=True)
class _Variable:
    name: str
    kind: str  #: its type; with a place for the name, if that is in its midst
    low: int
    high: int
    pool: tuple[int, ...]  #: values that it has mostly, the initial one first
    early: int  #: value that mostly only the first process stores

    @property
    def tested(self) -> tuple[int, ...]:
        return (*self.pool, self.early)


def generate_wide(random: Random, language: str, formulas: bool = False) -> str:
    """Returns a model in the language with the suffix ``m``, ``dve`` or ``pml``; with formulas, one of these."""
    made: _Wide = {"m": _Murphi, "dve": _Dve, "pml": _Promela}[language](random)
    made.can_fail = not formulas or made.chance(0.2)
    return made.model(formulas)


class _Wide(Rare):
    """A model as steps: a process, a source and a target location, a guard and assignments."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.processes = random.choice((2, 2, 3))
        self.locations = random.randint(3, 7 - self.processes)
        self.shared_variables = [self._variable(name) for name in ("x", "y", "z")]
        self.shared_variables[0] = self._small_until_early(self.shared_variables[0])
        self.own_variables = [self._variable(f"own{number}") for number in range(self.processes)]
        self.size = random.choice(_SIZES)  #: of array a, and b of twice as many
        self.elements = self._variable("element")
        self.counter = self._variable("c")
        self.instances = random.choice(_MANY) if self.chance(0.5) else 0
        self.by_element = self.chance(0.5)  #: whether each of many instances has an element of its own

    def bounds(self) -> tuple[str, int, int]:
        """Returns a random type."""
        raise NotImplementedError

    def _variable(self, name: str) -> _Variable:
        kind, low, high = self.bounds()
        edges = [low + each for each in _EDGES] + [high - each for each in (0, 1, 63, 64)] + [*_EDGES, -1, -2, -64]
        first = self.random.choice([each for each in edges if low <= each <= high])
        pool = [first, first + 64, first - 64, first + 128, self.random.choice(edges), self.random.choice(edges)]
        pool = [each for each in dict.fromkeys(pool) if low <= each <= high]
        if self.chance(0.5):  # few bits in most states, and more in early ones
            pool = [low + each for each in self.random.sample(range(6), 3)]
        pool = pool[:1] + self.random.sample(pool[1:], min(2, len(pool) - 1))
        early = [each + by for each in pool for by in (64, -64, 128) if low <= each + by <= high]
        return _Variable(name, kind, low, high, tuple(pool), self.random.choice(early or pool))

    def _small_until_early(self, variable: _Variable) -> _Variable:
        """Returns a variable whose values have few bits, but for an early one that differs by a multiple of 64."""
        low = variable.low
        pool = (low + self.random.randrange(3), low + self.random.randrange(3, 6))
        early = [each for each in (pool[0] + 64, pool[1] + 64, pool[0] + 128) if each <= variable.high]
        return replace(variable, pool=pool, early=self.random.choice(early)) if early else variable

    def all_variables(self) -> list[_Variable]:
        return [*self.shared_variables, *self.own_variables, self.counter]

    # --- Conditions and assignments ----------------------------------------------------------------------------

    def place(self, process: int) -> tuple[str, _Variable]:
        """Returns a variable or an element, and what its values are."""
        if not self.chance(self.sociable):
            own = self.own_variables[process]
            return own.name, own
        if self.chance(0.4):
            return self.element(), self.elements
        shared = self.random.choice(self.shared_variables)
        return shared.name, shared

    def element(self) -> str:
        if self.chance(0.4):
            return f"b[{self.choice('j', 'j', 'j', str(self.index(2 * self.size)))}]"
        return f"a[{self.index(self.size)}]"

    def index(self, size: int) -> int:
        return self.random.choice([each for each in (0, 1, 2, 62, 63, 64, 65, 127, 128, size - 1) if each < size])

    def test_of(self, name: str) -> str:
        known = next((each for each in self.all_variables() if each.name == name), self.elements)
        return self._test(name, known)

    def _test(self, name: str, variable: _Variable) -> str:
        value = self.random.choice(variable.tested)
        if self.chance(0.6):
            return self.choice(f"{name} {self.unequal} {value}", f"{name} <= {value}", f"{name} >= {value}")
        return f"{name} {self.choice(self.equal, self.equal, '<', '>')} {value}"

    def test(self, process: int) -> str:
        if self.chance(0.15):  # true only after one choice of the first process
            early = self.random.choice([*self.shared_variables, self.shared_variables[0], self.own_variables[process]])
            return f"{early.name} {self.equal} {early.early}"
        roll = self.random.random()
        if roll < 0.15:
            return f"({self.test(process)} {self.choice(self.both, self.either)} {self.test(process)})"
        if roll < 0.2:
            return f"{self.negation}({self.test(process)})"
        if roll < 0.35:
            return f"k {self.choice(self.equal, self.unequal, '<')} {self.random.choice(self.elements.pool)}"
        if roll < 0.4 and self.can_fail:
            return self.failing_test(process)
        return self._test(*self.place(process))

    def failing_test(self, process: int) -> str:
        """Returns a test that is an error in some states; some of them test an index before they use it."""
        name = self.random.choice([*self.shared_variables, *self.own_variables]).name
        test = self._test(f"a[{name}]", self.elements)
        if self.chance(0.6):
            test = f"({name} >= 0 {self.both} {name} < {self.size} {self.both} {test})"
        return test

    def assignment(self, process: int) -> tuple[str, str]:
        name, variable = self.place(process)
        if self.chance(0.95):
            return name, str(self.random.choice(variable.pool))
        if self.chance(0.5):
            wrap = max(2, min(variable.high, 128))
            return name, f"({name} + {self.random.choice((1, 63, 64, 65))}) % {wrap}"
        return name, self.random.choice((f"{name} - 1", "k", self.random.choice(self.shared_variables).name))

    def assignments(self, process: int) -> list[tuple[str, str]]:
        found = [self.assignment(process) for _ in range(self.random.choice((0, 1, 1, 2)))]
        if self.chance(0.3):
            found.append((self.shared_variables[0].name, str(self.random.choice(self.shared_variables[0].pool))))
        return found

    def combination(self) -> str:
        chosen = self.random.sample([*self.shared_variables, *self.own_variables], 2)
        return f" {self.both} ".join(f"{each.name} {self.equal} {self.random.choice(each.pool)}" for each in chosen)

    def starts(self) -> list[list[tuple[str, str]]]:
        """Returns choices of what the first process stores."""
        return [
            [
                ("j", str(self.index(2 * self.size))),
                ("k", str(self.random.choice(self.elements.pool))),
                *((self.element(), str(self.random.choice(self.elements.pool))) for _ in range(2)),
                *((each.name, str(each.early)) for each in self.all_variables() if self.chance(0.3)),
            ]
            for _ in range(self.random.choice((1, 2, 2, 3)))
        ]

    def conditions(self) -> list[str]:
        return [self.test_of(self.random.choice(self.all_variables()).name) for _ in range(3)] + [self.combination()]

    def many(self) -> list[tuple[str, str, str]]:
        """Returns the guard, and a place and a value, of many similar steps."""
        found = []
        for number in range(self.instances):
            if self.by_element and number < self.size:
                place, values = f"a[{number}]", self.elements
                found.append((f"{place} {self.equal} {values.pool[-1]}", place, str(values.pool[0])))
            else:
                value = self.counter.low + number
                if value > self.counter.high:
                    break
                target = min(self.counter.high, value + self.random.choice((1, 31, 64)))
                found.append((f"c {self.equal} {value}", "c", str(target)))
        return found


class _Murphi(_Wide):
    equal, both, either = "=", "&", "|"

    def bounds(self) -> tuple[str, int, int]:
        # Values of at most 1,024 are told apart in a box.
        low, high = self.random.choice(_RANGES if self.chance(0.3) else [each for each in _RANGES if each[1] < 1024])
        return f"{low}..{high}", low, high

    def model(self, formulas: bool) -> str:
        variables = self.all_variables()
        lines = [
            f"var at: array [0..{self.processes - 1}] of 0..{self.locations - 1}; go: 0..1;",
            f"j: 0..{2 * self.size - 1}; k: {self.elements.kind};",
            *(f"{each.name}: {each.kind};" for each in variables),
            f"a: array [0..{self.size - 1}] of {self.elements.kind};",
            f"b: array [0..{2 * self.size - 1}] of {self.elements.kind};",
            "startstate begin clear a; clear b; j := 0; go := 0; clear k;",
            *(f"{each.name} := {each.pool[0]};" for each in variables),
            f"for p: 0..{self.processes - 1} do at[p] := 0; end; end;",
        ]
        rules = []
        for number, effects in enumerate(self.starts()):
            stored = " ".join(f"{place} := {value};" for place, value in effects)
            rules.append(f'rule "start {number}" go = 0 ==> {stored} go := 1; end;')
        for process in range(self.processes):
            for source, targets in enumerate(self.targets()):
                rules += [self._rule(process, source, *each) for each in enumerate(targets)]
        many = [self._ruleset()] if self.instances else []
        lines += [*many, *rules] if self.chance(0.7) else [*rules, *many]
        for number in range(self.random.choice((0, 1, 1, 2))):
            kind = self.choice("invariant", "cover")
            lines.append(f'{kind} "p{number}" {"!" if kind == "invariant" else ""}({self.combination()});')
        if formulas:
            lines.append(f'ltl "f" : {self.formula(self.conditions())};')
        return "\n".join(lines) + "\n"

    def _ruleset(self) -> str:
        if self.by_element:
            first, last = self.elements.pool[-1], self.elements.pool[0]
            body = f"rule a[i] = {first} & go = 1 ==> a[i] := {last}; end;"
            return f"ruleset i: 0..{min(self.size, self.instances) - 1} do {body} end;"
        low = self.counter.low
        high = min(self.counter.high, low + self.instances - 1)
        step = self.random.choice((1, 31, 64))
        body = f"rule c = i ==> c := (i {'>' if self.chance(0.5) else '<'} {low} ? {low} : {high}); end;"
        if high + step <= self.counter.high:
            body = f"rule c = i & c < {high} ==> c := i + {step}; end;"
        return f"ruleset i: {low}..{high} do {body} end;"

    def _rule(self, process: int, source: int, number: int, target: int) -> str:
        effects = [f"{place} := {value};" for place, value in self.assignments(process)]
        if self.can_fail and self.chance(0.08):
            effects.append(f"assert !({self.combination()});")
        if self.chance(0.2):
            effects = [f"if {self.test(process)} then {' '.join(effects)} end;"]
        effects.append(f"at[{process}] := {target};")
        guard = self.guard(process, [f"at[{process}] = {source}", "go = 1"], not number)
        return f'rule "{process}.{source}.{number}" {guard} ==> {" ".join(effects)} end;'


class _Dve(_Wide):
    both, either, negation = "and", "or", "not "

    def bounds(self) -> tuple[str, int, int]:
        kind = self.random.choice([*_DVE])
        return kind, *_DVE[kind]

    def model(self, formulas: bool) -> str:
        lines = [f"{each.kind} {each.name} = {each.pool[0]};" for each in self.all_variables()]
        lines.append(f"byte j = 0; {self.elements.kind} k = 0; byte go = 0;")
        lines.append(f"{self.elements.kind} a[{self.size}]; {self.elements.kind} b[{2 * self.size}];")
        processes = [self._process(number) for number in range(self.processes)]
        starts = [f"s -> t {{ effect {_listed(each)}, go = 1; }}" for each in self.starts()]
        processes.append(f"process Start {{ state s, t; init s; trans {', '.join(starts)}; }}")
        many = [f"m -> m {{ guard {guard}; effect {place} = {value}; }}" for guard, place, value in self.many()]
        if many:
            process = "process Many { state m; init m; trans\n  " + ",\n  ".join(many) + ";\n}"
            processes.insert(self.random.choice((0, len(processes))), process)
        text = "\n".join([*lines, *processes, "system async;", ""])
        if formulas:
            text = f"// ltl: {self.formula([*self.conditions(), 'P0.L1', 'Start.t'])}\n{text}"
        return text

    def _process(self, number: int) -> str:
        names = ", ".join(f"L{each}" for each in range(self.locations))
        steps = [
            self._step(number, source, target, not count)
            for source, each in enumerate(self.targets())
            for count, target in enumerate(each)
        ] or ["L0 -> L1 {}"]
        assertion = f" assert L1: not ({self.combination()});" if self.can_fail and self.chance(0.2) else ""
        return f"process P{number} {{ state {names}; init L0;{assertion} trans\n  " + ",\n  ".join(steps) + ";\n}"

    def _step(self, number: int, source: int, target: int, is_free: bool) -> str:
        effects = self.assignments(number)
        effect = f" effect {_listed(effects)};" if effects else ""
        return f"L{source} -> L{target} {{ guard {self.guard(number, ['go == 1'], is_free)};{effect} }}"


class _Promela(_Wide):
    def bounds(self) -> tuple[str, int, int]:
        kind = self.random.choice([*_PROMELA])
        return kind, *_PROMELA[kind]

    def model(self, formulas: bool) -> str:
        lines = [f"{self._declared(each.kind, each.name)} = {each.pool[0]};" for each in self.all_variables()]
        kind = self.elements.kind if "{" not in self.elements.kind else "short"  # no arrays of bits
        lines += [f"byte j; short k; bit go; {kind} a[{self.size}]; {kind} b[{2 * self.size}];"]
        processes = [self._process(number) for number in range(self.processes)]
        starts = " ".join(f":: {'; '.join(' = '.join(each) for each in effects)}" for effects in self.starts())
        start = f"if {starts} fi; go = 1"
        if self.chance(0.5):
            start = f"atomic {{ {start} }}"
        processes.append(f"active proctype Start() {{ {start} }}")
        many = [f":: {guard} -> {place} = {value}" for guard, place, value in self.many()]
        if many:
            process = "active proctype Many() { do\n" + "\n".join(many) + "\nod }"
            processes.insert(self.random.choice((0, len(processes))), process)
        lines += processes
        if formulas:
            text = self.formula(self.conditions())
            for before, after in SIGNS.items():
                text = text.replace(before, after)
            lines.append(f"ltl f {{ {text} }}")
        return "\n".join(lines) + "\n"

    def _declared(self, kind: str, name: str) -> str:
        return kind.format(name) if "{" in kind else f"{kind} {name}"

    def _process(self, number: int) -> str:
        lines = [f"active proctype P{number}() {{"]
        for source, targets in enumerate(self.targets()):
            options = [self._option(number, target, not count) for count, target in enumerate(targets)]
            lines.append(f"L{source}: " + (f"if {' '.join(options)} fi;" if options else "skip;"))
        return "\n".join([*lines, "}"])

    def _option(self, number: int, target: int, is_free: bool) -> str:
        steps = [
            f"({self.guard(number, ['go == 1'], is_free)})",
            *(" = ".join(each) for each in self.assignments(number)),
        ]
        if self.can_fail and self.chance(0.1):
            steps.append(f"assert(!({self.combination()}))")
        whole = "; ".join(steps)
        if self.chance(0.3):
            whole = f"{self.choice('atomic', 'd_step')} {{ {whole} }}"
        return f":: {whole}; goto L{target}"


def _listed(effects: list[tuple[str, str]]) -> str:
    return ", ".join(" = ".join(each) for each in effects)
