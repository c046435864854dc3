"""Message charts: lanes, arrows and cycles as data, and their drawings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import REPOSITORY

import outcrop
from outcrop.cli.main import main
from outcrop.errors import UsageError
from outcrop.report.chart_mermaid import chart_mermaid
from outcrop.report.chart_svg import chart_svg
from outcrop.report.chart_text import chart_text
from outcrop.report.junit import junit
from outcrop.report.page import page
from outcrop.report.text import report
from outcrop.trace.chart import ArrowKind, Chart, chart
from outcrop.trace.context import step_contexts

#: A request and its answer between two of three nodes, over a multiset of messages.
PING = """
type
  Node: scalarset(3);
  Message: record kind: enum { Ping, Pong }; src: Node; dst: Node; end;
var
  net: multiset [2] of Message;
  state: array [Node] of enum { Idle, Waiting, Done };
  total: 0..3;
startstate begin undefine net; for n: Node do state[n] := Idle; end; total := 0; end;
ruleset n: Node; m: Node do
  rule "ping <b>" n != m & total = 0 ==>
  var message: Message;
  begin
    message.kind := Ping; message.src := n; message.dst := m;
    multisetadd(message, net); state[n] := Waiting; total := 1;
  end;
end;
choose i: net do
  rule "answer" net[i].kind = Ping ==>
  var message: Message;
  begin
    message.kind := Pong; message.src := net[i].dst; message.dst := net[i].src;
    multisetremove(i, net); multisetadd(message, net);
  end;
  rule "take" net[i].kind = Pong ==>
  begin
    state[net[i].dst] := Done; multisetremove(i, net);
  end;
