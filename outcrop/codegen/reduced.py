"""Partial-order reduction in C: the relations between rule instances as tables, and ``model_expand`` on top of them.

native/stubborn.h has the algorithm. Emitted are what it needs: which instances are active, one firing, and the enabling
sets of a disabled instance. Which of these there are in a state, the value of one leaf decides, or a conjunct of the
guard, which is tested.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_

from outcrop.codegen.code import Unit
from outcrop.codegen.functions import write_condition
from outcrop.codegen.movers import instance_number
from outcrop.codegen.rules import (
    Expand,
    RuleCode,
    arguments_of,
    expand_signature,
    functions_of,
    write_groups,
    write_outcomes,
)
from outcrop.codegen.text import braced, comment, integer
from outcrop.ir.system import System
from outcrop.reduction.guards import split_guard
from outcrop.reduction.instances import Option
from outcrop.reduction.stubborn import COUNTERS, Phase, Reduction

_WORD = 64


def reduction_constants(system: System, reduction: Reduction) -> dict[str, int]:
    """Returns the constants that native/stubborn.h needs. Its counters follow those of the cover goals."""
    return {
        "INSTANCE_COUNT": len(reduction.instances),
        "INSTANCE_WORDS": _words(reduction),
        "MODEL_COVERS": len(system.covers),
        "COVER_COUNT": len(system.covers) + len(COUNTERS),
    }


def _words(reduction: Reduction) -> int:
    return max(1, -(-len(reduction.instances) // _WORD))


def write_reduced(unit: Unit, codes: list[RuleCode], reduction: Reduction) -> Expand:
    """Returns ``model_expand``, and all that it needs."""
    first = _first_instances(unit.system)
    rows = _Rows(_words(reduction))
    groups, calls = write_groups(
        codes, "activate", "Instances *active", lambda code, depth: _write_active(code, depth, first[code.number])
    )
    tables = _write_tables(unit, reduction, rows)
    body = [
        "Instances none = {{0}}, *const active = &none;",
        "int enabled = 0;",
        "const int failed = expansion->failed;",
        "expansion->failed = 0;",
        *calls,
        "const int fails = expansion->failed;",
        "fire_stubborn(state, expansion, active, fails);",
        "expansion->failed |= failed | fails;",
        "(void)enabled;",
        "return OK;",
    ]
    lines = [
        "",
        comment("Partial-order reduction"),
        "typedef struct {",
        "  uint64_t words[INSTANCE_WORDS];",
        "} Instances;",
        *_write_numbers(unit.system, reduction),
        *(line for group in groups for line in group.lines),
        "",
        *_write_fire(codes),
        *tables,
        *_write_conjuncts(unit, codes, reduction),
        *_write_phase_of(unit, reduction),
        "",
        '#include "stubborn.h"',
        "",
        comment("Fires a stubborn set of the rule instances that the state enables."),
        *braced(expand_signature(unit), body),
    ]
    return Expand(functions_of(codes), lines, relations="\n".join([*tables, *_write_phase_of(unit, reduction)]))


def _first_instances(system: System) -> list[int]:
    first, at = [], 0
    for rule in system.rules:
        first.append(at)
        at += rule.instance_count
    return first


# --- Tables ------------------------------------------------------------------------------------------------


def _row(mask: int, words: int) -> str:
    parts = ", ".join(f"{mask >> _WORD * at & (1 << _WORD) - 1:#x}" for at in range(words))
    return f"{{{{{parts}}}}}"


def _table(name: str, rows: Iterable[int], words: int) -> list[str]:
    lines = [f"{_row(each, words)}," for each in rows] or [f"{_row(0, words)},"]
    return [*braced(f"static const Instances {name}[] =", lines)[:-1], "};"]


def _numbers(kind: str, name: str, values: Sequence[int]) -> list[str]:
    text = ", ".join(map(str, values or [0]))
    return [f"static const {kind} {name}[] = {{{text}}};"]


def _write_numbers(system: System, reduction: Reduction) -> list[str]:
    """Returns the rule and the arguments of each instance."""
    most = max((len(rule.parameters) for rule in system.rules), default=0)
    lines = _numbers("uint32_t", "rule_of", [each.rule for each in reduction.instances])
    if most:
        rows = [[*each.arguments, *[0] * (most - len(each.arguments))] for each in reduction.instances]
        texts = ", ".join("{" + ", ".join(map(integer, row)) + "}" for row in rows)
        lines.append(f"static const Integer arguments_of[][{most}] = {{{texts}}};")
    return lines


#: The number of no row, and that of the conjunct of an option that the value of a leaf decides.
_NO_ROW, _DECIDED = 0xFFFFFFFF, 0xFF

#: A choice of a disabled instance: sets to add, each with the instances that it keeps disabled.
_Choice = tuple[tuple[int, int], ...]


class _Rows:
    """Sets of instances, each once, and the choices by the value of a leaf, each sequence once."""

    def __init__(self, words: int) -> None:
        self.words = words
        self._rows: dict[int, int] = {0: 0}
        self._choices: list[str] = []
        self._first: dict[tuple[_Choice, ...], int] = {}

    def number(self, row: int) -> int:
        return self._rows.setdefault(row, len(self._rows))

    def add(self, choices: Sequence[_Choice]) -> int:
        """Adds choices; returns where they begin among all of them."""
        first = self._first.setdefault(tuple(choices), len(self._choices))
        if first == len(self._choices):
            self._choices += map(self._choice, choices)
        return first

    def _choice(self, choice: _Choice) -> str:
        pairs = [(self.number(row), self.number(settled)) for row, settled in choice]
        (row, settled), (other, also_settled) = [*pairs, (_NO_ROW, 0), (_NO_ROW, 0)][:2]
        return f"{{{{{row:#x}, {other:#x}}}, {{{settled}, {also_settled}}}}}"

    def lines(self) -> list[str]:
        return [
            *_table("enabling_rows", self._rows, self.words),
            f"static const Choice choices[] = {{{', '.join(self._choices)}}};",
        ]


# --- Instances ---------------------------------------------------------------------------------------------


def _write_active(code: RuleCode, depth: int, first: int) -> list[str]:
    number = instance_number(code.rule, first)
    mark = [
        "enabled = 1;",
        f"const uint32_t instance = {number};",
        "active->words[instance >> 6] |= UINT64_C(1) << (instance & 63);",
    ]
    return write_outcomes(code, depth, mark, ["expansion->failed = 1;"])


def _parameters(code: RuleCode) -> list[str]:
    return [f"const Integer p{at} = arguments_of[instance][{at}];" for at in range(len(code.rule.parameters))]


def _write_fire(codes: list[RuleCode]) -> list[str]:
    cases: list[str] = []
    for code in codes:
        call = f"{code.name}_body({arguments_of('next', len(code.rule.parameters))})"
        status = f"settled(expansion, next, {call})" if code.has_error_state else call
        lines = [*_parameters(code), *code.on_firing, f"status = {status};", "break;"]
        cases += braced(f"case {code.number}:", lines)
    body = [
        "Context *const context = expansion->context;",
        "const uint32_t rule = rule_of[instance];",
        "const int enabled = expansion->enabled, failed = expansion->failed;",
        "expansion->enabled = expansion->failed = 0;",
        "uint8_t *const next = successor_begin(expansion, original);",
        "int status = FAILED;",
        *braced("switch (rule)", cases),
        "successor_end(expansion, original, rule, status);",
        "const int leads_on = expansion->enabled && !expansion->failed;",
        "expansion->enabled |= enabled, expansion->failed |= failed;",
        "return leads_on;",
    ]
    signature = "static NOINLINE int fire_instance(Expansion *expansion, const uint8_t *original, uint32_t instance)"
    return braced(signature, body)


# --- Enabling sets -----------------------------------------------------------------------------------------


def _write_tables(unit: Unit, reduction: Reduction, rows: _Rows) -> list[str]:
    """Returns the relations of all phases."""
    phases = [_write_phase(unit, at, each, rows) for at, each in enumerate(reduction.phases)]
    return [
        *_TYPES,
        *rows.lines(),
        *(line for lines, _ in phases for line in lines),
        f"static const Phase phases[] = {{{', '.join(row for _, row in phases)}}};",
    ]


def _write_conjuncts(unit: Unit, codes: list[RuleCode], reduction: Reduction) -> list[str]:
    """Returns the function that tests conjuncts of guards."""
    tested: dict[int, set[int]] = {}
    for phase in reduction.phases:
        for each in phase.instances:
            conjuncts = {option.conjunct for option in each.options if option.conjunct is not None}
            tested.setdefault(each.rule, set()).update(conjuncts)
    lines: list[str] = []
    names: dict[tuple[str, ...], str] = {}  # rules of one process have conjuncts in common, which are compiled once
    users: dict[tuple[str, ...], list[int]] = {}
    for code in codes:
        nodes = split_guard(code.rule)
        body = _parameters(code)
        for conjunct in sorted(tested[code.number]):
            content = tuple(write_condition(unit, "conjunct", code.rule.parameters, [nodes[conjunct]]).lines)
            if content not in names:
                names[content] = f"conjunct_{len(names)}"
                lines += write_condition(unit, names[content], code.rule.parameters, [nodes[conjunct]]).lines
            call = f"{names[content]}({arguments_of('state', len(code.rule.parameters))})"
            body.append(f"found |= (uint64_t)({call} == 0) << {conjunct};")
        if tested[code.number]:
            users.setdefault((*body, "break;"), []).append(code.number)
    cases: list[str] = []
    for case, numbers in users.items():
        cases += braced(" ".join(f"case {number}:" for number in numbers), list(case))
    body = [
        "uint64_t found = 0;",
        *braced("switch (rule_of[instance])", cases),
        "(void)context, (void)state;",
        "return found;",
    ]
    signature = "static NOINLINE uint64_t false_conjuncts(const uint8_t *state, Context *context, uint32_t instance)"
    return [*lines, "", *braced(signature, body)]


_TYPES = (
    f"#define NO_ROW {_NO_ROW:#x}u",
    f"#define DECIDED {_DECIDED}",
    "typedef struct {",
    "  uint32_t row[2], settled[2]; /* of enabling_rows: sets to add, and what each of them keeps disabled */",
    "} Choice;",
    "typedef struct {",
    "  uint32_t first, bit; /* choices[first + the packed value at bit] */",
    "  uint8_t width, conjunct;",
    "} Option;",
    "typedef struct {",
    "  const Instances *dependents;",
    "  Instances starts, hopeless;",
    "  const uint32_t *otherwise, *first_option, *later;",
    "  const Option *options;",
    "} Phase;",
)


def _write_phase(unit: Unit, at: int, phase: Phase, rows: _Rows) -> tuple[list[str], str]:
    """Returns the tables of a phase, and its row in the table of phases."""
    settled = _settled(phase)
    first_option, options = [0], []
    for each in phase.instances:
        options += [_option(unit, option, rows, settled) for option in each.options]
        first_option.append(len(options))
    lines = [
        *_table(f"dependents_{at}", phase.dependents, rows.words),
        *_numbers("uint32_t", f"otherwise_{at}", [rows.add([((each.otherwise, 0),)]) for each in phase.instances]),
        *_numbers("uint32_t", f"first_option_{at}", first_option),
        *_numbers("uint32_t", f"later_{at}", [rows.number(each) for each in phase.later]),
        f"static const Option options_{at}[] = {{{', '.join(options or ['{0, 0, 0, 0}'])}}};",
    ]
    sets = f"{_row(phase.starts, rows.words)}, {_row(phase.hopeless, rows.words)}"
    return lines, f"{{dependents_{at}, {sets}, otherwise_{at}, first_option_{at}, later_{at}, options_{at}}}"


def _settled(phase: Phase) -> dict[tuple[int, int, int], int]:
    """Returns, for each leaf, its value and a set that there is then, the instances with the same set or a part of it:
    where that set was added, they stay disabled at no cost."""
    users: dict[tuple[int, int], dict[int, int]] = {}
    for each in phase.instances:
        for option in each.options:
            if option.conjunct is None and option.leaf is not None:
                for value, rows in enumerate(option.sets):
                    for row in rows:
                        found = users.setdefault((option.leaf, value), {})
                        found[row] = found.get(row, 0) | each.bit
    settled = {}
    for (leaf, value), found in users.items():
        for whole in found:
            parts = (instances for row, instances in found.items() if not row & ~whole)
            settled[leaf, value, whole] = reduce(or_, parts)
    return settled


def _option(unit: Unit, option: Option, rows: _Rows, settled: dict[tuple[int, int, int], int]) -> str:
    bit, width, _ = (0, 0, None) if option.leaf is None else unit.layout.leaves[option.leaf]
    if option.conjunct is not None or option.leaf is None:
        choices: list[_Choice] = [tuple((row, 0) for row in found) for found in option.sets]
        return f"{{{rows.add(choices)}, {bit}, {width}, {option.conjunct}}}"
    choices = [
        tuple((row, settled[option.leaf, value, row]) for row in found) for value, found in enumerate(option.sets)
    ]
    return f"{{{rows.add(choices)}, {bit}, {width}, {_DECIDED}}}"


def _write_phase_of(unit: Unit, reduction: Reduction) -> list[str]:
    """Returns the function that tells the phase of a state: the first whose tests it passes."""
    body = ["(void)state;"]
    for at, each in enumerate(reduction.phases[:-1]):
        tests = [_test(unit, leaf, values) for leaf, values in each.tests]
        body.append(f"if ({' && '.join(tests or ['1'])}) return &phases[{at}];")
    body.append(f"return &phases[{len(reduction.phases) - 1}];")
    return braced("static const Phase *phase_of(const uint8_t *state)", body)


def _test(unit: Unit, leaf: int, values: frozenset[int]) -> str:
    bit, width, _ = unit.layout.leaves[leaf]
    value = f"get_bits(state, {bit}, {width})"
    if len(values) == 1:
        (only,) = values
        return f"{value} == UINT64_C({only})"
    if 1 << width <= _WORD:  # a greater shift is undefined
        return f"(UINT64_C({sum(1 << each for each in values):#x}) >> {value} & 1)"
    return "(" + " || ".join(f"{value} == UINT64_C({each})" for each in sorted(values)) + ")"
