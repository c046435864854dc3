"""The shape of the code: who may import whom, and how long a file may be."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "outcrop"

#: For each part of the package, the parts it may import; every part may import itself and the foundation.
FOUNDATION = {"", "source", "errors", "options", "machine"}
ALLOWED = {
    "ir": set(),
    "lang": {"ir", "ltl"},
    "ltl": {"ir"},
    "codegen": {"ir", "kernels"},
    "kernels_abi": set(),
    "kernels": {"ir", "kernels_abi"},
    "kernels_cycles": {"kernels", "kernels_abi", "kernels_route"},
    "kernels_distances": {"kernels", "kernels_abi"},
    "kernels_layers": {"kernels", "kernels_abi", "kernels_spill"},
    "kernels_liveness": {"kernels", "kernels_abi"},
    "kernels_squeeze": {"kernels", "kernels_abi"},
    "kernels_walks": {"kernels", "kernels_abi"},
    "kernels_spill": {"kernels", "kernels_abi"},
    "kernels_fair": {"kernels", "kernels_abi", "kernels_cycles"},
    "kernels_tables": {"kernels", "kernels_abi"},
    "kernels_route": {"kernels", "kernels_abi"},
    "dist": {"kernels", "kernels_route"},
    "store": {"kernels", "kernels_layers", "kernels_spill"},
    "search": {
        *("ir", "kernels", "kernels_cycles", "kernels_distances", "kernels_route", "kernels_spill", "kernels_tables"),
        *("kernels_layers", "kernels_liveness", "kernels_squeeze", "kernels_fair", "kernels_walks", "dist", "store"),
    },
    "result": {"ir", "report"},
    "trace": {"ir", "ltl", "search", "result"},
    "report": {"ir", "search", "result", "trace"},
    "gpu": {"ir", "codegen", "kernels", "search", "report"},
    "engines": {"ir", "codegen", "kernels", "dist", "gpu", "search"},
    "temporal": {"ir", "ltl", "engines", "search", "trace", "report", "result"},
    "conclusion": {"ir", "engines", "temporal", "search", "trace", "report", "result"},
    "api": {"ir", "lang", "ltl", "engines", "temporal", "conclusion", "dist", "search", "result"},
    "tools": {
        *("ir", "codegen", "kernels", "kernels_distances", "kernels_walks"),
        *("search", "trace", "report", "result", "api"),
    },
    "explore": {"ir", "lang", "trace", "result", "api"},
    "sweep": {"report", "api"},
    "reproduce": {"ir", "lang", "codegen", "kernels", "kernels_abi", "search", "api", "report", "sweep", "tools"},
    "cli": {
        *("ir", "lang", "ltl", "codegen", "kernels", "dist", "search", "trace", "report", "result", "api", "sandbox"),
        *("tools", "explore", "sweep", "reproduce"),
    },
    "sandbox": set(),
    "__main__": {"cli"},
    "__init__": {"api", "result"},
}
FILES = sorted(PACKAGE.rglob("*.py"))
LONGEST = 500


def imported(path: Path) -> Iterator[str]:
    """The modules of the package that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "outcrop" or node.module.startswith("outcrop."):
                yield from (
                    {f"{node.module}.{each.name}" for each in node.names} if node.module == "outcrop" else [node.module]
                )
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.split(".")[0] == "outcrop")


def part(module: str) -> str:
    return [*module.split("."), ""][1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_follow_the_rule(path: Path) -> None:
    ours = path.relative_to(PACKAGE).with_suffix("").parts[0]
    assert ours in FOUNDATION or ours in ALLOWED, f"say in ALLOWED what the new part {ours} may import"
    allowed = FOUNDATION if ours in FOUNDATION else FOUNDATION | {ours, "__version__"} | ALLOWED[ours]
    wrong = [module for module in imported(path) if part(module) not in allowed]
    assert not wrong, f"{ours} must not import {wrong}"


def test_no_file_is_too_long() -> None:
    root = PACKAGE.parent
    sources = [
        path
        for folder in ("outcrop", "tests", "bench")
        for suffix in ("py", "c", "h")
        for path in (root / folder).rglob(f"*.{suffix}")
    ]
    lines = {str(path.relative_to(root)): len(path.read_text().splitlines()) for path in sources}
    assert {name for name, count in lines.items() if count > LONGEST} <= {"outcrop/gpu/engine.py"}


def test_every_module_says_what_it_is() -> None:
    bare = [
        str(path) for path in FILES if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert bare == []


def test_no_two_kernels_use_a_name() -> None:
    """They are one translation unit in the end, but what a model leaves out does not meet in most tests."""
    defined = re.compile(r"^(?:static |inline |EXPORT )+[\w* ]*?\*?(\w+)\([^;{]*\{$", re.MULTILINE)
    places: dict[str, set[str]] = {}
    for path in sorted((PACKAGE / "native").iterdir()):
        text = re.sub(r"__attribute__\(\(.*?\)\) ", "", path.read_text(encoding="utf-8"))
        for name in defined.findall(text):
            places.setdefault(name, set()).add(path.name)
    assert len(places) > 200
    assert {name: files for name, files in places.items() if len(files) > 1} == {}
