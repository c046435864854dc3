"""The HTML report as a file: it is self-contained, and text of a model cannot become markup."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY

import outcrop
from outcrop.errors import UsageError
from outcrop.lang.registry import LANGUAGES
from outcrop.report.page import page

HOSTILE = '</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>&amp;{{script}}\u2028"'


class Reader(HTMLParser):
    """The contents that a browser would see: elements with their attributes, and the text of each script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts[-1] += data
        else:
            self.text += data


def document(**changes: Any) -> dict[str, Any]:
    result = outcrop.load(REPOSITORY / "examples" / "bounded_buffer.m").check(engine="interpreter", coverage=True)
    return {**result.to_dict(), **changes}


def test_fetches_nothing() -> None:
    reader = Reader(page(document()))
    assert {tag for tag, _ in reader.elements} <= {
        *("html", "head", "meta", "title", "style", "body", "header", "h1", "strong", "p", "main", "noscript"),
        *("footer", "script"),
    }
    assert not any({"src", "href", "style"} & set(attributes) for _, attributes in reader.elements)
    policy = next(each["content"] for _, each in reader.elements if each.get("http-equiv"))
    assert policy and policy.startswith("default-src 'none'; script-src 'sha256-")
    ours = re.sub(r'<script type="application/json".*?</script>', "", page(document()), flags=re.DOTALL)
    assert re.findall(r"https?://[^\"' ]+", ours) == ["http://www.w3.org/2000/svg"]  # a name, not an address
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|innerHTML|eval\(", ours)


def test_carries_the_whole_document() -> None:
    given = document()
    carried = json.loads(Reader(page(given)).scripts[0])
    charts = [each.pop("chart") for each in carried["violations"]]
    assert [len(each["rows"]) for each in charts] == [len(given["trace"]["states"])]
    assert carried == {**given, "trace": None}
    assert carried["violations"][0]["trace"] == given["trace"]


@pytest.mark.parametrize("key", ["model", "guarantee", "kind", "version"])
@pytest.mark.parametrize("verdict", ["holds", "unknown", "violated"])
def test_hostile_text_stays_text(key: str, verdict: str) -> None:
    given = document(verdict=verdict, **{key: HOSTILE})
    given["violations"][0]["message"] = given["coverage"][0]["name"] = HOSTILE
    given["violations"][0]["trace"]["states"][1]["#meta"]["rule"] = HOSTILE
    reader, plain = Reader(page(given)), Reader(page(document(verdict=verdict)))
    assert [tag for tag, _ in reader.elements] == [tag for tag, _ in plain.elements]
    assert json.loads(reader.scripts[0])["coverage"][0]["name"] == HOSTILE
    assert reader.scripts[1] == plain.scripts[1]
    if key == "model":
        assert HOSTILE in reader.text


@pytest.mark.parametrize(
    "wrong", [[], {}, {"verdict": "maybe"}, document(verdict="proved"), document(levels=7), document(seconds="1")]
)
def test_refuses_what_is_no_result(wrong: Any) -> None:
    with pytest.raises(UsageError, match="JSON document"):
        page(wrong)


def test_sentences() -> None:
    def heading(**changes: Any) -> str:
        return re.sub(r"\s+", " ", Reader(page(document(**changes))).text)

    assert 'Violated. Invariant "the oldest item is still there" is false. A run of 4 steps shows it.' in heading()
    assert "Holds. No violation in any reachable state. Exact:" in heading(verdict="holds", violations=[])
    bound = "the probability that a state was missed is at most 1e-07"
    assert f"No violation in any state that was reached. T{bound[1:]}." in heading(
        verdict="holds", violations=[], guarantee=bound
    )
    assert "Unknown. Time limit reached; no violation in the 9 states" in heading(
        verdict="unknown", violations=[], kind="time limit reached"
    )


def test_parts_are_installed_with_the_package() -> None:
    parts = {path.name for path in (Path(outcrop.__file__).parent / "report" / "html").iterdir()}
    assert {"report.html", "report.css", "page.js"} <= parts


def test_source_is_highlighted_in_every_language() -> None:
    """The page cannot ask the front-ends for their words, so that it has lists of its own."""
    script = (REPOSITORY / "outcrop/report/html/source.js").read_text()
    words = {name: found.split() for name, found in re.findall(r'^  (\w+): \{.*words: "([^"]*)"', script, re.MULTILINE)}
    others = dict(re.findall(r'(\w+): "(\w+)"', script.partition("const SUFFIXES = {")[2].partition("}")[0]))
    for language in LANGUAGES:
        assert language.editing is not None
        module, _, name = language.editing.partition(":")
        services = getattr(import_module(module), name)
        colours = services.highlighting
        known = services.keywords | (colours.types | colours.constants | colours.functions if colours else set())
        for suffix in (each.removeprefix(".") for each in language.suffixes):
            assert known <= set(words[others.get(suffix, suffix)]), f"words of .{suffix} in source.js"


def brightness(color: str) -> float:
    """The relative luminance of WCAG."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_text_can_be_read_on_its_ground() -> None:
    style = (REPOSITORY / "outcrop/report/html/report.css").read_text()
    themes = [
        dict(re.findall(r"--([\w-]+): (#\w{6});", each)) for each in re.findall(r"{([^{}]*--paper:[^{}]*)}", style)
    ]
    assert len(themes) == 2
    pairs = [
        (text, ground) for text in ("ink", "soft", "faint", "bad", "good", "changed") for ground in ("paper", "panel")
    ]
    for theme in themes:
        for text, ground in (*pairs, ("changed", "changed-wash"), ("soft", "changed-wash"), ("ink", "bad-wash")):
            dark, light = sorted(brightness(theme[each]) for each in (text, ground))
            assert (light + 0.05) / (dark + 0.05) >= 4.5, f"{text} on {ground}: {theme[text]} on {theme[ground]}"
