"""Evaluating expressions that somebody types, in the scope of a model."""

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
    """Evaluates with what a front-end gives for a model."""

    def __init__(self, lower: LowerExpression) -> None:
        self._lower = lower

    def evaluate(self, session: Session, text: str) -> str:
        """The value of an expression in the session's state, as the model's author would write it, after what
        its functions print. Whatever it does to the state is forgotten."""
        if session.state is None:
            raise UsageError("there is no state yet: choose a start state")
        source = Source("<expression>", text)
        node, frame = self._lower(Span(source, 0, len(text)))
        executor = session.interpreter.executor
        executor.offsets.update(frame_offsets(frame))
        try:
            with executor.recording() as texts:
                value: Any = executor.expression(node)(list(session.state), blank_frame(frame))
        except Fault as fault:
            raise UsageError(f"cannot be evaluated here: {fault.message}") from None
        except Abandoned:
            raise UsageError("cannot be evaluated here: an assumption inside is false") from None
        shown = show(node.type, [value] if isinstance(node.type, Simple) else value)
        return "\n".join([*printed("".join(texts)), shown])
