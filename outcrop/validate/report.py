"""The report of `outcrop validate`, as text, JSON and HTML."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from outcrop import __version__
from outcrop.report.chart_svg import chart_svg
from outcrop.report.json import position, rule_document
from outcrop.report.parts import escaped
from outcrop.report.text import Paint
from outcrop.result import Trace, Verdict
from outcrop.trace.chart import chart
from outcrop.trace.document import type_tree
from outcrop.trace.itf import trace_document
from outcrop.trace.render import TraceStyle, folded, render
from outcrop.validate.coverage import StateCoverage
from outcrop.validate.explain import MOST_STATES, Possible
from outcrop.validate.follow import Conformity, Numbered
from outcrop.validate.options import Start
from outcrop.validate.validation import LogAnswer, Validation
from outcrop.views import StateView

_VERDICTS = {
    Conformity.CONFORMS: Verdict.HOLDS,
    Conformity.DIFFERS: Verdict.VIOLATED,
    Conformity.UNKNOWN: Verdict.UNKNOWN,
}
_CONFORMING = {
    Start.INITIAL: "are a run of the model",
    Start.REACHABLE: "are a part of a run of the model",
    Start.ANY: "follow one another by rules of the model, from a state that may not be reachable",
}
_MOST_LABELS = 12
_LONGEST_LINE = 400


def text(validation: Validation, paint: Paint, style: TraceStyle = TraceStyle.OFF) -> str:
    """Returns the whole report."""
    blocks = ["\n".join(_answer(validation, each, paint, style)) for each in validation.answers]
    blocks.append("\n".join(_coverage(validation)))
    return "\n\n".join(blocks)


def _answer(validation: Validation, answer: LogAnswer, paint: Paint, style: TraceStyle) -> Iterator[str]:
    followed = answer.followed
    word = paint.verdict(_VERDICTS[answer.conformity], str(answer.conformity).upper())
    if answer.conformity is Conformity.CONFORMS:
        yield f"{word}: {answer.name}: all {_lines(followed.lines)} {_CONFORMING[validation.start]}."
    elif answer.conformity is Conformity.UNKNOWN:
        yield f"{word}: {answer.name}: after {_lines(followed.lines)}: {followed.reason}."
    else:
        agree = f"{_lines(followed.lines)} agree{'s' if followed.lines == 1 else ''}"
        yield f"{word}: {answer.name}: {agree} with the model, the next one does not."
    yield f"  widest: {_states(followed.widest)} possible at once"
    yield from (f"  {name} is {value}" for name, value in followed.identities.items())
    if followed.failing is not None:
        yield f"  {_place(answer, followed.failing)}: {shown_line(followed.failing)}"
        yield from (f"  or {_place(answer, each)}: {shown_line(each)}" for each in followed.others)
    if answer.explanation is None:
        return
    if answer.explanation.impossible:
        yield f"  {answer.explanation.impossible}"
    if followed.lines == 0 and validation.start is Start.INITIAL:
        yield "  A log that begins in the middle of a run needs --start reachable."
    if answer.explanation.nearest:
        yield ""
        yield paint.strong("Nearest:")
        yield from (f"  {each.text}" for each in answer.explanation.nearest)
    yield ""
    yield from _possible(validation, answer, paint)
    if answer.run is not None and style is not TraceStyle.OFF:
        yield ""
        yield paint.strong("A run up to there:")
        yield from render(answer.run, style)


def _place(answer: LogAnswer, line: Numbered) -> str:
    """Returns the place of a line, with the name of its log if there are several."""
    return f"line {line.number:,}" if line.log == answer.name else f"{line.log}, line {line.number:,}"


def _possible(validation: Validation, answer: LogAnswer, paint: Paint) -> Iterator[str]:
    """Yields the states before the line that does not agree, and what each can do."""
    assert answer.explanation is not None
    possible = answer.explanation.possible
    yield paint.strong(f"Before that line, {_states(answer.followed.possible)} possible:")
    for number, each in enumerate(possible):
        yield f"  state {number + 1}:"
        yield from (f"    {line}" for line in folded(validation.model.system, each.state))
        yield f"    can do: {_labels(each)}"
    if answer.followed.possible > len(possible):
        yield f"  and {answer.followed.possible - len(possible):,} more; at most {MOST_STATES} are listed"


def _labels(possible: Possible) -> str:
    labels = possible.enabled
    more = f"; and {len(labels) - _MOST_LABELS:,} more" if len(labels) > _MOST_LABELS else ""
    return "; ".join(labels[:_MOST_LABELS]) + more if labels else "nothing, it is a dead end"


def _coverage(validation: Validation) -> Iterator[str]:
    never = [each.name for each in validation.coverage if not each.fired]
    rules = len(validation.coverage)
    yield (
        f"Coverage: {rules - len(never):,} of {rules:,} rules, {validation.instances_shown:,} of "
        f"{validation.instances:,} rule instances."
    )
    if never:
        yield f"Rules that no log shows: {', '.join(never)}"
    states = validation.states
    if states is not None:
        least = "" if states.is_complete else "at least "
        yield f"States: {states.shown:,} of {least}{states.reachable:,} reachable ones."
        for each in states.examples:
            yield f"  not shown: {', '.join(folded(validation.model.system, each))}"


def _lines(count: int) -> str:
    return f"{count:,} line{'' if count == 1 else 's'}"


def _states(count: int) -> str:
    return f"{count:,} state{' was' if count == 1 else 's were'}"


def shown_line(line: Numbered) -> str:
    """Returns the text of a line, shortened."""
    record = line.record
    text = record.decode(errors="replace") if isinstance(record, bytes) else json.dumps(record, ensure_ascii=False)
    return text if len(text) <= _LONGEST_LINE else text[: _LONGEST_LINE - 3] + "..."


# --- JSON -------------------------------------------------------------------------------------------------------


def document(validation: Validation) -> dict[str, Any]:
    """Returns the JSON document."""
    system = validation.model.system
    return {
        "version": __version__,
        "verdict": str(validation.conformity),
        "model": system.name,
        "constants": dict(system.constants),
        "variables": [{"name": each.name, "type": type_tree(each.type)} for each in system.variables],
        "seconds": round(validation.seconds, 6),
        "start": str(validation.start),
        "logs": [_log(each) for each in validation.answers],
        "coverage": [rule_document(each) for each in validation.coverage],
        "instances": validation.instances,
        "instances_shown": validation.instances_shown,
        "states": None if validation.states is None else _states_document(validation, validation.states),
    }


def _states_document(validation: Validation, states: StateCoverage) -> dict[str, Any]:
    return {
        "shown": states.shown,
        "reachable": states.reachable,
        "complete": states.is_complete,
        "not_shown": [StateView(validation.model.system, each).flat() for each in states.examples],
    }


def _log(answer: LogAnswer) -> dict[str, Any]:
    followed, explanation = answer.followed, answer.explanation
    found: dict[str, Any] = {
        "log": answer.name,
        "verdict": str(answer.conformity),
        "reason": followed.reason,
        "lines": followed.lines,
        "widest": followed.widest,
        "widest_line": followed.widest_line,
        "identities": followed.identities,
        "line": None if followed.failing is None else followed.failing.number,
        "line_of": None if followed.failing is None else followed.failing.log,
        "text": None if followed.failing is None else shown_line(followed.failing),
        "possible": followed.possible,
        "trace": None if answer.run is None else trace_document(answer.run),
    }
    if explanation is not None:
        found["impossible"] = explanation.impossible
        found["can_do"] = [list(each.enabled) for each in explanation.possible]
        found["nearest"] = [
            {
                "rule": each.label,
                "state": each.state,
                "text": each.text,
                "false": [
                    {"text": part.text, "position": position(part.span)}
                    for conjunct in each.false
                    for part in conjunct.parts
                ],
                "would_fit_if": [conjunct.wish for conjunct in each.false],
                "differing": [{"name": name, "model": ours, "log": theirs} for name, ours, theirs in each.differing],
            }
            for each in explanation.nearest
        ]
    return found


# --- HTML -------------------------------------------------------------------------------------------------------

_STYLE = """\
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
pre { background: #f4f4f4; padding: 1rem; overflow-x: auto; }
svg { max-width: 100%; height: auto; }"""


def html(validation: Validation, lanes: str | None = None) -> str:
    """Returns one HTML file: the report, and a message chart of the run that each log shows."""
    whole = document(validation)
    parts = []
    for answer in validation.answers:
        shown = "\n".join(_answer(validation, answer, Paint(), TraceStyle.DIFF))
        parts.append(f"<h2>{escaped(answer.name)}</h2>\n<pre>{escaped(shown)}</pre>")
        if answer.run is not None and len(answer.run) > 1:
            parts.append(_picture(whole, answer, answer.run, lanes))
    parts.append(f"<h2>Coverage</h2>\n<pre>{escaped(chr(10).join(_coverage(validation)))}</pre>")
    title = escaped(f"{validation.conformity}: {validation.model.system.name}")
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<title>{title}</title>\n'
        f"<style>\n{_STYLE}\n</style>\n</head>\n<body>\n<h1>{title}</h1>\n" + "\n".join(parts) + "\n</body>\n</html>\n"
    )


def _picture(whole: dict[str, Any], answer: LogAnswer, run: Trace, lanes: str | None) -> str:
    ending = "the log goes on differently" if answer.conformity is Conformity.DIFFERS else "the end of the log"
    return chart_svg(chart(whole, {"trace": trace_document(run), "message": ending}, lanes))
