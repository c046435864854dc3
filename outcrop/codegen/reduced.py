"""Partial-order reduction in C: the relations between rule instances as tables, and ``model_expand`` on top of them.

native/stubborn.h has the algorithm. Emitted are what it needs: which instances are active, one firing, and the cheapest
enabling set of a disabled instance, for which the conjuncts of its guard are tested one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
    write_successor,
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
        "REDUCES_RUNS": int(reduction.is_strict),
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
    enabling = _write_enabling(unit, codes, reduction, rows)
    body = [
        "Instances none = {{0}}, *const active = &none;",
        "int enabled = 0;",
        "const uint8_t failed = expansion->failed;",
        "expansion->failed = 0;",
        *calls,
        "const int fails = expansion->failed;",
        "fire_stubborn(state, expansion, active, fails);",
        "expansion->failed |= failed | (uint8_t)fails;",
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
        *enabling,
        "",
        '#include "stubborn.h"',
        "",
        comment("Fires a stubborn set of the rule instances that the state enables."),
        *braced(expand_signature(unit), body),
    ]
    return Expand(functions_of(codes), lines)


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


class _Rows:
    """Enabling sets, each once, and an index of them by value."""

    def __init__(self, words: int) -> None:
        self.words = words
        self._rows: dict[int, int] = {}
        self.index: list[int] = []

    def number(self, row: int) -> int:
        return self._rows.setdefault(row, len(self._rows))

    def add(self, rows: Sequence[int]) -> int:
        """Adds the rows of an option; returns where they begin in the index."""
        numbers = [self.number(row) for row in rows]
        self.index += numbers
        return len(self.index) - len(numbers)

    def lines(self) -> list[str]:
        return [*_table("enabling_rows", self._rows, self.words), *_numbers("uint32_t", "row_of", self.index)]


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
        cases += braced(f"case {code.number}:", [*_parameters(code), *write_successor(code, call), "break;"])
    body = [
        "Context *const context = expansion->context;",
        "const uint32_t rule = rule_of[instance];",
        "const Counter before = context->fired[rule];",
        "const uint8_t failed = expansion->failed;",
        "expansion->failed = 0;",
        *braced("switch (rule)", cases),
        "const int leads_on = context->fired[rule] != before && !expansion->failed;",
        "expansion->failed |= failed;",
        "return leads_on;",
    ]
    signature = "static NOINLINE int fire_instance(Expansion *expansion, const uint8_t *original, uint32_t instance)"
    return braced(signature, body)


# --- Enabling sets -----------------------------------------------------------------------------------------


def _write_enabling(unit: Unit, codes: list[RuleCode], reduction: Reduction, rows: _Rows) -> list[str]:
    """Returns the relations of all phases, and the function that finds the cheapest enabling set."""
    tested: dict[int, list[int]] = {}
    for each in reduction.instances:
        tested.setdefault(each.rule, sorted({option.conjunct for option in each.options}))
    lines: list[str] = []
    cases: list[str] = []
    for code in codes:
        nodes = split_guard(code.rule)
        body = _parameters(code)
        for at, conjunct in enumerate(tested[code.number]):
            name = f"{code.name}_conjunct_{conjunct}"
            lines += write_condition(unit, name, code.rule.parameters, [nodes[conjunct]]).lines
            call = f"{name}({arguments_of('state', len(code.rule.parameters))})"
            body += braced(f"if ({call} == 0)", [f"CONSIDER({2 * at}); CONSIDER({2 * at + 1});"])
        if tested[code.number]:
            cases += braced(f"case {code.number}:", [*body, "break;"])
    options: list[str] = []
    phases = [_write_phase(unit, at, each, rows, tested, options) for at, each in enumerate(reduction.phases)]
    body = [
        "const Option *const options = all_options + phase->first_option[instance];",
        "const Instances *best = &enabling_rows[phase->otherwise[instance]];",
        "uint32_t least = UINT32_MAX;",
        *braced("switch (rule_of[instance])", cases),
        "(void)options, (void)least, (void)context, (void)state, (void)active, (void)set;",
        "return best;",
    ]
    signature = (
        "static NOINLINE const Instances *enabling_set(const uint8_t *state, Context *context, const Phase *phase, "
        "uint32_t instance, const Instances *active, const Instances *set)"
    )
    return [
        *rows.lines(),
        *_PHASE,
        *(line for lines, _ in phases for line in lines),
        f"static const Phase phases[] = {{{', '.join(row for _, row in phases)}}};",
        f"static const Option all_options[] = {{{', '.join(options or ['{0, 0, 0}'])}}};",
        *lines,
        "",
        '#include "stubborn_cost.h"',
        *braced(signature, body),
        *_write_phase_of(unit, reduction),
    ]


_PHASE = (
    "typedef struct {",
    "  uint32_t row, bit, width; /* row_of[row + the packed value at bit] */",
    "} Option;",
    "typedef struct {",
    "  const Instances *dependents;",
    "  Instances starts;",
    "  const uint32_t *otherwise, *first_option;",
    "} Phase;",
)


def _write_phase(
    unit: Unit, at: int, phase: Phase, rows: _Rows, tested: dict[int, list[int]], options: list[str]
) -> tuple[list[str], str]:
    """Returns the tables of a phase, and its row in the table of phases. Adds its options to those of all phases."""
    first_option = []
    for each in phase.instances:
        first_option.append(len(options))
        for conjunct in tested[each.rule]:
            found = [option for option in each.options if option.conjunct == conjunct]
            options += [_option(unit, option, rows) for option in (*found, *found)[:2]]
    lines = [
        *_table(f"dependents_{at}", phase.dependents, rows.words),
        *_numbers("uint32_t", f"otherwise_{at}", [rows.number(each.otherwise) for each in phase.instances]),
        *_numbers("uint32_t", f"first_option_{at}", first_option),
    ]
    starts = _row(phase.starts, rows.words)
    return lines, f"{{dependents_{at}, {starts}, otherwise_{at}, first_option_{at}}}"


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
        return f"{value} == {only}"
    if 1 << width <= _WORD:  # a greater shift is undefined
        return f"(UINT64_C({sum(1 << each for each in values):#x}) >> {value} & 1)"
    return "(" + " || ".join(f"{value} == {each}" for each in sorted(values)) + ")"


def _option(unit: Unit, option: Option, rows: _Rows) -> str:
    bit = width = 0
    if option.leaf is not None:
        bit, width, _ = unit.layout.leaves[option.leaf]
    return f"{{{rows.add(option.rows)}, {bit}, {width}}}"
