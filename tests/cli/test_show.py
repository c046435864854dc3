"""``outcrop show``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run

Cli = Callable[..., Run]

MODEL = """
const N: 3;
type Node: scalarset(N);
var owner: Node; busy: array [Node] of boolean;
startstate "start" begin undefine owner; for n: Node do busy[n] := false; end; end;
ruleset n: Node do
  rule "take" isundefined(owner) ==> begin owner := n; busy[n] := true; end;
end;
invariant "one owner" !isundefined(owner) -> busy[owner];
ltl "taken": F {!isundefined(owner)};
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "owner.m"
    path.write_text(MODEL)
    return path


def test_summary(cli: Cli, model: Path) -> None:
    run = cli("show", model, "-D", "N=4")
    assert run.code == 0
    lines = [" ".join(line.split()) for line in run.out.splitlines()]
    assert "N 4" in lines
    assert "Variables (11 bits a state)" in lines
    assert "owner 3 bits Node" in lines
    assert "busy 8 bits array [Node] of boolean" in lines
    assert "take line 7 4 instances (n: Node)" in lines
    assert "one owner invariant line 9 1 instance" in lines
    assert "taken ltl line 10 1 instance" in lines


def test_json(cli: Cli, model: Path) -> None:
    run = cli("show", model, "-D", "N=4", "--json")
    assert run.code == 0
    found = json.loads(run.out)
    assert (found["constants"], found["state_bits"]) == ({"N": 4}, 11)
    owner, busy = found["variables"]
    assert (owner["name"], owner["bits"], owner["type"]["kind"]) == ("owner", 3, "scalarset")
    assert (busy["bits"], busy["type"]["text"]) == (8, "array [Node] of boolean")
    (rule,) = found["rules"]
    assert (rule["name"], rule["instances"], rule["position"]["line"]) == ("take", 4, 7)
    assert [each["name"] for each in rule["parameters"]] == ["n"]
    assert [(each["kind"], each["name"]) for each in found["properties"]] == [
        ("invariant", "one owner"),
        ("ltl", "taken"),
    ]


def test_ir(cli: Cli, model: Path) -> None:
    run = cli("show", model, "--ir")
    assert run.code == 0
    for word in ("owner", "busy", "take", "one owner"):
        assert word in run.out
