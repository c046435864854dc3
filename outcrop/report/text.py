"""A result as text: the verdict in one sentence, the figures, notes, then each violation with its trace.

Apart from times and memory, the same check prints the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from outcrop.outcome import CompressionReport, ReductionReport, Stop
from outcrop.report.chart_text import chart_text
from outcrop.report.json import violation_document
from outcrop.report.layers import layers_lines
from outcrop.report.sentences import about_runs, rule_names
from outcrop.report.table import table
from outcrop.result import TRUST, FormulaResult, Result, Verdict, Violation
from outcrop.source import Diagnostic, Severity
from outcrop.trace.chart import chart
from outcrop.trace.render import TraceStyle, fired, printed, render
from outcrop.units import size


@dataclass(frozen=True)
class Paint:
    """Terminal colours, if ``color``."""

    color: bool = False

    def verdict(self, verdict: Verdict, text: str) -> str:
        return self._wrap({Verdict.HOLDS: "1;32", Verdict.VIOLATED: "1;31", Verdict.UNKNOWN: "1;33"}[verdict], text)

    def strong(self, text: str) -> str:
        return self._wrap("1", text)

    def faint(self, text: str) -> str:
        return self._wrap("2", text)

    def change(self, line: str) -> str:
        """Returns a line of a trace with the new value marked, where it is about a change."""
        before, arrow, after = line.rpartition(" -> ")
        return f"{before}{arrow}{self._wrap('33', after)}" if arrow else line

    def diagnostic(self, text: str) -> str:
        """Returns a rendered diagnostic with its severity and its carets marked."""
        if not self.color:
            return text
        text = re.sub(
            r"(^|: )(error|warning|note):", lambda found: found[1] + self._severity(found[2]) + ":", text, count=1
        )
        return re.sub(r"^(\s*)(\^+)$", lambda found: found[1] + self._wrap("1;31", found[2]), text, flags=re.MULTILINE)

    def _severity(self, word: str) -> str:
        return self._wrap({"error": "1;31", "warning": "1;33"}.get(word, "1"), word)

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.color else text


@dataclass(frozen=True)
class ChartOptions:
    """The options of message charts: the width in columns, and the arguments of ``chart``."""

    width: int
    lanes: str | None = None
    messages: tuple[str, ...] = ()


def report(
    result: Result,
    style: TraceStyle = TraceStyle.DIFF,
    paint: Paint | None = None,
    page: str | None = None,
    charts: ChartOptions | None = None,
) -> str:
    """Returns the whole report. ``page`` is the path of the HTML report, if one was written. ``charts`` says how to
    draw a message chart of each trace; None draws none."""
    paint = paint or Paint()
    blocks = [verdict_line(result, paint), "\n".join(_figures(result, paint, page))]
    temporal = "\n".join(_temporal(result))
    if temporal:
        blocks.append(temporal)
    if result.per_rank:
        blocks.append("\n".join(_per_rank(result)))
    never = _never_fired(result)
    if never:
        blocks.append(never)
    unreached = "\n".join(_unreached(result)) if result.options.get("coverage") else ""
    if unreached:
        blocks.append(unreached)
    if result.events:
        blocks.append("\n".join(each.text for each in result.events))
    blocks += [paint.diagnostic(note.render()) for note in result.notes]
    faults = result.faults
    for number, fault in enumerate(faults, 1):
        heading = f"Violation {number:,} of {len(faults):,}" if len(faults) > 1 else "Violation"
        blocks.append("\n".join(violation_lines(fault.violation, heading, style, paint, _times(result, fault.count))))
        if charts is not None and fault.violation.trace is not None:
            drawn = chart(result.to_dict(), violation_document(fault.violation), charts.lanes, charts.messages)
            blocks.append(chart_text(drawn, charts.width))
    return "\n\n".join(blocks)


def verdict_line(result: Result, paint: Paint | None = None) -> str:
    """Returns the verdict, its meaning and its guarantee in one sentence."""
    paint = paint or Paint()
    word = paint.verdict(result.verdict, str(result.verdict).upper())
    return f"{word}: {result.model}: {_meaning(result)}."


def quiet(result: Result, paint: Paint | None = None) -> str:
    """Returns the verdict, and one line for each note that limits what it says."""
    notes = [note for note in result.notes if note.bears_on_verdict and note.message != result.reason]
    limits = [note.render().splitlines()[0] for note in notes]
    return "\n".join([verdict_line(result, paint), *limits])


def _meaning(result: Result) -> str:
    if result.verdict is Verdict.VIOLATED:
        more = len(result.violations) - 1
        others = f" (and {more:,} more violation{'s' if more > 1 else ''})" if more else ""
        return result.violations[0].message.rstrip(".") + others
    if result.verdict is Verdict.UNKNOWN and result.reason:
        return f"nothing was checked: {result.reason}"
    if result.verdict is Verdict.UNKNOWN and result.kind == Stop.COVERAGE:
        return f"no violation found in {_plural(result.states_visited, 'state')}, {result.guarantee}"
    if result.verdict is Verdict.UNKNOWN and not result.states_visited:
        return f"{result.kind} before a state was reached"
    if result.verdict is Verdict.UNKNOWN:
        return f"{result.kind}; no violation in the {_plural(result.states_visited, 'state')} that were reached"
    formulas = sum(isinstance(each, FormulaResult) for each in result.properties)
    no_run = about_runs(result.fairness, formulas)
    if result.states_checked == "none":
        return f"{no_run} ({result.guarantee}); no other property was checked"
    if result.states_checked == "product":
        return f"{no_run}, and no violation in any state of the product ({result.guarantee})"
    runs = f", and {no_run}" if formulas else ""
    if result.guarantee == "exact":
        return f"no violation in any reachable state{runs} (exact)"
    return f"no violation in any state reached{runs} ({result.guarantee})"


def _figures(result: Result, paint: Paint, page: str | None) -> Iterator[str]:
    threads = f", {result.threads} threads" if result.threads > 1 else ""
    threads = f", {result.device}" if result.device else threads
    compiled = f" (and {result.compile_seconds:.2f} s to compile)" if result.compile_seconds else ""
    if result.states is None:
        rows = [("states", f"at most {result.states_visited:,}, counting revisits")]
    else:
        rows = [("states", f"{result.states:,}")]
    rows += [
        ("rules fired", f"{result.rules_fired:,}"),
        ("diameter", f"{result.diameter:,}"),
        ("time", f"{result.seconds:.2f} s{compiled}"),
        ("memory", size(result.peak_rss_bytes)),
        ("state size", f"{result.state_bits:,} bits"),
        ("search", f"{result.strategy}, {result.engine}{threads}{_ranks(result)}"),
    ]
    if result.peak_disk_bytes:
        rows.append(("disk", size(result.peak_disk_bytes)))
    rows += layers_lines(result.layers, result.generated)
    rows += _compression_lines(result.compression)
    rows += _reduction_lines(result.reduction)
    if page is not None:
        rows.append(("report", f"{page} (open it in a browser)"))
    rows.append(("trust", f"{TRUST} says what this verdict promises"))
    for name, text in rows:
        yield f"  {paint.faint(f'{name:<12}')} {text}"


def _compression_lines(compression: CompressionReport | None) -> list[tuple[str, str]]:
    """Returns where the memory of a compressed search is."""
    if compression is None:
        return []
    nodes = f"nodes {size(compression.node_bytes)}, their index {size(compression.index_bytes)}, "
    parts = (
        f"roots {size(compression.root_bytes)}, {nodes if compression.form == 'tree' else ''}"
        f"queue {size(compression.queue_bytes)} in RAM{' and the rest on disk' if compression.queue == 'disk' else ''}"
    )
    return [
        (
            "compression",
            f"{compression.form}, {compression.bytes_a_state:.1f} bytes a state instead of "
            f"{compression.state_bytes}, ratio {compression.ratio:.1f}",
        ),
        ("", parts),
    ]


def _reduction_lines(reduction: ReductionReport | None) -> list[tuple[str, str]]:
    """Returns how much a search was reduced."""
    if reduction is None or reduction.reason or not reduction.states:
        return []
    enabled, fired = (count / reduction.states for count in (reduction.enabled, reduction.fired))
    share = reduction.reduced / reduction.states
    return [
        (
            "reduction",
            f"{share:.0%} of the states left enabled rules out; on average, {fired:.2f} of {enabled:.2f} fired",
        )
    ]


def _temporal(result: Result) -> Iterator[str]:
    """Yields the status of each formula, with the size of the product of the model and its automaton."""
    for each in result.properties:
        if isinstance(each, FormulaResult):
            searched = f" ({_plural(each.states, 'state')} of the product, {each.strategy})" if each.states else ""
            yield f'  ltl "{each.name}": {each.status}{searched}'


def _ranks(result: Result) -> str:
    return (
        f", {result.ranks} ranks" + (" with as many threads each" if result.threads > 1 else "")
        if result.ranks > 1
        else ""
    )


def _per_rank(result: Result) -> list[str]:
    """Returns a table with the counters of each rank. The load is in per cent of an equal share."""
    share = max(1, result.states_visited) / result.ranks
    rows = [
        [
            str(each.rank),
            each.host,
            f"{each.states:,}",
            f"{each.states / share:.0%}",
            size(each.bytes_sent),
            f"{each.seconds_waiting:.2f} s",
            size(each.peak_rss_bytes),
        ]
        for each in result.per_rank
    ]
    return table(["rank", "host", "states", "load", "sent", "waiting", "memory"], rows, "rlr")


def _never_fired(result: Result) -> str:
    names = [rule.name for rule in result.coverage if rule.never_fired]
    if not names:
        return ""
    never = "never fired" if result.verdict is Verdict.HOLDS else "did not fire before the search ended"
    return f"Rules that {never} ({len(names):,} of {len(result.coverage):,}): {rule_names(names)}"


def _unreached(result: Result) -> Iterator[str]:
    """Yields the code that no process reached, as SPIN lists it."""
    for text in result.unreached:
        before = "" if result.verdict is Verdict.HOLDS else ", before the search ended"
        counts = f"{len(text.places):,} of {text.states:,} states"
        yield f"Unreached in {text.name} ({counts}){before}{':' if text.places else ''}"
        for each in text.places:
            for statement in each.statements:
                yield f'  {Path(each.span.source.name).name}:{each.span.line}, state {each.state}, "{statement}"'


def _times(result: Result, count: int) -> str:
    """Returns how often a violation was found. A reduced search does not find the shortest trace."""
    if count == 1:
        return ""
    is_reduced = result.reduction is not None and not result.reduction.reason
    return f", found {count:,} times" + ("" if is_reduced else "; this is one of the shortest traces")


def violation_lines(
    violation: Violation, heading: str, style: TraceStyle, paint: Paint, times: str = ""
) -> Iterator[str]:
    """Yields the violation and the trace that shows it. ``times``: how often it was found, after the heading."""
    yield paint.strong(f"{heading}: {violation.kind}") + times
    yield paint.diagnostic(Diagnostic(Severity.ERROR, violation.message, violation.span, violation.hint).render())
    yield from (f"  in {name}, called at {span}" for name, span in violation.calls)
    for depth, part in enumerate(violation.because):
        yield f"  {'  ' * depth}false: {part}"
    if violation.trace is None and violation.failing_step:
        yield f"{fired('Startstate', violation.failing_step).removesuffix(' fired.')} fails, before any rule fires."
        yield from (f"    {line}" for line in printed(violation.printed))
    if violation.trace is None or style is TraceStyle.OFF:
        return
    yield ""
    yield paint.strong(_trace_heading(violation))
    for line in render(violation.trace, style, violation.failing):
        yield paint.change(line) if line.startswith("    ") else paint.strong(line)
    yield _ending(violation)
    yield from (f"    {line}" for line in printed(violation.printed))


def _trace_heading(violation: Violation) -> str:
    assert violation.trace is not None
    steps = len(violation.trace) - 1 + bool(violation.failing_step)
    if violation.trace.loop_start is not None:
        round_it = len(violation.trace) - violation.trace.loop_start
        before = violation.trace.loop_start
        return f"Trace ({_plural(before, 'step')} to the cycle, {_plural(round_it, 'step')} in the cycle)"
    return f"Trace ({_plural(max(0, steps), 'step')} from the start state)"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _ending(violation: Violation) -> str:
    """Returns the violation in one line, to stand at the end of a long trace."""
    message = violation.message.rstrip(".")
    if violation.trace is not None and violation.trace.loop_start is not None:
        return f"This cycle repeats forever: {message}."
    if violation.failing_step:
        return f"Then {fired('Rule', violation.failing_step).removesuffix(' fired.')}: {message}."
    return f"Here: {message}."
