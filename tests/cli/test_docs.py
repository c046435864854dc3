"""The sessions in the documentation print what they say.

A ``console`` block holds commands, each after a ``$``, and their output. They are run in a copy of the examples' place.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY

PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
#: What differs from run to run and from machine to machine.
VARYING = re.compile(r"^  (time|memory|search) .*\n", re.MULTILINE)


def sessions(page: Path) -> list[tuple[str, str]]:
    """The commands of a page and the output that it shows for each."""
    found = []
    for block in BLOCK.findall(page.read_text()):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


@pytest.mark.parametrize("page", [page for page in PAGES if sessions(page)], ids=lambda page: page.stem)
def test_sessions(page: Path, tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command, expected in sessions(page):
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        assert VARYING.sub("", done.stdout).strip() == VARYING.sub("", expected).strip(), command
