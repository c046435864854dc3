"""Logs of random models: the compiled model and the naive reference agree on every line."""

from __future__ import annotations

import json
from random import Random

import pytest
from generator import generate
from recorded_runs import MOST, Line, Reference, TooWide, damaged, random_log

from outcrop.ir.types import Multiset, Real
from outcrop.lang import load_text
from outcrop.lang.while_limit import LoopOptions
from outcrop.options import LoadOptions
from outcrop.validate.follow import Conformity, Follower
from outcrop.validate.options import Start, ValidateOptions

LOGS = 12


def reference_of(random: Random) -> Reference:
    system, _ = load_text(generate(random), "generated.m", LoadOptions(own=(LoopOptions(while_limit=50),)))
    return Reference(system)


def compare(seed: int, start: Start = Start.INITIAL, logs: int = LOGS) -> tuple[int, int]:
    """Compares the answers about logs of one model. Returns how many conform and how many do not."""
    random = Random(seed)
    reference = reference_of(random)
    names = sorted({rule.name for rule in reference.system.rules})
    gap, stutter = random.choice([0, 0, 1, 2]), random.random() < 0.3
    internal = set(random.sample(names, random.randint(0, len(names)))) if gap else set()
    counts = [0, 0]
    options = ValidateOptions(gap=gap, internal=tuple(sorted(internal)), stutter=stutter, width=10 * MOST, start=start)
    with Follower(reference.system, options) as follower:
        for number in range(logs):
            lines = random_log(reference, random, gap, internal)
            if lines is None:
                continue
            if start is not Start.INITIAL:
                lines = lines[random.randrange(len(lines) + 1) :]
            is_damaged = number % 2 == 1
            if is_damaged:
                lines = damaged(reference, random, lines)
            if start is Start.ANY and has_endless_values(reference, lines):
                continue
            try:
                agree, widths = reference.follow(lines, gap, internal, stutter, start)
            except TooWide:
                continue
            kept = [each for each in lines if each.record.get("state") or "rule" in each.record]
            if kept != lines:
                continue  # a line that shows nothing is no line
            assert is_damaged or agree == len(lines), (seed, number)
            follower.encoder.begin()
            # As text, with and without numbers after the state, lines are read in parts.
            texts = [json.dumps({**each.record, **({"t": 1.5} if number % 3 else {})}).encode() for each in lines]
            records = enumerate(texts if number % 4 < 2 else [each.record for each in lines], 1)
            found = follower.follow(follower.encoded(records, "log"))
            assert found.lines == agree, (seed, number, [each.record for each in lines])
            assert (found.conformity is Conformity.CONFORMS) == (agree == len(lines)), (seed, number)
            if widths:
                assert len(found.states) == widths[-1], (seed, number)
            counts[agree < len(lines)] += 1
    return counts[0], counts[1]


def has_endless_values(reference: Reference, lines: list[Line]) -> bool:
    """Returns whether the values that the first line leaves open cannot be listed."""
    shown = set(lines[0].shown) if lines else set()
    return any(
        isinstance(part, Multiset | Real)
        and not shown.issuperset(range(each.offset, each.offset + each.type.leaf_count))
        for each in reference.system.variables
        for part in each.type.parts()
    )


@pytest.mark.parametrize("start", Start)
def test_the_compiled_model_agrees_with_the_reference(start: Start) -> None:
    counts = [compare(seed, start) for seed in range(1, 9)]
    assert sum(each for each, _ in counts) > 12
    assert sum(each for _, each in counts) > 4


@pytest.mark.slow
@pytest.mark.parametrize("start", Start)
def test_the_compiled_model_agrees_with_the_reference_thoroughly(start: Start) -> None:
    for seed in range(1000, 1200):
        compare(seed, start)
