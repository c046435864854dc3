"""Outcrop: an explicit-state model checker that continues on disk when RAM is full.

>>> import outcrop
>>> result = outcrop.load("examples/peterson.m").check(engine="interpreter")
>>> print(result.verdict)
holds
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from outcrop.api import Model, load, loads
    from outcrop.errors import CompilerNotFound, InternalError, ModelError, OutcropError, UsageError
    from outcrop.handle import Handle
    from outcrop.lang import UndefinedReads
    from outcrop.options import CheckOptions, Deadlock, Engine
    from outcrop.outcome import Event, EventKind
    from outcrop.result import Result, Step, Trace, Verdict, Violation, ViolationKind
    from outcrop.saved import SavedResult, load_result

__all__ = [
    "CheckOptions",
    "CompilerNotFound",
    "Deadlock",
    "Engine",
    "Event",
    "EventKind",
    "Handle",
    "InternalError",
    "Model",
    "ModelError",
    "OutcropError",
    "Result",
    "SavedResult",
    "Step",
    "Trace",
    "UndefinedReads",
    "UsageError",
    "Verdict",
    "Violation",
    "ViolationKind",
    "load",
    "load_result",
    "loads",
]

_HOMES = (
    "outcrop.api",
    "outcrop.handle",
    "outcrop.saved",
    "outcrop.errors",
    "outcrop.options",
    "outcrop.outcome",
    "outcrop.result",
    "outcrop.lang",
)


def __getattr__(name: str) -> Any:
    # Imported on first use, so that `outcrop --help` and `import outcrop` are fast.
    if name in __all__:
        for home in _HOMES:
            module = import_module(home)
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module 'outcrop' has no attribute '{name}'")
