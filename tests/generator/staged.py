"""Random Murphi models of all statements and types, in which most rules fire once.

In models of the other generators with all of Murphi, few rules ascend, so that partial-order reduction leaves them as
they are. Here each rule is a step of one of several processes, and waits for its turn among the steps of that one.
"""

from __future__ import annotations

import re
from itertools import count
from random import Random

from generator.models import generate

_RULE = re.compile(r'^( *)rule "(.*?)"\n( *)(.*?) ==>\n(.*?)^\1begin\n', re.MULTILINE | re.DOTALL)
_START = re.compile(r"^( *)startstate(.*?)^\1begin\n", re.MULTILINE | re.DOTALL)


def generate_staged(random: Random) -> str:
    """Returns a model whose rules are dealt to two or three processes, with private steps between them."""
    text = re.sub(r"^( *)(?:liveness|assume) (?=\")", r"\1cover ", generate(random), flags=re.MULTILINE)
    processes = [f"stage{number}" for number in range(random.choice((2, 3)))]
    turns = {each: count() for each in processes}
    private: list[str] = []

    def staged(match: re.Match[str]) -> str:
        own = random.choice(processes)
        while random.random() < 0.5:
            turn = next(turns[own])
            private.append(f'rule "{own}, {turn}" {own} = {turn} ==> {own} := {turn + 1}; end;\n')
        turn = next(turns[own])
        begin, name, inner, guard, declared = match.groups()
        following = turn if random.random() < 0.15 else turn + 1
        step = f"{begin}  {own} := {following};\n"
        return f'{begin}rule "{name}"\n{inner}{own} = {turn} & ({guard}) ==>\n{declared}{begin}begin\n{step}'

    text = _RULE.sub(staged, text)
    declared = "".join(f"  {each}: 0 .. {next(turns[each])};\n" for each in processes)
    stores = "".join(f"  {each} := 0;\n" for each in processes)
    text = _START.sub(lambda match: match[0] + stores, text)
    return text.replace("\nvar\n", f"\nvar\n{declared}", 1) + "\n" + "".join(private)
