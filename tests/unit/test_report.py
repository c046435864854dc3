"""The text report, the JSON document and the progress line, over results made by hand."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from typing import Any

import pytest

from outcrop.dist.merging import merged_outcome
from outcrop.ir.nodes import Variable
from outcrop.ir.system import System
from outcrop.ir.types import Range
from outcrop.outcome import Event, EventKind, Outcome, Progress, RankReport, Stop
from outcrop.report import progress as progress_module
from outcrop.report.json import document
from outcrop.report.progress import ProgressLine
from outcrop.report.text import Paint, report, verdict_line
from outcrop.result import Result, RuleCoverage, Step, Trace, Verdict, Violation, ViolationKind
from outcrop.source import Diagnostic, Severity, Source, Span
from outcrop.trace.render import TraceStyle
from outcrop.units import size

SOURCE = Source("hand.m", 'var x: 0..3;\ninvariant "small" x < 3;\n')
SPAN = Span(SOURCE, 23, 36)
SYSTEM = System("hand.m", SOURCE, {}, (Variable("x", Range(0, 3), 0, SPAN),), (), (), (), (), ())

#: DESIGN's first-level keys, an API.
KEYS = (
    "verdict kind guarantee model constants strategy engine threads ranks states states_visited rules_fired levels "
    "diameter seconds compile_seconds state_bits peak_rss_bytes peak_disk_bytes properties coverage trace version "
    "format"
)


def result() -> Result:
    return Result(
        verdict=Verdict.HOLDS,
        kind="",
        guarantee="exact",
        model="hand.m",
        constants={"N": 3},
        strategy="ram",
        engine="interpreter",
        threads=1,
        states=1234,
        states_visited=1234,
        rules_fired=5678,
        levels=[1, 33, 1200],
        seconds=1.5,
        compile_seconds=0.0,
        state_bits=3,
        peak_rss_bytes=40 * 2**20,
        properties=[],
        coverage=[RuleCoverage("up", SPAN, 1, 5678), RuleCoverage("down", SPAN, 1, 0)],
    )


def violated(**changes: object) -> Result:
    violation = Violation(
        ViolationKind.INVARIANT,
        'invariant "small" is false',
        SPAN,
        Trace(SYSTEM, (Step("Init", (2,), SPAN), Step("up", (3,), SPAN))),
        property="small",
        because=("x < 3", "x is 3"),
    )
    return replace(result(), verdict=Verdict.VIOLATED, kind="invariant", violations=[replace(violation, **changes)])  # type: ignore[arg-type]


def test_verdict_comes_first_with_its_guarantee() -> None:
    assert report(result()).splitlines()[0] == "HOLDS: hand.m: no violation in any reachable state (exact)."
    bound = replace(result(), guarantee="the probability that a state was missed is at most 3e-09")
    assert verdict_line(bound).endswith("(the probability that a state was missed is at most 3e-09).")
    unknown = replace(result(), verdict=Verdict.UNKNOWN, kind="time limit reached")
    assert verdict_line(unknown).startswith("UNKNOWN: hand.m: time limit reached; no violation in the 1,234 states")


def test_figures_and_rules_that_never_fired() -> None:
    lines = report(result()).splitlines()
    assert "  states       1,234" in lines
    assert "  rules fired  5,678" in lines
    assert "  diameter     2" in lines
    assert "  time         1.50 s" in lines
    assert "  memory       40.0 MiB" in lines
    assert "  state size   3 bits" in lines
    assert "Rules that never fired (1 of 2): down" in lines
    assert "Rules that did not fire before the search ended (1 of 2): down" in report(violated()).splitlines()
    same = replace(result(), coverage=[each for each in result().coverage for _ in range(3)])
    assert "Rules that never fired (3 of 6): down (3 rules)" in report(same).splitlines()


def test_notes_are_shown() -> None:
    noted = replace(result(), notes=[Diagnostic(Severity.WARNING, "x is never read", SPAN)])
    assert "hand.m:2:11: warning: x is never read" in report(noted)


def test_violation_names_property_place_and_false_part_then_the_trace() -> None:
    text = report(violated())
    assert text.splitlines()[0] == 'VIOLATED: hand.m: invariant "small" is false.'
    tail = text[text.index("Violation: ") :].splitlines()
    assert tail == [
        "Violation: invariant",
        'hand.m:2:11: error: invariant "small" is false',
        '  invariant "small" x < 3;',
        "            ^^^^^^^^^^^^^",
        "  false: x < 3",
        "    false: x is 3",
        "",
        "Trace (1 step from the start state)",
        "0  Startstate Init fired.",
        "     x: 2",
        "1  Rule up fired.",
        "     x: 2 -> 3",
        'Here: invariant "small" is false.',
    ]


def test_an_error_inside_a_rule_ends_the_trace_with_that_rule() -> None:
    text = report(violated(kind=ViolationKind.RUNTIME, message="4 is out of range", failing_step="up"))
    assert text.endswith("Then Rule up: 4 is out of range.")
    assert "Trace (2 steps from the start state)" in text


def test_an_error_in_a_startstate_names_it() -> None:
    assert report(violated(trace=None, failing_step="Init")).endswith("Startstate Init fails, before any rule fires.")


def test_a_hint_follows_the_violation() -> None:
    text = report(violated(hint="use --deadlock off"))
    assert "^^^\n  hint: use --deadlock off\n  false: x < 3\n" in text
    assert document(violated(hint="use --deadlock off"))["violations"][0]["hint"] == "use --deadlock off"


def test_traces_can_be_left_out() -> None:
    assert "Startstate" not in report(violated(), TraceStyle.OFF)


def test_colours_only_when_asked() -> None:
    assert "\x1b" not in report(violated())
    assert report(violated(), paint=Paint(color=True)).startswith("\x1b[1;31mVIOLATED\x1b[0m")


def test_document_has_the_published_keys() -> None:
    shown = json.loads(json.dumps(document(violated())))
    assert set(shown) >= {*KEYS.split(), "violations", "notes", "events"}
    assert shown["verdict"] == "violated"
    assert shown["diameter"] == 2
    assert shown["violations"][0]["position"] == {"file": "hand.m", "line": 2, "column": 11}
    assert shown["trace"] == shown["violations"][0]["trace"]
    assert [state["x"] for state in shown["trace"]["states"]] == [2, 3]
    assert document(result())["trace"] is None


def test_events_are_told_by_their_texts() -> None:
    events = [Event(EventKind.SPILLED, "on disk", {"level": 3}), Event(EventKind.GAVE_UP, "given up")]
    told = replace(result(), events=events)
    assert document(told)["events"] == ["on disk", "given up"]
    assert "\n\non disk\ngiven up\n\n" in report(replace(told, notes=[Diagnostic(Severity.NOTE, "a note")]))
    assert str(events[0]) == "on disk"


def test_ranks_say_once_what_all_of_them_say() -> None:
    full, resumed = Event(EventKind.DISK_FULL, "disk: full", {"level": 1}), Event(EventKind.RESUMED, "resumed")
    outcomes = [Outcome(Stop.DISK, [1], [], [], events=events) for events in ([resumed], [resumed, full])]
    ranks = [RankReport(rank, "host", 1, 0, 0, 0, 0, 0, 0.0, 0, 0) for rank in range(2)]
    events = merged_outcome(outcomes[0], list(zip(outcomes, ranks, strict=True))).events
    assert events == [resumed, replace(full, text="rank 1: disk: full")]
    assert events[1].data == {"level": 1}


@pytest.mark.parametrize(("count", "text"), [(17, "17 B"), (2048, "2 KiB"), (3 * 2**20, "3.0 MiB"), (2**41, "2.0 TiB")])
def test_sizes(count: int, text: str) -> None:
    assert size(count) == text


def snapshot(seconds: float, **changes: Any) -> Progress:
    values = {"level": 3, "states": 20_000, "rules_fired": 50_000, "frontier": 700, "seconds": seconds}
    return Progress(**{**values, **changes})


def test_progress_has_every_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    counters = iter([(0, 0), (5 << 20, 30 << 20)])
    monkeypatch.setattr(progress_module, "transferred_bytes", lambda: next(counters))
    progress = ProgressLine()
    progress.text(snapshot(3720.0, states=15_000, generated=30_000, memory=50 << 20, disk=1 << 20))
    text = progress.text(snapshot(3725.0, generated=90_000, memory=60 << 20, disk=2 << 20))
    for part in ("level 3", "20,000 states", "700 waiting", "1,000 new/s", "11,000 old/s", "1:02:05"):
        assert part in text
    for part in (
        "RAM 60.0 MiB",
        "disk 2.0 MiB",
        "reading 1.0 MiB/s",
        "writing 6.0 MiB/s",
        "forecast: not yet possible",
    ):
        assert part in text


def test_progress_says_what_is_to_come() -> None:
    levels = [*range(1, 40), *range(40, 20, -1)]
    states = sum(levels)
    progress = ProgressLine(progress_module.Limits(memory=100 << 20, disk=50 << 20))
    progress.text(snapshot(1.0, states=0, memory=40 << 20, levels=levels))
    text = progress.text(snapshot(6.0, states=states, memory=50 << 20, levels=levels))
    assert re.search(r"forecast: 1,000 to \d,000 states, \d+ s to \d+ s more", text)
    assert "is full" not in text  # it will be over before
    text = ProgressLine(progress_module.Limits(memory=100 << 20)).text(snapshot(1.0, memory=50 << 20))
    assert "is full" not in text  # memory has not grown
    progress = ProgressLine(progress_module.Limits(memory=100 << 20, disk=50 << 20))
    progress.text(snapshot(1.0, memory=40 << 20, disk=0))
    text = progress.text(snapshot(6.0, memory=50 << 20, disk=1 << 20))
    assert "not yet possible; at this rate RAM is full in 25 s; at this rate disk is full in 4 min" in text


def test_progress_draws_on_a_terminal_and_cleans_up(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    monkeypatch.setattr(progress_module.sys, "stderr", stream)
    monkeypatch.setattr(progress_module, "_SECONDS_BEFORE_FIRST", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    with ProgressLine() as progress:
        progress(Progress(level=1, states=10, rules_fired=20, frontier=5, seconds=1.0))
        progress(snapshot(2.0, event=Event(EventKind.SPILLED, "continuing with [runs] on disk")))
    assert "level 1" in stream.getvalue() and "continuing with [runs] on disk" in stream.getvalue()
    assert stream.getvalue().rstrip().endswith("\x1b[2K")  # the line is erased
