"""The processor time of searches in this process, without analysis, compilation and traces."""

from __future__ import annotations

import time
from types import ModuleType
from typing import Any


class Clock:
    """Notes the processor time of the latest search of a strategy, given by its module."""

    def __init__(self, strategy: ModuleType) -> None:
        self.seconds = 0.0
        self._search = strategy.search
        setattr(strategy, "search", self)  # noqa: B010  # mypy knows the type of the function

    def __call__(self, *arguments: Any) -> Any:
        began = time.process_time()
        try:
            return self._search(*arguments)
        finally:
            self.seconds = time.process_time() - began
