"""The manual and the examples that come with Outcrop.

A wheel holds both folders inside the package. In a clone, and in an editable install of it, they lie next to it.
A page is found by its topic: its file name without folder and suffix, in lower case.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from outcrop.errors import UsageError

#: Folders of the manual, in the order in which they are listed; pages at the top come first.
FOLDERS = ("", "learn", "guides", "reference", "coming-from", "explanation", "algorithms", "decisions")

#: A relative link to a page: text, path, section.
_LINK = re.compile(r"\[([^\]]*)\]\((?!\w+:)([^)\s#]+\.md)(#[^)\s]*)?\)")
#: A relative link to a section of the same page.
_ANCHOR = re.compile(r"\[([^\]]*)\]\(#[^)\s]*\)")
#: The place where the site shows the documentation of a Python object.
_OBJECT = re.compile(r"^::: (\S+)(?:\n {4}.*)*$", re.MULTILINE)
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def see(topic: str) -> str:
    """Returns the sentence that leads a user to a page of the manual."""
    return f"See: outcrop docs {topic}"


def folder(name: str) -> Path:
    """Returns the directory ``docs`` or ``examples``. Raises ``UsageError`` when this installation lacks it."""
    package = Path(__file__).parent
    for place in (package / name, package.parent / name):
        if place.is_dir():
            return place
    raise UsageError(f"this installation lacks its folder '{name}'. Install outcrop again, from a wheel or a clone")


@cache
def pages() -> Mapping[str, Path]:
    """Returns the pages by topic, in the order in which they are listed."""
    root = folder("docs")
    found: dict[str, Path] = {}
    for name in FOLDERS:
        for path in sorted((root / name).glob("*.md")):
            if path.stem != "index":
                found[path.stem.lower()] = path
    return found


def title(text: str) -> str:
    """Returns the first heading of a page, without the marks of code."""
    heading = _HEADING.search(text)
    return heading[1].replace("`", "") if heading else ""


def page(topic: str) -> str:
    """Returns the text of a page, with links that a terminal can follow. Raises ``UsageError`` for no such topic."""
    known = pages()
    path = known.get(topic.lower().removesuffix(".md").rpartition("/")[2])
    if path is None:
        raise UsageError(
            f"there is no page '{topic}'.{_suggestion(topic.lower(), known)}\n'outcrop docs' lists all pages."
        )
    text = path.read_text(encoding="utf-8")
    text = _LINK.sub(lambda link: _command(link[1], Path(link[2]).stem.lower()), text)
    text = _ANCHOR.sub(lambda link: link[1], text)
    return _OBJECT.sub(lambda each: f"    python -m pydoc {each[1]}", text)


def _command(text: str, topic: str) -> str:
    """Returns a link as text, followed by the command that shows the page."""
    return f"{text} (`outcrop docs {topic}`)" if topic in pages() else text


def _suggestion(topic: str, known: Mapping[str, Path]) -> str:
    """Returns a sentence with pages of a similar topic, or else with pages that have a heading about it."""
    near = difflib.get_close_matches(topic, known, 3, 0.6)
    if near:
        return f" Did you mean {listed(near)}?"
    about = [name for name, path in known.items() if topic in " ".join(_headings(path)).lower()]
    return f" Pages with a section about it: {', '.join(about[:5])}." if about else ""


def _headings(path: Path) -> list[str]:
    return _HEADING.findall(path.read_text(encoding="utf-8"))


def listed(words: Iterable[str]) -> str:
    """Returns words as an enumeration: ``a``, ``a or b``, ``a, b or c``."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def examples() -> Mapping[str, Path]:
    """Returns the examples by file name."""
    return {path.name: path for path in sorted(folder("examples").iterdir()) if path.is_file()}


def example(name: str) -> Path:
    """Returns the example of that name. The suffix may be omitted if it is unambiguous. Raises ``UsageError``."""
    known = examples()
    matches = [name] if name in known else [each for each in known if Path(each).stem == name]
    if len(matches) == 1:
        return known[matches[0]]
    near = matches or difflib.get_close_matches(name, known, 3, 0.5)
    hint = f" Did you mean {listed(near)}?" if near else ""
    problem = f"there are {len(matches)} examples '{name}'." if matches else f"there is no example '{name}'."
    raise UsageError(f"{problem}{hint}\n'outcrop examples' lists all examples.")


def summary(path: Path) -> str:
    """Returns the first line of an example, which says what it models."""
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.strip('-/*#" ')
        if words:
            return words
    return ""
