"""Aligned columns of text, and bars drawn with block characters."""

from __future__ import annotations

from collections.abc import Sequence

_EIGHTHS = " ▏▎▍▌▋▊▉█"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], align: str = "l") -> list[str]:
    """Returns the lines of a table. ``align`` has one letter per column, ``l`` or ``r``; the last one also holds for
    all further columns."""
    every = [head, *rows]
    widths = [max(len(row[column]) for row in every) for column in range(len(head))]
    letters = align.ljust(len(head), align[-1])
    lines = []
    for row in every:
        cells = [
            cell.ljust(width) if letter == "l" else cell.rjust(width)
            for cell, width, letter in zip(row, widths, letters, strict=False)
        ]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return lines


def bar(part: float, width: int) -> str:
    """Returns a bar that fills the share ``part``, from 0 to 1, of ``width`` characters.

    >>> bar(0.5, 4)
    '██'
    """
    eighths = round(max(0.0, min(1.0, part)) * width * 8)
    if part > 0 and not eighths:
        eighths = 1
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
