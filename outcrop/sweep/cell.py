"""One check in a separate process. A crash or lack of memory does not affect the others, and its peak memory is its
own.

As a program, ``python -m outcrop.sweep.cell``, it reads a request from stdin and writes an answer to stdout, both JSON.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import dataclass, field, replace
from typing import Any

from outcrop.errors import OutcropError
from outcrop.interrupts import listen


@dataclass(frozen=True)
class Cell:
    """A check to run: ``load`` and ``check`` are keywords of outcrop.load and Model.check, as JSON values."""

    model: str
    constants: dict[str, str]
    load: dict[str, Any] = field(default_factory=dict)
    check: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """The JSON document of a check, or the reason why there is none."""

    document: dict[str, Any] | None
    error: str = ""
    was_interrupted: bool = False

    @property
    def verdict(self) -> str:
        return "error" if self.document is None else str(self.document["verdict"])

    @property
    def exit_code(self) -> int:
        return {"holds": 0, "violated": 1, "unknown": 3}.get(self.verdict, 2)

    def figure(self, name: str) -> Any:
        """Returns a first-level key of the document; None without a document."""
        return None if self.document is None else self.document.get(name)


def run(cell: Cell) -> Answer:
    """Checks in a new process and waits for it. An interrupt is passed on; the process then reports what it has."""
    request = json.dumps({"model": cell.model, "constants": cell.constants, "load": cell.load, "check": cell.check})
    process = subprocess.Popen(
        [sys.executable, "-m", "outcrop.sweep.cell"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    interrupted = False
    try:
        output, _ = process.communicate(request)
    except KeyboardInterrupt:
        interrupted = True
        process.send_signal(signal.SIGTERM)  # harmless if Ctrl-C has reached the process already
        output, _ = process.communicate()
    answer = _answer(output, process.returncode)
    if interrupted and answer.document is None:
        raise KeyboardInterrupt
    return replace(answer, was_interrupted=interrupted or answer.figure("kind") == "interrupted")


def _answer(output: str, code: int) -> Answer:
    try:
        answer = json.loads(output)
        return Answer(answer.get("document"), answer.get("error", ""))
    except ValueError:
        pass
    if code < 0:
        hint = ", probably for lack of memory; lower --memory" if code == -9 else ""
        return Answer(None, f"the process was ended by signal {-code}{hint}")
    return Answer(None, f"the process ended with code {code} and no answer")


def main() -> None:
    """Answers the request on stdin."""
    listen()
    from outcrop.api import load  # slow to import, and signals must be handled meanwhile

    request = json.load(sys.stdin)
    answer: dict[str, Any] = {}
    try:
        model = load(request["model"], request["constants"], **request["load"])
        document = model.check(**request["check"]).to_dict()
        for key in ("trace", "violations"):  # long, and not needed
            document.pop(key, None)
        answer["document"] = document
    except OutcropError as error:
        answer["error"] = str(error).strip().splitlines()[0]
    except MemoryError:
        answer["error"] = "out of memory"
    except KeyboardInterrupt:
        answer["error"] = "interrupted"
    except Exception as error:
        answer["error"] = f"internal error: {type(error).__name__}: {error}"
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
