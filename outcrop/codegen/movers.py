"""With fairness, each firing says to which fairness sets it belongs."""

from __future__ import annotations

from outcrop.codegen.text import integer
from outcrop.ir.system import Rule, System


def name_movers(system: System, number: int) -> list[str]:
    """What the loops over a rule's parameters do before an instance of it fires."""
    product = system.product
    if product is None or product.fairness is None:
        return []
    first, *more = product.fairness.of_rules[number]
    mover = _instance(system.rules[number], first) if product.fairness.by_instance else str(first)
    partner = str(more[0]) if more else "FAIRNESS_SETS"
    return [f"expansion->mover = {mover};", f"expansion->partner = {partner};"]


def _instance(rule: Rule, first: int) -> str:
    """The number of the instance that the loops are at, counted from ``first``; the last parameter varies fastest."""
    terms, stride = [str(first)], rule.instance_count
    for depth, parameter in enumerate(rule.parameters):
        values = parameter.values
        stride //= len(values)
        terms.append(f"{stride} * (uint32_t)((p{depth} - {integer(values[0])}) / {integer(values.step)})")
    return " + ".join(terms)
