"""``.ltl`` files."""

from __future__ import annotations

import pytest

from outcrop.errors import ModelError
from outcrop.ltl.file import formula_texts, parse_file
from outcrop.source import Source

FILE = r"""Properties of the lock.
#define wait0 P_0.p1 or \
  P_0.p2
  #define cs0   P_0.CS // inside
#define Busy  cs0 and not wait0
#define loop  loop > 0

The first one says that nobody starves.
#property G (wait0 -> F (cs0) )
 # property GFcs0 || !wait0UBusy
#property G \
  {P_1.CS}
"""


def test_file() -> None:
    file = parse_file(Source("lock.ltl", FILE))
    assert [str(each.formula) for each in file.properties] == [
        "G(wait0 -> F cs0)",
        "GF cs0 || !wait0 U Busy",
        "G {P_1.CS}",
    ]
    assert formula_texts(file, ())[2].name == "G {P_1.CS}"
    texts = {name: " ".join(each.text.split()) for name, each in file.definitions.items()}
    assert texts == {
        "wait0": "P_0.p1 or P_0.p2",
        "cs0": "P_0.CS",
        "Busy": "(P_0.CS) and not (P_0.p1 or P_0.p2)",
        "loop": "loop > 0",
    }
    assert file.definitions["cs0"].span.line == 4
    assert [span.line for span in file.properties[1].propositions.values()] == [10, 10, 10]


def test_mistakes_are_all_reported() -> None:
    text = "#define\n#define p(i) x\n#define p\n#define and 1\n#define q 1\n#define q 2\n#property G r\n#property G (\n"
    with pytest.raises(ModelError) as caught:
        parse_file(Source("wrong.ltl", text))
    found = [(each.span.line, each.message) for each in caught.value.diagnostics if each.span]
    assert found == [
        (1, "expected a name after #define"),
        (2, "'p' is a macro with parameters, which is not supported"),
        (3, "'p' is defined as nothing"),
        (4, "'and' is a reserved word of formulas"),
        (6, "'q' is defined twice"),
        (7, "'r' is not defined"),
        (8, "expected a proposition, a prefix operator or '(', found the end of the formula"),
    ]


def test_other_lines_are_remarks() -> None:
    file = parse_file(Source("empty.ltl", "nothing here\n// #define p x\n"))
    assert (file.definitions, file.properties) == ({}, ())
