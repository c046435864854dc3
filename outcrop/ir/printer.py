"""A System as text in a syntax close to Murphi.

All decisions of the front-end are visible: constants are folded, conversions written out (``convert(x, T)``), and a
read that lets an undefined value through is marked with a question mark (``owner?``). Expressions have only the
brackets that Murphi's precedence requires.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from outcrop.ir.layout import Layout, size
from outcrop.ir.nodes import (
    Assert,
    Assign,
    Assume,
    Binary,
    BinaryOperator,
    Bind,
    Call,
    CallStatement,
    Clear,
    Conditional,
    Constant,
    Convert,
    Cover,
    Domain,
    Error,
    Expression,
    FieldPlace,
    For,
    Frame,
    GlobalPlace,
    If,
    IndexPlace,
    IsMember,
    IsUndefined,
    Let,
    Load,
    Local,
    LocalPlace,
    MultisetAdd,
    MultisetCount,
    MultisetRemove,
    MultisetRemoveIf,
    Place,
    Put,
    Quantified,
    RealCall,
    Return,
    SlotPlace,
    SlotUsed,
    Statement,
    Switch,
    TypeDomain,
    Unary,
    UnaryOperator,
    Undefine,
    Undefined,
    ValuePlace,
    While,
    Witnessed,
)
from outcrop.ir.system import Function, Instantiable, Parameter, Property, Rule, StartState, System
from outcrop.ir.types import BOOLEAN, Scalarset, Simple, Type

_INDENT = "  "

#: Symbol and precedence of each binary operator; a higher number binds tighter.
_BINARY = {
    BinaryOperator.IMPLIES: ("->", 1),
    BinaryOperator.OR: ("|", 2),
    BinaryOperator.BIT_OR: ("|", 2),
    BinaryOperator.BIT_XOR: ("^", 3),
    BinaryOperator.AND: ("&", 4),
    BinaryOperator.BIT_AND: ("&", 4),
    BinaryOperator.EQUAL: ("=", 6),
    BinaryOperator.NOT_EQUAL: ("!=", 6),
    BinaryOperator.LESS: ("<", 6),
    BinaryOperator.LESS_EQUAL: ("<=", 6),
    BinaryOperator.GREATER: (">", 6),
    BinaryOperator.GREATER_EQUAL: (">=", 6),
    BinaryOperator.SHIFT_LEFT: ("<<", 7),
    BinaryOperator.SHIFT_RIGHT: (">>", 7),
    BinaryOperator.ADD: ("+", 8),
    BinaryOperator.SUBTRACT: ("-", 8),
    BinaryOperator.MULTIPLY: ("*", 9),
    BinaryOperator.DIVIDE: ("/", 9),
    BinaryOperator.REMAINDER: ("%", 9),
}
_UNARY = {UnaryOperator.NOT: ("!", 5), UnaryOperator.NEGATE: ("-", 10), UnaryOperator.COMPLEMENT: ("~", 10)}
_CONDITIONAL, _PRIMARY = 0, 11
#: Precedence levels of operators that need brackets next to one of their own level.
_NON_ASSOCIATIVE = (1, 6)


# --- The System --------------------------------------------------------------------------------------------


def print_system(system: System) -> str:
    """Returns the text of a whole System."""
    blocks = [
        [f"-- {system.name}"],
        [f"const {name}: {value};" for name, value in system.constants.items()],
        [f"type {name}: {text};" for name, text in _type_definitions(system)],
        list(_variables(system)),
        *(list(_function(function)) for function in system.functions),
        *(list(_start_state(start)) for start in system.start_states),
        *([["-- the state after a failing rule", *_start_state(system.error_state)]] if system.error_state else []),
        *(list(_rule(rule)) for rule in system.rules),
        *(list(_property(each)) for each in system.properties),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _type_definitions(system: System) -> Iterator[tuple[str, str]]:
    """Yields the named types of the state, each after those that it uses."""
    seen: set[str] = set()
    for variable in system.variables:
        for part in reversed(list(variable.type.parts())):
            name = getattr(part, "name", "")
            if name and name not in seen and part != BOOLEAN:
                seen.add(name)
                yield name, f"scalarset({part.size})" if isinstance(part, Scalarset) else str(_unnamed(part))


def _unnamed(kind: Type) -> Type:
    return replace(kind, name="")  # type: ignore[call-arg]


def _variables(system: System) -> Iterator[str]:
    layout = Layout(system)
    for variable, start in zip(system.variables, layout.variable_offsets, strict=True):
        end = start + size(variable.type)
        yield f"var {variable.name}: {variable.type};  -- bits {start} to {end - 1}"


def _function(function: Function) -> Iterator[str]:
    formals = "; ".join(
        f"{'var ' if formal.by_reference else ''}{formal.local.name}: {formal.local.type}"
        for formal in function.formals
    )
    word = "procedure" if function.result is None else "function"
    result = "" if function.result is None else f": {function.result}"
    yield f"{word} {function.name}({formals}){result};"
    yield from _body(function.frame, [formal.local for formal in function.formals], function.body)


def _start_state(start: StartState) -> Iterator[str]:
    yield f'startstate "{start.name}"{_parameters(start)}'
    yield from _body(start.frame, [parameter.local for parameter in start.parameters], start.body)


def _rule(rule: Rule) -> Iterator[str]:
    priority = f" priority {rule.priority}" if rule.priority else ""
    yield f'rule "{rule.name}"{_parameters(rule)}{priority}'
    if rule.guard is not None:
        yield f"{_INDENT}{expression(rule.guard)}"
    yield "==>"
    yield from _body(rule.frame, [parameter.local for parameter in rule.parameters], rule.body)


def _property(each: Property) -> Iterator[str]:
    yield f'{each.kind} "{each.name}"{_parameters(each)}'
    yield f"{_INDENT}{expression(each.condition)};"


def _parameters(each: Instantiable) -> str:
    return "".join(f" [{_parameter(parameter)}]" for parameter in each.parameters)


def _parameter(parameter: Parameter) -> str:
    kind, values = parameter.type, parameter.values
    if values == range(kind.low, kind.high + 1):
        return f"{parameter.local.name}: {kind}"
    step = f" by {values.step}" if values.step != 1 else ""
    return f"{parameter.local.name} := {values.start} to {values.stop - values.step}{step}"


def _body(frame: Frame, parameters: Sequence[Local], body: Sequence[Statement]) -> Iterator[str]:
    for local in frame.locals:
        if local not in parameters:
            yield f"{_INDENT}{'alias' if local.is_reference else 'var'} {local.name}: {local.type};"
    yield "begin"
    yield from _block(body)
    yield "end;"


# --- Statements --------------------------------------------------------------------------------------------


def _block(statements: Sequence[Statement]) -> Iterator[str]:
    for each in statements:
        for line in statement(each):
            yield _INDENT + line


def statement(node: Statement) -> list[str]:
    """Returns the lines of a statement."""
    match node:
        case If():
            return list(_if(node))
        case Switch():
            return list(_switch(node))
        case For():
            return [f"for {_quantifier(node.variable, node.domain)} do", *_block(node.body), "end;"]
        case While():
            limit = "" if node.limit is None else f"  -- at most {node.limit} times"
            return [f"while {expression(node.condition)} do{limit}", *_block(node.body), "end;"]
    return [_simple_statement(node) + ";"]


def _if(node: If) -> Iterator[str]:
    word = "if"
    for condition, body in node.branches:
        yield f"{word} {expression(condition)} then"
        yield from _block(body)
        word = "elsif"
    if node.otherwise:
        yield "else"
        yield from _block(node.otherwise)
    yield "end;"


def _switch(node: Switch) -> Iterator[str]:
    yield f"switch {expression(node.selector)}"
    for labels, body in node.cases:
        yield f"case {', '.join(map(expression, labels))}:"
        yield from _block(body)
    if node.otherwise:
        yield "else"
        yield from _block(node.otherwise)
    yield "end;"


def _simple_statement(node: Statement) -> str:
    match node:
        case Assign():
            return f"{place(node.target)} := {expression(node.value)}"
        case Bind():
            return f"alias {_binding(node)}"
        case CallStatement():
            return expression(node.call)
        case Clear():
            return f"clear {place(node.target)}"
        case Undefine():
            return f"undefine {place(node.target)}"
        case Error():
            return f'error "{node.message}"'
        case Assert():
            return f'assert {expression(node.condition)} "{node.message}"'
        case Assume():
            return f'assume {expression(node.condition)} "{node.message}"'
        case Cover():
            return f"cover {expression(node.condition)}"
        case Put():
            return f"put {_argument(node.argument)}"
        case Return():
            return "return" if node.value is None else f"return {expression(node.value)}"
        case MultisetAdd():
            return f"multisetadd({expression(node.value)}, {place(node.target)})"
        case MultisetRemove():
            return f"multisetremove({expression(node.index)}, {place(node.target)})"
        case MultisetRemoveIf():
            return f"multisetremovepred({node.variable.name}: {place(node.target)}, {expression(node.condition)})"
    raise TypeError(f"not a statement: {node}")


def _binding(node: Bind) -> str:
    return f"{node.local.name}: {_argument(node.target)}"


def _argument(argument: str | Place | Expression) -> str:
    if isinstance(argument, str):
        return f'"{argument}"'
    return place(argument) if isinstance(argument, Place) else expression(argument)


def _quantifier(variable: Local, domain: Domain) -> str:
    if isinstance(domain, TypeDomain):
        return f"{variable.name}: {domain.type}"
    step = "" if domain.step is None else f" by {expression(domain.step)}"
    return f"{variable.name} := {expression(domain.first)} to {expression(domain.last)}{step}"


# --- Places and expressions --------------------------------------------------------------------------------


def place(node: Place) -> str:
    match node:
        case GlobalPlace():
            return node.variable.name
        case LocalPlace():
            return node.local.name
        case FieldPlace():
            return f"{place(node.base)}.{node.record.fields[node.field_index][0]}"
        case IndexPlace() | SlotPlace():
            return f"{place(node.base)}[{expression(node.index)}]"
        case ValuePlace():
            return expression(node.value)
    raise TypeError(f"not a place: {node}")


def expression(node: Expression) -> str:
    """Returns the text of an expression."""
    return _expression(node)[0]


def _within(node: Expression, least: int) -> str:
    """Returns the text of an operand, in brackets unless its operator has at least the precedence ``least``."""
    text, precedence = _expression(node)
    return text if precedence >= least else f"({text})"


def _expression(node: Expression) -> tuple[str, int]:
    """Returns the text of an expression and the precedence of its outermost operator."""
    match node:
        case Unary():
            symbol, precedence = _UNARY[node.operator]
            # Two minus signs in a row would begin a comment.
            return symbol + _within(node.operand, precedence + (node.operator is UnaryOperator.NEGATE)), precedence
        case Binary():
            symbol, precedence = _BINARY[node.operator]
            left = _within(node.left, precedence + (precedence in _NON_ASSOCIATIVE))
            return f"{left} {symbol} {_within(node.right, precedence + 1)}", precedence
        case Conditional():
            parts = [_within(each, _CONDITIONAL + 1) for each in (node.condition, node.then, node.otherwise)]
            return f"{parts[0]} ? {parts[1]} : {parts[2]}", _CONDITIONAL
    text = _primary(node)
    return text, _UNARY[UnaryOperator.NEGATE][1] if text.startswith("-") else _PRIMARY


def _undefined_mark(node: Load | Call) -> str:
    return "?" if node.type.is_simple and node.undefined is not Undefined.ERROR else ""


def _primary(node: Expression) -> str:
    match node:
        case Constant():
            assert isinstance(node.type, Simple)
            return node.type.show(node.value)
        case Load():
            return place(node.place) + _undefined_mark(node)
        case Quantified():
            return f"{node.quantifier} {_quantifier(node.variable, node.domain)} do {expression(node.body)} end"
        case IsUndefined():
            return f"isundefined({place(node.place)})"
        case IsMember():
            return f"ismember({expression(node.operand)}, {node.member})"
        case Convert():
            return f"convert({expression(node.operand)}, {node.type})"
        case SlotUsed():
            return f"used({place(node.place)}[{expression(node.index)}])"
        case MultisetCount():
            return f"multisetcount({node.variable.name}: {place(node.place)}, {expression(node.condition)})"
        case Call():
            return f"{node.function.name}({', '.join(map(_argument, node.arguments))})" + _undefined_mark(node)
        case RealCall():
            return f"{node.name}({', '.join(map(expression, node.arguments))})"
        case Witnessed():
            return f"witnessed({expression(node.operand)})"
        case Let():
            bindings = "; ".join(map(_binding, node.bindings))
            return f"alias {bindings} do {expression(node.body)} end"
    raise TypeError(f"not an expression: {node}")
