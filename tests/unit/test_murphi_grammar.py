"""The grammar in the manual generates texts that the parser accepts, and has the words of the lexer."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from outcrop.lang.murphi.lexer import KEYWORDS
from outcrop.lang.murphi.parser import parse
from outcrop.lang.murphi.parser_cursor import CONTEXTUAL
from outcrop.source import Source

PAGE = Path(__file__).parents[2] / "docs/reference/murphi-grammar.md"
TERMINALS = {
    "name": ["x", "y", "Node"],
    "integer": ["0", "7", "0x1F"],
    "number": ["2.5"],
    "string": ['"text"'],
    "formula": ["G ({x = 1} -> F {y = 2})"],
}
#: Steps of a derivation from which the lowest alternative is taken.
STEPS = 120
CLOSERS = {"[": "]", "{": "}", "(": ")"}


@dataclass(frozen=True)
class Part:
    """A part of a rule: a quoted word, the name of a rule, or a bracket with alternatives inside."""

    kind: str  #: "word", "rule", "(", "[" or "{"
    text: str = ""
    alternatives: tuple[tuple[Part, ...], ...] = ()


def grammar() -> dict[str, Part]:
    """Returns the rules of the page by name."""
    text = "\n".join(re.findall(r"```ebnf\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    tokens = re.findall(r'"[^"]+"|[\w-]+|[][{}()|=;]', text)
    rules: dict[str, Part] = {}
    while tokens:
        name, equals = tokens.pop(0), tokens.pop(0)
        assert equals == "=", f"after {name}"
        rules[name] = bracket(tokens, "(")
        assert tokens.pop(0) == ";", f"at the end of {name}"
    return rules


def bracket(tokens: list[str], kind: str) -> Part:
    """Parses alternatives, up to a token that closes them."""
    found: list[list[Part]] = [[]]
    while tokens[0] not in ("]", "}", ")", ";"):
        token = tokens.pop(0)
        if token == "|":
            found.append([])
        elif token in CLOSERS:
            found[-1].append(bracket(tokens, token))
            assert tokens.pop(0) == CLOSERS[token]
        else:
            found[-1].append(Part("word", token[1:-1]) if token[0] == '"' else Part("rule", token))
    return Part(kind, alternatives=tuple(map(tuple, found)))


def words(part: Part) -> set[str]:
    """Returns the quoted words of a part."""
    own = {part.text} if part.kind == "word" else set()
    return own.union(*(words(each) for sequence in part.alternatives for each in sequence))


class Generator:
    """Random texts of the grammar."""

    def __init__(self, seed: int) -> None:
        self._rules = grammar()
        self._heights: dict[str, float] = dict.fromkeys(TERMINALS, 0)
        self._random = random.Random(seed)
        self._steps = 0
        while len(self._heights) < len(self._rules) + len(TERMINALS):
            found = {name: self._height(part) + 1 for name, part in self._rules.items() if name not in self._heights}
            found = {name: height for name, height in found.items() if height < float("inf")}
            assert found, "some rules never end"
            self._heights |= found

    def text(self, name: str) -> list[str]:
        """Returns the words of a random text that the rule ``name`` derives."""
        self._steps += 1
        if name in TERMINALS:
            return [self._random.choice(TERMINALS[name])]
        return self._part(self._rules[name])

    def _part(self, part: Part) -> list[str]:
        if part.kind == "word":
            return [part.text]
        if part.kind == "rule":
            return self.text(part.text)
        is_long = self._steps > STEPS
        times = 1 if part.kind == "(" else 0 if is_long else self._random.choice([0, 0, 0, 1, 1, 2])
        return [word for _ in range(min(times, 1 if part.kind == "[" else 2)) for word in self._once(part)]

    def _once(self, part: Part) -> list[str]:
        lowest = min(part.alternatives, key=self._height_of_sequence)
        chosen = lowest if self._steps > STEPS else self._random.choice(part.alternatives)
        return [word for each in chosen for word in self._part(each)]

    def _height(self, part: Part) -> float:
        """Returns the height of the lowest derivation."""
        if part.kind in ("word", "[", "{"):
            return 0
        if part.kind == "rule":
            return self._heights.get(part.text, float("inf"))
        return min(map(self._height_of_sequence, part.alternatives))

    def _height_of_sequence(self, sequence: tuple[Part, ...]) -> float:
        return max(map(self._height, sequence), default=0)


@pytest.mark.parametrize("start", ["model", "rule", "subroutine", "ruleset", "startstate"])
def test_texts_of_the_grammar_are_accepted(start: str) -> None:
    lengths = []
    for seed in range(60):
        words_of_text = Generator(seed).text(start)
        parse(Source("grammar.m", " ".join(words_of_text)))
        lengths.append(len(words_of_text))
    assert max(lengths) > 50


def test_words_of_the_grammar_are_those_of_the_lexer() -> None:
    found = {word for part in grammar().values() for word in words(part) if word[0].isalpha()}
    assert found >= KEYWORDS
    assert found - KEYWORDS <= CONTEXTUAL | {"endchoose", "ltl", "real"}
