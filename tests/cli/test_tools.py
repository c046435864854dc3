"""The commands other than `check`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import Run

from outcrop.reproduce.tables import tables

Cli = Callable[..., Run]


@pytest.mark.parametrize("columns", [36, 40, 50, 60])
def test_locality_fits_a_narrow_terminal(
    cli: Cli, repository: Path, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = cli("locality", repository / "examples/peterson.m").out.replace(str(repository), "").splitlines()
    assert max(map(len, lines)) <= columns
    assert any("█" in line for line in lines)
    assert ("transitions" in lines[lines.index("") + 1]) == (columns >= 50)


def test_locality(cli: Cli, repository: Path, tmp_path: Path) -> None:
    model = repository / "examples/peterson.m"
    shown = cli("locality", model, "--svg", tmp_path / "chart.svg")
    assert shown.code == 0
    assert "SumAvg" in shown.out
    assert (tmp_path / "chart.svg").read_text().startswith("<svg")
    document = json.loads(cli("locality", model, "--json").out)
    assert document["sum_avg"] == sum(row["mean"] for row in document["distances"] if abs(row["k"]) <= 1)
    assert set(document["distances"][0]) == {"k", "transitions", "mean", "stddev"}


def test_simulate(cli: Cli, repository: Path, tmp_path: Path) -> None:
    model = repository / "tests/models/assertion.m"
    shown = cli("simulate", model, "--walks", "50", "--trace-json", tmp_path / "trace.json")
    assert shown.code == 1
    assert shown.out.startswith("VIOLATED")
    assert json.loads((tmp_path / "trace.json").read_text())["states"]
    document = json.loads(cli("simulate", model, "--walks", "50", "--json").out)
    assert document["verdict"] == "violated"
    assert document["violation"]["kind"] == "assertion"
    quiet = cli("simulate", repository / "examples/peterson.m", "--walks", "5", "--coverage")
    assert quiet.code == 3
    assert "no violation found" in quiet.out


def test_simulate_names_what_is_misspelt(cli: Cli, repository: Path) -> None:
    wrong = cli("simulate", repository / "examples/peterson.m", "--weight", "entr=3")
    assert wrong.code == 2
    assert "did you mean 'enter'?" in wrong.err
    assert cli("simulate", repository / "examples/peterson.m", "--weight", "enter").code == 2


def test_explore_piped(process: Cli, repository: Path) -> None:
    commands = "1\nprint last\nnonsense\nquit\n2\n"
    shown = process("explore", repository / "examples/peterson.m", input=commands)
    assert shown.code == 0
    assert "> print last\n  undefined\n" in shown.out
    assert "neither a command nor part of a choice" in shown.out
    assert "> 2" not in shown.out


def test_explore_goes_on_from_a_trace(cli: Cli, repository: Path, tmp_path: Path) -> None:
    model, saved = repository / "tests/models/assertion.m", tmp_path / "run.json"
    saved.write_text(cli("check", model, "--engine", "interpreter", "--json").out)
    shown = cli("explore", model, "--load", saved, "-c", "jump 0", "-c", "list")
    assert shown.code == 0
    assert "Step 0" in shown.out
    other = cli("explore", repository / "examples/peterson.m", "--load", saved, "-c", "quit")
    assert other.code == 2
    assert "does not fit" in other.err


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")
def test_graphviz_draws_pictures(cli: Cli, repository: Path, tmp_path: Path) -> None:
    model = repository / "examples/bounded_buffer.m"
    assert cli("graph", model, "-o", tmp_path / "graph.png").code == 0
    assert (tmp_path / "graph.png").read_bytes().startswith(b"\x89PNG")
    assert cli("graph", model, "-o", tmp_path / "graph.svg").code == 0
    root = ElementTree.parse(tmp_path / "graph.svg").getroot()
    groups = [each.get("class") for each in root.iter("{http://www.w3.org/2000/svg}g")]
    document = json.loads(cli("graph", model, "--format", "json").out)
    assert groups.count("node") == len(document["nodes"]) and groups.count("edge") == len(document["links"])


def test_pictures_without_graphviz(cli: Cli, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    model = repository / "examples/bounded_buffer.m"
    refused = cli("graph", model, "-o", tmp_path / "graph.png")
    assert refused.code == 2 and "Graphviz" in refused.err and not (tmp_path / "graph.png").exists()
    assert cli("graph", model, "-o", tmp_path / "graph.svg").code == 0
    assert ElementTree.parse(tmp_path / "graph.svg").getroot().tag.endswith("svg")


def test_graph(cli: Cli, repository: Path, tmp_path: Path) -> None:
    model = repository / "examples/peterson.m"
    assert cli("graph", model).out.startswith("digraph")
    assert cli("graph", model, "-o", tmp_path / "graph.json").code == 0
    assert json.loads((tmp_path / "graph.json").read_text())["complete"] is True
    unknown = cli("graph", model, "-o", tmp_path / "graph.pdf")
    assert unknown.code == 2 and "has an unknown suffix" in unknown.err and not (tmp_path / "graph.pdf").exists()
    assert cli("graph", model, "-o", tmp_path / "graph.svg").code == 0
    assert "<svg" in (tmp_path / "graph.svg").read_text()
    assert cli("graph", model, "--by", "nothing").code == 2
    few = cli("graph", model, "--states", "4", "--format", "graphml")
    assert few.out.startswith("<?xml")
    assert "not drawn" in few.err
    assert cli("graph", model, "--radius", "2").code == 2


def test_sweep(cli: Cli, tmp_path: Path) -> None:
    model = tmp_path / "count.m"
    model.write_text(
        "const N: 2; var n: 0..N; startstate begin n := 0; end; "
        'rule "up" n < N ==> begin n := n + 1; end; rule "reset" n = N & N != 4 ==> begin n := 0; end;'
    )
    options = (
        "--engine",
        "interpreter",
        "--strategy",
        "ram",
        "--csv",
        tmp_path / "out.csv",
        "--svg",
        tmp_path / "out.svg",
    )
    shown = cli("sweep", model, "-D", "N=3..5,x", *options)
    assert shown.code == 1
    assert [line.split()[:3] for line in shown.out.splitlines()[4:8]] == [
        ["3", "holds", "4"],
        ["4", "violated", "5"],
        ["5", "holds", "6"],
        ["x", "error"],
    ]
    assert (tmp_path / "out.csv").read_text().count("\n") == 5
    assert (tmp_path / "out.svg").read_text().startswith("<svg")
    assert "nothing to sweep over" in cli("sweep", model).err


def test_reproduce(cli: Cli) -> None:
    assert "000/table8" in cli("reproduce").out
    assert {each["table"] for each in json.loads(cli("reproduce", "--json").out)} >= {"000/table8", "004/table3"}
    shown = cli("reproduce", "001/table1")
    assert shown.code == 0
    assert "0.036%" in shown.out
    assert "--models" in cli("reproduce", "000/table3").err
    assert cli("reproduce", "000/table3", "--models", "/nowhere").code == 2


def test_reproduce_completes_a_table_in_parts(cli: Cli, tmp_path: Path) -> None:
    small = "var x: 0..3; startstate begin x := 0 end; rule x < 3 ==> begin x := x + 1 end; rule x = 3 ==> begin end;"
    for entry in tables()["000/table3"].entries:
        if entry.model:
            path = tmp_path / entry.model
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(small)
    results = tmp_path / "searches.jsonl"

    def reproduce(*more: str) -> dict[str, Any]:
        arguments = ("reproduce", "000/table3", "--models", tmp_path, "--results", results, "--json", *more)
        done: dict[str, Any] = json.loads(cli(*arguments).out)
        return done

    first = reproduce("--row", "ns", "--budget", "1m")
    assert [row["name"] for row in first["rows"]] == ["ns"], "an exact name is not the beginning of another"
    figures = first["rows"][0]["ours"]
    assert figures["states"] == ["4"]
    with results.open("a") as file:
        file.write('{"search": {"cut')  # as a killed process leaves it
    second = {row["name"]: row for row in reproduce("--budget", "0s")["rows"]}
    assert second["ns"]["ours"] == figures, "nothing was run, so that even the time is the same"
    assert "budget" in second["cache3"]["missing"]
    (tmp_path / tables()["000/table3"].only(["ns"]).entries[0].model).write_text(small + " -- changed")
    assert "budget" in {row["name"]: row for row in reproduce("--budget", "0s")["rows"]}["ns"]["missing"]


def test_reproduce_refuses_unknown_rows_and_other_files(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "others").mkdir()
    shown = cli("reproduce", "000/table3", "--models", tmp_path, "--row", "nothing")
    assert shown.code == 2
    assert "cache3multi" in shown.err
    (tmp_path / "notes").write_text("milk\nbread\n")
    shown = cli("reproduce", "000/table3", "--models", tmp_path, "--results", tmp_path / "notes")
    assert shown.code == 2
    assert (tmp_path / "notes").read_text() == "milk\nbread\n"
    assert cli("reproduce", "000/table3", "--models", tmp_path, "--results", tmp_path).code == 2


def test_ranges_of_the_2012_table_follow_from_its_rows() -> None:
    table = tables()["002/table1"]
    rows = table.settings["published"]
    values = {
        "relative time": [float(row["compact seconds"]) / float(row["seconds"]) for row in rows],
        "relative memory": [float(row["compact MB"]) / float(row["MB"]) for row in rows],
        "thousand states": [float(row["thousand states"]) for row in rows],
        "coverage %": [float(row["coverage %"]) for row in rows],
    }
    printed = {entry.name: entry.figures[""] for entry in table.entries}
    assert printed == {name: [f"{f(each):.4g}" for f in (min, median, max)] for name, each in values.items()}


def test_reproduce_ranges_over_beem(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "murphi" / "mux").mkdir(parents=True)
    arguments = ("reproduce", "002/table1", "--models", tmp_path, "--budget", "1m")
    assert "EXPECTED.csv' cannot be read" in cli(*arguments).out
    directory = tmp_path / "dve"
    directory.mkdir()
    (directory / "EXPECTED.csv").write_text("file,states\ntoggle.dve,100000\nsmall.dve,99999\n")
    (directory / "PROPERTIES.csv").write_text("file,kind\ntoggle.prop1.dve,ltl\nsmall.prop1.dve,other\n")
    (directory / "toggle.prop1.dve").write_text(TOGGLE)
    shown = json.loads(cli(*arguments, "--json").out)
    assert "1 of 1 BEEM properties" in shown["notes"][0]
    assert not any(row["ours"] for row in shown["rows"])
    monkeypatch.setattr("outcrop.reproduce.beem._LEAST_STATES", 1)
    shown = json.loads(cli(*arguments, "--json").out)
    rows = {row["name"]: row["ours"][""] for row in shown["rows"]}
    assert rows["coverage %"] == ["100"] * 3
    assert rows["thousand states"] == [rows["thousand states"][0]] * 3


#: x is 1 infinitely often, so that no run stays in ``q1`` forever.
TOGGLE = """
byte x = 0;
process P {
  state s; init s;
  trans s -> s { guard x == 0; effect x = 1; }, s -> s { guard x == 1; effect x = 0; };
}
process LTL_property {
  state q0, q1; init q0; accept q1;
  trans q0 -> q0 {}, q0 -> q1 { guard x == 0; }, q1 -> q1 { guard x == 0; };
}
system async property LTL_property;
"""
