"""Logs of a program, for `outcrop validate`: which rules of a model its steps are, and what its state is.

This module needs nothing but Python's standard library, and can be copied into a program. Each line is one JSON object,
appended by a single write, so that threads and processes can share a file.

>>> import os, tempfile
>>> path = os.path.join(tempfile.mkdtemp(), "server.jsonl")
>>> with Tracer(path) as tracer:
...     tracer.state({"holder": "Nobody"})
...     tracer.rule("grant", {"c": "alice"}, {"holder": "alice"})
>>> print(open(path).read(), end="")
{"state": {"holder": "Nobody"}}
{"rule": "grant", "arguments": {"c": "alice"}, "state": {"holder": "alice"}}
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any


class Tracer:
    """Appends lines to a log. ``writer`` names this writer in each line; ``clock`` adds a Lamport clock, and ``times``
    the time of day. All methods may be called by several threads."""

    def __init__(
        self, path: str | os.PathLike[str], *, writer: str | None = None, clock: bool = False, times: bool = False
    ) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        self._fixed: dict[str, Any] = {} if writer is None else {"writer": writer}
        self._clock = 0
        self._has_clock = clock
        self._has_times = times
        self._lock = threading.Lock()

    def __enter__(self) -> Tracer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the log."""
        os.close(self._file)

    # --- Lines ---

    def rule(
        self, name: str, arguments: Mapping[str, Any] | None = None, state: Mapping[str, Any] | None = None
    ) -> None:
        """Records that a rule of the model has fired, with its parameters, and values after it."""
        line: dict[str, Any] = {"rule": name}
        if arguments:
            line["arguments"] = dict(arguments)
        if state:
            line["state"] = dict(state)
        self.write(line)

    def state(self, values: Mapping[str, Any]) -> None:
        """Records values of variables. The first line of a log shows the start state; each later one follows a step."""
        self.write({"state": dict(values)})

    def event(self, name: str, **fields: Any) -> None:
        """Records an event of the program, which a mapping file translates."""
        self.write({"event": name, **fields})

    @contextmanager
    def step(self, name: str, arguments: Mapping[str, Any] | None = None) -> Iterator[dict[str, Any]]:
        """Records a rule when the block ends, with the values that the block has put into the dictionary. A block that
        raises an exception records nothing."""
        values: dict[str, Any] = {}
        yield values
        self.rule(name, arguments, values)

    def write(self, line: Mapping[str, Any]) -> None:
        """Appends a line as it is, with the fields of this writer."""
        with self._lock:
            whole = {**line, **self._fixed}
            if self._has_clock:
                self._clock += 1
                whole["clock"] = self._clock
            if self._has_times:
                whole["time"] = time.time()
            rest = (json.dumps(whole, ensure_ascii=False, default=str) + "\n").encode()
            while rest:  # a write is cut short only by a full disk or a signal
                rest = rest[os.write(self._file, rest) :]

    # --- Clocks ---

    @property
    def clock(self) -> int:
        """The Lamport clock, to be sent with each message."""
        return self._clock

    def received(self, clock: int) -> None:
        """Sets the Lamport clock past the one that came with a message."""
        with self._lock:
            self._clock = max(self._clock, clock)


class TracingHandler(logging.Handler):
    """Writes the records of `logging` that carry an observation to a log:
    ``logger.info("granted", extra={"outcrop": {"rule": "grant", "arguments": {"c": name}}})``."""

    def __init__(self, tracer: Tracer, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self._tracer = tracer

    def emit(self, record: logging.LogRecord) -> None:
        observed = getattr(record, "outcrop", None)
        if isinstance(observed, Mapping):
            try:
                self._tracer.write(observed)
            except Exception:
                self.handleError(record)
