"""The registry of languages agrees with the command line, the Python API and checkpoints."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import outcrop
from outcrop.cli.parser import build_parser
from outcrop.cli.parser_declared import language_values
from outcrop.declared import flag_of
from outcrop.errors import ModelError, UsageError
from outcrop.lang import language, require_start_state
from outcrop.lang.registry import LANGUAGES, OPTIONS, language_of, language_options, read_options
from outcrop.options import CheckOptions, LoadOptions, given_options
from outcrop.strategies import OWN_OPTIONS

EXAMPLES = Path(__file__).parents[2] / "examples"
VERBS = ("check", "simulate", "explore", "sweep")


def options_of(each: language.Language) -> set[str]:
    return {declared.name for kind in each.options for declared in dataclasses.fields(kind)}


def model_of(each: language.Language) -> str:
    return f"model{each.suffixes[0]}"


def test_no_two_languages_share_a_suffix() -> None:
    suffixes = [suffix for each in LANGUAGES for suffix in (*each.suffixes, *each.refused)]
    assert len(suffixes) == len(set(suffixes))


def test_no_option_has_a_name_twice() -> None:
    names = [declared.name for _, declared, _ in language_options()]
    taken = {*OWN_OPTIONS, *(each.name for each in dataclasses.fields(CheckOptions))}
    assert len(names) == len(set(names)) and not taken & set(names)


@pytest.mark.parametrize("verb", VERBS)
def test_an_option_that_is_not_given_leaves_no_trace(verb: str) -> None:
    assert language_values(build_parser().parse([verb, "model"])) == {}


@pytest.mark.parametrize("each", LANGUAGES, ids=lambda each: each.name)
def test_options_of_other_languages_are_refused_with_a_remedy(each: language.Language) -> None:
    for name in OPTIONS.keys() - options_of(each):
        with pytest.raises(UsageError, match=f"{flag_of(name)} is an option of .*; leave it out"):
            read_options(model_of(each), {name: OPTIONS[name].default})


@pytest.mark.parametrize("each", LANGUAGES, ids=lambda each: each.name)
def test_defaults_are_read_and_not_reported(each: language.Language) -> None:
    load = LoadOptions(own=read_options(model_of(each), {}))
    assert load.language_options().keys() == options_of(each)
    assert given_options(load, CheckOptions()) == {}


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (("--while-limit", "0"), {"while_limit": None}),
        (("--while-limit", "1_000"), {"while_limit": 1000}),
        (("--undefined", "error"), {"undefined": "error"}),
    ],
)
def test_words_of_the_command_line_become_values(words: tuple[str, ...], value: Mapping[str, Any]) -> None:
    given = language_values(build_parser().parse(["check", "model.m", *words]))
    assert given_options(LoadOptions(own=read_options("model.m", given)), CheckOptions()) == value


def test_words_that_are_none_are_refused() -> None:
    with pytest.raises(UsageError, match="undefined must be one of permit, error, not 'perhaps'"):
        read_options("model.m", {"undefined": "perhaps"})


def test_a_constant_may_be_called_like_an_option(tmp_path: Path) -> None:
    path = tmp_path / "model.m"
    path.write_text("const overflow: 1; var x: 0..overflow; startstate begin x := 0; end;")
    assert outcrop.load(path, {"overflow": 3}).system.constants == {"overflow": 3}
    with pytest.raises(UsageError, match="--overflow is an option of DVE"):
        outcrop.load(path, overflow="wrap")


def test_a_suffix_tells_the_language() -> None:
    assert [language_of(f"A{suffix.upper()}") for each in LANGUAGES for suffix in each.suffixes] == [
        each for each in LANGUAGES for _ in each.suffixes
    ]
    assert language_of("/dev/stdin") is LANGUAGES[0]
    for suffix in (*(suffix for each in LANGUAGES for suffix in each.refused), ".txt"):
        with pytest.raises(UsageError, match="be read"):
            language_of(f"model{suffix}")


def test_a_model_without_start_states_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.m"
    path.write_text("var x: 0..1; rule true ==> x := 0; end;")
    with pytest.raises(ModelError, match="no start"):
        outcrop.load(path)
    system = outcrop.load(EXAMPLES / "ticket_lock.dve").system
    with pytest.raises(ModelError, match="no start state"):
        require_start_state(dataclasses.replace(system, start_states=()))
