"""Random models of processes that mostly work by themselves, so that partial-order reduction has something to do.

Each process goes through a few locations, changes its own variables there, and now and then a shared one, a flag that
others wait for, or a message. Some steps fail, some invariants do not hold, and some processes run in cycles.
"""

from __future__ import annotations

from random import Random

_VALUES = 3


def generate_processes(random: Random, formulas: bool = False) -> str:
    """Returns a Murphi model: rules for each process, over a ruleset or one by one."""
    return _Murphi(random).model(formulas)


def generate_processes_dve(random: Random, formulas: bool = False) -> str:
    """Returns a DVE model with the same kind of processes, and channels."""
    return _Dve(random).model(formulas)


class _Random:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.processes = random.randint(2, 3)
        self.locations = random.randint(2, 4)
        self.has_cycles = random.random() < 0.5

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def target(self, source: int) -> int | None:
        """Returns the next location; None if the process stays in its last one."""
        if source + 1 < self.locations:
            return self.random.randint(source + 1, self.locations - 1) if self.chance(0.2) else source + 1
        return self.random.randrange(self.locations) if self.has_cycles else None

    def formula(self, conditions: list[str]) -> str:
        def inner(depth: int) -> str:
            if depth == 0 or self.chance(0.2):
                return f"{{{self.random.choice(conditions)}}}"
            if self.chance(0.5):
                return f"{self.random.choice(('G', 'F', '!', 'G F', 'F G'))} ({inner(depth - 1)})"
            return f"({inner(depth - 1)} {self.random.choice(('U', 'R', 'W', '&&', '||', '->'))} {inner(depth - 1)})"

        return inner(self.random.randint(1, 3))


class _Murphi(_Random):
    def model(self, formulas: bool) -> str:
        kind = self.random.choice((f"scalarset({self.processes})", f"0..{self.processes - 1}"))
        fields = ["at: location;", "own: 0..2;", *(["box: 0..2;"] if self.chance(0.5) else [])]
        self.has_box = len(fields) == 3
        self.is_symmetric = kind.startswith("scalarset")
        names = ", ".join(f"L{number}" for number in range(self.locations))
        lines = [
            f"type process: {kind}; location: enum {{{names}}};",
            f"  state: record {' '.join(fields)} end;",
            "var P: array [process] of state; shared: 0..2; flag: boolean; table: array [0..2] of 0..2;",
            "startstate begin for p: process do P[p].at := L0; P[p].own := 0;",
            *(["P[p].box := 0;"] if self.has_box and self.chance(0.9) else []),
            "end; shared := 0; flag := false; for i: 0..2 do table[i] := i; end; end;",
        ]
        rules = [self._rule(source) for source in range(self.locations) for _ in range(self.random.choice((1, 1, 2)))]
        lines += ["ruleset p: process do", *(rule for rule in rules if rule), "end;"]
        if self.chance(0.3):
            lines.append(f'rule "other" {self._test(None)} ==> {self._effect(None)} end;')
        lines += [self._property(number) for number in range(self.random.randint(0, 2))]
        if formulas:
            lines.append(f'ltl "f" : {self.formula([self._condition() for _ in range(3)])};')
        return "\n".join(lines) + "\n"

    def _rule(self, source: int) -> str:
        target = self.target(source)
        if target is None:
            return ""
        test = f" & {self._test('p')}" if self.chance(0.3) else ""
        test += f" & {self._test('p')}" if self.chance(0.15) else ""
        effects = " ".join(self._effect("p") for _ in range(self.random.randint(0, 2)))
        step = f"P[p].at := L{target};" if target != source or self.chance(0.5) else ""
        return f'  rule "{source} {self.random.random()}" P[p].at = L{source}{test} ==> {effects} {step} end;'

    def _test(self, process: str | None) -> str:
        tests = ["flag", "!flag", f"shared = {self.random.randrange(_VALUES)}", "shared < 2"]
        if process is not None:
            tests += [f"P[p].own {self.random.choice(('=', '!=', '<'))} {self.random.randrange(_VALUES)}"] * 3
            tests += ["(P[p].own = 0 | flag)", "exists q: process do q != p & P[q].at = L1 end"]
            tests += ["P[p].box = 1"] * self.has_box
            tests += ["table[P[p].own] = 0", "table[shared] < 2", "table[P[p].own + 1] != 1"]
            tests += ["(flag | table[shared + 1] = 2)"]
        return self.random.choice(tests)

    def _effect(self, process: str | None) -> str:
        value = self.random.randrange(_VALUES)
        effects = [f"shared := {value};", "flag := !flag;", f"shared := (shared + {value}) % 3;", "flag := true;"]
        if process is not None:
            own = [
                f"P[p].own := {value};",
                "P[p].own := (P[p].own + 1) % 3;",
                "if P[p].own = 1 then P[p].own := 2; end;",
                *(["for q: process do if q != p then P[q].box := 1; end; end;", "P[p].box := 0;"] * self.has_box),
                f"P[p].own := P[p].own + {self.random.choice((0, 0, 1))};",
            ]
            effects = [*effects, *own * 4, f"table[P[p].own] := {value};", f"table[{value}] := 1;"]
            if self.chance(0.05):
                effects = ["assert P[p].own != 2;"]
            if self.chance(0.05):
                effects = ["assume P[p].own != 2;"]
        return self.random.choice(effects)

    def _condition(self) -> str:
        return self.random.choice(
            [
                f"shared = {self.random.randrange(_VALUES)}",
                "flag",
                f"exists p: process do P[p].own = {self.random.randrange(_VALUES)} end",
                f"forall p: process do P[p].at != L{self.locations - 1} end",
                "forall p: process do P[p].at = L1 -> P[p].own != 2 end",
                f"shared = {self.random.randrange(_VALUES)} | flag",
                "forall p: process do P[p].at = L1 -> shared != 1 end",
                "exists p: process do P[p].own = 1 & exists q: process do q != p & P[q].own = 0 end end",
            ]
        )

    def _property(self, number: int) -> str:
        kind = self.random.choice(("invariant", "invariant", "cover"))
        return f'{kind} "property {number}" {self._condition()};'


