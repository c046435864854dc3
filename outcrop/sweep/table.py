"""The results of a sweep: as text, CSV, JSON and a chart."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from outcrop.report.svg import Chart, Series
from outcrop.report.table import table
from outcrop.sweep.cell import Answer
from outcrop.sweep.plan import Axis
from outcrop.units import size

#: Figures of a row: first-level keys of the document of a check.
FIGURES = ("states", "states_visited", "rules_fired", "diameter", "seconds", "peak_rss_bytes", "peak_disk_bytes")
#: Columns of a table of checks.
HEAD = ("verdict", "states", "rules fired", "diameter", "time", "memory")
#: Figures that a chart can show, with the label of the axis.
DRAWN = {
    "states": "states",
    "rules": "rules fired",
    "seconds": "seconds",
    "memory": "bytes of peak memory",
    "rate": "states per second",
}


@dataclass(frozen=True)
class Row:
    place: dict[str, str]
    answer: Answer


@dataclass(frozen=True)
class Sweep:
    model: str
    axes: Sequence[Axis]
    rows: list[Row]
    missing: int = 0  #: checks that were not reached

    @property
    def exit_code(self) -> int:
        """The worst exit code of all checks: violated, then error, then unknown."""
        return worst([row.answer for row in self.rows], self.missing)

    def to_text(self) -> str:
        head = [*(each.name for each in self.axes), *HEAD]
        rows = [[*(row.place[each.name] for each in self.axes), *cells(row.answer)] for row in self.rows]
        lines = table(head, rows, "l" * (len(self.axes) + 1) + "r")
        notes = [
            f"{', '.join(f'{name}={value}' for name, value in row.place.items())}: {note(row.answer)}"
            for row in self.rows
            if note(row.answer)
        ]
        if self.missing:
            notes.append(f"interrupted: {self.missing:,} more checks were not made")
        return "\n".join([self.model, "", *lines, *([""] if notes else []), *notes])

    def to_csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*(each.name for each in self.axes), "verdict", "kind", *FIGURES, "error"])
        for row in self.rows:
            figures = [row.answer.figure(name) for name in ("kind", *FIGURES)]
            places = [row.place[each.name] for each in self.axes]
            writer.writerow([*places, row.answer.verdict, *figures, row.answer.error])
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        rows = [
            {
                "constants": row.place,
                "verdict": row.answer.verdict,
                **{name: row.answer.figure(name) for name in ("kind", *FIGURES)},
                "levels": row.answer.figure("levels"),
                "error": row.answer.error,
            }
            for row in self.rows
        ]
        axes = [{"name": each.name, "values": list(each.values)} for each in self.axes]
        return {"model": self.model, "axes": axes, "missing": self.missing, "rows": rows}

    def to_chart(self, drawn: str) -> Chart:
        """Returns a chart over the longest numeric axis, with a line for each combination of the others."""
        across = _across(self.axes)
        lines: dict[str, list[tuple[float, float]]] = {}
        for row in self.rows:
            value = _drawn(row.answer, drawn)
            name = ", ".join(f"{each.name}={row.place[each.name]}" for each in self.axes if each is not across)
            if value is not None and value > 0:
                x = (
                    float(row.place[across.name])
                    if _is_numeric(across)
                    else across.values.index(row.place[across.name])
                )
                lines.setdefault(name or DRAWN[drawn], []).append((float(x), value))
        return Chart(
            title=PurePath(self.model).name,
            x_label=across.name,
            y_label=DRAWN[drawn],
            series=[Series(name, points) for name, points in lines.items()],
            log_y=True,
            x_names=() if _is_numeric(across) else across.values,
        )


def worst(answers: Sequence[Answer], missing: int) -> int:
    """Returns the worst exit code of all checks: violated, then error, then unknown or not reached."""
    codes = {each.exit_code for each in answers} | ({3} if missing else set())
    return next((code for code in (1, 2, 3) if code in codes), 0)


def cells(answer: Answer) -> list[str]:
    """Returns the cells of a check, for the columns of HEAD."""
    if answer.document is None:
        return ["error", "", "", "", "", ""]
    document = answer.document
    states = f"{document['states']:,}" if document["states"] is not None else f"<= {document['states_visited']:,}"
    return [
        answer.verdict,
        states,
        f"{document['rules_fired']:,}",
        f"{document['diameter']:,}",
        f"{document['seconds']:.2f} s",
        size(document["peak_rss_bytes"]),
    ]


def note(answer: Answer) -> str:
    """Returns the details that the verdict does not say."""
    if answer.error:
        return answer.error
    kind = answer.figure("kind")
    if kind:
        return f"{answer.verdict}: {answer.figure('reason') or kind}"
    return "; ".join(each["message"] for each in answer.figure("notes") or [] if each.get("bears_on_verdict"))


def _across(axes: Sequence[Axis]) -> Axis:
    return max(axes, key=lambda each: (_is_numeric(each), len(each.values)))


def _is_numeric(each: Axis) -> bool:
    return all(value.lstrip("-").isdigit() for value in each.values)


def _drawn(answer: Answer, drawn: str) -> float | None:
    if answer.document is None:
        return None
    document = answer.document
    if drawn == "rate":
        seconds = document["seconds"]
        return document["states_visited"] / seconds if seconds else None
    keys = {"states": "states_visited", "rules": "rules_fired", "seconds": "seconds", "memory": "peak_rss_bytes"}
    return float(document[keys[drawn]])
