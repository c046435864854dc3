"""``outcrop docs``: prints the pages of the manual."""

from __future__ import annotations

import argparse
import sys

from outcrop.cli.output import emit, wants_color
from outcrop.manual import FOLDERS, folder, page, pages, title

#: Headings of the folders in the list of pages, where the name of the folder is not one.
_HEADINGS = {"": "Overview", "algorithms": "Algorithms, one page each", "decisions": "Decisions of design"}


def run(arguments: argparse.Namespace) -> int:
    """Prints a page, or the list of pages."""
    if arguments.topic is None:
        emit(_listing())
    elif wants_color(sys.stdout, arguments.no_color):
        _render(page(arguments.topic))
    else:
        emit(page(arguments.topic))
    return 0


def _listing() -> str:
    root = folder("docs")
    known = pages()
    width = max(map(len, known), default=0)
    lines = []
    for name in FOLDERS:
        rows = [
            f"  {topic:<{width}}  {title(path.read_text(encoding='utf-8'))}"
            for topic, path in known.items()
            if path.parent == root / name
        ]
        if rows:
            lines += [_HEADINGS.get(name, name.replace("-", " ").capitalize()), *rows, ""]
    return "\n".join([*lines, "'outcrop docs TOPIC' prints a page."])


def _render(text: str) -> None:
    """Prints Markdown with the styles of a terminal, at most 100 columns wide."""
    # Slow to import.
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.print(Markdown(text), width=min(console.width, 100))
