"""The page of options agrees with the parser."""

from __future__ import annotations

import runpy
from pathlib import Path

from outcrop.cli.parser import build_parser

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/options.md"


def test_the_page_of_options_is_current() -> None:
    generated = runpy.run_path(str(ROOT / "tests/docs/options_page.py"))["page"]()
    update = "python tests/docs/options_page.py > docs/reference/options.md"
    assert PAGE.read_text(encoding="utf-8") == generated, f"update the page with: {update}"


def test_every_option_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, verb in build_parser().verbs.items():
        assert f"## `outcrop {name}`" in text
        options = [option for action in verb._actions for option in action.option_strings]
        assert [option for option in options if option not in ("-h", "--help") and option not in text] == []
