"""The output of ``put`` statements, on its way from the kernels to the listener.

Workers hand over large outputs at once, from their own threads. The rest is collected when a level is complete. Nothing
is lost, but the order is not defined. With several ranks the first one prints. The others keep their output until the
level is complete, and then send it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from outcrop.kernels import Counts, Search

#: Takes the words that the ``put`` statements of one worker have recorded.
TakePut = Callable[[Counts], None]


def open_printing(search: Search, put: TakePut | None, *, is_shared: bool) -> Printing | NoPrinting:
    """Opens the output of a search. Most models have none."""
    return Printing(search, put, is_shared=is_shared) if search.native.prints else NoPrinting()


class NoPrinting:
    """The output of a model that was compiled without printing."""

    def end_level(self) -> None: ...

    def take_rest(self) -> list[Counts]:
        return []

    def print_all(self, recorded: list[Counts]) -> None: ...


class Printing:
    """The output of one search. ``put`` None discards it."""

    def __init__(self, search: Search, put: TakePut | None, *, is_shared: bool) -> None:
        self._search = search
        self._put = put
        self._lock = threading.Lock()  # keeps the words of one worker together
        self._kept: list[Counts] = []
        self._failure: Exception | None = None
        search.drain_put(self._kept.append if is_shared else self._print)

    def end_level(self) -> None:
        """Prints the remaining output of a level. Raises the exception that stopped a worker from printing."""
        self.print_all(self.take_rest())

    def take_rest(self) -> list[Counts]:
        """Returns the output that was recorded and not yet printed."""
        kept = [*self._kept, *self._search.take_put()]
        self._kept.clear()
        return kept

    def print_all(self, recorded: list[Counts]) -> None:
        """Prints output of workers or ranks. Raises the exception that stopped one from printing."""
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
        except Exception as failure:  # an exception cannot pass through the calling kernel
            self._failure = failure
            self._search.stop()
