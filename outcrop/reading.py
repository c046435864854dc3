"""Reading the text of models and of files of formulas, and JSON files."""

from __future__ import annotations

import codecs
import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from outcrop.errors import UsageError
from outcrop.source import Source

#: Largest model or file of formulas, in bytes. A parsed model takes up to a hundred times as much memory.
MOST_BYTES = 5_000_000

#: Characters that a terminal would interpret: NUL to US without tab and line ends, DEL, and C1.
_CONTROL = {code: "\ufffd" for code in (*range(32), 127, *range(128, 160)) if code not in (9, 10, 11, 12, 13)}

#: Control characters that are rare in text. Bytes from 128 on may be parts of letters.
_STRAY_BYTES = bytes(code for code in _CONTROL if code < 128)


#: The name of standard input. With a suffix, as in ``-.dve``, the language is that of the suffix.
STDIN = "-"


def read_json(path: str) -> Any:
    """Returns the content of a JSON file."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"'{path}' is not JSON: {error}") from None


def _is_stdin(name: str) -> bool:
    """Returns whether a model is read from standard input."""
    return name == STDIN or (name.startswith("-.") and not Path(name).exists())


def read_source(path: str | os.PathLike[str]) -> Source:
    """Returns the text of a model. Bytes that are not UTF-8 are read as Latin-1, the encoding of old models.
    ``FILE:PART`` names one of several models in a file."""
    name, part = os.fspath(path), ""
    if ":" in name and not Path(name).exists():
        name, _, part = name.rpartition(":")
    try:
        if _is_stdin(name):
            content = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with Path(name).open("rb") as file:
                content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise UsageError(f"there is no file '{name}'") from None
    except IsADirectoryError:
        raise UsageError(f"'{name}' is a directory, not a file; name a model file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot read '{name}': {reason}") from None
    if len(content) > MOST_BYTES:
        raise UsageError(f"'{name}' is too large; the limit is {MOST_BYTES:,} bytes")
    _refuse_other_than_text(name, content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return Source(name, text.translate(_CONTROL), hashlib.sha256(content).hexdigest(), part)


def _refuse_other_than_text(name: str, content: bytes) -> None:
    """Raises UsageError for UTF-16 and for binary files. A few stray control characters are harmless."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UsageError(f"'{name}' is in UTF-16; save it as UTF-8")
    stray = len(content) - len(content.translate(None, _STRAY_BYTES))
    if stray > max(10, len(content) // 20):
        raise UsageError(
            f"'{name}' is not text: {stray:,} of its {len(content):,} bytes are control characters; name a model file"
        )
