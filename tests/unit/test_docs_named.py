"""Messages and pages name only pages, examples and files that an installed user has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from outcrop import manual

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "outcrop"
PAGES = sorted((ROOT / "docs").rglob("*.md"))
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]

#: A file of the repository that no installation has under this name.
FILE = re.compile(r"(?<![\w/])(?:docs|examples|bench|tests)/\w|\w\.md\b|\bREADME\b")
COMMAND = re.compile(r"outcrop docs ([a-z][\w-]*)")
SEE = re.compile(r"\bsee\((['\"])(.*?)\1\)")
BLOB = re.compile(r"https://github\.com/outcrop-mc/outcrop/(?:blob|tree)/main/([^)\s#>\"]+)")


def strings(path: Path) -> Iterator[str]:
    """Returns the strings of a Python file that are not docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            yield node.value


def test_no_message_names_a_file_of_the_repository() -> None:
    named = {
        f"{path.relative_to(ROOT)}: {text}"
        for path in PACKAGE.rglob("*.py")
        for text in strings(path)
        if FILE.search(text) and path.name != "manual.py"
    }
    data = [path for pattern in ("*.json", "*.html", "*.js") for path in PACKAGE.rglob(pattern)]
    named |= {str(path.relative_to(ROOT)) for path in data if re.search(r"docs/\w+\.md", path.read_text("utf-8"))}
    assert named == set(), "lead to a page with outcrop.manual.see"


def test_every_topic_that_is_named_has_a_page() -> None:
    topics: dict[str, str] = {}
    for path in [*TEXTS, *PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.json")]:
        text = path.read_text(encoding="utf-8")
        found = [*COMMAND.findall(text), *(topic for _, topic in SEE.findall(text))]
        topics |= {topic: str(path.relative_to(ROOT)) for topic in found}
    assert {topic: place for topic, place in topics.items() if topic not in manual.pages()} == {}
    assert {"trust", "clusters", "locality"} <= topics.keys()


def test_topics_differ() -> None:
    topics = [path.stem.lower() for path in PAGES if path.stem != "index"]
    assert sorted(topics) == sorted(manual.pages()), "two pages have the same name, or a folder is not in FOLDERS"


def test_links_of_the_top_folder_exist() -> None:
    missing = [
        f"{path.name}: {link}"
        for path in ROOT.glob("*.md")
        for link in re.findall(r"\]\((?!\w+:|#)([^)\s#]+)", path.read_text(encoding="utf-8"))
        if not (ROOT / link).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_addresses_in_the_repository_exist(path: Path) -> None:
    assert [each for each in BLOB.findall(path.read_text(encoding="utf-8")) if not (ROOT / each).exists()] == []
