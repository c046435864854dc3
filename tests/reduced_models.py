"""Checks of one model in full and with partial-order reduction, by the interpreter."""

from __future__ import annotations

from outcrop.api import Model
from outcrop.lang import load_text
from outcrop.options import LoadOptions
from outcrop.result import Result


def model_of(text: str, name: str = "model.m") -> Model:
    """Returns the model of a text; the suffix of the name selects the language."""
    system, warnings = load_text(text, name, LoadOptions())
    return Model(system, tuple(warnings), LoadOptions())


def both(text: str, name: str = "model.m", **options: object) -> tuple[Result, Result]:
    """Returns the results of a full and a reduced search, which found the same violations and fired the same rules."""
    model = model_of(text, name)
    full, reduced = (
        model.check(engine="interpreter", reduce=each, max_errors=None, **options) for each in ("off", "por")
    )
    assert reduced.verdict == full.verdict
    assert {(each.kind, each.property) for each in reduced.violations} == {
        (each.kind, each.property) for each in full.violations
    }
    assert [each.fired > 0 for each in reduced.coverage] == [each.fired > 0 for each in full.coverage]
    return full, reduced
