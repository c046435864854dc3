"""The experiments behind each kind of table. Each function returns, for one row, our figures by measure and column."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from outcrop.errors import UsageError
from outcrop.machine import available_cores
from outcrop.outcome import Stop
from outcrop.reproduce.beem import ranges
from outcrop.reproduce.runner import NotRun, Runner
from outcrop.reproduce.tables import Entry, Table
from outcrop.sweep.cell import Answer

#: For each measure, one figure per column.
Figures = dict[str, list[str]]

_MEGABYTE = 2**20


def locality(table: Table, entry: Entry, runner: Runner) -> Figures:
    """Measures a row of Table 1 of 2004, as the paper did and, where its definition differs, also by the definition."""
    # These import numpy, which the list of tables does not need.
    from outcrop.api import load
    from outcrop.options import CheckOptions
    from outcrop.reproduce.published_locality import BudgetSpent, PublishedLocality
    from outcrop.tools.distances import measure

    runner.say(f"{entry.name} ...")
    limit = max(2.0, runner.seconds_left())
    model = load(runner.path(entry), entry.constants)
    found = measure(model, CheckOptions(threads=runner.threads, time_limit=limit))
    defined = _locality_figures({k: (found.of(k).mean, found.of(k).stddev) for k in (-1, 0, 1)})
    if not found.symmetry:
        return defined
    runner.others.setdefault("defined", {})[entry.name] = defined
    runner.note(
        "Models with scalarsets: ours looks successors up as the rules leave them, as the paper did; 'defined' looks "
        "them up as representatives of their orbits, as the paper defines it (outcrop docs locality)."
    )
    try:
        published = PublishedLocality(model.system, time.monotonic() + max(2.0, runner.seconds_left()))
    except (BudgetSpent, UsageError) as error:
        why = str(error) or "visiting all states in Python exceeds its share of the budget"
        runner.note(f"{entry.name}, as the paper measured: {why}.")
        return {measure: ["-"] for measure in defined}
    return _locality_figures({k: published.of(k) for k in (-1, 0, 1)})


def _locality_figures(found: dict[int, tuple[float, float]]) -> Figures:
    figures: Figures = {}
    for k, (mean, stddev) in found.items():
        figures[f"E({k})"] = [f"{mean:.6g}"]
        figures[f"sigma({k})"] = [f"{stddev:.6g}"]
    # The paper adds up the figures as printed.
    figures["SumAvg"] = [f"{sum(float(figures[f'E({k})'][0]) for k in found):.8g}"]
    return figures


def plain(table: Table, entry: Entry, runner: Runner) -> Figures:
    """Measures a row of Tables 3 and 4 of 2004, and of Table 2 of 1998: a search in RAM."""
    answer = _complete(runner.check(entry, "ram", strategy="ram"))
    width, memory = _memory(answer, bool(table.settings["signatures"]))
    largest = max(answer["levels"])
    runner.note(
        "queue: the paper gives the longest queue, ours is the largest level; memory is M(p) of the paper, in KB."
    )
    return {
        "bytes": [str(width)],
        "states": [str(answer["states"])],
        "rules": [str(answer["rules_fired"])],
        "queue": [str(largest)],
        "diameter": [str(answer["diameter"])],
        "memory": [f"{memory / 1024:.0f}"],
        "g": [f"{largest / answer['states']:.3g}"],
        "seconds": [f"{answer['seconds']:.2f}"],
    }


def fractions(table: Table, entry: Entry, runner: Runner) -> Figures:
    """Measures a row of Tables 5, 6, 8 and 9 of 2004: a search past RAM at fractions of M(p), as ratios to RAM."""
    base = _complete(runner.check(entry, "ram", strategy="ram"))
    _, memory = _memory(base, bool(table.settings["signatures"]))

    def at(column: str) -> dict[str, str]:
        return _ratios(_at_fraction(entry, runner, table.settings["strategy"], memory, column), base)

    return _each_column(table, entry, runner, "at {}", at)


def versus(table: Table, entry: Entry, runner: Runner) -> Figures:
    """Measures a row of Table 10 of 2004, and of Table 1 of 2003: one search past RAM against another."""
    base = _complete(runner.check(entry, "ram", strategy="ram"))
    _, memory = _memory(base, bool(table.settings["signatures"]))

    def at(column: str) -> dict[str, str]:
        one, other = (
            _at_fraction(entry, runner, table.settings[which], memory, column) for which in ("strategy", "against")
        )
        return _ratios(one, _complete(other))

    return _each_column(table, entry, runner, "at {}", at)


def memory(table: Table, entry: Entry, runner: Runner) -> Figures:
    """Measures a row of Tables 7 and 11 of 2004: one large model with a given number of megabytes."""
    keys = {"states": "states_visited", "rules": "rules_fired", "coll": "collision_rate"}

    def at(column: str) -> dict[str, str]:
        size = int(column.split()[0]) * _MEGABYTE
        document = runner.check(entry, column, state_memory=size, **table.settings["strategy"]).document or {}
        sign = "" if document["verdict"] == "holds" else ">"
        if sign:
            runner.note(f"{entry.name} with {column}: {document['kind']}; '>' marks figures of an unfinished search")
        found = {measure: document.get(keys.get(measure, measure)) for measure in entry.figures}
        return {measure: f"{sign}{_short(value)}" for measure, value in found.items() if value is not None}

    return _each_column(table, entry, runner, "with {}", at)


def layers(table: Table, entry: Entry, runner: Runner) -> Figures:
    """Measures a row of Tables 1 and 3 of 2008: layered duplicate detection with a given number of layers on disk."""
    base = _complete(runner.check(entry, "ram", strategy="ram"))
    memory = _part(_memory(base, False)[1], "0.1")
    runner.note("Memory: the paper gives no size; ours is a tenth of M(p), so that layers go to disk.")

    def at(column: str) -> dict[str, str]:
        layered = {"strategy": "layered", "layers": int(column), "forget": True, "state_memory": memory}
        document = _complete(runner.check(entry, f"layered, {column} layers", **layered))
        found = {
            "states": document.get("states") or document.get("states_visited"),
            "layers": document.get("diameter"),
            "missed": _total(document.get("missed")),
            "seconds": document.get("seconds"),
            "disk GB": document.get("peak_disk_bytes", 0) / 1e9,
        }
        return {measure: _short(value) for measure, value in found.items() if value is not None}

    return _each_column(table, entry, runner, "with {} layers", at)


def ram_cache(table: Table, entry: Entry, runner: Runner) -> Figures:
    """Measures a row of Table 2 of 2008: layered duplicate detection with and without its RAM cache."""
    base = _complete(runner.check(entry, "ram", strategy="ram"))
    fraction = table.settings["fraction"]
    memory = _part(_memory(base, False)[1], fraction)
    runner.note(f"Memory: the paper gives no size; ours is {fraction} of M(p).")
    found = [
        _complete(runner.check(entry, what, strategy="layered", state_memory=memory, squeeze=False, ram_cache=cache))
        for what, cache in (("layered", True), ("layered, RAM cache off", False))
    ]
    delayed = [document["layers"]["duplicates_delayed"] if document["layers"] else 0 for document in found]
    return {
        "cache seconds": [_short(found[0]["seconds"])],
        "no cache seconds": [_short(found[1]["seconds"])],
        "delayed duplicates": [str(delayed[0])],
        "without cache": [str(delayed[1])],
    }


def threads(table: Table, entry: Entry, runner: Runner) -> Figures:
    """Measures Figures 3 to 6 of 2012: seconds by threads, with and without hash compaction."""
    figures: Figures = {}
    for strategy in table.settings["strategies"]:
        name = "seconds, compact" if strategy.get("compact") else "seconds"

        def at(column: str, name: str = name, strategy: dict[str, Any] = strategy) -> dict[str, str]:
            if int(column) > available_cores():
                runner.note(f"Not run with more threads than the {available_cores()} cores of this machine.")
                return {}
            answer = runner.check(entry, f"{name}, threads: {column}", **{**strategy, "threads": int(column)})
            return {name: _short(_complete(answer)["seconds"])}

        figures |= _each_column(table, entry, runner, name + ", threads {}", at, [name])
    return figures


def _each_column(
    table: Table,
    entry: Entry,
    runner: Runner,
    where: str,
    at: Callable[[str], dict[str, str]],
    measures: Iterable[str] | None = None,
) -> Figures:
    """Returns the figures of a function for each column, by default for the measures of the paper. Missing figures are
    noted with their reason; ``where`` describes a column there."""
    figures: Figures = {measure: [] for measure in (entry.figures if measures is None else measures)}
    reasons: dict[str, list[str]] = {}
    for column in table.columns:
        try:
            found = at(column)
        except NotRun as reason:
            reasons.setdefault(str(reason), []).append(column)
            found = {}
        for measure, values in figures.items():
            values.append(found.get(measure, "-"))
    for text, columns in reasons.items():
        runner.note(f"{entry.name} {where.format(', '.join(columns))}: {text}")
    return figures


def _at_fraction(entry: Entry, runner: Runner, strategy: dict[str, Any], memory: int, column: str) -> Answer:
    return runner.check(entry, f"{strategy['strategy']} at {column}", state_memory=_part(memory, column), **strategy)


def bound(table: Table, entry: Entry, runner: Runner) -> Figures:
    """Computes Table 1 of 1998: formula (1), n * t / (2 * 2^b)."""
    bounds = [1e9 * int(column) / (2 * 2.0**entry.bits) for column in table.columns]
    return {"bound": [f"{100 * each:.2g}%" for each in bounds]}


EXPERIMENTS: dict[str, Callable[[Table, Entry, Runner], Figures]] = {
    "locality": locality,
    "plain": plain,
    "fractions": fractions,
    "versus": versus,
    "memory": memory,
    "layers": layers,
    "ram cache": ram_cache,
    "threads": threads,
    "ranges": ranges,
    "bound": bound,
}


def _complete(answer: Answer) -> dict[str, Any]:
    """Returns the document of a complete check. Raises NotRun for an unfinished one."""
    assert answer.document is not None
    if answer.document["verdict"] == "unknown":
        reached = f"{answer.document['states_visited']:,} states after {answer.document['seconds']:.0f} s"
        hint = "; give more time with --budget" if answer.document["kind"] == Stop.TIME else ""
        raise NotRun(f"{answer.document['strategy']}: {answer.document['kind']} ({reached}){hint}")
    return answer.document


def _memory(document: dict[str, Any], signatures: bool) -> tuple[int, int]:
    """Returns the bytes of a state as Murphi counts them, and M(p) of Table 2."""
    width = -(-document["state_bits"] // 32) * 4
    return width, document["states"] * (5 if signatures else width) + max(document["levels"]) * width


def _part(memory: int, column: str) -> int:
    return max(1, int(memory * float(column)))


def _ratios(answer: Answer, base: dict[str, Any]) -> dict[str, str]:
    document = answer.document
    assert document is not None
    ended = {"": "", "collision limit reached": " stopped"}.get(document["kind"], " unfinished")
    found = {
        "states": f"{document['states_visited'] / base['states_visited']:.3f}{ended}",
        "rules": f"{document['rules_fired'] / base['rules_fired']:.3f}{ended}",
        "time": f"{'>' if ended == ' unfinished' else ''}{document['seconds'] / max(base['seconds'], 1e-3):.3f}{ended}",
    }
    rate = document.get("collision_rate")
    if rate is not None:
        found["coll"] = f"{rate:.3f}"
    return found


def _total(counts: Any) -> int | None:
    return sum(each or 0 for each in counts) if isinstance(counts, list) else None


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
