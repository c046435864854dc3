"""The fixture ``check`` for pytest: ``def test_lock(check): check(Lock, size=4).holds()``.

A failing test shows the report with its trace, without a traceback.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from outcrop.result import Result


class Checked:
    """A check that was made, and what is expected of it."""

    def __init__(self, result: Result) -> None:
        self.result = result

    def holds(self) -> Result:
        """Fails the test unless every property holds."""
        return self._expect("holds")

    def violated(self, kind: str | None = None) -> Result:
        """Fails the test unless something is violated; ``kind`` says what, as in ``deadlock``."""
        result = self._expect("violated")
        if kind is not None and result.kind != kind:
            pytest.fail(
                f"expected a violation of the kind {kind}, not {result.kind}\n\n{self._report()}", pytrace=False
            )
        return result

    def _expect(self, verdict: str) -> Result:
        __tracebackhide__ = True
        if self.result.verdict != verdict:
            pytest.fail(self._report(), pytrace=False)
        return self.result

    def _report(self) -> str:
        from outcrop.report.text import report  # a run of pytest without models needs none of this

        return report(self.result)


def check_model(model: Any, **given: Any) -> Checked:
    """Checks a model class or a file. Keywords are options of ``Model.check``, and constants."""
    from outcrop.api import check_option_names, load, load_class  # a run of pytest without models needs none of this

    known = check_option_names()
    options = {name: value for name, value in given.items() if name in known}
    constants = {name: value for name, value in given.items() if name not in known}
    is_file = isinstance(model, str | os.PathLike)
    loaded = load(model, constants) if is_file else load_class(model, constants)
    return Checked(loaded.check(**options))


@pytest.fixture
def check() -> Any:
    """Checks a model: ``check(Lock).holds()``, ``check("lock.m", N=3).violated("deadlock")``."""
    return check_model
