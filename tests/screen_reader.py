"""A page as a screen reader has it."""

from __future__ import annotations

from typing import Any

#: Roles of elements that a screen reader must be able to name.
_NAMED = {"button", "link", "checkbox", "searchbox", "textbox", "spinbutton", "slider", "img", "image"}


def roles_and_names(browser: Any) -> list[tuple[str, str]]:
    """The controls and pictures of a page, as a screen reader has them."""
    nodes = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    found = [(each["role"]["value"], each.get("name", {}).get("value", "")) for each in nodes if not each["ignored"]]
    return [(role, name.strip()) for role, name in found if role in _NAMED]
