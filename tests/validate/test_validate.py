"""``outcrop validate``: formats of logs, mapping, clocks, identities, explanations, and exit codes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LOCK = "examples/lock_server.m"
GOOD: list[dict[str, Any]] = [
    {"state": {"holder": "None"}},
    {"rule": "request", "arguments": {"c": "alice"}},
    {"rule": "request", "arguments": {"c": "bob"}, "state": {"waiting[bob]": True}},
    {"rule": "grant", "arguments": {"c": "alice"}, "state": {"holder": "alice"}},
]

Validate = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def validate(cli: Callable[..., Any], repository: Path, tmp_path: Path) -> Validate:
    """Runs the command on logs given as lists of objects, and returns its exit code and JSON document."""

    def run(*logs: list[dict[str, Any]] | Path, options: tuple[str, ...] = ()) -> tuple[int, dict[str, Any]]:
        paths = []
        for number, log in enumerate(logs):
            if isinstance(log, Path):
                paths.append(log)
                continue
            path = tmp_path / f"log{number}.jsonl"
            path.write_text("".join(json.dumps(each) + "\n" for each in log))
            paths.append(path)
        done = cli("validate", repository / LOCK, *map(os.fspath, paths), "--json", *options)
        return done.code, json.loads(done.out) if done.out else {"error": done.err}

    return run


def test_a_run_of_the_model_conforms(validate: Validate) -> None:
    code, document = validate(GOOD)
    assert (code, document["verdict"]) == (0, "conforms")
    assert document["logs"][0]["identities"] == {"alice": "Client_1", "bob": "Client_2"}
    assert {each["name"]: each["fired"] for each in document["coverage"]} == {"request": 2, "grant": 1, "release": 0}


def test_a_false_guard_is_named(validate: Validate) -> None:
    code, document = validate([*GOOD, {"rule": "grant", "arguments": {"c": "bob"}}])
    (log,) = document["logs"]
    assert (code, log["lines"], log["line"], log["possible"]) == (1, 4, 5, 1)
    assert log["nearest"][0]["rule"] == "grant, c: Client_2"
    assert log["nearest"][0]["would_fit_if"] == ["holder = None"]
    assert "release, c: Client_1" in log["can_do"][0]
    assert [state["#meta"]["rule"].partition(",")[0] for state in log["trace"]["states"]] == [
        *("free", "request", "request", "grant")
    ]


def test_a_wrong_value_is_named(validate: Validate) -> None:
    _, document = validate([*GOOD[:3], {"rule": "grant", "arguments": {"c": "alice"}, "state": {"holder": "bob"}}])
    (nearest,) = document["logs"][0]["nearest"]
    assert nearest["differing"] == [{"name": "holder", "model": "Client_1", "log": "Client_2"}]


def test_identities_leave_named_values_alone(validate: Validate) -> None:
    """The first free value is given away before the log names it, so the log is read again."""
    log = [{"rule": "request", "arguments": {"c": "alice"}}, {"rule": "request", "arguments": {"c": "Client_1"}}]
    code, document = validate(log)
    assert (code, document["logs"][0]["identities"]) == (0, {"alice": "Client_2"})


def test_hidden_steps_need_a_gap_and_permission(validate: Validate) -> None:
    log = [{"state": {"holder": "None"}}, {"state": {"holder": "Client_1"}}]
    assert validate(log)[0] == 1
    assert validate(log, options=("--gap", "1"))[0] == 0
    assert validate(log, options=("--gap", "1", "--internal", "release"))[0] == 1
    assert validate([log[0], log[0]], options=("--stutter",))[0] == 0


def test_events_are_translated(validate: Validate, tmp_path: Path) -> None:
    mapping = {
        "events": {"asked": {"rule": "request", "arguments": {"c": "$who"}}, "tick": None},
        "values": {"root": "Client_3"},
    }
    (tmp_path / "map.json").write_text(json.dumps(mapping))
    options = ("--map", str(tmp_path / "map.json"))
    log = [{"event": "tick"}, {"event": "asked", "who": "root"}]
    code, document = validate(log, options=options)
    assert (code, document["logs"][0]["lines"]) == (0, 1)
    assert validate([*log, log[1]], options=options)[0] == 1
    assert validate([{"event": "tock"}], options=options)[0] == 2


def test_a_vector_clock_orders_only_what_it_must(validate: Validate) -> None:
    one = [
        {"rule": rule, "arguments": {"c": "alice"}, "vc": {"a": at}} for at, rule in enumerate(("request", "grant"), 1)
    ]
    other = [
        {"rule": "request", "arguments": {"c": "bob"}, "vc": {"b": 1}},
        {"rule": "release", "arguments": {"c": "alice"}, "vc": {"a": 2, "b": 2}},
        {"rule": "grant", "arguments": {"c": "bob"}, "vc": {"a": 2, "b": 3}},
    ]
    code, document = validate(other, one, options=("--clock", "vc"))
    assert (code, document["logs"][0]["lines"]) == (0, 5)
    other[2]["vc"] = {"b": 3}
    other[1], other[2] = other[2], other[1]
    other[1]["vc"], other[2]["vc"] = {"b": 2, "a": 2}, {"b": 3, "a": 2}
    code, document = validate(other, one, options=("--clock", "vc"))
    (log,) = document["logs"]
    assert (code, log["line"], Path(log["line_of"]).name) == (1, 2, "log0.jsonl")


def test_a_lamport_clock_sorts_lines(validate: Validate) -> None:
    lines = [{**each, "clock": at} for at, each in enumerate(GOOD)]
    assert validate(lines[1::2], lines[::2], options=("--clock", "clock"))[0] == 0
    tied = [{**each, "clock": 0} for each in GOOD[1:]]
    assert validate(tied[2:], tied[:2], options=("--clock", "clock"))[0] == 0


def test_traces_and_tables_are_read(
    cli: Callable[..., Any], repository: Path, validate: Validate, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.itf.json"
    goal = ("--invariant", "forall c: Client do holder != c end")
    assert cli("check", repository / LOCK, *goal, "--trace-json", trace).code == 1
    assert validate(trace)[0] == 0
    table = tmp_path / "log.csv"
    table.write_text('rule,holder,waiting[Client_1]\n,None,false\n"request, c: Client_1",,true\ngrant,Client_1,\n')
    code, document = validate(table)
    assert (code, document["logs"][0]["lines"]) == (0, 3)


def test_many_possible_states_are_unknown(validate: Validate) -> None:
    log = [{"rule": "request"}, {"rule": "request"}]
    assert validate(log)[1]["logs"][0]["widest"] == 3
    code, document = validate(log, options=("--width", "2"))
    assert (code, document["verdict"], document["logs"][0]["lines"]) == (3, "unknown", 0)


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ({"rule": "grand"}, "did you mean 'grant'"),
        ({"rule": "grant", "arguments": {"d": 1}}, "it has c"),
        ({"state": {"holdr": "None"}}, "did you mean 'holder'"),
        ({"state": {"waiting": {"a": 1, "b": 1, "c": 1, "d": 1}}}, "too many"),
        ({"state": {"waiting[a]": "maybe"}}, "true or false"),
        ({"state": 3}, "must be an object"),
    ],
)
def test_bad_lines_are_refused_with_their_number(validate: Validate, line: dict[str, Any], hint: str) -> None:
    code, document = validate([GOOD[0], line])
    assert code == 2
    assert "line 2" in document["error"]
    assert hint in document["error"]


def test_a_value_outside_its_type_does_not_conform(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "m.m").write_text("var x: 0..3; startstate begin x := 0; end; rule x < 3 ==> begin x := x + 1; end;")
    (tmp_path / "log.jsonl").write_text('{"state": {"x": 0}}\n{"state": {"x": 9}}\n')
    done = cli("validate", tmp_path / "m.m", tmp_path / "log.jsonl", "--json")
    assert done.code == 1
    assert "0 to 3" in json.loads(done.out)["logs"][0]["impossible"]


def test_the_page_has_the_report_and_a_chart(
    cli: Callable[..., Any], repository: Path, validate: Validate, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    bad = [*GOOD, {"rule": "grant", "arguments": {"c": "<b>"}}]
    validate(bad, options=("--html", str(page)))
    text = page.read_text()
    assert "<svg" in text
    assert "<b>" not in text


def test_states_that_no_log_shows_are_counted(validate: Validate) -> None:
    _, document = validate(GOOD, GOOD[:2], options=("--state-coverage",))
    states = document["states"]
    assert (states["shown"], states["reachable"], states["complete"]) == (4, 20, True)
    assert len(states["not_shown"]) > 0
    assert {
        "holder": "None",
        "waiting[Client_1]": False,
        "waiting[Client_2]": True,
        "waiting[Client_3]": False,
    } in states["not_shown"]


def test_long_logs_are_read_in_pieces(validate: Validate) -> None:
    """Longer than what the kernel reads at once; the states before the last lines are found again."""
    lap = [{"rule": rule, "arguments": {"c": "alice"}} for rule in ("request", "grant", "release")]
    code, document = validate([*(lap * 3000), lap[1]])
    (log,) = document["logs"]
    assert (code, log["lines"], log["nearest"][0]["would_fit_if"]) == (1, 9000, ["waiting[Client_1] = true"])
    assert 100 < len(log["trace"]["states"]) <= 201


def test_a_time_limit_ends_between_two_lines(cli: Callable[..., Any], tmp_path: Path) -> None:
    """A few thousand lines, each with a thousand possible states, are read together."""
    model, log = tmp_path / "wide.m", tmp_path / "log.jsonl"
    model.write_text(
        "var shown: 0..1; hidden: 0..999;\n"
        "ruleset v: 0..999 do startstate begin shown := 0; hidden := v; end; end;\n"
        'rule "turn" begin shown := 1 - shown; end;\n'
    )
    log.write_text('{"state": {"shown": 0}}\n' + '{"rule": "turn"}\n' * 4000)
    done = cli("validate", model, log, "--json", "--time-limit", "0.01s")
    (found,) = json.loads(done.out)["logs"]
    assert done.code == 3 and 0 < found["lines"] < 4000


MIDDLE: list[dict[str, Any]] = [
    {"state": {"holder": "alice", "waiting[bob]": True}},
    {"rule": "release"},
    {"rule": "grant", "arguments": {"c": "bob"}},
]


@pytest.mark.parametrize(("start", "code", "widest"), [("initial", 1, 1), ("reachable", 0, 2), ("any", 0, 9)])
def test_a_log_may_begin_in_the_middle(validate: Validate, start: str, code: int, widest: int) -> None:
    """No reachable state that fits the first line lets alice wait while she holds the lock; with ``any``, some do."""
    found, document = validate(MIDDLE, options=("--start", start))
    assert (found, document["logs"][0]["widest"], document["start"]) == (code, widest, start)


def test_only_any_state_may_be_unreachable(validate: Validate) -> None:
    log = [{"state": {"holder": "alice", "waiting[alice]": True}}, {"rule": "release"}]
    assert validate(log, options=("--start", "any"))[0] == 0
    code, document = validate(log, options=("--start", "reachable"))
    (found,) = document["logs"]
    assert (code, found["line"], found["possible"]) == (1, 1, 20)
    assert len(found["nearest"][0]["differing"]) == 1


def test_a_rule_in_the_first_line_leads_there(validate: Validate) -> None:
    log = [{"rule": "grant", "arguments": {"c": "bob"}, "state": {"waiting[alice]": True}}]
    code, document = validate(log, options=("--start", "reachable"))
    assert (code, document["logs"][0]["widest"]) == (0, 2)
    assert {each["name"]: each["fired"] for each in document["coverage"]}["grant"] == 2
    log[0]["state"] = {"holder": "None"}
    assert validate(log, options=("--start", "reachable"))[0] == 1
    assert validate(log, options=("--start", "any"))[0] == 0


def test_too_many_states_to_begin_with_are_unknown(validate: Validate) -> None:
    code, document = validate(MIDDLE[1:], options=("--start", "any", "--width", "5"))
    assert (code, document["verdict"]) == (3, "unknown")
    assert validate(MIDDLE, options=("--start", "reachable", "--width", "1"))[0] == 3


def test_real_time_orders_what_a_vector_clock_leaves_open(validate: Validate) -> None:
    one = [
        {"rule": rule, "arguments": {"c": "alice"}, "vc": {"a": at}, "t": time}
        for at, (rule, time) in enumerate((("request", 10.0), ("grant", 10.2), ("release", 11.0)), 1)
    ]
    other = [
        {"rule": "request", "arguments": {"c": "bob"}, "vc": {"b": 1}, "t": [10.4, 10.6]},
        {"rule": "grant", "arguments": {"c": "bob"}, "vc": {"b": 2}, "t": "1970-01-01T00:00:10.700Z"},
    ]
    assert validate(one, other, options=("--clock", "vc"))[0] == 0
    for clock in ((), ("--clock", "vc")):
        code, document = validate(one, other, options=(*clock, "--real-time", "t"))
        assert (code, document["logs"][0]["lines"]) == (1, 3)
        assert validate(one, other, options=(*clock, "--real-time", "t", "--skew", "0.5s"))[0] == 0
    other[0]["vc"] = {"a": 3, "b": 1}  # says that it comes after the release, which is later
    other[1]["vc"] = {"a": 3, "b": 2}
    code, document = validate(one, other, options=("--clock", "vc", "--real-time", "t"))
    assert code == 2 and "--skew" in document["error"]
    assert validate(one, other, options=("--clock", "vc", "--skew", "1s"))[0] == 2


def test_writers_and_times_in_tables(validate: Validate, tmp_path: Path) -> None:
    table = tmp_path / "log.csv"
    table.write_text(
        'rule,writer,t\n"request, c: Client_1",a,1\n"request, c: Client_2",b,1\n"grant, c: Client_2",a,2\n'
    )
    assert validate(table, options=("--real-time", "t"))[0] == 0


def test_many_states_to_begin_with_and_hidden_steps(cli: Callable[..., Any], tmp_path: Path) -> None:
    """The states of the first line are entered into a table that has held few until then."""
    model, log = tmp_path / "wide.m", tmp_path / "log.jsonl"
    model.write_text(
        "var shown: 0..1; hidden: 0..999;\n"
        "ruleset v: 0..999 do startstate begin shown := 0; hidden := v; end; end;\n"
        'rule "turn" begin shown := 1 - shown; end;\n'
    )
    log.write_text('{"state": {"shown": 1}}\n{"rule": "turn"}\n')
    done = cli("validate", model, log, "--json", "--gap", "1", "--start", "reachable")
    assert (done.code, json.loads(done.out)["logs"][0]["widest"]) == (0, 2000)
