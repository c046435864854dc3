"""``outcrop docs`` and ``outcrop examples``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run

Cli = Callable[..., Run]


def test_docs_lists_and_prints_pages(cli: Cli) -> None:
    listing = cli("docs")
    assert listing.code == 0
    assert "\n  murphi " in listing.out
    page = cli("docs", "Murphi")
    assert page.code == 0
    assert page.out.startswith("# ")
    assert ".md" not in page.out


@pytest.mark.parametrize(
    ("topic", "hint"),
    [("murfi", "Did you mean murphi"), ("undefined values", "about it: murphi"), ("zzzzz", "lists all")],
)
def test_unknown_topics_get_a_hint(cli: Cli, topic: str, hint: str) -> None:
    answer = cli("docs", topic)
    assert answer.code == 2
    assert hint in answer.err


def test_docs_renders_for_a_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outcrop.cli.docs.wants_color", lambda *_: True)
    assert "# " not in cli("docs", "trust").out.splitlines()[0]


def test_examples_are_listed_copied_and_checked(cli: Cli, tmp_path: Path) -> None:
    assert "  peterson.m " in cli("examples").out
    assert cli("examples", "peterson.m", "coat_check", "-o", tmp_path).code == 0
    assert cli("check", tmp_path / "peterson.m", "--engine", "interpreter", "--quiet").code == 0
    again = cli("examples", "peterson.m", "-o", tmp_path)
    assert again.code == 2
    assert "exists already" in again.err


def test_all_examples_are_copied(cli: Cli, repository: Path, tmp_path: Path) -> None:
    assert cli("examples", "--all", "-o", tmp_path / "new").code == 0
    assert {path.name for path in (tmp_path / "new").iterdir()} == {
        path.name for path in (repository / "examples").iterdir() if path.is_file()
    }


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("peterson", "peterson.dve, peterson.m or peterson.py"),
        ("petersen.m", "Did you mean peterson.m"),
        ("zz", "lists"),
    ],
)
def test_unknown_examples_get_a_hint(cli: Cli, tmp_path: Path, name: str, hint: str) -> None:
    answer = cli("examples", name, "-o", tmp_path)
    assert answer.code == 2
    assert hint in answer.err
    assert not list(tmp_path.iterdir())