end;
invariant "nobody is done" forall n: Node do state[n] != Done end;
"""


def charted(path: Path, lanes: str | None = None, messages: tuple[str, ...] = (), **options: Any) -> Chart:
    document = outcrop.load(path, **options).check(engine="interpreter").to_dict()
    # The document is read back as it was written.
    return chart(json.loads(json.dumps(document)), document["violations"][0], lanes, messages)


@pytest.fixture
def ping(tmp_path: Path) -> Path:
    path = tmp_path / "ping.m"
    path.write_text(PING)
    return path


def test_messages_fly_from_lane_to_lane(ping: Path) -> None:
    made = charted(ping)
    assert made.kind == "Node" and made.lanes == ("Node_1", "Node_2", "Node_3", "shared")
    first, second = made.rows[1].actors[0], made.rows[2].actors[0]
    arrows = [[(str(each.kind), each.source, each.target, each.text) for each in row.arrows] for row in made.rows]
    assert arrows == [
        [],
        [("sent", first, second, "Ping")],
        [("received", first, second, "Ping"), ("sent", second, first, "Pong")],
        [("received", second, first, "Pong")],
    ]
    assert made.rows[1].arrows[0].other_step == 2 and made.rows[2].arrows[0].other_step == 1
    assert made.rows[1].rule == "ping <b>"
    assert [each.text for each in made.rows[3].changes] == ["state: Waiting → Done"]
    assert [made.lanes[each] for each in made.idle] == ["Node_3"]
    assert made.folded().lanes == (made.lanes[first], made.lanes[second], "shared") or first > second


def test_processes_are_lanes_and_channels_carry_messages() -> None:
    made = charted(REPOSITORY / "examples" / "print_queue.dve", invariants="Printer->pages != 2")
    assert made.lanes == ("Client_1", "Client_2", "Printer")
    sent, received = made.rows[1].arrows[0], made.rows[2].arrows[0]
    assert (sent.kind, sent.source, sent.target, sent.text) == (ArrowKind.SENT, 0, 2, "1, 2")
    assert (received.kind, received.source, received.target) == (ArrowKind.RECEIVED, 0, 2)
    assert [each.name for each in made.rows[2].changes] == ["state", "client", "pages"]


def test_a_rendezvous_is_one_arrow() -> None:
    made = charted(REPOSITORY / "examples" / "alternating_bit.dve", invariants="Receiver->wanted != 1")
    arrow = made.rows[1].arrows[0]
    assert (arrow.kind, made.lanes[arrow.source or 0], arrow.text) == (ArrowKind.EXCHANGED, "Sender", "send")


def test_a_lasso_closes() -> None:
    made = charted(REPOSITORY / "examples" / "coat_check.m")
    assert made.loop_start is not None and made.closing is not None
    assert made.closing.rule == "chat"
    text = chart_text(made)
    assert "the cycle starts here" in text and f"back to {made.loop_start}" in text
    assert chart_mermaid(made).count("loop forever") == 1


def test_messages_described_by_hand() -> None:
    made = charted(REPOSITORY / "examples" / "needham_schroeder.m", messages=("network:actor:key",))
    hello = made.rows[1].arrows[0]
    assert [made.lanes[each] for each in (hello.source or 0, hello.target or 0)] == ["Initiator_1", "Mallory"]
    assert hello.text.startswith("Hello, nonce Initiator_1")


@pytest.mark.parametrize(
    ("lanes", "message", "complaint"),
    [
        ("Nobody", (), "no type 'Nobody'"),
        ("process", (), "no processes"),
        (None, ("net:src",), "FIELD:FROM:TO"),
        (None, ("web:src:dst",), "no variable or field 'web'"),
        (None, ("net:src:nowhere",), "'nowhere' in"),
    ],
)
def test_refuses_what_does_not_fit(ping: Path, lanes: str | None, message: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        charted(ping, lanes, message)


def test_text(ping: Path) -> None:
    lines = chart_text(charted(ping), 100).splitlines()
    assert max(map(len, lines)) <= 100
    assert any("┄ Ping ┄" in line and ("▷" in line or "◁" in line) for line in lines)
    assert any("─ Pong ─" in line and ("▶" in line or "◀" in line) for line in lines)
    assert "Not drawn, because nothing happens there: Node_3." in lines


def test_hostile_names_stay_text(ping: Path) -> None:
    made = charted(ping)
    drawn = ElementTree.fromstring(chart_svg(made))
    assert "ping <b>" in [each.text for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert "<b>" not in chart_mermaid(made) and "ping #60;b#62;" in chart_mermaid(made)


def test_a_model_without_lanes_has_one(tmp_path: Path) -> None:
    made = charted(REPOSITORY / "examples" / "bounded_buffer.m")
    assert made.lanes == ("shared",)
    assert "put_at: 3 → 4" in chart_text(made)


def test_the_command(ping: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(ping), "--engine", "interpreter", "--json"]) == 1
    (tmp_path / "ping.json").write_text(capsys.readouterr().out)
    assert main(["trace", str(tmp_path / "ping.json")]) == 0
    shown = capsys.readouterr().out
    assert "Node_2" in shown and "✗ invariant" in shown
    for suffix, begin in ((".svg", "<svg"), (".mmd", "sequenceDiagram"), (".html", "<!doctype html>")):
        place = tmp_path / f"ping{suffix}"
        assert main(["trace", str(tmp_path / "ping.json"), "-o", str(place)]) == 0
        assert place.read_text().startswith(begin)
    assert main(["trace", str(tmp_path / "ping.json"), "-o", str(tmp_path / "ping.png")]) == 2
    assert "unknown suffix" in capsys.readouterr().err and not (tmp_path / "ping.png").exists()
    assert main(["trace", str(tmp_path / "ping.json"), "--violation", "7"]) == 2
    assert "there is no violation 7" in capsys.readouterr().err
    assert main(["check", str(ping), "--engine", "interpreter", "--chart", "--trace", "off"]) == 1
    assert "Node_2" in capsys.readouterr().out


def test_nothing_to_draw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(REPOSITORY / "examples" / "peterson.m"), "--engine", "interpreter", "--json"]) == 0
    (tmp_path / "holds.json").write_text(capsys.readouterr().out)
    assert main(["trace", str(tmp_path / "holds.json")]) == 2
    assert "has no violation" in capsys.readouterr().err


def test_a_report_made_later_finds_the_source(ping: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def carried() -> dict[str, Any]:
        assert main(["report", str(tmp_path / "ping.json"), "-o", str(tmp_path / "ping.html")]) == 0
        text = (tmp_path / "ping.html").read_text().partition('id="document">')[2].partition("</script>")[0]
        found: dict[str, Any] = json.loads(text)
        return found

    assert main(["check", str(ping), "--engine", "interpreter", "--json"]) == 1
    (tmp_path / "ping.json").write_text(capsys.readouterr().out)
    first = carried()
    assert first["source"]["text"] == PING
    steps = first["violations"][0]["steps"]
    assert [each["text"] for each in steps[1]["guard"]][1] == "total = 0 (total = 0)"
    assert any(each["label"] == "answer, i: 0" for each in steps[1]["enabled"])
    assert PING.splitlines()[steps[1]["lines"][0] - 1].strip().startswith('rule "ping <b>"')
    ping.write_text(PING + "-- changed")
    assert "source" not in carried()


SEVERAL = """
var x: 0..9; y: 0..3;
startstate begin x := 0; y := 0; end;
rule "up" x < 9 ==> begin x := x + 1; end;
rule "side" y < 3 ==> begin y := y + 1; end;
rule "boom" x = 7 & y = 2 ==> begin error "boom"; end;
invariant "small" x < 5;
invariant "few" y < 2;
"""


def test_violations_are_grouped_by_fault(tmp_path: Path) -> None:
    (tmp_path / "several.m").write_text(SEVERAL)
    result = outcrop.load(tmp_path / "several.m").check(engine="interpreter", max_errors=None, deadlock="off")
    faults = {fault.violation.message: fault for fault in result.faults}
    assert list(faults) == ['invariant "few" is false', 'invariant "small" is false', "boom"]
    assert sum(fault.count for fault in result.faults) == len(result.violations)
    for fault in result.faults:
        same = [each for each in result.violations if each.message == fault.violation.message]
        lengths = [len(each.trace) for each in same if each.trace is not None]
        assert fault.violation.trace is not None and len(fault.violation.trace) == min(lengths)
    document = result.to_dict()
    assert [each["violation"] for each in document["faults"]] == [fault.number for fault in result.faults]
    text = report(result)
    assert "Violation 2 of 3: invariant, found 20 times" in text and text.count("Trace (") == 3
    cases = ElementTree.fromstring(junit(document)).findall(".//failure")
    assert len(cases) == 3
    carried = json.loads(page(document).partition('id="document">')[2].partition("</script>")[0])
    assert [each["message"] for each in carried["violations"]] == list(faults)


@pytest.mark.parametrize(
    ("names", "violated", "skipped"),
    [
        (("small",), ["small"], ["few"]),
        (("few", "small"), ["few", "small"], []),
        (("!few",), ["small"], ["few"]),
        (("!few", "!small"), [], ["small", "few"]),
    ],
)
def test_properties_are_selected(
    tmp_path: Path, names: tuple[str, ...], violated: list[str], skipped: list[str]
) -> None:
    (tmp_path / "several.m").write_text(SEVERAL.replace('error "boom";', "") + 'ltl "stays" : G F { x > 0 };')
    model = outcrop.load(tmp_path / "several.m")
    result = model.check(engine="interpreter", max_errors=None, deadlock="off", properties=names)
    statuses = {each.name: each.status for each in result.properties}
    of_states = {name: status for name, status in statuses.items() if name != "stays"}
    assert sorted(name for name, status in of_states.items() if status == "violated") == sorted(violated)
    assert [name for name, status in of_states.items() if status == "unknown"] == skipped
    assert ("stays" in statuses) == all(name.startswith("!") for name in names)
    assert any(note.bears_on_verdict for note in result.notes) == bool(skipped or "stays" not in statuses)
    assert result.options["properties"] == list(names)


def test_skipping_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "several.m").write_text(SEVERAL)
    with pytest.raises(UsageError, match="no property 'many' to skip"):
        outcrop.load(tmp_path / "several.m").check(properties=("!many",))


def test_promela_has_a_lane_for_each_instance(tmp_path: Path) -> None:
    path = tmp_path / "talk.pml"
    # Nine choices of two processes: the rules have the numbers of the instances as parameters.
    path.write_text(
        "mtype = { ask, tell };\nchan call = [0] of { byte }; chan box[2] = [2] of { mtype, byte }; byte heard;\n"
        "active [3] proctype P() { byte n;\n  do\n"
        "  :: _pid == 0 -> call!7; box[1]!ask(4); box[0]!ask(4); break\n"
        "  :: _pid == 1 -> call?n; box[1]?ask(n); box[0]?ask(n); heard = n; break\n  od }\n"
    )
    made = charted(path, invariants=["heard == 0"])
    assert made.kind == "process" and made.lanes == ("P[0]", "P[1]", "P[2]", "shared") and made.idle == (2,)
    arrows = [(row.rule, *row.arrows) for row in made.rows if row.arrows]
    assert [(str(each.kind), each.source, each.target, each.text) for _, *some in arrows for each in some] == [
        ("exchanged", 0, 1, "7"),
        *[("sent", 0, 1, "ask, 4")] * 2,
        *[("received", 0, 1, "ask, 4")] * 2,
    ]
    rules = ["call!7", "box[1]!ask(4)", "box[0]!ask(4)", "box[1]?ask(n)", "box[0]?ask(n)"]
    assert [rule for rule, *_ in arrows] == rules
    sendings = [row.step for row in made.rows for each in row.arrows if each.kind is ArrowKind.SENT]
    origins = [each.other_step for row in made.rows for each in row.arrows if each.kind is ArrowKind.RECEIVED]
    assert origins == sendings, "equal messages in two channels are told apart"
    changed = [(each.lane, each.name) for row in made.rows for each in row.changes if each.name != "at"]
    assert changed == [(1, "n"), (1, "n"), (3, "heard")]


def test_a_rule_that_names_the_receiver_is_not_its_own(tmp_path: Path) -> None:
    """A server without a lane sends to the node that its rule names."""
    path = tmp_path / "server.m"
    path.write_text(
        "type Node: scalarset(2); Message: record dst: Node; end;\n"
        "var net: multiset [1] of Message; done: array [Node] of boolean;\n"
        "startstate begin undefine net; for n: Node do done[n] := false; end; end;\n"
        'ruleset n: Node do rule "order" multisetcount(i: net, true) = 0 ==>\n'
        "  var m: Message; begin m.dst := n; multisetadd(m, net); end; end;\n"
        'choose i: net do rule "obey" true ==> begin done[net[i].dst] := true; multisetremove(i, net); end; end;\n'
        'invariant "idle" forall n: Node do !done[n] end;\n'
    )
    drawn = charted(path)
    (sending,) = drawn.rows[1].arrows
    assert (drawn.lanes[sending.source], drawn.lanes[sending.target]) == ("shared", "Node_1")
    assert [(each.kind, each.source, each.target) for each in drawn.rows[2].arrows] == [
        (ArrowKind.RECEIVED, sending.source, sending.target)
    ]


def test_a_report_takes_messages_described_by_hand(ping: Path, tmp_path: Path) -> None:
    charts = []
    for number, given in enumerate(((), ("--message", "net:shared:dst"), ("--lanes", "Node"))):
        written = tmp_path / f"{number}.html"
        assert main(["check", str(ping), "--engine", "interpreter", "--report", str(written), *given]) == 1
        carried = json.loads(written.read_text().partition('id="document">')[2].partition("</script>")[0])
        charts.append(carried["violations"][0]["chart"])
    assert charts[0] == charts[2] != charts[1]


def test_an_error_that_a_formula_meets_again_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "several.m"
    path.write_text(SEVERAL + 'ltl "back" : G F {x = 0};\n')
    result = outcrop.load(path).check(max_errors=None, deadlock="off")
    assert [fault.count for fault in result.faults if fault.violation.message == "boom"] == [1]


def test_the_source_of_a_python_rule_is_its_whole_text() -> None:
    trace = outcrop.load(REPOSITORY / "examples" / "bounded_buffer.py").check(engine="interpreter").trace
    assert trace is not None
    lines = (REPOSITORY / "examples" / "bounded_buffer.py").read_text().splitlines()
    first, last = step_contexts(trace)[1]["lines"]
    assert "def produce" in lines[first - 1] and "put_at" in lines[last - 1] and last > first
    assert [each["text"] for each in step_contexts(trace)[1]["guard"]] == ["self.used() <= SLOTS"]


def test_the_source_of_a_process_is_its_transition() -> None:
    trace = outcrop.load(REPOSITORY / "examples" / "print_queue.dve").check(engine="interpreter").trace
    assert trace is not None
    assert all(first == last for first, last in (each["lines"] for each in step_contexts(trace)[1:]))
