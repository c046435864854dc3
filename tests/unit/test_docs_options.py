"""The page of options is what the parser says."""

from __future__ import annotations

from pathlib import Path

from outcrop.cli.options_page import page
from outcrop.cli.parser import build_parser

PAGE = Path(__file__).parents[2] / "docs/reference/options.md"


def test_the_page_of_options_is_current() -> None:
    update = "python -m outcrop.cli.options_page > docs/reference/options.md"
    assert PAGE.read_text(encoding="utf-8") == page(), f"update the page: {update}"


def test_every_option_is_on_the_page() -> None:
    text = page()
    for name, verb in build_parser().verbs.items():
        assert f"## `outcrop {name}`" in text
        for action in verb._actions:
            assert all(option in text for option in action.option_strings if option not in ("-h", "--help"))
