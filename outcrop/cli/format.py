"""``outcrop format``: gives models a uniform layout."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from outcrop.cli.output import complain, emit
from outcrop.errors import OutcropError, UsageError
from outcrop.lang import arranged
from outcrop.reading import MOST_BYTES

_STDIN = "-"


@dataclass
class _Text:
    """A text, and the encoding in which it goes back."""

    name: str
    content: str
    encoding: str


def run(arguments: argparse.Namespace) -> int:
    """Arranges every file, or reports those that would change."""
    code = 0
    for path in arguments.files:
        try:
            text = _read(path, arguments.name)
            code = max(code, _answer(path, text, arranged(text.content, text.name), arguments))
        except OutcropError as error:  # the other files are arranged
            complain(str(error), bare=hasattr(error, "diagnostics"))
            code = 2
    return code


def _answer(path: str, text: _Text, made: str, arguments: argparse.Namespace) -> int:
    """Writes the new text, or prints what would change. Returns the exit code."""
    changed = made != text.content
    if arguments.diff and changed:
        lines = difflib.unified_diff(
            text.content.splitlines(), made.splitlines(), text.name, f"{text.name} (arranged)", lineterm=""
        )
        emit("\n".join(lines))
    if arguments.check and changed:
        emit(f"{text.name} would change")
    if arguments.check or arguments.diff:
        return int(changed)
    if path == _STDIN:
        sys.stdout.write(made)
        sys.stdout.flush()
    elif changed:
        _replace(Path(path), made.encode(text.encoding))
        emit(f"arranged {path}")
    return 0


def _read(path: str, name: str) -> _Text:
    try:
        content = sys.stdin.buffer.read(MOST_BYTES + 1) if path == _STDIN else Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read '{path}': {getattr(error, 'strerror', None) or error}") from None
    if len(content) > MOST_BYTES:
        raise UsageError(f"'{path}' is too large; the limit is {MOST_BYTES:,} bytes")
    shown = (name or "stdin") if path == _STDIN else path
    try:
        return _Text(shown, content.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return _Text(shown, content.decode("latin-1"), "latin-1")


def _replace(path: Path, content: bytes) -> None:
    """Writes a file as a whole: no other process sees half of it, and an error leaves it as it was."""
    target = path.resolve()  # a symbolic link stays one
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            file.write(content)
        try:
            os.chmod(file.name, target.stat().st_mode & 0o777)  # noqa: PTH101
            os.replace(file.name, target)  # noqa: PTH105
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror}; print the changes with --diff") from None
