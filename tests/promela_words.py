"""Small Promela models, one for each word of the language, with the counts and verdicts of SPIN.

``promela_words.txt`` holds them. A line ``=== name: S states, T transitions`` begins a model, followed by ``assertion
fails`` and ``invalid end state`` where SPIN reports these. The figures are those of SPIN 6.5.2 without reductions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_HEADER = re.compile(r"=== (.*): (\d+) states, (\d+) transitions(, assertion fails)?(, invalid end state)?")


@dataclass(frozen=True)
class Word:
    name: str
    text: str
    states: int
    transitions: int
    fails: bool  #: an assertion
    blocks: bool  #: in an invalid end state

    @property
    def hides_ends(self) -> bool:
        """Whether SPIN's verdict says nothing about end states, since it reports an event trace with them."""
        return self.fails and "trace" in self.name


def read_words() -> list[Word]:
    text = (Path(__file__).parent / "promela_words.txt").read_text()
    found = []
    for part in re.split(r"^(?==== )", text, flags=re.MULTILINE)[1:]:
        header, _, model = part.partition("\n")
        match = _HEADER.fullmatch(header)
        assert match is not None, header
        found.append(Word(match[1], model, int(match[2]), int(match[3]), bool(match[4]), bool(match[5])))
    return found
