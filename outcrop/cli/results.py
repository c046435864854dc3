"""The files that a check writes in addition to its report: trace, HTML report, JUnit XML, SARIF."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from outcrop.api import Model, formula_file
from outcrop.cli.files import dump, keep_apart, prepare, try_to_write
from outcrop.errors import ModelError, OutcropError
from outcrop.options import CheckOptions, Engine
from outcrop.report.sarif import sarif, sarif_of_refusal
from outcrop.result import Result, Verdict
from outcrop.trace.itf import itf
from outcrop.trace.render import render

#: Violations that the report lets readers step through.
MOST_STEPPED = 20
#: Longest search, in seconds, whose HTML report includes locality; measuring it takes about as long again.
_QUICK = 3.0


class Files:
    """The output files of a check: ``prepared`` before the search, written by ``texts`` after it."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._model: str = arguments.model
        self._read = (arguments.model, arguments.ltl_file or formula_file(arguments.model))
        self.trace = Path(arguments.trace_json) if arguments.trace_json else None
        self.report = Path(arguments.report) if arguments.report else None
        self.junit = Path(arguments.junit) if arguments.junit else None
        self.sarif = Path(arguments.sarif) if arguments.sarif else None
        self._lanes: str | None = arguments.lanes
        self._messages: list[str] = arguments.message

    @property
    def paths(self) -> list[Path]:
        return [path for path in (self.trace, self.report, self.junit, self.sarif) if path]

    @contextlib.contextmanager
    def prepared(self) -> Iterator[None]:
        """Creates all files, empty, and on leaving removes those that are still empty. Whether they can be written is
        thus known before a long search, and the output of an earlier check never outlives it."""
        keep_apart(self._read, self.paths)
        for path in self.paths:
            prepare(path)
        try:
            yield
        except ModelError as error:
            self._write_refusal(error)
            raise
        finally:
            for path in self.paths:
                if path.is_file() and not path.stat().st_size:
                    with contextlib.suppress(PermissionError):  # a sandbox allows writing files, not removing them
                        path.unlink()

    def texts(self, result: Result, model: Model, options: CheckOptions) -> Iterator[tuple[Path, Callable[[], str]]]:
        """Yields each file that was asked for, with the function that makes its text."""
        if self.trace and result.violations and (trace := itf(result.violations[0])) is not None:
            yield self.trace, lambda: dump(trace)
        if self.report:
            yield self.report, lambda: self._page(_pictured(result) | _locality(result, model, options))
        if self.junit:
            yield self.junit, lambda: _junit(result)
        if self.sarif:
            yield self.sarif, lambda: sarif(result.to_dict())

    def _page(self, document: dict[str, Any]) -> str:
        """Returns the HTML report, with the charts that were asked for."""
        from outcrop.report.page import page  # few ask for it

        return page(document, self._lanes, self._messages)

    def _write_refusal(self, error: ModelError) -> None:
        if self.junit:
            from outcrop.report.junit import junit_of_refusal  # rarely needed

            try_to_write(self.junit, lambda: junit_of_refusal(self._model, error.diagnostics))
        if self.sarif:
            try_to_write(self.sarif, lambda: sarif_of_refusal(self._model, error.diagnostics))


def _junit(result: Result) -> str:
    from outcrop.report.junit import junit  # rarely needed

    traces = {
        number: "\n".join(render(violation.trace))
        for number, violation in enumerate(result.violations)
        if violation.trace is not None
    }
    return junit(result.to_dict(), traces)


def _pictured(result: Result) -> dict[str, Any]:
    """Returns the document of a result with the parts that only the report shows: the source, and the context of each
    step."""
    from outcrop.explore.neighbours import neighbours  # few ask for these
    from outcrop.trace.context import step_contexts

    document = result.to_dict()
    for fault in result.faults[:MOST_STEPPED]:
        if fault.violation.trace is not None:
            trace = fault.violation.trace
            document["violations"][fault.number] |= {"steps": step_contexts(trace), "graph": neighbours(trace)}
    traces = [each.trace for each in result.violations if each.trace is not None]
    spans = [each.span for each in (*result.properties, *result.coverage)]
    source = traces[0].system.source if traces else spans[0].source if spans else None
    if source is not None and source.name == result.model:
        document["source"] = {"file": source.name, "text": source.text}
    return document


def _locality(result: Result, model: Model, options: CheckOptions) -> dict[str, Any]:
    """Returns the locality of a model whose states can be searched again in a few seconds, or an empty document."""
    is_exact = result.verdict is Verdict.HOLDS and result.states is not None and not result.peak_disk_bytes
    if not is_exact or result.seconds > _QUICK or result.engine != Engine.NATIVE or result.ranks > 1:
        return {}
    from outcrop.tools.distances import measure  # imports numpy, which the interpreter does not need

    try:
        measured = measure(model, replace(options, checkpoint=None, resume=None)).to_dict()
    except OutcropError:  # a limit that the check itself did not reach
        return {}
    return {"locality": {name: measured[name] for name in ("sum_avg", "distances")}}


def report_text(document: dict[str, Any]) -> str:
    """Returns the HTML report for the JSON document of a check."""
    from outcrop.report.page import page  # rarely needed

    return page(document)
