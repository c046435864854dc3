"""Parts of sentences that several reports share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

#: Largest number of rules that are listed by name. Further ones are only counted.
_MOST_NAMES = 20

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


def rule_names(rules: Iterable[str]) -> str:
    """Returns the names of rules, each once.

    >>> rule_names(["go", "go", "stop"])
    'go (2 rules), stop'
    """
    names = Counter(rules)
    shown = [f"{name} ({count:,} rules)" if count > 1 else name for name, count in names.items()][:_MOST_NAMES]
    left = names.total() - sum(list(names.values())[:_MOST_NAMES])
    return ", ".join(shown) + (f", and {left:,} more" if left else "")
