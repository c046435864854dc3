"""The skill: a text that tells an agent when and how to use the tools."""

from __future__ import annotations

from pathlib import Path


def skill() -> str:
    """Returns the skill as Markdown."""
    return (Path(__file__).parent / "SKILL.txt").read_text(encoding="utf-8")
