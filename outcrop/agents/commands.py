"""Runs of the command on behalf of agents.

Each tool runs ``outcrop`` as a process of its own. A cancelled request ends the process, a model cannot harm the
server, and the sandbox confines what an untrusted model does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outcrop.errors import UsageError
from outcrop.lang.registry import LANGUAGES

#: Seconds after which a process that was asked to stop is killed.
_PATIENCE = 5.0


@dataclass(frozen=True)
class Done:
    """A finished process."""

    code: int
    out: str
    err: str

    def document(self) -> dict[str, Any]:
        """Returns its JSON document. Raises UsageError, with its messages, if it printed none."""
        try:
            document: dict[str, Any] = json.loads(self.out)
        except ValueError:
            raise UsageError(self.err.strip() or f"the command ended with code {self.code}") from None
        return document


async def run(words: Sequence[str], directory: Path) -> Done:
    """Runs ``outcrop WORDS`` in a directory. A cancelled task stops the process before it ends."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "outcrop",
        *words,
        cwd=directory,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await process.communicate()
    except BaseException:
        await asyncio.shield(_end(process))
        raise
    return Done(process.returncode or 0, out.decode(errors="replace"), err.decode(errors="replace"))


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
        try:
            await asyncio.wait_for(process.communicate(), _PATIENCE)
        except TimeoutError:
            process.kill()
            await process.wait()


@contextlib.asynccontextmanager
async def model_file(model: str, text: str | None, root: Path) -> AsyncIterator[str]:
    """Returns the path of a model: a file under ``root``, or a temporary one with ``text``, which gets the suffix of
    the name. Raises UsageError for a file elsewhere."""
    if text is not None:
        suffixes = [suffix for each in LANGUAGES for suffix in each.suffixes]
        if Path(model).suffix not in suffixes:
            raise UsageError(f"the name of a model ends in one of {', '.join(suffixes)}, not '{model}'")
        with tempfile.TemporaryDirectory(prefix="outcrop-agent-") as directory:
            path = Path(directory) / Path(model).name
            path.write_text(text, encoding="utf-8")
            yield str(path)
        return
    path = (root / model).resolve()
    if not path.is_relative_to(root.resolve()):
        raise UsageError(f"'{model}' is outside of {root}; name a file under it, or give the text of the model")
    yield str(path)


def refuse_untrusted(path: str, sandbox: bool) -> None:
    """Raises UsageError for a model that is a program, if the tool has no sandbox for it."""
    if sandbox and path.endswith(".py"):
        raise UsageError("a model in Python is a program; set sandbox to false to trust it, or use check")
