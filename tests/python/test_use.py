"""Python models and results as programs use them: classes, handles, tables, pytest and Hypothesis."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import outcrop
from outcrop.errors import UsageError
from outcrop.testing import Machine, Run, runs
from outcrop.trace.render import render

MODELS = Path(__file__).parent / "models"
pytest_plugins = ["pytester"]

BROKEN = """
from outcrop.model import Array, Model, Range, invariant, rule, when

class Counter(Model):
    limit = 3
    count: Range[0, 9] = 0
    half: Array[bool, 2] = [False, False]
    @rule
    def step(self) -> None:
        when(self.count < 9)
        self.count += 1
        self.half[self.count % 2] = True
    @invariant
    def low(self) -> bool:
        return self.count < self.limit
"""


@pytest.fixture(scope="module")
def lock() -> Any:
    sys.path.insert(0, str(MODELS))
    module = importlib.import_module("lock_server")
    sys.path.remove(str(MODELS))
    return module


def test_a_class_is_checked_with_other_constants(lock: Any) -> None:
    checked = [lock.Lock(NODES=size).check(engine="interpreter") for size in (2, 3)]
    files = [outcrop.load(MODELS / "lock_server.py", NODES=size).check(engine="interpreter") for size in (2, 3)]
    assert [each.states for each in checked] == [each.states for each in files]
    assert checked[0].states != checked[1].states


def test_one_of_several_models_is_named(tmp_path: Path) -> None:
    path = tmp_path / "two.py"
    path.write_text(BROKEN + "class Other(Counter):\n    limit = 5\nclass Third(Counter):\n    limit = 6\n")
    with pytest.raises(outcrop.ModelError, match="several models: Other, Third"):
        outcrop.load(path)
    lengths = [len(outcrop.load(f"{path}:{name}").check(engine="interpreter").trace) for name in ("Other", "Third")]
    assert lengths == [6, 7]


@pytest.fixture(scope="module")
def broken() -> outcrop.Result:
    return outcrop.loads(BROKEN, "counter.py").check(engine="interpreter")


def test_states_of_a_trace_are_objects(broken: outcrop.Result) -> None:
    assert broken.trace is not None
    last = broken.trace.states[-1]
    assert (last.count, last["half"][0], last.half[1]) == (3, True, True)
    assert last.flat() == {"count": 3, "half[0]": True, "half[1]": True}
    with pytest.raises(AttributeError, match="did you mean 'count'"):
        _ = last.cuont
    rows = broken.trace.to_rows()
    assert [row["count"] for row in rows] == [0, 1, 2, 3]
    assert rows[1]["rule"] == "step"


def test_what_a_notebook_shows_is_short(broken: outcrop.Result) -> None:
    model = outcrop.loads(BROKEN, "counter.py")
    assert broken.trace is not None
    for each in (broken, broken.trace, broken.violations[0], model):
        assert len(repr(each)) < 300
    for shown in (broken._repr_html_(), broken.trace._repr_html_(), model._repr_html_()):
        assert "count" in shown and "<table" in shown and len(shown) < 10_000
    assert "<code>half[*]: false</code>" in broken.trace._repr_html_()
    assert "undefined" not in broken.trace._repr_html_()


def test_results_are_saved_and_reported(broken: outcrop.Result, tmp_path: Path) -> None:
    broken.save(tmp_path / "result.json")
    saved = outcrop.load_result(tmp_path / "result.json")
    assert (saved.verdict, saved.states) == ("violated", broken.states)
    broken.report(tmp_path / "a.html")
    saved.report(tmp_path / "b.html")
    assert (tmp_path / "a.html").read_text().startswith("<!")
    (tmp_path / "wrong.json").write_text("[]")
    with pytest.raises(UsageError):
        outcrop.load_result(tmp_path / "wrong.json")


def test_tools_of_a_model(lock: Any) -> None:
    model = lock.Lock().load()
    swept = model.sweep({"NODES": [2, 3]}, engine="interpreter")
    assert [row["NODES"] for row in swept.to_rows()] == [2, 3]
    graph = model.graph(states=10)
    assert len(graph.nodes) >= 10
    assert model.explore() is not None
    with pytest.raises(UsageError, match="did you mean strategy"):
        model.check(stratgy="ram")


def test_a_check_in_the_background_is_cancelled() -> None:
    text = BROKEN.replace("Range[0, 9]", "Range[0, 1000000000]").replace("self.count < 9", "True")
    model = outcrop.loads(text.replace("limit = 3", "limit = 1000000001"), "long.py")
    handle = model.start(engine="interpreter")
    handle.cancel()
    result = handle.result(60)
    assert result.verdict == "unknown" and result.kind == "interrupted"
    assert handle.is_done and handle.progress is not None


def test_errors_of_a_background_check_are_raised() -> None:
    handle = outcrop.loads(BROKEN, "counter.py").start(engine="nonsense")
    with pytest.raises(UsageError):
        handle.result(60)


def test_the_fixture_shows_the_trace(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(counter=BROKEN)
    pytester.makepyfile(
        """
        from counter import Counter
        def test_holds(check):
            check(Counter, limit=10, engine="interpreter", deadlock="off").holds()
        def test_violated(check):
            assert check(Counter, engine="interpreter").violated("invariant").states
        def test_fails(check):
            check(Counter, engine="interpreter").holds()
        """
    )
    outcome = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist")
    outcome.assert_outcomes(passed=2, failed=1)
    text = outcome.stdout.str()
    assert "count: 2 -> 3" in text and "Traceback" not in text


@given(st.data())
def test_runs_are_drawn(data: st.DataObject) -> None:
    sys.path.insert(0, str(MODELS))
    cls = importlib.import_module("lock_server").Lock
    sys.path.remove(str(MODELS))
    run: Run = data.draw(runs(cls, most_steps=8))
    machine = Machine(cls)
    assert all(not list(machine.violated(state)) for state in run.states)


def test_traces_say_none() -> None:
    fields = "count: Range[0, 3] | None\n    flag: bool | None\n    mode: Mode | None\n    who: Node | None"
    text = (
        "from enum import Enum\nfrom outcrop.model import *\nclass Node(Symmetric, size=2): ...\n"
        f"class Mode(Enum):\n    A = 0\n    B = 1\nclass M(Model):\n    {fields}\n    @rule\n"
        "    def go(self, n: Node) -> None:\n        when(self.count is None)\n"
        "        self.count, self.flag, self.mode, self.who = 1, True, Mode.B, n\n"
        "    @invariant\n    def none(self) -> bool:\n        return self.count is None\n"
    )
    result = outcrop.loads(text, "none.py").check(engine="interpreter")
    lines = "\n".join(render(result.trace))
    assert "undefined" not in lines and lines.count("None") == 5
