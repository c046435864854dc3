"""The way of what ``put`` statements print from the kernels to whoever takes it.

Workers hand over what they have recorded once it is much, from their own threads; the rest is taken when a level is
complete. Nothing is lost, and nothing has an order. With several ranks the first one prints: the others keep what they
have until the level is complete, and send it then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from outcrop.kernels import Counts, Search

#: Takes words that the ``put`` statements of one worker have recorded.
TakePut = Callable[[Counts], None]


def open_printing(search: Search, put: TakePut | None, *, is_shared: bool) -> Printing | NoPrinting:
    """Opens the output of a search, which most models have none of."""
    return Printing(search, put, is_shared=is_shared) if search.native.prints else NoPrinting()


class NoPrinting:
    """The output of a model that was compiled without printing."""

    def end_level(self) -> None: ...

    def take_rest(self) -> list[Counts]:
        return []

    def print_all(self, recorded: list[Counts]) -> None: ...


class Printing:
    """Output of one search. ``put`` None drops it."""

    def __init__(self, search: Search, put: TakePut | None, *, is_shared: bool) -> None:
        self._search = search
        self._put = put
        self._lock = threading.Lock()  # each worker's words are printed together
        self._kept: list[Counts] = []
        self._failure: Exception | None = None
        search.drain_put(self._kept.append if is_shared else self._print)

    def end_level(self) -> None:
        """Prints what is left of a level. Raises what kept a worker from printing."""
        self.print_all(self.take_rest())

    def take_rest(self) -> list[Counts]:
        """Returns what was recorded and not printed yet."""
        kept = [*self._kept, *self._search.take_put()]
        self._kept.clear()
        return kept

    def print_all(self, recorded: list[Counts]) -> None:
        """Prints what workers, or ranks, have recorded. Raises what keeps one from printing."""
        for words in recorded:
            self._print(words)
        if self._failure is not None:
            raise self._failure

    def _print(self, words: Counts) -> None:
        if self._put is None or self._failure is not None:
            return
        try:
            with self._lock:
                self._put(words)
        except Exception as failure:  # no exception gets past the kernels that have called
            self._failure = failure
            self._search.stop()
