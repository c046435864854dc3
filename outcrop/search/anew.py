"""A search that has learned how it should have begun."""

from __future__ import annotations

import dataclasses

from outcrop.dist.exchange import exchange_of
from outcrop.options import CheckOptions
from outcrop.search.parts import discard


class BeginAnew(Exception):
    """Raised on all ranks. ``seconds``: that it took to notice."""

    def __init__(self, why: str, seconds: float) -> None:
        super().__init__(why)
        self.seconds = seconds

    def options(self, options: CheckOptions) -> CheckOptions:
        """How to search instead. A checkpoint that the search began with stays, or one that has taken its place."""
        if options.checkpoint is not None and options.checkpoint != options.resume:
            exchange = exchange_of(options.ranks)
            discard(options.checkpoint, exchange)
            exchange.gather_numbers([0])  # before any rank puts something there again
        left = None if options.time_limit is None else max(0.0, options.time_limit - self.seconds)
        return dataclasses.replace(options, time_limit=left)
