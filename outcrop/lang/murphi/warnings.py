"""Lints on lowered models. Each warns only if it is nearly certain, so that working models produce no noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from outcrop.ir.nodes import (
    Assign,
    Binary,
    BinaryOperator,
    Constant,
    Expression,
    FieldPlace,
    For,
    IndexPlace,
    Load,
    Local,
    LocalPlace,
    Place,
    SlotPlace,
    TypeDomain,
    Unary,
    UnaryOperator,
    Variable,
)
from outcrop.ir.system import Instantiable, Rule, StartState
from outcrop.ir.types import INTEGER, Range, Scalarset
from outcrop.lang.report import Report

Interval = tuple[int, int]

_DECIDED: dict[BinaryOperator, Callable[[Interval, Interval], bool | None]] = {
    BinaryOperator.LESS: lambda a, b: True if a[1] < b[0] else False if a[0] >= b[1] else None,
    BinaryOperator.LESS_EQUAL: lambda a, b: True if a[1] <= b[0] else False if a[0] > b[1] else None,
    BinaryOperator.GREATER: lambda a, b: True if a[0] > b[1] else False if a[1] <= b[0] else None,
    BinaryOperator.GREATER_EQUAL: lambda a, b: True if a[0] >= b[1] else False if a[1] < b[0] else None,
    BinaryOperator.EQUAL: lambda a, b: False if a[1] < b[0] or b[1] < a[0] else None,
    BinaryOperator.NOT_EQUAL: lambda a, b: True if a[1] < b[0] or b[1] < a[0] else None,
}


def warn_about_rules(rules: Sequence[Rule], starts: Sequence[StartState], report: Report) -> None:
    if not rules:
        report.warning(
            "the model has no rules, so no state has a successor", None, "add one: rule CONDITION ==> begin ... end;"
        )
    for rule in rules:
        if rule.guard is not None and truth(rule.guard) is False:
            message = f"rule '{rule.name}' can never be enabled: its guard is false whatever the state"
            report.warning(message, rule.guard.span, "correct the guard, or delete the rule")
        _warn_without_instances("rule", rule, report)
    for start in starts:
        _warn_without_instances("startstate", start, report)


def _warn_without_instances(what: str, each: Instantiable, report: Report) -> None:
    if each.instance_count == 0:
        report.warning(
            f"{what} '{each.name}' has no instances: a parameter of it has no values",
            each.span,
            "make the range of that parameter larger",
        )


def warn_unread_variables(variables: Iterable[Variable], read: set[Variable], report: Report) -> None:
    for variable in variables:
        if variable not in read:
            message = f"the variable '{variable.name}' is never read"
            report.warning(message, variable.span, "it only adds states; remove it")


def truth(expression: Expression) -> bool | None:
    """Returns the value of a boolean expression that its constants and ranges determine; None if it is open."""
    if isinstance(expression, Constant):
        return bool(expression.value)
    if isinstance(expression, Unary) and expression.operator is UnaryOperator.NOT:
        inner = truth(expression.operand)
        return None if inner is None else not inner
    if not isinstance(expression, Binary):
        return None
    if expression.operator is BinaryOperator.AND:
        return False if any(truth(each) is False for each in _chain(expression)) else None
    decided = _DECIDED.get(expression.operator)
    if decided is None:
        return None
    left, right = _interval(expression.left), _interval(expression.right)
    return None if left is None or right is None else decided(left, right)


def _chain(conjunction: Binary) -> list[Expression]:
    """Returns the operands of a chain of one operator, which leans to the left and may be long."""
    operands = [conjunction.right]
    left = conjunction.left
    while isinstance(left, Binary) and left.operator is conjunction.operator:
        operands.append(left.right)
        left = left.left
    operands.append(left)
    return operands


def _interval(expression: Expression) -> Interval | None:
    if isinstance(expression, Constant):
        return (expression.value, expression.value) if isinstance(expression.value, int) else None
    kind = expression.type
    if isinstance(expression, Load) and isinstance(kind, Range) and kind is not INTEGER:
        return kind.low, kind.high
    return None


def warn_dependent_iterations(loop: For, report: Report) -> None:
    """Warns of a loop over a scalarset whose result depends on the order of iteration."""
    if not isinstance(loop.domain, TypeDomain):
        return
    kind = loop.domain.type
    if not isinstance(kind, Scalarset) or not kind.is_symmetric:
        return
    for statement in loop.body:
        if not isinstance(statement, Assign) or not _is_read_of(statement.value, loop.variable):
            continue
        if not _depends(statement.target, loop.variable):
            message = f"every iteration overwrites this with '{loop.variable.name}', so the order of {kind} matters"
            report.warning(message, statement.span, "symmetry reduction is sound only if the order does not matter")


def _is_read_of(value: Expression, variable: Local) -> bool:
    return isinstance(value, Load) and isinstance(value.place, LocalPlace) and value.place.local is variable


def _depends(place: Place, variable: Local) -> bool:
    """Returns whether the place may differ between iterations; true if in doubt."""
    while isinstance(place, FieldPlace | IndexPlace | SlotPlace):
        if not isinstance(place, FieldPlace) and not isinstance(place.index, Constant):
            return True
        place = place.base
    return isinstance(place, LocalPlace) and place.local.is_reference
