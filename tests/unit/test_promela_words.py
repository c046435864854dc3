"""Each word of Promela means what it means in SPIN: the recorded counts and verdicts, found by the interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest
from promela_words import Word, read_words

import outcrop

WORDS = read_words()


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.name)
def test_counts_and_verdicts_are_those_of_spin(word: Word, tmp_path: Path) -> None:
    path = tmp_path / "word.pml"
    path.write_text(word.text)
    silent = outcrop.load(path, assertions=False).check(engine="interpreter", deadlock="off")
    assert (silent.states, silent.rules_fired + 1) == (word.states, word.transitions)
    checked = outcrop.load(path).check(engine="interpreter", deadlock="off")
    assert (str(checked.verdict) == "violated") == word.fails
    if not word.hides_ends:
        ends = outcrop.load(path, assertions=False).check(engine="interpreter")
        assert (str(ends.verdict) == "violated") == word.blocks


@pytest.mark.parametrize("first", ['printf("x")', "assert(true)", "select (g : 0 .. 1)", "if :: g = 1 :: skip fi"])
def test_no_d_step_comes_between_send_and_receive(first: str, tmp_path: Path) -> None:
    path = tmp_path / "rendezvous.pml"
    path.write_text(
        f"""chan c = [0] of {{ byte }}; byte g;
        active proctype S() {{ c!g }}
        active proctype R() {{ c?eval(1 - g); assert(false) }}
        active proctype D() {{ d_step {{ {first}; g = 1 }} }}"""
    )
    checked = outcrop.load(path).check(engine="interpreter", deadlock="off")
    assert (str(checked.verdict), checked.states) == ("holds", 3)


def test_messages_are_handed_on_by_as_many_processes_as_there_are(tmp_path: Path) -> None:
    path = tmp_path / "relay.pml"
    path.write_text(next(each.text for each in WORDS if each.name.startswith("messages handed on")))
    assert len(outcrop.load(path).system.rules) < 100  # about 1,000 without that bound, and far more instances
