"""``outcrop ltl``."""

from __future__ import annotations

import json
from collections.abc import Callable

from conftest import Run

Cli = Callable[..., Run]


def test_text(cli: Cli) -> None:
    run = cli("ltl", "GFp")
    assert run.code == 0
    assert run.out.splitlines()[:2] == ["GF p", "2 states, 4 transitions; general, deterministic"]


def test_negate(cli: Cli) -> None:
    run = cli("ltl", "--negate", "G (p -> F q)")
    assert run.out.splitlines()[0] == "!G(p -> F q)"
    assert run.out.splitlines()[1].startswith("2 states, 3 transitions; weak")


def test_json(cli: Cli) -> None:
    document = json.loads(cli("ltl", "p U {x > 3}", "--json").out)
    assert document["formula"] == "p U {x > 3}"
    assert document["propositions"] == [{"text": "p", "verbatim": False}, {"text": "x > 3", "verbatim": True}]
    assert document["strength"] == "terminal"
    assert {"source": 0, "target": 1, "true": [1], "false": []} in document["transitions"]


def test_dot(cli: Cli) -> None:
    out = cli("ltl", "F p", "--dot").out
    assert out.startswith("digraph automaton {")
    assert '0 -> 1 [label="p"];' in out


def test_mistake(cli: Cli) -> None:
    run = cli("ltl", "G (p -> ")
    assert (run.code, run.out) == (2, "")
    assert run.err.splitlines()[0].startswith("formula:1:9: error: expected a proposition")


def test_too_large(cli: Cli) -> None:
    run = cli("ltl", " && ".join(f"F p{index}" for index in range(14)))
    assert run.code == 2
    assert run.err.startswith("outcrop: the automaton of this formula has more than")
