"""The text report, the JSON document and the progress line, over results made by hand."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from outcrop.ir.nodes import Variable
from outcrop.ir.system import System
from outcrop.ir.types import Range
from outcrop.report import progress as progress_module
from outcrop.report.progress import ProgressLine
from outcrop.report.text import Paint, report, size, verdict_line
from outcrop.result import Result, Step, Trace, Verdict, Violation, ViolationKind
from outcrop.search.outcome import Progress
from outcrop.source import Diagnostic, Severity, Source, Span
from outcrop.trace.render import TraceStyle

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
        coverage=[{"name": "up", "fired": 5678}, {"name": "down", "fired": 0}],
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
    assert "Rules that did not fire until then (1 of 2): down" in report(violated()).splitlines()


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
    assert report(violated(trace=None, failing_step="Init")).endswith("While Startstate Init runs, before any rule.")


def test_traces_can_be_left_out() -> None:
    assert "Startstate" not in report(violated(), TraceStyle.OFF)


def test_colours_only_when_asked() -> None:
    assert "\x1b" not in report(violated())
    assert report(violated(), paint=Paint(color=True)).startswith("\x1b[1;31mVIOLATED\x1b[0m")


def test_document_has_the_published_keys() -> None:
    document = json.loads(json.dumps(violated().to_dict()))
    assert set(document) == {*KEYS.split(), "violations", "notes", "events"}
    assert document["verdict"] == "violated"
    assert document["diameter"] == 2
    assert document["violations"][0]["position"] == {"file": "hand.m", "line": 2, "column": 11}
    assert document["trace"] == document["violations"][0]["trace"]
    assert [state["x"] for state in document["trace"]["states"]] == [2, 3]
    assert result().to_dict()["trace"] is None


@pytest.mark.parametrize(("count", "text"), [(17, "17 B"), (2048, "2 KiB"), (3 * 2**20, "3.0 MiB"), (2**41, "2.0 TiB")])
def test_sizes(count: int, text: str) -> None:
    assert size(count) == text


def test_progress_line_has_every_figure() -> None:
    line = ProgressLine().line(Progress(level=3, states=20_000, rules_fired=50_000, frontier=700, seconds=3725.0))
    for part in ("level 3", "20,000 states", "50,000 rules fired", "700 waiting", "states/s", "1:02:05", "MiB"):
        assert part in line


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
    assert "level 1" in stream.getvalue()
    assert stream.getvalue().rstrip().endswith("\x1b[2K")  # the line is erased
