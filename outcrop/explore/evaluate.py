"""The evaluation of typed expressions in the scope of a model."""

from __future__ import annotations

from typing import Any

from outcrop.errors import UsageError
from outcrop.explore.session import Session
from outcrop.ir.faults import Abandoned, Fault
from outcrop.ir.places import blank_frame, frame_offsets
from outcrop.ir.types import Simple
from outcrop.lang.report import LowerExpression
from outcrop.source import Source, Span
from outcrop.trace.render import printed
from outcrop.trace.values import show


class Scope:
    """Evaluator of expressions, made from the scope that a front-end returns for a model."""

    def __init__(self, lower: LowerExpression) -> None:
        self._lower = lower

    def evaluate(self, session: Session, text: str) -> str:
        """Returns the value of an expression in the current state, in the syntax of the model, after the output of its
        functions. Changes to the state are discarded."""
        if session.state is None:
            raise UsageError("there is no state yet; choose a start state")
        source = Source("<expression>", text)
        node, frame = self._lower(Span(source, 0, len(text)))
        executor = session.interpreter.executor
        executor.offsets.update(frame_offsets(frame))
        try:
            with executor.recording() as texts:
                value: Any = executor.expression(node)(list(session.state), blank_frame(frame))
        except Fault as fault:
            raise UsageError(f"the expression cannot be evaluated in this state: {fault.message}") from None
        except Abandoned:
            raise UsageError(
                "the expression cannot be evaluated in this state: an assumption inside is false"
            ) from None
        shown = show(node.type, [value] if isinstance(node.type, Simple) else value)
        return "\n".join([*printed("".join(texts)), shown])
