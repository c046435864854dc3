"""The models of BEEM: numbers of states, transitions and levels as published."""

from __future__ import annotations

import csv
import os
import shutil
from pathlib import Path

import pytest
from optimisation import optimised

import outcrop
from outcrop.options import Engine

#: Largest model, in states. Larger ones belong to the benchmarks, and compiling takes seconds, so only some are run.
_MOST_STATES_INTERPRETED = 3_500
_COMPILED = ("elevator2.2", "needham.2", "peterson.2", "sorter.5", "synapse.2", "hanoi.2", "lamport.5")
_COMPILERS = ("cc", "gcc", "clang")


def _rows() -> list[dict[str, str]]:
    # Parameters are needed before fixtures run. Without the models there is nothing to parametrise over.
    table = Path(os.environ.get("OUTCROP_MODELS", ""), "models", "dve", "EXPECTED.csv")
    if not table.is_file():
        return []
    with table.open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["complete"] == "yes"]


def _compare(row: dict[str, str], engine: Engine, shared: Path) -> None:
    model = outcrop.load(shared / "models" / "dve" / row["file"])
    result = model.check(engine=engine, deadlock="off")
    assert not result.violations
    assert result.states == int(row["states"])
    if row["transitions"]:
        assert (result.rules_fired, result.diameter + 1) == (int(row["transitions"]), int(row["bfs_levels"]))


def _chosen(engine: Engine) -> list[object]:
    rows = [
        row
        for row in _rows()
        if (
            int(row["states"]) <= _MOST_STATES_INTERPRETED
            if engine is Engine.INTERPRETER
            else Path(row["file"]).stem in _COMPILED
        )
    ]
    return [pytest.param(row, id=Path(row["file"]).stem) for row in rows]


@pytest.mark.parametrize("row", _chosen(Engine.INTERPRETER))
def test_counts_of_the_interpreter(row: dict[str, str], shared: Path) -> None:
    _compare(row, Engine.INTERPRETER, shared)


@pytest.mark.skipif(not any(map(shutil.which, _COMPILERS)), reason="needs a C compiler")
@pytest.mark.parametrize("row", _chosen(Engine.NATIVE))
def test_counts_of_compiled_models(row: dict[str, str], shared: Path) -> None:
    with optimised():
        _compare(row, Engine.NATIVE, shared)


#: Anderson's lock with one slot too few, like BEEM's first instance, but shorter: `next` grows past its end.
_FAILING = """
byte slot[2] = {1, 0}, next = 250;
process P { byte place; state ncs, p1, p2, cs; init ncs;
  trans ncs -> p1 { effect place = next, next = next + 1; }, p1 -> p2 { guard place == 1; effect next = next - 2; },
        p1 -> p2 { guard place != 1; effect place = place % 2; }, p2 -> cs { guard slot[place] == 1; },
        cs -> ncs { effect slot[(place + 1) % 2] = 1; }; }
process Q { byte place; state ncs, p1, p2, cs; init p1;
  trans ncs -> p1 { effect place = next, next = next + 1; }, p1 -> p2 { effect place = place % 2; },
        p2 -> cs { guard slot[place] == 1; }, cs -> ncs { effect slot[(place + 1) % 2] = 1; }; }
system async;
"""


@pytest.mark.skipif(not any(map(shutil.which, _COMPILERS)), reason="needs a C compiler")
def test_both_engines_go_on_from_the_error_state(tmp_path: Path) -> None:
    path = tmp_path / "failing.dve"
    path.write_text(_FAILING, encoding="utf-8")
    found = [
        outcrop.load(path).check(engine=engine, max_errors=None, deadlock="stuck", coverage=True)
        for engine in (Engine.INTERPRETER, Engine.NATIVE)
    ]
    one, other = ((each.states, each.rules_fired, each.levels, each.to_dict()["coverage"]) for each in found)
    assert one == other
    assert [each.message for each in found[0].violations] == [each.message for each in found[1].violations]
    # It starts over in a state of zeroes: Q goes to where it waits for a slot.
    assert any(step.state[3] is None for each in found[0].violations if each.trace for step in each.trace.steps)


def test_every_model_is_accepted(shared: Path) -> None:
    paths = sorted((shared / "models" / "dve").rglob("*.dve"))
    assert paths
    for path in paths:
        system = outcrop.load(path).system
        assert system.rules, path
        assert (system.automaton is not None) == (".prop" in path.name), path
