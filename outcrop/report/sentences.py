"""Parts of the sentence about a verdict that all reports share."""

from __future__ import annotations

_RUNS = {"weak": "no weakly fair run", "strong": "no strongly fair run"}


def about_runs(fairness: str, formulas: int) -> str:
    """Returns the meaning of *holds* for runs.

    >>> about_runs("weak", 2)
    'no weakly fair run violates any of the 2 formulas'
    >>> about_runs("none", 1)
    'no run violates the formula'
    """
    subject = "the formula" if formulas == 1 else f"any of the {formulas} formulas"
    return f"{_RUNS.get(fairness, 'no run')} violates {subject}"
