"""Runs a table, and shows the figures of the paper next to ours."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from outcrop.errors import OutcropError
from outcrop.report.svg import Chart, Series
from outcrop.report.table import table as text_table
from outcrop.reproduce.experiments import EXPERIMENTS, Figures
from outcrop.reproduce.runner import NotRun, Runner
from outcrop.reproduce.tables import Entry, Table, tables


@dataclass
class Reproduction:
    """The figures of a table. ``ours`` has those of each row that was run; ``missing`` the reasons for the others."""

    table: Table
    ours: dict[str, Figures] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    others: dict[str, dict[str, Figures]] = field(default_factory=dict)  #: figures from other methods
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "table": self.table.name,
            "paper": self.table.paper,
            "title": self.table.title,
            "columns": list(self.table.columns),
            "rows": [
                {
                    "name": entry.name,
                    "paper": entry.figures,
                    "ours": self.ours.get(entry.name),
                    "missing": self.missing.get(entry.name, ""),
                    **{way: found[entry.name] for way, found in self.others.items() if entry.name in found},
                }
                for entry in self.table.entries
            ],
            "notes": self.notes,
            "seconds": round(self.seconds, 3),
        }

    def to_text(self) -> str:
        table = self.table
        blocks = [f"{table.name}: {table.title}\n{table.paper}"]
        lines = _by_column(self) if table.columns else _by_measure(self)
        if lines:
            blocks.append("\n".join(lines))
        for reason in dict.fromkeys(self.missing.values()):
            names = [name for name, why in self.missing.items() if why == reason]
            blocks.append(f"Not reproduced: {', '.join(names)}: {reason}.")
        if self.notes:
            blocks.append("\n".join(self.notes))
        same = [entry.name for entry in table.entries if _agrees(entry.figures, self.ours.get(entry.name, {}))]
        if same:
            blocks.append(f"Every figure as the paper has it: {', '.join(same)} ({len(same)} rows).")
        blocks.append(f"{self._how_much()}; {self.seconds:.0f} s")
        return "\n\n".join(blocks)

    def _how_much(self) -> str:
        """Returns how many rows have all figures of the paper, or a part."""
        whole = part = 0
        for entry in self.table.entries:
            found = self.ours.get(entry.name, {})
            cells = [cell for measure in entry.figures for cell in found.get(measure, ["-"])]
            open_cells = sum(cell in ("", "-") or cell.endswith("unfinished") or cell.startswith(">") for cell in cells)
            whole += bool(found) and not open_cells
            part += bool(open_cells) and _has_figures(found)
        said = f"{whole} of {len(self.table.entries)} rows"
        return f"{said}, and {part} in part" if part else said

    def to_chart(self) -> Chart | None:
        """Returns a chart of time by column, if the paper has such a figure."""
        if not self.table.chart or not self.table.columns:
            return None
        series = [
            Series(f"{name}: {measure}" if measure != "time" else name, points)
            for name, figures in self.ours.items()
            for measure, values in figures.items()
            if measure.startswith(("time", "seconds")) and (points := _points(self.table.columns, values))
        ]
        published = _average(self.table)
        if published:
            series.append(Series("paper, average", published))
        x_label = "threads" if self.table.experiment == "threads" else "memory fraction"
        return Chart(self.table.chart, x_label, "time", series)


def run(table: Table, runner: Runner) -> Reproduction:
    """Runs the rows of a table, small models first, so that as many as possible fit the budget. Ctrl-C ends with the
    figures so far."""
    started = time.monotonic()
    done = Reproduction(table)
    wanted = [entry for entry in table.entries if not entry.reason and table.experiment != "none"]
    done.missing = {entry.name: entry.reason for entry in table.entries if entry not in wanted}
    runner.rows_left = len(wanted)
    for number, entry in enumerate(sorted(wanted, key=lambda each: each.states)):
        try:
            runner.begin_row()
            done.ours[entry.name] = EXPERIMENTS[table.experiment](table, entry, runner)
            if not runner.others and not _has_figures(done.ours[entry.name]):
                del done.ours[entry.name]
                done.missing[entry.name] = "none of its figures could be computed, for the reasons below"
        except NotRun as reason:
            done.missing[entry.name] = str(reason)
        except OutcropError as error:
            done.missing[entry.name] = str(error).splitlines()[0]
        except KeyboardInterrupt:
            rest = sorted(wanted, key=lambda each: each.states)[number:]
            done.missing |= {each.name: "interrupted" for each in rest}
            break
    done.notes = [*runner.notes, *_notes_of(entry for entry in wanted if entry.name in done.ours)]
    if runner.results.used:
        done.notes.append(
            f"{runner.results.used} searches were not run again; their figures come from --results. "
            "Ratios of times compare searches of different calls, which may have had different shares of the machine."
        )
    done.others = runner.others
    done.seconds = time.monotonic() - started
    return done


def _notes_of(entries: Iterable[Entry]) -> list[str]:
    """Returns the notes of the rows; rows with the same note share it."""
    names: dict[str, list[str]] = {}
    for entry in entries:
        if entry.note:
            names.setdefault(entry.note, []).append(entry.name)
    return [f"{', '.join(each)}: {note}" for note, each in names.items()]


def _agrees(paper: Figures, ours: Figures) -> bool:
    """Returns whether our figures are those of the paper, rounded as it prints them."""
    cells = [
        pair
        for measure, printed in paper.items()
        for pair in zip(printed, ours.get(measure, [""] * len(printed)), strict=True)
    ]
    return any(printed for printed, _ in cells) and all(
        printed == own or _rounded(own, printed) for printed, own in cells
    )


def _rounded(own: str, printed: str) -> bool:
    if not (_is_number(own) and _is_number(printed)):
        return False
    _, _, decimals = printed.partition(".")
    return decimals.isdigit() and round(float(own), len(decimals)) == float(printed)


def _has_figures(figures: Figures) -> bool:
    return any(cell != "-" for cells in figures.values() for cell in cells)


def listing_document() -> list[dict[str, Any]]:
    """Returns all tables of all papers as a JSON document."""
    return [
        {
            "table": each.name,
            "paper": each.paper,
            "title": each.title,
            "rows": len(each.entries),
            "rows_that_can_be_run": each.can_run,
            "chart": each.chart,
        }
        for each in tables().values()
    ]


def listing() -> str:
    """Returns the list of all tables of all papers."""
    blocks: list[str] = []
    papers: dict[str, list[Table]] = {}
    for each in tables().values():
        papers.setdefault(each.paper, []).append(each)
    for paper, found in papers.items():
        rows = [[each.name, each.title, f"{each.can_run} of {len(each.entries)} rows", each.chart] for each in found]
        blocks.append("\n".join([paper, *(f"  {line}" for line in text_table(["", "", "", ""], rows)[2:])]))
    return "\n\n".join(blocks) + "\n\nThe other rows cannot be run; 'outcrop reproduce TABLE' says why."


def _by_column(done: Reproduction) -> list[str]:
    """Returns two lines for each measure, those of the paper and ours, with a column for each column of the paper."""
    rows = []
    for entry in done.table.entries:
        ours = done.ours.get(entry.name)
        if ours is None:
            continue
        for measure in dict.fromkeys([*entry.figures, *ours]):
            for who, figures in (("paper", entry.figures), ("ours", ours)):
                if any(figures.get(measure, ())):
                    rows.append([entry.name, measure, who, *figures[measure]])
    return text_table(["model", "measure", "", *done.table.columns], _thinned(rows), "lllr") if rows else []


def _by_measure(done: Reproduction) -> list[str]:
    """Returns two lines for each row, with a column for each measure."""
    rows: list[list[str]] = []
    measures = list(dict.fromkeys(name for entry in done.table.entries for name in entry.figures))
    for entry in done.table.entries:
        ours = done.ours.get(entry.name)
        if ours is not None:
            rows.append([entry.name, "paper", *_line(entry, entry.figures, measures)])
            rows.append([entry.name, "ours", *_line(entry, ours, measures)])
            for way, found in done.others.items():
                if entry.name in found:
                    rows.append([entry.name, way, *_line(entry, found[entry.name], measures)])
    return text_table(["model", "", *measures], _thinned(rows), "llr") if rows else []


def _line(entry: Entry, figures: Figures, measures: list[str]) -> list[str]:
    return [figures[measure][0] if measure in figures and measure in entry.figures else "" for measure in measures]


def _thinned(rows: list[list[str]]) -> list[list[str]]:
    """Returns the rows with names only where they change."""
    thin = []
    for number, row in enumerate(rows):
        before = rows[number - 1] if number else ["", ""]
        row = list(row)
        if row[0] == before[0]:
            if len(row) > 2 and row[1] == before[1]:
                row[1] = ""
            row[0] = ""
        thin.append(row)
    return thin


def _points(columns: tuple[str, ...], values: list[str]) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in zip(columns, values, strict=True) if _is_number(x) and _is_number(y)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _average(table: Table) -> list[tuple[float, float]]:
    """Returns the average time over all models that the paper has, and could finish, in each column."""
    points = []
    for number, column in enumerate(table.columns):
        times = [entry.figures["time"][number] for entry in table.entries if "time" in entry.figures]
        values = [float(each) for each in times if _is_number(each)]
        if values and _is_number(column):
            points.append((float(column), sum(values) / len(values)))
    return points
