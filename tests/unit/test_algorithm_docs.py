"""The pages in docs/algorithms name existing functions, and the docs name existing files."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
PAGES = sorted((DOCS / "algorithms").glob("*.md"))

#: A file of the package, optionally with a definition: ``outcrop/search/cached.py:bfs``.
REFERENCE = re.compile(r"(?<![\w./~-])(outcrop/[\w/]*(?:\.(?:py|c|h)\b)?)(?::([A-Za-z_][\w.]*\b))?")
#: A definition in a kernel, which may break its line among the parameters.
C_DEFINITION = re.compile(
    r"^(?:static |inline |EXPORT |INLINED |NOINLINE |UNUSED )+[^;={}()]*?(\w+)\([^;{}]*\) \{", re.M
)
#: The head of a table that maps steps to code.
TABLE_OF_FUNCTIONS = re.compile(r"^\|[^|\n]+\| function \|\n\|---\|---\|\n((?:\|.*\|\n)+)", re.M)


@cache
def defined(path: Path) -> frozenset[str]:
    """Returns the definitions of a file of the package; for classes also their members, as ``Class.member``."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return frozenset(members(ast.parse(text).body))
    return frozenset(C_DEFINITION.findall(re.sub(r"__attribute__\(\(.*?\)\) ", "", text)))


def members(body: list[ast.stmt], prefix: str = "") -> list[str]:
    found: list[str] = []
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found.append(prefix + node.name)
        elif isinstance(node, ast.ClassDef):
            found += [prefix + node.name, *members(node.body, f"{prefix}{node.name}.")]
    return found


def references(text: str) -> list[tuple[str, str]]:
    """Returns the files that a text names, each with the definition that it names, or nothing."""
    return REFERENCE.findall(text)


def missing(text: str) -> list[str]:
    """Returns the references of a text that lead nowhere."""
    return [
        f"{path}:{name}" if name else path
        for path, name in references(text)
        if not (REPOSITORY / path).exists() or (name and name not in defined(REPOSITORY / path))
    ]


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_what_the_docs_name_is_there(page: Path) -> None:
    assert missing(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_says_which_function_does_what(page: Path) -> None:
    tables = TABLE_OF_FUNCTIONS.findall(page.read_text(encoding="utf-8"))
    assert tables, f"{page} has no table with a column 'function'"
    rows = [row for table in tables for row in table.splitlines()]
    nameless = [row for row in rows if not any(name for _, name in references(row.rsplit("|", 2)[1]))]
    assert nameless == [], "a row must name a function as `outcrop/FOLDER/FILE:NAME`"


def test_references_that_lead_nowhere_are_noticed() -> None:
    assert missing("`outcrop/search/cached.py:bfs`, `outcrop/native/cache.c:cache_insert`, in `outcrop/search`.") == []
    wrong = (
        *("outcrop/search/gone.py", "outcrop/search/cached.py:dfs", "outcrop/search/locality.py:Locality.gone"),
        *("outcrop/native/cache.c:gone", "outcrop/native/cache.c:hash_state", "outcrop/gone"),
    )
    assert [missing(f"See `{each}`.") for each in wrong] == [[each] for each in wrong]
