"""Single-file pages: style, script and data in one HTML file, with hashes for its content security policy.

Model text is untrusted. It enters a page as data (JSON in which no ``<`` is left) and escaped in headings.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_PARTS = Path(__file__).parent / "html"
_SLOT = re.compile(r"\{\{(\w+)\}\}")


def style_of(names: Sequence[str]) -> str:
    """Returns the text of style sheets, one after the other."""
    return "\n".join(_part(name) for name in names)


def script_of(names: Sequence[str]) -> str:
    """Returns scripts as one, in a scope of its own."""
    return '"use strict";\n(() => {\n' + "\n".join(_part(name) for name in names) + "\n})();\n"


def assembled(template: str, slots: Mapping[str, str], document: dict[str, Any]) -> str:
    """Returns a page: a template with its slots filled, ``document`` included."""
    filled = {**slots, "document": _data(document)}
    # All slots are filled in one pass, so that inserted text is not searched for slots.
    return _SLOT.sub(lambda slot: filled[slot[1]], _part(template))


def hashed(text: str) -> str:
    """Returns the source expression of a content security policy that allows a text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def escaped(text: str) -> str:
    """Returns a text for the inside of an element."""
    return html.escape(text).encode("utf-8", "backslashreplace").decode()


def _part(name: str) -> str:
    return (_PARTS / name).read_text(encoding="utf-8")


def _data(document: dict[str, Any]) -> str:
    """Returns JSON that cannot end a script element or begin a comment in one. It is ASCII, safe in any encoding."""
    text = json.dumps(document, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
