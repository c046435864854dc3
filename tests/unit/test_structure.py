"""The structure of the code: permitted imports, lengths of files, and places of imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from outcrop.lang.registry import LANGUAGES

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "outcrop"

FOUNDATION = {
    "reading",
    "",
    "source",
    "errors",
    "garbage",
    "interrupts",
    "options",
    "units",
    "machine",
    "outcome",
    "scratch",
    "strategies",
    "manual",
    "declared",
}
#: For each part of the package, the parts it may import when it runs; every part may import itself and the foundation.
#: Imports for type checkers alone do not count.
ALLOWED = {
    "ir": set(),
    "ltl": {"ir"},
    "model": set(),
    "lang": {"ir", "ltl", "model"},
    "kernels": set(),
    "reduction": {"ir"},
    "codegen": {"ir", "kernels", "reduction"},
    "store": {"kernels"},
    "dist": {"kernels", "store"},
    "explorer": {"kernels", "store", "dist"},
    "search": {"kernels", "store", "explorer"},
    "oracle": {"ir", "explorer", "reduction"},
    "gpu": {"ir", "codegen", "kernels", "explorer", "search"},
    "views": {"ir"},
    "handle": set(),
    "result": {"ir", "views"},
    "sweeps": {"result"},
    "trace": {"ir", "ltl", "result"},
    "check": {
        *("ir", "ltl", "oracle", "reduction", "codegen", "store", "dist", "explorer", "search", "gpu", "trace"),
        "result",
    },
    "report": {"ir", "result", "trace"},
    "api": {"ir", "lang", "ltl", "dist", "check", "report", "result", "handle", "sweeps"},
    "pytest_plugin": {"api", "model", "report", "result", "trace"},
    "saved": {"report"},
    "testing": {"lang", "model"},
    "mypy_plugin": set(),
    "tracing": set(),
    "tools": {"ir", "codegen", "kernels", "explorer", "search", "trace", "report", "result", "api"},
    "validate": {"ir", "codegen", "kernels", "trace", "report", "result", "api", "views"},
    "testsuite": {"ir", "codegen", "kernels", "trace", "result", "views"},
    "compare": {*("ir", "lang", "codegen", "kernels", "explorer", "search", "trace", "report", "result", "api")},
    "recheck": {*("ir", "codegen", "kernels", "store", "explorer", "check", "trace", "report", "result", "api")},
    "explore": {"ir", "lang", "trace", "result"},
    "serve": {"ir", "lang", "trace", "result", "explore", "api"},
    "sweep": {"report", "api"},
    "reproduce": {"ir", "lang", "codegen", "kernels", "api", "report", "sweep", "tools"},
    "lsp": {"lang", "check", "api"},
    "sandbox": set(),
    "cli": {
        *("ir", "lang", "ltl", "codegen", "dist", "trace", "report", "result", "api", "sandbox"),
        *("tools", "validate", "testsuite", "recheck", "compare", "explore", "serve", "sweep", "reproduce", "lsp"),
        "agents",
    },
    "agents": {"lang"},
    "__main__": {"cli"},
    "__init__": set(),
}
FILES = sorted(PACKAGE.rglob("*.py"))

#: A tool's report on its own results may import reports. All other code leaves reports to the command.
REPORTS = {
    "saved.py",
    "pytest_plugin.py",
    "tools/simulation_report.py",
    "tools/locality_report.py",
    "validate/report.py",
    "recheck/report.py",
    "compare/report.py",
    "sweep/table.py",
    "reproduce/report.py",
}

#: Largest number of lines of a file, by pattern; the first pattern that matches counts.
LONGEST = {
    "outcrop/search/*.py": 200,
    "outcrop/**/*.py": 400,
    "outcrop/**/*.[ch]": 500,
    "outcrop/**/*.cu": 500,
    "tests/**/*.py": 500,
    "tests/**/*.[ch]": 500,
    "bench/**/*.py": 500,
}
#: Files that are longer, with their lengths, which may only decrease.
LONGER = {
    "outcrop/gpu/memory.py": 442,
    "outcrop/ir/nodes.py": 467,
    "outcrop/lang/murphi/syntax.py": 436,
}

Import = ast.Import | ast.ImportFrom


def imports(node: ast.AST, in_function: bool = False) -> Iterator[tuple[Import, bool]]:
    """Yields the imports that a module executes, and whether each is inside a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Import):
            yield child, in_function
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            for each in child.orelse:
                yield from imports(each, in_function)
        else:
            yield from imports(child, in_function or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef))


