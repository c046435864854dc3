"""Random models in Python whose rules are steps of processes, most of them on fields of their own.

Rules of the models in tests/python use all fields, so that partial-order reduction leaves these as they are."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent / "python"))

from random_models import HEAD, Generator

_FIELDS = ("x", "y", "flag", "colour", "maybe", "of", "cells", "some", "bag")
_FIELD = re.compile(rf"\bself\.({'|'.join(_FIELDS)})\b")
_DECLARED = re.compile(rf"^    ({'|'.join(_FIELDS)}):(.*)$", re.MULTILINE)
#: Turns of a process.
_MOST_TURNS = 6


def generate_staged_python(random: Random) -> str:
    """Returns a model with two or three processes, each of which has a copy of all fields."""
    generator = Generator(random.randrange(1 << 30))
    processes = range(random.choice((2, 2, 3)))
    fields = rules = ""
    for own in processes:
        fields += "".join(f"    {each[1]}{own}:{each[2]}\n" for each in _DECLARED.finditer(HEAD))
        bag = f"bag{own}: Bag[Letter, 2]"
        fields = fields.replace(bag, f"{bag} = Bag([Letter(Colour.RED, 1)])")
        fields += f"    at{own}: Range[0, {_MOST_TURNS}] = 0\n"
        for turn in range(random.randint(3, _MOST_TURNS)):
            rules += _step(generator, random, own, turn, len(processes))
    claim = f"self.x != {random.randint(-1, 3)} or self.y != {random.randint(0, 2)}"
    return f"{HEAD}{fields}{rules}    @invariant\n    def claim(self) -> bool:\n        return {claim}\n"


def _step(generator: Generator, random: Random, own: int, turn: int, processes: int) -> str:
    """Returns a rule that a process takes at one of its turns."""
    where, following = f"        when(self.at{own} == {turn})\n", random.choices((turn + 1, turn, 0), (12, 2, 1))[0]
    step = f"        self.at{own} = {following}\n"
    if random.random() < 0.4:
        return f"    @rule\n    def own{own}_{turn}(self) -> None:\n{where}        self.at{own} += 1\n"
    text, share = generator.rule(10 * own + turn), random.choice((1.0, 1.0, 0.6))
    text = _FIELD.sub(lambda found: f"{found[0]}{own}" if random.random() < share else found[0], text)
    head, _, body = text.partition("None:\n")
    if random.random() < 0.7:  # a step that waits for nothing else
        body = re.sub(r"^        when\(.*\n", "", body, count=1, flags=re.MULTILINE)
    choice = re.match(r" *letter = .*\n", body)
    first = "" if choice is None or random.random() < 0.5 else choice[0]
    body = first + where + body.removeprefix(first)
    if random.random() < 0.15:
        body += f"        assert self.at{random.randrange(processes)} != {random.randint(0, 3)}\n"
    return f"{head}None:\n{body}{step}"
