"""``outcrop tests``: makes a small set of runs that covers a model."""

from __future__ import annotations

import argparse
from pathlib import Path

from outcrop.api import load
from outcrop.cli.files import dump, write
from outcrop.cli.output import complain, emit
from outcrop.cli.parser_declared import language_values
from outcrop.errors import UsageError
from outcrop.result import Verdict
from outcrop.testsuite.formats import adapter_file, itf_files, log_files, pytest_file
from outcrop.testsuite.suite import Suite, make_suite


def run(arguments: argparse.Namespace) -> int:
    module, _, name = arguments.adapter.partition(":")
    if not (module.isidentifier() and (not name or name.isidentifier())):
        raise UsageError(f"--adapter must be MODULE:CLASS, not '{arguments.adapter}'; an example is adapter:Adapter")
    model = load(arguments.model, dict(arguments.constants), **language_values(arguments))
    for warning in model.warnings:
        complain(warning.render(), bare=True)
    suite = make_suite(model.system, arguments.cover, arguments.states)
    written = _write(suite, Path(arguments.output), arguments.format, module, name or "Adapter")
    emit(dump(_document(suite, written)) if arguments.json else _text(suite, written))
    return 0 if suite.is_complete or not suite.missed else Verdict.UNKNOWN.exit_code


def _write(suite: Suite, output: Path, layout: str, module: str, name: str) -> list[str]:
    """Writes the files, and returns their names. An adapter that exists is left alone."""
    if layout == "pytest":
        files = {output: pytest_file(suite, module, name)}
        adapter = output.parent / f"{module}.py"
        if not adapter.exists():
            files[adapter] = adapter_file(suite.system, name)
        place = output.parent
    else:
        files = {output / each: text for each, text in (itf_files if layout == "itf" else log_files)(suite)}
        place = output
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the directory '{place}': {error.strerror}; name another one with -o") from None
    for path, text in files.items():
        write(path, text)
    return [str(path) for path in files]


def _text(suite: Suite, written: list[str]) -> str:
    steps = [len(each) - 1 for each in suite.runs]
    span = f"{steps[0]:,} to {steps[-1]:,}" if steps and steps[0] < steps[-1] else f"{steps[0]:,}" if steps else ""
    lengths = f" of {span} step{'' if span == '1' else 's'}" if steps else ""
    runs = f"1 run{lengths} reaches" if len(steps) == 1 else f"{len(steps):,} runs{lengths} reach"
    lines = [f"{runs} {suite.covered:,} goals ({suite.cover}); {suite.states:,} states visited."]
    if suite.missed:
        why = "no run reaches" if suite.is_complete else "not reached in the visited states (raise --states)"
        lines.append(f"{why}: {', '.join(suite.missed)}")
    elif not suite.is_complete and suite.cover not in ("rules", "instances"):
        lines.append("Not all states were visited, so there may be more goals (raise --states).")
    shown = written[:3] + ([f"and {len(written) - 3:,} more"] if len(written) > 3 else [])
    return "\n".join([*lines, f"wrote {', '.join(shown)}"])


def _document(suite: Suite, written: list[str]) -> dict[str, object]:
    return {
        "model": suite.system.name,
        "cover": suite.cover,
        "runs": [[step.label for step in each.steps] for each in suite.runs],
        "goals": suite.covered,
        "missed": list(suite.missed),
        "states": suite.states,
        "complete": suite.is_complete,
        "files": written,
    }
