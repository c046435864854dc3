"""The examples in README and the manual run, and print what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from sessions import REPOSITORY, matches, pages, run_page, shortened


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)  # where checks print annotations, too
    for each in run_page(page.read_text(encoding="utf-8"), tmp_path):
        assert each.found == each.expected, f"$ {each.command}\n(./dev docs refresh {page} writes what it prints)"


def test_differences_are_noticed() -> None:
    report = "VIOLATED: a.m\n\n  states       9\n  time         0.01 s\n\nTrace\n0  start\n1  step\n"
    assert matches(report.replace("0.01 s", "20.05 s"), report)
    assert matches("VIOLATED: a.m\n...\nTrace\n0  start\n1  step\n", report)
    assert matches("VIOLATED: a.m\n...\n", report)
    for wrong in (report.replace("9", "8"), "VIOLATED: a.m\n", "VIOLATED: b.m\n...\n", report + "2  step\n"):
        assert not matches(wrong, report)


def test_refreshed_outputs_stay_shortened() -> None:
    assert shortened("a\n...\nd\nold\n", "a\nb\nc\nd\nnew\n") == "a\n...\nd\nnew\n"


def test_files_are_written_extended_and_changed(tmp_path: Path) -> None:
    text = """
```text title="words"
one
```
```text title="words"
two
```
```diff title="words"
 one
-
-two
+three
```
```console
$ cat words
one
THREE
```
```pycon
>>> from pathlib import Path; Path("words").read_text()
'one\\nthree\\n'
```
"""
    (difference,) = run_page(text, tmp_path)
    assert (difference.found, text[difference.start : difference.end]) == ("one\nthree\n", "one\nTHREE\n")
