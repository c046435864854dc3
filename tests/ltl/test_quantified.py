"""Quantifiers over whole formulas: they mean the same as the formula written out."""

from __future__ import annotations

from pathlib import Path

import pytest

import outcrop
from outcrop.errors import ModelError

_MODEL = """
type Node: 1..3; Id: scalarset(2);
var asked, served: array [Node] of boolean; turn: Node; set: array [Id] of boolean;
startstate begin
  for i: Node do asked[i] := false; served[i] := false end; turn := 1; for x: Id do set[x] := false end;
end;
ruleset i: Node do
  rule "ask" !asked[i] ==> begin asked[i] := true; served[i] := false; end;
  rule "serve" asked[i] & turn = i ==> begin asked[i] := false; served[i] := true; turn := 1 + i % 3; end;
  rule "pass" !asked[i] & turn = i ==> begin turn := 1 + i % 3; end;
end;
ruleset x: Id do rule "set" !set[x] ==> begin set[x] := true; end; end;
"""


def _statuses(directory: Path, *formulas: str, declared: str = "") -> list[str]:
    path = directory / "model.m"
    path.write_text(_MODEL + declared, encoding="utf-8")
    result = outcrop.load(path, ltl=formulas).check(engine="interpreter", deadlock="off")
    return [row.status for row in result.properties if row.kind == "ltl"]


@pytest.mark.parametrize(
    ("quantified", "written_out"),
    [
        ("exists i: Node do G !{served[i]} end", "G !{served[1]} || G !{served[2]} || G !{served[3]}"),
        ("exists i: Node do G F {turn = i} end", "GF {turn = 1} || GF {turn = 2} || GF {turn = 3}"),
        ("G exists i: 1..2 do F {turn = i} endexists", "G (F {turn = 1} || F {turn = 2})"),
        ("F (forall i: Node do {asked[i]} end)", "F ({asked[1]} && {asked[2]} && {asked[3]})"),
        ("F forall i: 1..2; j: 2..3 do {i = j | turn = i} end", "F ({turn = 1} && {turn = 1} && {turn = 2})"),
        ("F exists i: 1..2 do forall i: 2..3 do X {turn = i} end end", "F (X {turn = 2} && X {turn = 3})"),
    ],
)
def test_written_out(quantified: str, written_out: str, tmp_path: Path) -> None:
    one, other = _statuses(tmp_path, quantified, written_out)
    assert one == other


def test_forall_around_a_formula_is_a_property_for_each_value(tmp_path: Path) -> None:
    declared = 'ltl "d" : forall i: Node; x: Id do G ({asked[i] & set[x]} -> F {served[i]}) endforall;'
    assert len(_statuses(tmp_path, "forall i: Node do G F {turn = i} end", declared=declared)) == 3 + 3  # same for x
    (one,) = _statuses(tmp_path, "(forall i: Node do F {served[i]} end)")
    assert one == "violated"


def test_symmetry_does_not_confuse_the_values_of_an_exists(tmp_path: Path) -> None:
    """Each value of the scalarset keeps its identity along a run."""
    stays = "exists x: Id do F ({set[x]} && X !{set[x]}) end"
    assert _statuses(tmp_path, stays, "exists x: Id do G !{set[x]} end || F exists x: Id do {set[x]} end") == [
        "violated",
        "holds",
    ]


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("forall i: Node do G {asked[i]}", "expected an operator or the 'end' of 'forall'"),
        ("exists i: Node G {asked[i]} end", "'exists' lacks its 'do'"),
        ("F exists i: Nodes do {asked[i]} end", "unknown name 'Nodes'"),
        ("exists i: Node do G {asked[j]} end", "unknown name 'j'"),
        ("exists i: 3..2 do G {asked[i]} end", ""),
    ],
)
def test_mistakes(formula: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        _statuses(tmp_path, formula)
    assert message in str(caught.value)


def test_dve_has_none(tmp_path: Path) -> None:
    path = tmp_path / "m.dve"
    path.write_text("process P { state s; init s; } system async;", encoding="utf-8")
    with pytest.raises(ModelError, match="formulas about this model cannot have quantifiers"):
        outcrop.load(path, ltl=["exists i: Node do G {P.s} end"])
