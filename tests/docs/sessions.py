"""The examples in the manual: found, run, and compared with the output that the page shows.

A page is run from top to bottom, in a directory of its own that holds a copy of ``examples/``:

- a block with a title is a file: ``title="ring.m"`` writes it, a second block with the same title adds to its end, and
  a ``diff`` block with that title changes it;
- a ``console`` block holds commands, each after a ``$``, and their output, standard error included;
- a ``pycon`` block is a Python session, as doctest reads it; a ``python`` block must run.

Times, memory and numbers of threads may differ. A line ``...`` of the page stands for any number of lines.

    ./dev docs refresh PAGE...      run pages, and write the real output where it differs
"""

from __future__ import annotations

import contextlib
import difflib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]

_BLOCK = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([^"]+)"')
_SHELL = re.compile(r"[|&;<>$*`~(]|\\\n")
#: Lines of a report that depend on the machine.
_LINES = re.compile(r"^  (time|memory|search|disk) .*\n", re.MULTILINE)
_AMOUNT = re.compile(r"\d[\d,.]* ?(s|ms|MiB|KiB|GiB|M/s|k/s|threads?)\b")
_SKIP = "..."


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; ``start`` and ``end`` delimit its body in the text of the page."""

    language: str
    title: str
    body: str
    start: int
    end: int


@dataclass(frozen=True)
class Difference:
    """A command whose output is not the one of the page; ``start`` and ``end`` delimit the output in its text."""

    command: str
    expected: str
    found: str
    start: int
    end: int


def blocks(text: str) -> list[Block]:
    """Returns the fenced blocks of a page that can be run, or that are files."""
    found = []
    for match in _BLOCK.finditer(text):
        title = _TITLE.search(match[3])
        if title or match[2] in ("console", "python", "pycon"):
            found.append(Block(match[2], title[1] if title else "", match[4], match.start(4), match.end(4)))
    return found


def pages() -> list[Path]:
    """Returns the README and the pages of the manual that have something to run."""
    every = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
    return [page for page in every if blocks(page.read_text(encoding="utf-8"))]


def run_page(text: str, directory: Path) -> Iterator[Difference]:
    """Runs the blocks of a page in a directory, and yields the outputs that differ."""
    shutil.copytree(REPOSITORY / "examples", directory / "examples", dirs_exist_ok=True)
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(directory):
        for block in blocks(text):
            if block.title:
                _write(block)
            elif block.language == "console":
                yield from _run_console(block)
            elif block.language == "python":
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(block.body, "<page>", "exec"), names)
            else:
                _run_session(block, names)


def _write(block: Block) -> None:
    """Writes, extends or changes the file that a block is."""
    path = Path(block.title)
    if block.language != "diff":
        before = path.read_text(encoding="utf-8") + "\n" if path.exists() else ""
        path.write_text(before + block.body, encoding="utf-8")
        return
    lines = block.body.splitlines()
    old = "\n".join(line[1:] for line in lines if not line.startswith("+"))
    new = "\n".join(line[1:] for line in lines if not line.startswith("-"))
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{path} has these lines {text.count(old)} times:\n{old}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def _run_console(block: Block) -> Iterator[Difference]:
    for part in re.finditer(r"^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n)*)", block.body, re.MULTILINE):
        # Models of the manual take longer to compile than to interpret. Where several traces are shortest, or cycles
        # are searched for, the engines may differ: the page then shows what users see, the native engine's output.
        if _can_be_interpreted(part[1]) and matches(part[2], _run(f"{part[1]} --engine interpreter")):
            continue
        found = _run(part[1])
        if not matches(part[2], found):
            start = block.start + part.start(2)
            yield Difference(part[1], part[2], found, start, start + len(part[2]))


def _run(command: str) -> str:
    """Returns the output of a command. Outcrop runs in this process, which saves its start."""
    if command.startswith("outcrop ") and _is_plain(command):
        from outcrop.cli.main import main

        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            main(shlex.split(command)[1:])
        return output.getvalue()
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["sh", "-c", command],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    ).stdout


def _is_plain(command: str) -> bool:
    """Returns whether a command needs no shell but for its quotes."""
    return not _SHELL.search(re.sub(r"'[^']*'", "", command))


def _can_be_interpreted(command: str) -> bool:
    """Returns whether to try a command with the interpreter first: a check of a small model, with default options."""
    options = {"--engine", "--strategy", "--device", "--ranks", "--memory", "--fair"}
    return command.startswith("outcrop check ") and _is_plain(command) and not options & {*command.split()}


def _run_session(block: Block, names: dict[str, Any]) -> None:
    session = doctest.DocTestParser().get_doctest(block.body, names, "page", None, None)
    report = io.StringIO()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed = doctest.DocTestRunner(optionflags=flags).run(session, out=report.write, clear_globs=False).failed
    names.update(session.globs)
    assert not failed, report.getvalue()


def matches(expected: str, found: str) -> bool:
    """Returns whether an output is the expected one, but for what may differ."""
    pieces = [_normal(each) for each in re.split(rf"^ *{re.escape(_SKIP)}\n", expected, flags=re.MULTILINE)]
    pattern = r"(?:.*\n)*".join(re.escape(each) for each in pieces)
    return re.fullmatch(pattern, _normal(found)) is not None


def _normal(text: str) -> str:
    lines = [line.rstrip() + "\n" for line in _LINES.sub("", text).splitlines() if line.strip()]
    # The widths of columns follow from the amounts.
    return re.sub(r"(?<=\S)  +|--+", "  ", _AMOUNT.sub(r"N \1", "".join(lines)))


def refresh(page: Path, say: Callable[[str], None]) -> None:
    """Writes the real outputs into a page, where they differ."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as directory:
        differences = list(run_page(text, Path(directory)))
    for each in reversed(differences):
        say(f"{page}: $ {each.command}")
        text = text[: each.start] + shortened(each.expected, each.found) + text[each.end :]
    page.write_text(text, encoding="utf-8")


def shortened(expected: str, found: str) -> str:
    """Returns an output with the lines left out that the page left out before."""
    old, new = expected.rstrip().splitlines(), found.rstrip().splitlines()
    lines: list[str] = []
    for _, start, end, first, last in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        is_left_out = _SKIP in old[start:end] and {*old[start:end]} <= {_SKIP, ""}
        lines += old[start:end] if is_left_out else new[first:last]
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    for chosen in [Path(name).resolve() for name in sys.argv[1:]] or pages():
        refresh(chosen, print)
