"""What can go wrong while a model runs."""

from __future__ import annotations

import sys
from enum import StrEnum

from outcrop.source import Span

#: Calls within calls before a recursion counts as endless. Every engine has the same cap, so that all of them
#: agree on a verdict; it is low enough for a thread's C stack and for Python's.
MAX_CALL_DEPTH = 1_000


#: Python frames for so many calls of the model, each within expressions and statements that nest.
_RECURSION_LIMIT = 100_000


def allow_deep_nesting() -> None:
    """For whatever goes down the tree of a model by calling itself."""
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
    """A runtime error of the model: ``message`` is a plain sentence with the offending values."""

    def __init__(self, kind: FaultKind, message: str, span: Span) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.span = span


class Abandoned(Exception):
    """An ``assume`` statement was false: the rule counts as not enabled."""
