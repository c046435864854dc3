"""Unreached code of Promela models: the states that SPIN lists."""

from __future__ import annotations

from pathlib import Path

import outcrop

UNREACHED = """chan c = [1] of { byte }; chan r = [0] of { byte }; byte x;
proctype Never() { x = 5; x = 6 }
proctype Q() { byte k; r?k; if :: k == 9 -> printf("hi") :: else -> skip fi;
  atomic { x = 1; if :: x == 2 -> goto out :: x == 1 -> x = 0 fi }; x = 4; out: skip }
active proctype P() { byte z;
  if :: run Q() :: x == 3 -> run Never() fi;
  r!3;
  d_step { z = 1; if :: z == 2 -> z = 3 :: else -> z = 4 fi; z = 5 };
  do :: c!1 :: c?z :: z == 77 -> break od;
  x = 2; goto done; x = 7; done: { x = 8 } unless { x == 9; x = 10 }
}
"""


def test_unreached_code_is_that_of_spin(tmp_path: Path) -> None:
    (tmp_path / "m.pml").write_text(UNREACHED)
    result = outcrop.load(tmp_path / "m.pml").check(deadlock="off", engine="interpreter")
    found = {each["process"]: each for each in result.to_dict()["unreached"]}
    lines = {
        name: [(at["position"]["line"], at["state"], text) for at in each["places"] for text in at["statements"]]
        for name, each in found.items()
    }
    # The figures are those of spin -a -o1 -o2 -o3 and pan -E, version 6.5.2.
    assert {name: each["states"] for name, each in found.items()} == {"Never": 3, "Q": 18, "P": 32}
    assert lines == {
        "Never": [(2, 1, "x = 5"), (2, 2, "x = 6"), (2, 3, "-end-")],
        "Q": [(3, 3, 'printf("hi")')],
        "P": [
            (6, 3, "run Never()"),
            (10, 23, "x = 2"),
            (10, 25, "x = 7"),
            (10, 28, "x = 10"),
            (10, 31, "x == 9"),
            (10, 31, "x = 8"),
            (11, 32, "-end-"),
        ],
    }


def test_choices_and_loops_are_unreached_where_spin_says_so(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    path.write_text(
        "byte x, y; active proctype P() { x == 9; do :: goto out; x = 1 :: goto out od; y = 3; out: skip;"
        " atomic { goto over; select (y : 0 .. 2); x = 8 }; over: skip }"
        "active proctype Q() { byte t; x = 1; atomic { y = 1; do :: t > 0 -> t = t - 1 :: else -> break od; y = 2 };"
        " atomic { t = 2; do :: t > 0 -> t = t - 1 :: else -> break od; y = 0 } }"
    )
    result = outcrop.load(path).check(deadlock="off", engine="interpreter")
    found = {each["process"]: [place["state"] for place in each["places"]] for each in result.to_dict()["unreached"]}
    assert found == {"P": [3, 8, 16, 19], "Q": [4]}


def test_first_loops_are_unreached_and_those_that_begin_with_break_are_not_listed(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    path.write_text(
        "byte g; active proctype Loop() { if :: do :: g -> break od; g = 1 fi }"
        "active proctype Jump() { if :: d_step { g == 7; g = 1 } fi; do :: break :: 0 > g -> break od }"
        "active proctype Named() { if :: g == 7 -> skip fi; do :: goto L :: 0 > g -> break od; L: skip }"
        "active proctype Guarded() { g == 7; { do :: break :: 0 > g -> break od } unless { g == 6 } }"
    )
    result = outcrop.load(path).check(deadlock="off", engine="interpreter")
    found = {each["process"]: [place["state"] for place in each["places"]] for each in result.to_dict()["unreached"]}
    assert found == {"Loop": [3, 6, 9], "Jump": [12], "Named": [12], "Guarded": [5, 11]}


def test_what_an_unless_begins_with_is_unreached_where_spin_says_so(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    path.write_text(
        "active proctype Choice() { byte x; if :: { if :: if :: x = 1 fi fi; x = 2 } unless { x == 0 -> x = 3 } fi }"
        "active proctype Block() { byte x; if :: { { x = 1; x = 4 }; x = 2 } unless { x == 0 -> x = 3 } fi }"
        "active proctype Step() { byte x; if :: { x = 1; x = 2 } unless { x == 0 -> x = 3 } fi }"
        "active proctype Atomic() { byte x; if :: { atomic { if :: x = 1 fi } } unless { x == 0 -> x = 3 } fi }"
        "active proctype Whole() { byte x; if :: atomic { x = 3; x = 4 } unless { x == 0 -> x = 1 } fi }"
        "active proctype Inner() { byte x; if :: { if :: x = 1 fi; x = 2 } unless { x == 9 -> x = 3 } fi }"
        "active proctype Escape() { byte x; { x = 1; x = 2 } unless { { if :: x == 5 fi; x = 2 } unless { x == 0 } } }"
    )
    result = outcrop.load(path).check(deadlock="off", engine="interpreter")
    found = {each["process"]: [place["state"] for place in each["places"]] for each in result.to_dict()["unreached"]}
    assert found == {
        "Choice": [4, 6],
        "Block": [2, 3, 4],
        "Step": [2],
        "Atomic": [],
        "Whole": [2, 5],
        "Inner": [6],
        "Escape": [6],
    }
