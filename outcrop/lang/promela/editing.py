"""The services of the Promela front-end for editors."""

from __future__ import annotations

import re
from collections.abc import Mapping

from outcrop.lang.editing import Declaration, Editing, Facts, Highlighting, Index, Kind
from outcrop.lang.facts import facts_of_system
from outcrop.lang.promela.index import PromelaIndex, index
from outcrop.lang.promela.layout import layout
from outcrop.lang.promela.lexer import KEYWORDS
from outcrop.lang.promela.preprocessor import Preprocessor

_PREFIX = re.compile(r"([A-Za-z_]\w*(?:\[[^\]]*\])?(?:\.[A-Za-z_]\w*(?:\[[^\]]*\])?)*)\s*\.\s*\w*\Z")
_BUILTINS = {
    "_pid": "the number of the process",
    "_nr_pr": "the number of processes",
    "_last": "the process that moved last",
    "np_": "no process is at a progress label",
}


def facts(known: Index) -> Mapping[Declaration, Facts]:
    """Returns the numbers that macros stand for, and the types of global variables."""
    found = facts_of_system(known)
    preprocessor = Preprocessor({})
    preprocessor.read(known.source)
    for name, declaration in known.root.names.items():
        value = preprocessor.value_of(name) if declaration.kind is Kind.MACRO else None
        if value is not None:
            found[declaration] = Facts(value=str(value))
    return found


def members(known: Index, offset: int) -> list[Declaration]:
    """Returns the fields of the variable before a dot."""
    assert isinstance(known, PromelaIndex)
    match = _PREFIX.search(known.source.text[max(0, offset - 200) : offset])
    if match is None:
        return []
    names = re.sub(r"\[[^\]]*\]", "", match.group(1)).split(".")
    found = known.region(offset).find(names[0])
    for name in names[1:]:
        found = None if found is None else known.fields.get(known.types.get(found, ""), {}).get(name)
    return [] if found is None else list(known.fields.get(known.types.get(found, ""), {}).values())


EDITING = Editing(
    identifier="promela",
    keywords=KEYWORDS,
    highlighting=Highlighting(
        types=frozenset(("bit", "bool", "byte", "chan", "int", "mtype", "pid", "short", "unsigned")),
        constants=frozenset(("true", "false", *_BUILTINS)),
        functions=frozenset(("empty", "enabled", "eval", "full", "len", "nempty", "nfull", "pc_value")),
        line_comment="//",
        has_preprocessor=True,
    ),
    builtins=_BUILTINS,
    index=index,
    facts=facts,
    members=members,
    layout=layout,
)
