"""Sweeps, and the tables of the papers."""

from __future__ import annotations

import csv
import dataclasses
import io
import time
from pathlib import Path

import pytest

from outcrop.errors import UsageError
from outcrop.reproduce.experiments import EXPERIMENTS
from outcrop.reproduce.report import listing, run
from outcrop.reproduce.runner import Runner
from outcrop.reproduce.tables import table, tables
from outcrop.sweep.cell import Answer
from outcrop.sweep.plan import Axis, axis, combinations
from outcrop.sweep.table import Row, Sweep


@pytest.mark.parametrize(
    ("text", "values"),
    [("2..4", "2 3 4"), ("2..8..3", "2 5 8"), ("1,4..5", "1 4 5"), ("true,false", "true false"), ("-1..1", "-1 0 1")],
)
def test_axes(text: str, values: str) -> None:
    assert axis("N", text).values == tuple(values.split())


@pytest.mark.parametrize("text", ["4..2", "1..9..0", "1,,2", "1..999999999"])
def test_bad_axes(text: str) -> None:
    with pytest.raises(UsageError):
        axis("N", text)


def test_combinations() -> None:
    axes = [Axis("A", ("1", "2")), Axis("B", ("x", "y"))]
    assert [each["A"] + each["B"] for each in combinations(axes)] == ["1x", "1y", "2x", "2y"]
    with pytest.raises(UsageError, match="4,000,000 checks"):
        combinations([axis("N", "1..2000"), axis("M", "1..2000")])


def answer(states: int, verdict: str = "holds") -> Answer:
    figures = {"states": states, "states_visited": states, "rules_fired": 3 * states, "diameter": 7, "levels": [states]}
    machine = {"seconds": 0.5, "peak_rss_bytes": 2**20, "peak_disk_bytes": 0}
    return Answer({"verdict": verdict, "kind": "" if verdict == "holds" else "deadlock", **figures, **machine})


def test_tables_of_a_sweep() -> None:
    rows = [
        Row({"N": "2"}, answer(10)),
        Row({"N": "3"}, answer(1000, "violated")),
        Row({"N": "4"}, Answer(None, "oops")),
    ]
    sweep = Sweep("ring.m", [Axis("N", ("2", "3", "4"))], rows)
    assert sweep.exit_code == 1
    assert "N=4: oops" in sweep.to_text()
    assert "N=3: violated: deadlock" in sweep.to_text()
    read = list(csv.DictReader(io.StringIO(sweep.to_csv())))
    assert [row["states"] for row in read] == ["10", "1000", ""]
    assert [row["verdict"] for row in sweep.to_dict()["rows"]] == ["holds", "violated", "error"]
    assert sweep.to_chart("states").series[0].points == [(2.0, 10.0), (3.0, 1000.0)]
    assert sweep.to_chart("rate").to_svg().startswith("<svg")


def test_every_table_is_well_formed() -> None:
    for each in tables().values():
        assert each.experiment == "none" or each.experiment in EXPERIMENTS, each.name
        for entry in each.entries:
            has_subject = entry.model or entry.reason or entry.bits or each.experiment == "ranges"
            assert has_subject, f"{each.name}: {entry.name}"
            for measure, figures in entry.figures.items():
                assert len(figures) == max(1, len(each.columns)), f"{each.name}: {entry.name}, {measure}"
    assert {name.split("/")[0] for name in tables()} == {"000", "001", "002", "003", "004"}
    assert "000/table8" in listing()


def test_unknown_table() -> None:
    with pytest.raises(UsageError, match="did you mean '000/table8'"):
        table("000/tabel8")


def runner(models: Path, seconds: float = 60.0) -> Runner:
    return Runner(models, time.monotonic() + seconds, 1, lambda text: None)


def test_bounds_come_out_as_printed() -> None:
    done = run(table("001/table1"), runner(Path()))
    for entry in done.table.entries:
        assert done.ours[entry.name] == entry.figures


def test_missing_models_are_named(tmp_path: Path) -> None:
    done = run(table("000/table11"), runner(tmp_path))
    assert not done.ours
    assert "mcslock2 4" in done.missing
    assert "there is no file" in done.to_text()
    assert "0 of 1 rows" in done.to_text()
    ranges = run(table("002/table1"), runner(tmp_path))
    assert ranges.missing.keys() == {entry.name for entry in ranges.table.entries}
    assert "EXPECTED.csv" in ranges.to_text()
    curves = run(table("002/fig3"), runner(tmp_path)).to_text()
    assert "0 of 4 rows" in curves
    # Rows without figures in the paper are incomplete, too.
    assert "0 of 4 rows" in run(table("004/table3"), runner(tmp_path)).to_text()
    assert "as the paper has it" not in curves, "the paper has no figures there"


def test_published_figures_without_symmetry(shared: Path) -> None:
    published = table("000/table1")
    small = [entry for entry in published.entries if entry.name in ("cache3", "ns")]
    chosen = type(published)(**{**published.__dict__, "entries": tuple(small)})
    done = run(chosen, runner(shared / "models/murphi"))
    for entry in small:
        assert done.ours[entry.name] == entry.figures
    assert "Every figure as the paper has it: cache3, ns (2 rows)." in done.to_text()


def test_fractions(shared: Path) -> None:
    published = table("000/table6")
    small = tuple(entry for entry in published.entries if entry.name == "mcslock1")
    fields = {**published.__dict__, "entries": small, "columns": ("1", "0.6")}
    done = run(type(published)(**fields), runner(shared / "models/murphi"))
    states = [float(each) for each in done.ours["mcslock1"]["states"]]
    assert 1.0 <= states[0] < 1.05 < states[1]
    chart = done.to_chart()
    assert chart is not None
    assert {each.name for each in chart.series} == {"mcslock1", "paper, average"}


def test_threads_that_there_are_not(shared: Path) -> None:
    published = table("002/fig3")
    small = dataclasses.replace(published.entries[0], model="../dve/rether/rether.1.prop2.dve")
    settings = {**published.settings, "strategies": [{"strategy": "owcty"}]}
    few = dataclasses.replace(published, entries=(small,), columns=("1", "9999"), settings=settings)
    done = run(few, runner(shared / "models/murphi"))
    (seconds,) = done.ours[small.name].values()
    assert float(seconds[0]) >= 0 and seconds[1] == "-"
    assert [note for note in done.notes if "more threads" in note]
    assert done.notes[-1] == f"{small.name}: {small.note}"
