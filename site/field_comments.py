"""Documentation of fields on the site: ``#:`` comments become docstrings of attributes, which mkdocstrings shows."""

from __future__ import annotations

import re
from typing import Any

from griffe import Attribute, Docstring, Extension

_COMMENT = re.compile(r"#: (.*)$")


class FieldComments(Extension):
    """Reads the comment at the end of an attribute's line."""

    def on_attribute_instance(self, *, attr: Attribute, **_: Any) -> None:
        """Gives an attribute the text of its comment as a docstring."""
        if attr.docstring is None and attr.lines:
            comment = _COMMENT.search(attr.lines[-1])
            if comment:
                text = comment[1]
                attr.docstring = Docstring(f"{text[0].upper()}{text[1:].rstrip('.')}.", parent=attr)
