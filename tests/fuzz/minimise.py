"""Minimisation of a model on which something fails, while it still fails.

Pieces are left out: first long ranges of lines, then shorter ones, then single lines, then ranges of words and single
words. A text that is no longer a model does not fail in the same way, so the piece is put back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_WORDS = re.compile(r'"[^"\n]*"|\w+|:=|==>|\.\.|->|[<>!=]=|\s+|.', re.DOTALL)


def minimise(text: str, fails: Callable[[str], bool], tries: int = 2_000) -> str:
    """Returns a text from which no single piece can be left out, or the text that was reached after ``tries`` tries."""
    shrunk = True
    while shrunk and tries > 0:
        shrunk = False
        for smaller in _smaller(text):
            tries -= 1
            if tries <= 0:
                break
            if len(smaller) < len(text) and fails(smaller):
                text = smaller
                shrunk = True
                break
    return text


def _smaller(text: str) -> Iterator[str]:
    lines = text.splitlines(keepends=True)
    yield from _without_rows(lines)
    words = _WORDS.findall(text)
    for length in (40, 20, 10, 5, 3, 2, 1):
        for at in range(0, len(words), max(1, length // 2)):
            yield "".join(words[:at] + words[at + length :])


def _without_rows(rows: list[str]) -> Iterator[str]:
    length = len(rows) // 2
    while length:
        for at in range(0, len(rows), length):
            yield "".join(rows[:at] + rows[at + length :])
        length //= 2
