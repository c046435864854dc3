"""Table 1 of 2012: OWCTY with hash compaction against OWCTY, over the LTL properties of BEEM.

The paper numbers its rows and does not say which property a number stands for. Rows therefore cannot be compared, but
ranges can: each row of our table is a measure, with its least, median and greatest value.
"""

from __future__ import annotations

import csv
import re
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outcrop.reproduce.runner import NotRun, Runner
from outcrop.reproduce.tables import Entry, Table

#: States of the smallest model that is run. For smaller ones the memory of the process hides that of the search.
_LEAST_STATES = 100_000
#: Share of the remaining budget that one check may take.
_LARGEST_PART = 1 / 4

#: Our values of each measure, one for each property.
Population = dict[str, list[float]]


@dataclass(frozen=True)
class Property:
    """A model with the automaton of a negated formula as its property process."""

    name: str  #: such as rether.3.prop2
    model: str  #: path below the directory of Murphi models
    states: int  #: number of states of the model without the automaton


def ranges(table: Table, entry: Entry, runner: Runner) -> dict[str, list[str]]:
    """Returns the range of one measure over all properties that fit the budget."""
    if runner.population is None:
        runner.population = _measure(runner)
    values = runner.population.get(entry.name, [])
    if not values:
        raise NotRun("no property could be decided within the budget")
    return {"": [f"{each:.4g}" for each in (min(values), statistics.median(values), max(values))]}


def properties(murphi: Path) -> list[Property]:
    """Returns the LTL properties of BEEM models of known size, small models first."""
    directory = murphi.parent / "dve"
    try:
        sizes = {row["file"]: int(row["states"] or 0) for row in _rows(directory / "EXPECTED.csv")}
        listed = [row["file"] for row in _rows(directory / "PROPERTIES.csv") if row["kind"] == "ltl"]
    except OSError as error:
        raise NotRun(f"'{error.filename}' cannot be read; it lists the BEEM models") from None
    found = [
        Property(Path(file).stem, f"../dve/{file}", sizes.get(re.sub(r"\.prop\d+", "", file), 0)) for file in listed
    ]
    return sorted((each for each in found if each.states >= _LEAST_STATES), key=lambda each: (each.states, each.name))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        yield from csv.DictReader(lines)


def _measure(runner: Runner) -> Population:
    population: Population = {}
    found = properties(runner.models)
    decided = measured = violated = 0
    for each in found:
        try:
            plain, compact = (_check(each, runner, options) for options in ({}, {"compact": True}))
        except NotRun:
            continue
        decided += 1
        if compact["states_visited"] < _LEAST_STATES:
            continue
        measured += 1
        violated += plain["verdict"] == "violated"
        if plain["verdict"] != compact["verdict"]:
            runner.note(f"{each.name}: {plain['verdict']}, with hash compaction {compact['verdict']}")
        for measure, value in _values(plain, compact).items():
            population.setdefault(measure, []).append(value)
    runner.note(
        f"Decided within the budget: {decided} of {len(found)} BEEM properties of models with {_LEAST_STATES:,} states "
        f"or more, small models first. Ours are the {measured} of them whose search visits as many, {violated} "
        "violated; the paper has 26 properties, 12 violated."
    )
    runner.note("Memory is that of the whole process. Coverage above 100% is where owcty ended early with a violation.")
    return population


def _check(each: Property, runner: Runner, options: dict[str, Any]) -> dict[str, Any]:
    limit = _LARGEST_PART * max(0.0, runner.deadline - time.monotonic())
    entry = Entry(each.name, {}, each.model)
    what = "owcty --compact" if options else "owcty"
    answer = runner.check(entry, what, strategy="owcty", time_limit=max(2.0, limit), **options)
    assert answer.document is not None
    if answer.document["verdict"] == "unknown":
        raise NotRun(answer.document["kind"])
    return answer.document


def _values(plain: dict[str, Any], compact: dict[str, Any]) -> dict[str, float]:
    """Returns what one property adds to each measure. Searches of less than 1 ms count as 1 ms."""
    return {
        "relative time": max(compact["seconds"], 1e-3) / max(plain["seconds"], 1e-3),
        "relative memory": compact["peak_rss_bytes"] / plain["peak_rss_bytes"],
        "thousand states": plain["states_visited"] / 1000,
        "coverage %": 100 * compact["states_visited"] / plain["states_visited"],
    }
