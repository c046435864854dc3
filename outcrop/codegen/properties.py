"""Startstates and properties in C: the other functions that kernels call."""

from __future__ import annotations

import re
from collections.abc import Sequence

from outcrop.codegen.code import Unit
from outcrop.codegen.functions import parameter_names, write_body, write_condition
from outcrop.codegen.rules import loop_head
from outcrop.codegen.text import braced, comment, identifier, integer, unsigned
from outcrop.ir.system import Property, PropertyKind, StartState

_READS_STATE = "const uint8_t *state, Context *context"


def write_start(unit: Unit) -> list[str]:
    """Returns ``model_start``, which runs one startstate instance; they are numbered in the order of the System."""
    lines: list[str] = []
    body = ["__builtin_memset(state, 0, STATE_BYTES + 8);"]
    for number, start in enumerate(unit.system.start_states):
        if start.instance_count:
            name = identifier("start", number, start.name)
            lines += ["", comment(f"Startstate {start.name}, line {start.span.line}")]
            lines += write_body(unit, name, start, start.body)
            body += _start_call(name, start)
    body += ["(void)instance, (void)context;", "return FAILED;"]
    signature = "static UNUSED int model_start(uint64_t instance, uint8_t *state, Context *context)"
    return [*lines, "", *braced(signature, body), *_write_error_state(unit)]


def _write_error_state(unit: Unit) -> list[str]:
    """Returns ``settled``, the status of a successor. If a body fails, the successor becomes the error state, if
    any."""
    start = unit.system.error_state
    if start is None:
        return []
    clear = [
        "__builtin_memset(state, 0, STATE_BYTES);",
        "(void)error_body(state, context);",
    ]
    settle = [
        "if (likely(status != FAILED)) return status;",
        *([] if unit.system.forgives_failures else ["expansion->failed = 1;"]),
        "enter_error_state(next, expansion->context);",
        "return OK;",
    ]
    return [
        "",
        comment("The error state"),
        *write_body(unit, "error_body", start, start.body),
        *braced("static NOINLINE void enter_error_state(uint8_t *state, Context *context)", clear),
        "",
        *braced("static inline int settled(Expansion *expansion, uint8_t *next, int status)", settle),
    ]


def _start_call(name: str, start: StartState) -> list[str]:
    arguments, stride = ["state", "context"], start.instance_count
    for parameter in start.parameters:
        values = parameter.values
        stride //= len(values)
        position = f"(Integer)(instance / {unsigned(stride)} % {unsigned(len(values))})"
        arguments.append(f"{integer(values[0])} + {integer(values.step)} * {position}")
    count = unsigned(start.instance_count)
    return [f"if (instance < {count}) return {name}({', '.join(arguments)});", f"instance -= {count};"]


def write_properties(unit: Unit) -> list[str]:
    """Returns every property as a condition, and the functions that test all instances of one kind."""
    lines: list[str] = []
    names = {}
    for number, each in enumerate(unit.system.properties):
        if each.instance_count:
            names[each] = identifier("property", number, each.name)
            lines += ["", comment(f"{each.kind.capitalize()} {each.name}, line {each.span.line}")]
            lines += write_condition(unit, names[each], each.parameters, [each.condition]).lines

    def instances(kind: PropertyKind, action: Sequence[str]) -> list[str]:
        """Returns ``action`` for each instance, with CALL, COVER and MARK replaced."""
        return [
            line
            for each in unit.system.of_kind(kind)
            if each in names
            for line in _for_each_instance(unit, each, names[each], action)
        ]

    holds = "const int holds = CALL;"
    failed = "if (unlikely(holds < 0)) return FAILED;"
    unsatisfied = ["if (unlikely(!holds)) {", "  *keep = 0;", "  return OK;", "}"]
    functions = {
        f"model_invariants({_READS_STATE})": instances(
            PropertyKind.INVARIANT, ["if (unlikely(CALL != 1)) return FAILED;"]
        ),
        f"model_assumptions({_READS_STATE}, int *keep)": [
            "*keep = 1;",
            *instances(PropertyKind.ASSUMPTION, [holds, failed, *unsatisfied]),
        ],
        f"model_covers({_READS_STATE})": [
            # A goal that fails keeps none behind it from being counted.
            "int status = OK;",
            *instances(
                PropertyKind.COVER,
                [holds, "if (unlikely(holds < 0)) status = FAILED;", "else cover(context, COVER, holds);"],
            ),
            *instances(PropertyKind.WITNESS, ["if (CALL == 1) MARK = 1;"]),
            "if (status != OK) return status;",
        ],
        f"model_may_end({_READS_STATE}, int *may_end)": [
            "*may_end = 0;",
            *instances(PropertyKind.END, ["*may_end |= CALL == 1;"]),
        ],
        f"model_liveness({_READS_STATE}, uint64_t *satisfied)": [
            "uint64_t number = 0;",
            "(void)number, (void)satisfied;",
            *instances(
                PropertyKind.LIVENESS,
                [holds, failed, "satisfied[number >> 6] |= (uint64_t)holds << (number & 63);", "number++;"],
            ),
        ],
    }
    for signature, body in functions.items():
        lines += ["", *braced(f"static UNUSED int {signature}", ["(void)state, (void)context;", *body, "return OK;"])]
    return lines


def _for_each_instance(unit: Unit, each: Property, name: str, action: Sequence[str]) -> list[str]:
    variables = parameter_names(each.parameters)
    words = {"CALL": f"{name}({', '.join(['state', 'context', *variables])})", "COVER": str(each.cover)}
    if each.note is not None:
        words["MARK"] = unit.mark(each.note)
    lines = braced("", [re.sub(r"[A-Z]{4,}", lambda word: words.get(word[0], word[0]), line) for line in action])
    for variable, parameter in reversed(list(zip(variables, each.parameters, strict=True))):
        lines = braced(loop_head(variable, parameter.values), lines)
    return braced(f"if (unlikely(!{words['MARK']}))", lines) if "MARK" in words else lines