class _Dve(_Random):
    def model(self, formulas: bool) -> str:
        self.channels = [
            (f"c{number}", self.random.choice((0, 1, 2, 3))) for number in range(self.random.randint(0, 2))
        ]
        lines = ["byte shared = 0;", "byte flag = 0;"]
        lines += [f"channel {{byte}} {name}[{capacity}];" for name, capacity in self.channels]
        lines += [self._process(number) for number in range(self.processes)]
        text = "\n".join([*lines, "system async;", ""])
        if formulas:
            conditions = ["shared == 1", "flag == 1", "P0.L1", f"P1.L{self.locations - 1}", "P0->own == 2"]
            text = f"// ltl: {self.formula(conditions)}\n{text}"
        return text

    def _process(self, number: int) -> str:
        names = [f"L{each}" for each in range(self.locations)]
        steps = [
            self._step(number, source) for source in range(self.locations) for _ in range(self.random.choice((1, 1, 2)))
        ]
        steps = [step for step in steps if step] or ["L0 -> L1 {}"]
        commit = f"  commit {self.random.choice(names[1:])};\n" if self.chance(0.15) else ""
        assertion = f"  assert {names[-1]}: own != {self.random.randrange(5)};\n" if self.chance(0.2) else ""
        inside = f"  byte own = 0;\n  state {', '.join(names)};\n  init L0;\n{commit}{assertion}"
        return f"process P{number} {{\n{inside}  trans\n    " + ",\n    ".join(steps) + ";\n}"

    def _step(self, number: int, source: int) -> str:
        target = self.target(source)
        if target is None:
            return ""
        parts = []
        if self.chance(0.3):
            tests = ["flag == 1", "flag == 0", f"shared == {self.random.randrange(_VALUES)}", "own < 2", "own == 0"]
            other = self.random.randrange(self.processes)
            tests += [f"P{other}.L1"] if other != number else []
            parts.append(f"guard {self.random.choice(tests)};")
        if self.channels and self.chance(0.4):
            name, _ = self.random.choice(self.channels)
            is_send = (number + len(name)) % 2 == 0 if self.chance(0.6) else self.chance(0.5)
            parts.append(f"sync {name}!{self.random.choice(('1', 'own', '2'))};" if is_send else f"sync {name}?own;")
        own = ["own = 1", "own = (own + 1) % 3", "own = 0", "own = own * 2 % 3"]
        effects = self.random.choices([*own * 3, "shared = (shared + 1) % 3", "flag = 1", "flag = 1 - flag"], k=2)
        count = self.random.randint(0, 2)
        if count:
            parts.append(f"effect {', '.join(effects[:count])};")
        return f"L{source} -> L{target} {{ {' '.join(parts)} }}"
