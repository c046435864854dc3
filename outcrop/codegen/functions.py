"""C functions: signatures, declarations, and the functions of the model.

There are two forms. A *body* (of a rule, a startstate, a model function) changes the state and returns a status. A
*condition* (a guard or a part of one, a property) reads the state and returns 1, 0 or -FAILED. Parameters of rulesets
are Integer; by-value formals are packed leaves, or point to a packed copy; ``var`` formals are a pointer and a bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from outcrop.codegen.bounds import Interval
from outcrop.codegen.code import Address, Callee, Cell, Unit, Value
from outcrop.codegen.logic import MOST_OPERANDS
from outcrop.codegen.places import definition
from outcrop.codegen.statements import Statements, may_return_undefined
from outcrop.codegen.text import bare, braced, comment, identifier, negated
from outcrop.ir.chains import joined
from outcrop.ir.faults import MAX_CALL_DEPTH
from outcrop.ir.nodes import BinaryOperator, Expression, Statement
from outcrop.ir.system import Formal, Function, Instantiable, Parameter
from outcrop.ir.types import Simple
from outcrop.ir.walk import writes_state

#: Lines that make a copy of the state, which may be changed.
STATE_COPY = ["BUFFER(state, STATE_BYTES + 8);", "__builtin_memcpy(state, original, STATE_BYTES + 8);"]


@dataclass(frozen=True)
class EmittedCondition:
    """The C of a condition, and its possible effects."""

    lines: list[str]
    can_fail: bool
    has_effects: bool


def parameter_names(parameters: Sequence[Parameter]) -> list[str]:
    return [f"p{number}" for number in range(len(parameters))]


def bind_parameters(code: Statements, parameters: Sequence[Parameter]) -> None:
    for name, parameter in zip(parameter_names(parameters), parameters, strict=True):
        values = parameter.values
        code.bind(parameter.local, Value(name, Interval(min(values), max(values))))


def write_body(unit: Unit, name: str, of: Instantiable, body: Sequence[Statement]) -> list[str]:
    """Returns the function that executes a rule or startstate."""
    code = Statements(unit)
    bind_parameters(code, of.parameters)
    code.statements(body)
    code.line("return OK;")
    parameters = [f"Integer {each}" for each in parameter_names(of.parameters)]
    return definition(name, ["uint8_t *state", "Context *context", *parameters], code)


def write_condition(
    unit: Unit, name: str, parameters: Sequence[Parameter], conjuncts: Sequence[Expression]
) -> EmittedCondition:
    """Returns the function that tests whether all of some conditions hold; they are evaluated in order."""
    if len(conjuncts) > MOST_OPERANDS:
        conjuncts = [joined(BinaryOperator.AND, conjuncts)]
    code = Statements(unit, is_condition=True)
    bind_parameters(code, parameters)
    texts: list[str] = []
    for conjunct in conjuncts:
        if texts:
            code.line(f"if ({bare(negated(texts[-1]))}) return 0;")
        texts.append(code.condition(conjunct))
    code.line(f"return {bare(texts[-1])};")
    needs_copy = any(writes_state(each) for each in conjuncts)
    state = "const uint8_t *original" if needs_copy else "const uint8_t *state"
    if needs_copy:
        code.lines[:0] = STATE_COPY
    values = [f"Integer {each}" for each in parameter_names(parameters)]
    lines = definition(name, [state, "Context *context", *values], code, "inline")
    return EmittedCondition(lines, code.can_fail, code.has_effects)


# --- The functions of the model ----------------------------------------------------------------------------


def write_functions(unit: Unit) -> list[str]:
    """Returns all functions, in an order in which they can call one another."""
    functions = unit.system.functions
    counts_depth = any(each.is_recursive for each in functions) or len(functions) > MAX_CALL_DEPTH
    lines = []
    for number, function in enumerate(functions):
        lines += _write_function(unit, number, function, counts_depth)
    return lines


def _write_function(unit: Unit, number: int, function: Function, counts_depth: bool) -> list[str]:
    name = identifier("function", number, function.name)
    unit.functions[function] = Callee(name, may_return_undefined(function.body))
    code = Statements(unit, result=function.result)
    for formal in function.formals:
        _bind_formal(code, formal)
    code.statements(function.body)
    code.line("return OK;" if function.result is None else "return FAILED;")
    parameters = _parameters(function)
    kind = "Procedure" if function.result is None else "Function"
    title = comment(f"{kind} {function.name}, line {function.span.line}")
    if not counts_depth:
        return ["", title, *definition(name, parameters, code)]
    arguments = [parameter.split()[-1].lstrip("*") for parameter in parameters]
    guarded = [
        "if (unlikely(context->depth == MAX_CALL_DEPTH)) return FAILED;",
        "context->depth++;",
        f"const int status = {name}_body({', '.join(arguments)});",
        "context->depth--;",
        "return status;",
    ]
    signature = f"static UNUSED int {name}({', '.join(parameters)})"
    body = definition(f"{name}_body", parameters, code)
    return ["", title, f"{signature};", *body, *braced(signature, guarded)]


def _bind_formal(code: Statements, formal: Formal) -> None:
    local = formal.local
    name = f"a{local.index}"
    if formal.by_reference:
        code.locals[local] = Address(name, 0, (f"{name}_bit",))
    elif not isinstance(local.type, Simple):
        code.locals[local] = Address(name)
    elif local.is_addressed:
        code.bind(local, code.unpacked(local.type, name, may_be_undefined=True))
    else:
        code.locals[local] = Cell(name)


def _parameters(function: Function) -> list[str]:
    parameters = ["uint8_t *state" if function.writes_state else "const uint8_t *state", "Context *context"]
    for formal in function.formals:
        name = f"a{formal.local.index}"
        if formal.by_reference:
            parameters += [f"uint8_t *{name}", f"uint64_t {name}_bit"]
        elif isinstance(formal.local.type, Simple):
            parameters.append(f"uint64_t {name}")
        else:
            parameters.append(f"uint8_t *{name}")
    if function.result is None:
        return parameters
    return [*parameters, "uint64_t *result" if isinstance(function.result, Simple) else "uint8_t *result"]
