"""Runtime errors of a model."""

from __future__ import annotations

import sys
from enum import StrEnum

from outcrop.source import Span

#: Largest depth of nested calls; deeper recursion is a runtime error. All engines share this limit, so that their
#: verdicts agree. It fits the C stack of a thread and the stack of Python.
MAX_CALL_DEPTH = 1_000


#: Python's recursion limit for that many calls of the model, each inside nested expressions and statements.
_RECURSION_LIMIT = 100_000


def allow_deep_nesting() -> None:
    """Raises Python's recursion limit, for code that descends the tree of a model recursively."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSION_LIMIT))


class FaultKind(StrEnum):
    RANGE = "range"
    UNDEFINED = "undefined"
    INDEX = "index"
    DIVISION = "division by zero"
    OVERFLOW = "overflow"
    ASSERTION = "assertion"
    ERROR = "error"
    NO_RETURN = "no return"
    WHILE_LIMIT = "while limit"
    MULTISET_FULL = "multiset full"
    FREE_SLOT = "free slot"
    STEP = "loop step"
    REAL = "real"
    UNION = "union"
    RECURSION = "recursion"


class Fault(Exception):
    """A runtime error of the model. ``message`` is a plain sentence with the offending values."""

    def __init__(self, kind: FaultKind, message: str, span: Span) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.span = span
        self.calls: list[
            tuple[str, Span]
        ] = []  #: functions in which it happened and where each was called, inmost first


class Abandoned(Exception):
    """Raised by a false ``assume`` statement: the rule counts as not enabled."""
