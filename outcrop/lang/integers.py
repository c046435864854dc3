"""The lowering of expressions in languages whose values are integers, of which every non-zero one is true."""

from __future__ import annotations

from typing import Any

from outcrop.ir.nodes import Constant, Expression
from outcrop.lang import build
from outcrop.lang.report import Report


class IntegerLowering:
    """The first layer of such a lowering: expressions by the kind of value that their context wants."""

    def __init__(self) -> None:
        self.report = Report()

    def expression(self, node: Any) -> Expression:
        """Returns a lowered expression. Its type is boolean if the value can only be 0 or 1, otherwise integer."""
        raise NotImplementedError

    def condition(self, node: Any) -> Expression:
        return build.as_condition(self.expression(node))

    def integer(self, node: Any) -> Expression:
        return build.as_integer(self.expression(node))

    def constant(self, node: Any, what: str) -> int | None:
        """Returns the value of an expression that must be constant; None, with an error reported, if it is not."""
        errors = self.report.error_count
        value = self.integer(node)
        if isinstance(value, Constant) and isinstance(value.value, int):
            return value.value if self.report.error_count == errors else None
        if self.report.error_count == errors:
            self.report.error(f"{what} must be a constant", node.span)
        return None
