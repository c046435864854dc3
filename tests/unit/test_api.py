"""The Python API: loading, options, results and errors."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from pathlib import Path

import pytest

import outcrop
from outcrop import api
from outcrop.errors import UsageError
from outcrop.options import CheckOptions
from outcrop.oracle import search as reference
from outcrop.outcome import Outcome, Stop

MODEL = """
const N: 3;
var x: 0..N; y: 0..N;
startstate "zero" begin x := 0; undefine y; end;
rule "up" x < N ==> begin x := x + 1; end;
rule "down" x = N ==> begin x := 0; end;
rule "stay" x > N ==> begin end;
cover "reached" x = N;
cover "never" x > N;
invariant "in range" x <= N;
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "counter.m"
    path.write_text(MODEL)
    return path


def check(path: Path, **options: object) -> outcrop.Result:
    return outcrop.load(path).check(engine="interpreter", **options)


def test_doctests(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    for module in (outcrop, api):
        assert doctest.testmod(module).failed == 0
        assert doctest.testmod(module).attempted > 0


def test_public_names_exist() -> None:
    for name in outcrop.__all__:
        assert getattr(outcrop, name).__name__ == name
    with pytest.raises(AttributeError):
        _ = outcrop.nothing  # type: ignore[attr-defined]


def test_result(path: Path) -> None:
    result = check(path)
    assert result.states == 4
    assert result.rules_fired == 4
    assert result.levels == [1, 1, 1, 1]
    assert result.diameter == 3
    assert result.constants == {"N": 3}
    assert {rule.name: rule.fired for rule in result.coverage} == {"up": 3, "down": 1, "stay": 0}


def test_a_cover_goal_never_met_is_a_violation_of_a_complete_search(path: Path) -> None:
    result = check(path)
    assert (result.verdict, result.kind) == (outcrop.Verdict.VIOLATED, "cover")
    assert [violation.property for violation in result.violations] == ["never"]
    assert {each.name: each.status for each in result.properties} == {
        "reached": "holds",
        "never": "violated",
        "in range": "holds",
    }
    bounded = check(path, depth=1)
    assert (bounded.verdict, bounded.kind) == (outcrop.Verdict.UNKNOWN, "depth bound reached")
    assert not bounded.violations


def test_constants_by_keyword_and_mapping(path: Path) -> None:
    assert outcrop.load(path, N=5).check(engine="interpreter").states == 6
    assert outcrop.load(path, {"N": 6}).check(engine="interpreter").states == 7
    with pytest.raises(outcrop.UsageError, match="must be a number"):
        outcrop.load(path, N=[1])


def test_options_are_words_or_values(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[CheckOptions] = []

    def search(system: outcrop.api.System, options: CheckOptions, **_: object) -> Outcome:
        seen.append(options)
        return Outcome(Stop.COMPLETE, [1], [0] * len(system.rules), [1] * len(system.covers))

    monkeypatch.setattr(reference, "search", search)
    check(path, memory="2G", time_limit="2m", deadlock="off")
    assert (seen[0].memory, seen[0].time_limit, seen[0].deadlock) == (2 * 2**30, 120.0, outcrop.Deadlock.OFF)


@pytest.mark.parametrize(
    "options",
    [{"deadlok": "off"}, {"deadlock": "maybe"}, {"engine": "warp"}, {"memory": "much"}, {"threads": 0}, {"bits": 99}],
)
def test_wrong_options_are_usage_errors(path: Path, options: dict[str, object]) -> None:
    with pytest.raises(outcrop.UsageError):
        outcrop.load(path).check(**options)


def outcome(**changes: object) -> Callable[..., Outcome]:
    def search(system: outcrop.api.System, options: CheckOptions, **_: object) -> Outcome:
        return Outcome(levels=[1], fired=[0] * len(system.rules), covered=[1] * len(system.covers), **changes)  # type: ignore[arg-type]

    return search


@pytest.mark.parametrize("stop", [each for each in Stop if each not in (Stop.COMPLETE, Stop.VIOLATION)])
def test_a_search_that_was_cut_short_never_holds(path: Path, monkeypatch: pytest.MonkeyPatch, stop: Stop) -> None:
    monkeypatch.setattr(reference, "search", outcome(stop=stop))
    result = check(path)
    assert (result.verdict, result.kind) == (outcrop.Verdict.UNKNOWN, str(stop))
    assert result.verdict.exit_code == 3
    assert {each.status for each in result.properties} == {"unknown"}


def test_an_omission_bound_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "search", outcome(stop=Stop.COMPLETE, omission_bound=2.5e-7))
    assert check(path).guarantee == "the probability that a state was missed is at most 2.5e-07"


def test_a_violation_without_a_finding_is_our_bug(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "search", outcome(stop=Stop.VIOLATION))
    with pytest.raises(outcrop.InternalError):
        check(path)


def test_undefined_reads_are_noted_once_at_the_first_place(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = MODEL.index("x + 1")
    monkeypatch.setattr(reference, "search", outcome(stop=Stop.COMPLETE, noted=[first + 9, first, first]))
    notes = [each for each in check(path).notes if each.severity == "note"]
    assert len(notes) == 1
    assert "and at 1 more place" in notes[0].message
    assert notes[0].span is not None and notes[0].span.text == "x"


def test_old_models_are_latin_1(tmp_path: Path) -> None:
    path = tmp_path / "old.m"
    path.write_bytes("-- G\xe9rard's\n".encode("latin-1"))
    assert api.read_source(path).text == "-- G\xe9rard's\n"
    path.write_bytes("\ufeff-- G\xe9rard's\n".encode())
    assert api.read_source(path).text == "-- G\xe9rard's\n"


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "sly.m"
    path.write_bytes(b"a\x1b[2Jb\x00\tc\r\n")
    assert api.read_source(path).text == "a\ufffd[2Jb\ufffd\tc\r\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("var x: 0..1;".encode("utf-16"), "is in UTF-16; save it as UTF-8"),
        ("\ufeffvar x: 0..1;".encode("utf-16-be"), "is in UTF-16"),
        (("var x: 0..1;" * 10).encode("utf-16-le"), "is not text: 120 of its 240 bytes are control characters"),
        (bytes(range(256)) * 20, "is not text"),
    ],
)
def test_what_is_not_text_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "model.m"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        api.load(path)


def test_a_byte_order_mark_and_stray_control_characters_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "model.m"
    path.write_bytes(b"\xef\xbb\xbfvar x: 0..1; startstate x := 0; end; -- \x1a\x00\n" + "-- Ω Ж 日本\n".encode() * 100)
    assert [each.name for each in api.load(path).system.variables] == ["x"]
