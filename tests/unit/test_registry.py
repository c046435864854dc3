"""The registry of strategies agrees with the code, the command line and the docs."""

from __future__ import annotations

import dataclasses
import inspect
from collections import Counter
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from outcrop.check.refusals import refuse_unused_options
from outcrop.cli.check import check_options
from outcrop.cli.parser import build_parser
from outcrop.declared import flag_of
from outcrop.errors import UsageError
from outcrop.options import CheckOptions, Engine, Keep, LoadOptions
from outcrop.strategies import OWN_OPTIONS, STRATEGIES, Strategy, names, own_options, table, takers

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs" / "guides" / "strategies.md"
OPTIONS = [declared for _, declared, _ in own_options()]


def given(*words: str) -> CheckOptions:
    """Returns the options of a check on the command line."""
    return check_options(build_parser().parse(["check", "model.m", *words]))


@pytest.fixture
def help_text(monkeypatch: pytest.MonkeyPatch) -> str:
    """Returns the help of check, with no line broken."""
    monkeypatch.setenv("COLUMNS", "10000")
    return " ".join(build_parser().verbs["check"].format_help().split())


def default_words(declared: dataclasses.Field[Any]) -> list[str]:
    """Returns the words with which a user asks for the default; nothing if the option has to be left out."""
    default, flag = declared.default, flag_of(declared.name)
    if default is None or default is False:
        return []
    if default is True:
        return [flag, "on"]
    return [flag, declared.metadata["shown"] or str(default)]


# --- The registry ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=lambda each: each.name)
def test_a_strategy_has_a_search(strategy: Strategy) -> None:
    inspect.signature(strategy.function()).bind("native", "options", "context")


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=lambda each: each.name)
def test_a_strategy_says_what_it_is(strategy: Strategy) -> None:
    assert strategy.summary and strategy.remembers and strategy.promises
    assert all(dataclasses.is_dataclass(each) for each in strategy.options)
    assert [each for each in strategy.kernels or () if not (REPOSITORY / "outcrop/native" / each).is_file()] == []


@pytest.mark.parametrize("declared", OPTIONS, ids=lambda each: each.name)
def test_an_option_has_a_default_and_help(declared: dataclasses.Field[Any]) -> None:
    assert declared.default is not dataclasses.MISSING
    assert declared.metadata.get("help")


def test_no_two_options_have_a_name() -> None:
    kinds = (CheckOptions, LoadOptions)
    common = [each.name for kind in kinds for each in dataclasses.fields(kind) if each.name != "own"]
    counted = Counter([*common, *(declared.name for declared in OPTIONS)])
    assert len(OPTIONS) > 10
    assert [name for name, count in counted.items() if count > 1] == []


# --- The command line ------------------------------------------------------------------------------------------


def test_every_strategy_can_be_named() -> None:
    assert [given("--strategy", name).strategy for name in names()] == names()


def test_nothing_else_can_be_named() -> None:
    unlisted = [name for name in STRATEGIES if name not in names()]
    for name in (*unlisted, "none of them"):
        with pytest.raises(UsageError, match="there is no strategy"):
            given("--strategy", name)


def test_help_lists_the_strategies(help_text: str) -> None:
    assert f"--strategy {{{','.join(names())}}} " in help_text
    assert [name for name in names() if f"{name}: {STRATEGIES[name].summary}" not in help_text] == []


@pytest.mark.parametrize("declared", OPTIONS, ids=lambda each: each.name)
def test_the_command_line_takes_an_option(declared: dataclasses.Field[Any]) -> None:
    assert given(*default_words(declared)) == given() == CheckOptions()
    flag = flag_of(declared.name)
    if declared.default is False:
        assert given(flag).own == {declared.name: True}
    if declared.default is True:
        assert given(flag, "off").own == {declared.name: False}
    if declared.default is None:
        assert given(flag, "1").own == {declared.name: 1}


def test_help_lists_the_options(help_text: str) -> None:
    assert [each.name for each in OPTIONS if f"{flag_of(each.name)} " not in help_text] == []
    assert [each.name for each in OPTIONS if each.metadata["help"] not in help_text] == []


@pytest.mark.parametrize("declared", OPTIONS, ids=lambda each: each.name)
def test_values_out_of_bounds_are_refused(declared: dataclasses.Field[Any]) -> None:
    bounds = {"least": -1, "most": 1}
    for beyond in [limit + step for name, step in bounds.items() if (limit := declared.metadata[name]) is not None]:
        with pytest.raises(UsageError, match="must be"):
            CheckOptions(**{declared.name: beyond})


def other_value(name: str) -> Any:
    """Returns a permitted value of an option that is not its default."""
    default = OWN_OPTIONS[name].default if name in OWN_OPTIONS else None
    known = {"keep": Keep.STATES, "bits": 30, "layers": 3, "chain": 8, "curve": ((0.5, 0.4), (0.7, 0.6))}
    if name in known or default is None:
        return known.get(name, 1)
    if isinstance(default, StrEnum):
        return next(each for each in type(default) if each is not default)
    return not default if isinstance(default, bool) else default / 2 if isinstance(default, float) else default + 1


@pytest.mark.parametrize("name", ["keep", "bits", *OWN_OPTIONS])
def test_an_option_of_other_strategies_is_refused(name: str) -> None:
    assert takers(name)
    for strategy in names():
        options = CheckOptions(strategy=strategy, **{name: other_value(name)})
        if name == "bits" and strategy in names(keeps=True):
            options = replace(options, keep=Keep.SIGNATURES)
        if strategy in takers(name):
            refuse_unused_options(options, has_checks=False, visits_all=True)
        else:
            with pytest.raises(UsageError, match=flag_of(name)):
                refuse_unused_options(options, has_checks=False, visits_all=True)


def test_an_option_of_the_search_for_runs_is_taken_only_with_formulas() -> None:
    options = CheckOptions(compact=True)
    refuse_unused_options(options, has_checks=True, visits_all=True)
    with pytest.raises(UsageError, match="--compact"):
        refuse_unused_options(options, has_checks=False, visits_all=True)
    with pytest.raises(UsageError, match="--compact"):
        refuse_unused_options(replace(options, engine=Engine.INTERPRETER), has_checks=True, visits_all=True)


# --- The docs --------------------------------------------------------------------------------------------------


def test_the_table_in_the_docs_is_that_of_the_registry() -> None:
    _, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- registry -->\n")
    shown, marker, _ = rest.partition("<!-- /registry -->")
    assert marker, f"{PAGE} has no table between its markers"
    assert shown == table(), f"put what 'python -m outcrop.strategies' prints between the markers of {PAGE}"
