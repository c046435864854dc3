"""Searches past RAM from the command line: options, reports, exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run

from outcrop.strategies import names

MODEL = Path(__file__).parents[2] / "examples" / "german_cache.m"


@pytest.mark.parametrize("strategy", names(past_ram=True))
def test_same_figures_as_ram(cli: Callable[..., Run], strategy: str, tmp_path: Path) -> None:
    ram = json.loads(cli("check", MODEL, "--strategy", "ram", "--json").out)
    exact = ("--keep", "states") if strategy in names(keeps=True) else ()
    run = cli("check", MODEL, "--strategy", strategy, *exact, "--workdir", tmp_path, "--json")
    past = json.loads(run.out)
    assert run.code == 0
    assert past["strategy"] == strategy
    for key in ("verdict", "guarantee", "states", "states_visited", "rules_fired", "levels"):
        assert past[key] == ram[key]


def test_revisits_are_said(cli: Callable[..., Run]) -> None:
    tiny = ("--state-memory", "30K", "--block-states", "64", "--block-size", "64", "--cloud", "0.1", "--beta-high", "1")
    run = cli("check", MODEL, "--strategy", "locality", *tiny)
    assert run.code == 0
    assert "counting revisits" in run.out
    assert "the probability that a state was missed is at most" in run.out
    assert json.loads(cli("check", MODEL, "--strategy", "locality", *tiny, "--json").out)["states"] is None


def test_collision_limit(cli: Callable[..., Run]) -> None:
    run = cli("check", MODEL, "--strategy", "cached", "--state-memory", "5K", "--collision-limit", "0.1")
    assert run.code == 3
    assert "collision limit reached" in run.out


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--collision-limit", "1.5", "collision limit must be from 0 to 1, not 1.5"),
        ("--curve", "0.4", "'0.4' is not of the form A:B,A:B"),
        ("--chain", "1", "chain must be from 2 to 64, not 1"),
        ("--bits", "65", "bits must be from 4 to 64, not 65"),
        ("--slowdown", "much", "'much' is not a number"),
    ],
)
def test_bad_constants(cli: Callable[..., Run], option: str, value: str, message: str) -> None:
    run = cli("check", MODEL, option, value)
    assert run.code == 2
    assert message in run.err


@pytest.mark.parametrize("strategy", ["cached", "disk --keep states"])
def test_a_size_of_signatures_that_none_has(cli: Callable[..., Run], strategy: str) -> None:
    run = cli("check", MODEL, "--strategy", *strategy.split(), "--bits", "30")
    assert run.code == 2
    assert "--keep signatures" in run.err


def test_layers_are_reported(cli: Callable[..., Run], tmp_path: Path) -> None:
    ram = json.loads(cli("check", MODEL, "--strategy", "ram", "--json").out)
    options = (
        "--strategy",
        "layered",
        "--layers",
        "2",
        "--state-memory",
        "4K",
        "--threads",
        "1",
        "--workdir",
        tmp_path,
    )
    found = json.loads(cli("check", MODEL, *options, "--json").out)
    for name in ("verdict", "guarantee", "states", "states_visited", "rules_fired", "levels", "trace"):
        assert found[name] == ram[name]
    assert found["layers"] is None or found["layers"]["rows"]
    assert cli("check", MODEL, "--strategy", "layered", "--layers", "few").code == 2
    assert "--forget" in cli("check", MODEL, "--strategy", "layered", "--forget").err


def test_an_option_of_another_strategy_is_not_ignored(cli: Callable[..., Run]) -> None:
    refused = cli("check", MODEL, "--strategy", "ram", "--layers", "3")
    assert refused.code == 2
    assert "--strategy layered" in refused.err
