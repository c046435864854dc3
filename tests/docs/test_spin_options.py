"""The page for users of SPIN: it names each option of SPIN, and no option that Outcrop does not have."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from sessions import REPOSITORY

from outcrop.cli.parser import build_parser

PAGE = (REPOSITORY / "docs" / "coming-from" / "spin.md").read_text(encoding="utf-8")
MODEL = "active proctype P() { skip }\n"
#: Compilations of a verifier that list different options.
FLAGS = ("", "-DBITSTATE -DPERMUTED", "-DNCORE=2", "-DBCS")


def options_of_spin() -> set[str]:
    text = subprocess.run(["spin", "--help"], capture_output=True, text=True, check=False).stdout
    found = set(re.findall(r"^\t+ *(-\w+)", text, re.MULTILINE))
    return {_name(each) for each in found | {"-replay", "-run", "-search"}}


def options_of_pan(directory: Path, flags: str) -> set[str]:
    (directory / "m.pml").write_text(MODEL, encoding="utf-8")
    subprocess.run(["spin", "-a", "m.pml"], cwd=directory, capture_output=True, check=True)
    subprocess.run(["cc", "-w", *flags.split(), "-o", "pan", "pan.c"], cwd=directory, capture_output=True, check=True)
    text = subprocess.run(["./pan", "--help"], cwd=directory, capture_output=True, text=True, check=False).stdout
    return {_name(each) for each in re.findall(r"^\t(-\w+)", text, re.MULTILINE)}


def _name(option: str) -> str:
    """Returns an option without its value: ``-uN``, ``-Dyyy`` and ``-biterateN`` have one."""
    return re.sub(r"(?<=\w)(N|n|suf|yyy|xxx)$", "", option)


def named(part: str) -> set[str]:
    """Returns the options that the first column of a table names."""
    section = PAGE.partition(f"### Of {part}")[2].partition("\n### ")[0].partition("\n## ")[0]
    rows = re.findall(r"^\| (.*?) \|", section, re.MULTILINE)
    return {_name(each) for row in rows for each in re.findall(r"-[\w]+", row)}


@pytest.mark.skipif(shutil.which("spin") is None, reason="SPIN is not installed")
def test_every_option_of_spin_is_named() -> None:
    assert options_of_spin() - named("`spin`") == set()


@pytest.mark.skipif(shutil.which("spin") is None or shutil.which("cc") is None, reason="SPIN is not installed")
@pytest.mark.parametrize("flags", FLAGS)
def test_every_option_of_its_verifier_is_named(tmp_path: Path, flags: str) -> None:
    assert options_of_pan(tmp_path, flags) - named("`pan`") == set()


def test_every_option_of_outcrop_exists() -> None:
    verbs = build_parser().verbs.values()
    known = {flag for verb in verbs for action in verb._actions for flag in action.option_strings} | {"--version"}
    assert set(re.findall(r"(?<![\w-])--[a-z][\w-]*", PAGE)) - known == set()


def _examples() -> list[tuple[str, str]]:
    """Returns the models in Promela on all pages, each with its page."""
    pages = sorted((REPOSITORY / "docs").rglob("*.md"))
    found = [(page.name, re.findall(r"^```promela[^\n]*\n(.*?)^```", page.read_text(), re.S | re.M)) for page in pages]
    return [(name, text) for name, texts in found for text in texts]


def test_examples_are_found() -> None:
    assert {"promela.md", "spin.md"} <= {page for page, _ in _examples()}


@pytest.mark.skipif(shutil.which("spin") is None, reason="SPIN is not installed")
@pytest.mark.parametrize(("page", "text"), _examples())
def test_spin_reads_every_example(tmp_path: Path, page: str, text: str) -> None:
    (tmp_path / "m.pml").write_text(text, encoding="utf-8")
    run = subprocess.run(["spin", "-a", "m.pml"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "rror" not in run.stdout + run.stderr and (tmp_path / "pan.c").exists()
