"""The services of the DVE front-end for editors."""

from __future__ import annotations

import re

from outcrop.lang.dve.index import DveIndex, index
from outcrop.lang.dve.layout import layout
from outcrop.lang.dve.lexer import KEYWORDS
from outcrop.lang.editing import Declaration, Editing, Highlighting, Index
from outcrop.lang.facts import facts_of_system

_PREFIX = re.compile(r"([A-Za-z_]\w*)\s*(\.|->)\s*\w*\Z")


def members(known: Index, offset: int) -> list[Declaration]:
    """Returns the states of the process before a dot, or the variables of the one before an arrow."""
    assert isinstance(known, DveIndex)
    match = _PREFIX.search(known.source.text[max(0, offset - 200) : offset])
    process = known.root.find(match.group(1)) if match else None
    if match is None or process not in known.own:
        return []
    return list((known.states[process] if match.group(2) == "." else known.own[process].names).values())


EDITING = Editing(
    identifier="dve",
    keywords=KEYWORDS,
    highlighting=Highlighting(
        types=frozenset(("byte", "int", "channel")),
        constants=frozenset(("true", "false")),
        functions=frozenset(),
        line_comment="//",
    ),
    index=index,
    facts=facts_of_system,
    members=members,
    layout=layout,
)
