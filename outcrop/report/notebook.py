"""Results in a notebook: small pieces of HTML, without scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from outcrop.ir.layout import State
from outcrop.report.page import page
from outcrop.report.text import verdict_line
from outcrop.result import Result, Trace
from outcrop.trace.render import changes, folded
from outcrop.trace.values import items

if TYPE_CHECKING:
    from outcrop.ir.system import System

_COLOURS = {"holds": "#1a7f37", "violated": "#cf222e", "unknown": "#9a6700"}
_TABLE = '<table style="border-collapse:collapse;text-align:left">'
_CELL = 'style="text-align:left;vertical-align:top;padding:2px 12px 2px 0"'
#: Steps of a trace that are shown.
_MOST_STEPS = 60


def result_html(result: Result) -> str:
    """Returns the verdict, the figures, the sizes of the levels as a drawing, and the first trace."""
    line = escape(verdict_line(result))
    parts = [f'<p><b style="color:{_COLOURS[str(result.verdict)]}">{line}</b></p>']
    states = "unknown" if result.states is None else f"{result.states:,}"
    figures = {
        "states": states,
        "rules fired": f"{result.rules_fired:,}",
        "levels": f"{len(result.levels):,}",
        "time": f"{result.seconds:.2f} s",
        "memory": f"{result.peak_rss_bytes / 2**20:,.0f} MiB",
        "state": f"{result.state_bits} bits",
        "search": f"{result.strategy}, {result.engine}",
    }
    rows = [f"<tr><td {_CELL}>{name}</td><td {_CELL}>{escape(value)}</td></tr>" for name, value in figures.items()]
    parts.append(f"{_TABLE}{''.join(rows)}</table>")
    if len(result.levels) > 2:
        parts.append(_levels(result.levels))
    for each in result.violations[:1]:
        parts.append(f"<p>{escape(each.message)}</p>")
        if each.trace is not None:
            parts.append(trace_html(each.trace))
    return "".join(parts)


def _levels(levels: list[int], width: int = 320, height: int = 48) -> str:
    """Returns the sizes of the levels as an area."""
    most, last = max(levels), max(1, len(levels) - 1)
    points = [f"{at * width / last:.1f},{height - size * height / most:.1f}" for at, size in enumerate(levels)]
    shape = f"0,{height} {' '.join(points)} {width},{height}"
    title = f"{len(levels):,} levels, at most {most:,} states each"
    return (
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img"><title>{title}</title>'
        f'<polygon points="{shape}" fill="#54aeff" fill-opacity="0.6"/></svg>'
    )


def trace_html(trace: Trace) -> str:
    """Returns a table of the start state and of what each step changed."""
    head = f"<tr><th {_CELL}>step</th><th {_CELL}>rule</th><th {_CELL}>changes</th></tr>"
    rows = [head]
    before: State | None = None
    parts = items(trace.system)
    for number, step in enumerate(trace.steps):
        if number >= _MOST_STEPS:
            rows.append(f"<tr><td></td><td {_CELL}>and {len(trace.steps) - number:,} more steps</td><td></td></tr>")
            break
        texts = folded(trace.system, step.state) if before is None else changes(parts, before, step.state)
        shown = "<br>".join(f"<code>{escape(each)}</code>" for each in texts)
        loop = " (the loop starts here)" if trace.loop_start == number else ""
        rows.append(
            f"<tr><td {_CELL}>{number}</td><td {_CELL}>{escape(step.label)}{loop}</td><td {_CELL}>{shown}</td></tr>"
        )
        before = step.state
    return f"{_TABLE}{''.join(rows)}</table>"


def system_html(system: System) -> str:
    """Returns a table of what a model has."""
    figures = {
        "fields": ", ".join(f"{each.name}: {each.type}" for each in system.variables),
        "constants": ", ".join(f"{name} = {value}" for name, value in system.constants.items()),
        "start states": ", ".join(each.name for each in system.start_states),
        "rules": ", ".join(each.name for each in system.rules),
        "properties": ", ".join(each.name for each in (*system.properties, *system.temporal)),
    }
    rows = [
        f"<tr><td {_CELL}>{name}</td><td {_CELL}>{escape(value)}</td></tr>" for name, value in figures.items() if value
    ]
    return f"<p><b>{escape(system.name)}</b></p>{_TABLE}{''.join(rows)}</table>"


def html(each: Result | Trace) -> str:
    """Returns the HTML of a result or a trace."""
    return trace_html(each) if isinstance(each, Trace) else result_html(each)


def result_page(result: Result) -> str:
    """Returns the report of a result as an HTML file."""
    return page(result.to_dict())
