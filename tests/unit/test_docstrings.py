"""The mechanical part of the house style of docstrings: a first line that stands alone.

The docstring of a function begins with a verb ("Returns ...", "Raises ..."). That of a property is read like an
attribute and may begin with a noun. Docstrings of modules and classes begin with a noun phrase or a sentence. None
begins as a fragment does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "outcrop"

#: Beginnings of fragments, and of questions that a name should answer.
FRAGMENT = re.compile(r"(Of|What|How|Where|Which|Whose|That of|Those|The same|Like|Also|Once|Is|Are|Can|May|Might)\b")
#: A third-person verb, perhaps after an adverb: Returns, Type-checks, Never returns, Also counts.
VERB = re.compile(r"(?:(?:Never|Always|Only|Recursively) )?[A-Z][a-z]+(?:-[a-z]+)?s\b(?!')")
#: Words that look like verbs and begin noun phrases.
NOUNS = re.compile(r"(This|His|Its|Bits|Bytes|Values|States|Levels|Names|Seconds|Numbers|Rows|Lines|Rules|Cores)\b")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def documented() -> Iterator[tuple[str, ast.AST, str]]:
    """Yields the place, the node and the docstring of everything in the package that has one."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | Function):
                text = ast.get_docstring(node)
                if text:
                    yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}", node, text


def is_read_like_an_attribute(node: Function) -> bool:
    return any("property" in ast.unparse(each) for each in node.decorator_list)


def test_no_docstring_begins_as_a_fragment_does() -> None:
    wrong = [f"{place}: {text.splitlines()[0]}" for place, _, text in documented() if FRAGMENT.match(text)]
    assert wrong == [], "name the thing first, then say what it does"


def test_docstrings_of_functions_begin_with_a_verb() -> None:
    wrong = [
        f"{place}: {text.splitlines()[0]}"
        for place, node, text in documented()
        if isinstance(node, Function) and not is_read_like_an_attribute(node)
        if not VERB.match(text) or NOUNS.match(text)
    ]
    assert wrong == [], 'begin with a verb, as in "Returns whether ..."'


def test_docstrings_end_as_sentences_do() -> None:
    """The first paragraph ends with a full stop, or with a colon before an example."""
    wrong = [
        f"{place}: {first[-60:]}"
        for place, _, text in documented()
        if not re.search(r"[.:]\)?$", first := text.split("\n\n")[0].rstrip())
    ]
    assert wrong == [], "end the first paragraph with a full stop"
