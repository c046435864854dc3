"""Transition locality, compared with a plain count by the interpreter and with the published table."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import sqrt
from pathlib import Path

import pytest

import outcrop
from outcrop.errors import Undecided
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import State
from outcrop.options import CheckOptions
from outcrop.tools.distances import measure
from outcrop.tools.locality_report import chart, text

#: E{Delta(k)} and sigma(k) for k = -1, 0, 1 as printed, and the number of states, for models without symmetry.
PUBLISHED = {
    "others/cache3.m": (577, "0.0401213 0.178884 0.00476603 0.0558438 0.565482 0.381654"),
    "secur/ns.m": (980, "0.585714 0.492598 0 0 0.0969388 0.295874"),
    "secur/ns-old.m": (1121, "0.546833 0.497802 0 0 0.101695 0.302247"),
}


def counted(model: outcrop.Model, symmetry: bool, with_loops: bool) -> dict[int, tuple[float, float]]:
    """Returns mean and standard deviation for each k, from the definition."""
    interpreter = Interpreter(model.system, symmetry)
    levels: dict[State, int] = {firing.successor: 0 for firing in interpreter.start_states() if firing.successor}
    pending = list(levels)
    targets: dict[State, list[State]] = {}
    for state in pending:
        targets[state] = [firing.successor for firing in interpreter.successors(state) if firing.successor]
        for target in targets[state]:
            if target not in levels:
                levels[target] = levels[state] + 1
                pending.append(target)
    parts: dict[int, list[float]] = defaultdict(list)
    for state, all_targets in targets.items():
        kept = [target for target in all_targets if with_loops or target != state]
        for k, count in Counter(levels[target] - levels[state] for target in kept).items():
            parts[k].append(count / len(kept))
    size = len(levels)
    return {
        k: (sum(each) / size, sqrt(max(0.0, sum(x * x for x in each) / size - (sum(each) / size) ** 2)))
        for k, each in parts.items()
    }


@pytest.mark.parametrize("with_loops", [False, True])
@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize(
    "name", ["examples/peterson.m", "tests/models/interleaved.m", "tests/models/scalarset_orbits.m"]
)
def test_agrees_with_the_definition(repository: Path, name: str, symmetry: bool, with_loops: bool) -> None:
    model = outcrop.load(repository / name)
    expected = counted(model, symmetry, with_loops)
    locality = measure(model, CheckOptions(symmetry=symmetry, threads=1), with_loops)
    for each in locality.distances:
        mean, stddev = expected.pop(each.k, (0.0, 0.0))
        assert each.mean == pytest.approx(mean, abs=1e-12)
        assert each.stddev == pytest.approx(stddev, abs=1e-7)
    assert not expected


def test_is_the_same_for_any_number_of_threads(repository: Path) -> None:
    model = outcrop.load(repository / "tests/models/interleaved.m")
    one, three = (measure(model, CheckOptions(threads=threads)) for threads in (1, 3))
    assert one.distances == three.distances
    assert one.sum_avg == sum(one.of(k).mean for k in (-1, 0, 1))


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_figures(shared: Path, name: str) -> None:
    states, figures = PUBLISHED[name]
    locality = measure(outcrop.load(shared / "models/murphi" / name), CheckOptions())
    assert locality.states == states
    assert " ".join(f"{locality.of(k).mean:.6g} {locality.of(k).stddev:.6g}" for k in (-1, 0, 1)) == figures


def test_a_search_that_is_cut_short_is_refused(repository: Path) -> None:
    model = outcrop.load(repository / "tests/models/interleaved.m")
    with pytest.raises(Undecided, match="state bound reached"):
        measure(model, CheckOptions(states=2, threads=1))


def test_report(repository: Path) -> None:
    locality = measure(outcrop.load(repository / "examples/peterson.m"), CheckOptions(threads=1))
    shown = text(locality)
    assert f"SumAvg = E{{Δ(-1)}} + E{{Δ(0)}} + E{{Δ(1)}} = {locality.sum_avg:.6g}" in shown
    assert f"{locality.of(1).mean:.6g}" in shown
    drawn = chart(locality).to_svg()
    assert drawn.startswith("<svg")
    assert drawn.count('fill="#2b6cb0"') == sum(each.mean > 0 for each in locality.distances)