def imported(path: Path) -> Iterator[str]:
    """Yields the modules of the package that a file imports when it runs, anywhere in it."""
    for node, _ in imports(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif node.module == "outcrop":
            names = [f"outcrop.{each.name}" for each in node.names]
        else:
            names = [node.module or ""]
        yield from (each for each in names if each.split(".")[0] == "outcrop")


def part(module: str) -> str:
    return [*module.split("."), ""][1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_follow_the_rule(path: Path) -> None:
    ours = path.relative_to(PACKAGE).with_suffix("").parts[0]
    assert ours in FOUNDATION or ours in ALLOWED, f"say in ALLOWED what the new part {ours} may import"
    allowed = FOUNDATION if ours in FOUNDATION else FOUNDATION | {ours, "__version__"} | ALLOWED[ours]
    wrong = [module for module in imported(path) if part(module) not in allowed]
    assert not wrong, f"{ours} must not import {wrong}"


def test_reports_are_imported_by_the_command_and_the_public_face() -> None:
    users = {str(path.relative_to(PACKAGE)) for path in FILES if "report" in map(part, imported(path))}
    assert {each for each in users if not each.startswith(("report/", "cli/"))} == {"api.py", *REPORTS}


def test_table_of_imports_has_no_cycles() -> None:
    """Without cycles there is an order in which the package can be read."""
    rest = dict(ALLOWED)
    while rest:
        ready = [name for name, needs in rest.items() if not needs & rest.keys()]
        assert ready, f"each of {sorted(rest)} needs another one"
        for name in ready:
            del rest[name]


def has_reason(lines: list[str], number: int) -> bool:
    """Returns whether a comment on line ``number``, or above its group of imports, says more than a linter asks."""
    comment = lines[number - 1].partition("#")[2]
    if re.sub(r"(noqa|type: ignore)(: ?[\w, ]+|\[[\w, -]*\])?", "", comment).strip("# "):
        return True
    above = lines[number - 2].strip()
    return above.startswith("#") or (above.startswith(("import ", "from ")) and has_reason(lines, number - 1))


def test_imports_inside_functions_have_a_reason() -> None:
    """Accepted reasons are a cycle, an optional dependency, and start-up time."""
    bare = []
    for path in FILES:
        text = path.read_text()
        numbers = [node.lineno for node, in_function in imports(ast.parse(text)) if in_function]
        bare += [f"{path.relative_to(ROOT)}:{each}" for each in numbers if not has_reason(text.splitlines(), each)]
    assert bare == [], "import these at the top, or say in a comment why not"


def test_modules_of_tests_have_names_of_their_own() -> None:
    """Two modules of one name cannot be collected together, wherever they are."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


def test_no_file_is_too_long() -> None:
    lengths: dict[str, int] = {}
    too_long: dict[str, int] = {}
    for pattern, most in LONGEST.items():
        for path in ROOT.glob(pattern):
            name = str(path.relative_to(ROOT))
            if name not in lengths:
                lengths[name] = len(path.read_text().splitlines())
                too_long |= {name: lengths[name]} if lengths[name] > most else {}
    assert {name: count for name, count in too_long.items() if count > LONGER.get(name, 0)} == {}
    assert LONGER.keys() <= too_long.keys(), "these have become short enough: take them out of LONGER"


def test_every_module_says_what_it_is() -> None:
    bare = [
        str(path) for path in FILES if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert bare == []


def _code_words(tree: ast.AST) -> Iterator[str]:
    """Yields names, imports and texts of a module, without docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and _has_docstring(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        else:
            yield from (str(getattr(node, name)) for name in ("id", "attr", "arg", "name") if hasattr(node, name))


def _has_docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return bool(node.body) and isinstance(node.body[0], ast.Expr)


def test_only_front_ends_name_a_language() -> None:
    """A new language is a folder in lang/ and a line in its registry. The tables of the papers need their models."""
    # Outcrop is written in Python, which is therefore named everywhere.
    others = [each for each in LANGUAGES if each.name != "Python"]
    words = {word for each in others for word in (each.name, each.front_end.split(".")[2])}
    named = re.compile("|".join(rf"(?<![a-z]){word}(?![a-z])" for word in words), re.IGNORECASE)
    suffixes = {suffix for each in others for suffix in (*each.suffixes, *each.refused)}
    found = []
    for path in FILES:
        place = str(path.relative_to(PACKAGE))
        if not place.startswith(("lang/", "reproduce/", "cli/reproduce.py")):
            text = ast.parse(path.read_text())
            found += [(place, word) for word in _code_words(text) if named.search(word) or word in suffixes]
    assert found == []


def test_no_two_kernels_use_a_name() -> None:
    """All kernels form one translation unit, but most tests leave some of them out."""
    defined = re.compile(r"^(?:static |inline |EXPORT )+[\w* ]*?\*?(\w+)\([^;{]*\{$", re.MULTILINE)
    places: dict[str, set[str]] = {}
    for path in sorted((PACKAGE / "native").iterdir()):
        text = re.sub(r"__attribute__\(\(.*?\)\) ", "", path.read_text(encoding="utf-8"))
        for name in defined.findall(text):
            places.setdefault(name, set()).add(path.name)
    assert len(places) > 200
    assert {name: files for name, files in places.items() if len(files) > 1} == {}
