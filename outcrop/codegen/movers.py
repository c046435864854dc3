"""The fairness sets that each firing belongs to, and the number of its instance."""

from __future__ import annotations

from outcrop.codegen.text import integer
from outcrop.ir.system import Rule, System


def name_movers(system: System, number: int) -> list[str]:
    """Returns the lines that name the fairness sets before an instance of a rule fires."""
    product = system.product
    if product is None or product.fairness is None:
        return []
    first, *more = product.fairness.of_rules[number]
    mover = instance_number(system.rules[number], first) if product.fairness.by_instance else str(first)
    partner = str(more[0]) if more else "FAIRNESS_SETS"
    return [f"expansion->mover = {mover};", f"expansion->partner = {partner};"]


def name_instance(system: System, number: int) -> list[str]:
    """Returns the line that names an instance of a rule before it fires. The rules number their instances in order."""
    first = sum(rule.instance_count for rule in system.rules[:number])
    return [f"expansion->instance = {instance_number(system.rules[number], first)};"]


def instance_number(rule: Rule, first: int) -> str:
    """Returns the number of the current instance, counted from ``first``; the last parameter varies fastest."""
    terms, stride = [str(first)], rule.instance_count
    for depth, parameter in enumerate(rule.parameters):
        values = parameter.values
        stride //= len(values)
        terms.append(f"{stride} * (uint32_t)((p{depth} - {integer(values[0])}) / {integer(values.step)})")
    return " + ".join(terms)
