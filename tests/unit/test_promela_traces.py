"""Traces of Promela models: names of values, SPIN's words, and message charts."""

from __future__ import annotations

import json
from pathlib import Path

import outcrop
from outcrop.result import Violation
from outcrop.trace.chart import ArrowKind, Chart, chart
from outcrop.trace.render import TraceStyle, render


def violated(tmp_path: Path, text: str) -> Violation:
    path = tmp_path / "m.pml"
    path.write_text(text)
    return outcrop.load(path).check(engine="interpreter").violations[0]


def charted(tmp_path: Path, text: str) -> Chart:
    path = tmp_path / "m.pml"
    path.write_text(text)
    document = json.loads(json.dumps(outcrop.load(path).check(engine="interpreter").to_dict()))
    return chart(document, document["violations"][0])


FRUIT = """mtype = { one, two, three }; mtype:fruit = { apple, pear }; mtype:box = { small };
typedef T { mtype:fruit f; mtype m }
chan q = [1] of { mtype, byte, bool, mtype:fruit };
"""


def test_values_have_the_names_of_their_own_mtype(tmp_path: Path) -> None:
    text = FRUIT + (
        "mtype m = two; mtype:fruit f = pear; mtype:none n = 3; T t;\n"
        "active proctype P() { atomic { t.f = apple; t.m = three };"
        ' printf("%e %d %e %d|", f, f, three, true); printm(m); assert(false) }'
    )
    trace = violated(tmp_path, text).trace
    assert trace is not None
    lines = render(trace, TraceStyle.FULL)
    last = [each.strip() for each in lines[lines.index(next(each for each in lines if each.startswith("3"))) :]]
    assert {"m: two", "f: pear", "n: 3", "t.f: apple", "t.m: three", "prints: two"} <= set(last)
    assert "prints: pear 1 three 1|" in {each.strip() for each in lines}


def test_fields_of_a_message_keep_their_order_in_charts(tmp_path: Path) -> None:
    made = charted(tmp_path, FRUIT + "active proctype P() { q!two,7,true,pear; assert(false) }")
    sent = [arrow.text for row in made.rows for arrow in row.arrows if arrow.kind is ArrowKind.SENT]
    assert sent == ["two, 7, true, pear"]


def spoken(tmp_path: Path, text: str) -> list[str]:
    """Returns the trace of a violation in SPIN's words."""
    found = violated(tmp_path, text)
    assert found.trace is not None
    return render(found.trace, TraceStyle.SPIN, found.failing)


def test_traces_are_those_of_spin(tmp_path: Path) -> None:
    # The lines of statements are what spin -t -p prints for the trail of pan (-o3).
    text = """#define twice(x) x++; x = x * 2
inline add(a, b) {
  a = a + b; if :: a > 3 -> a = 0 :: else -> skip fi
}
mtype = { ack, nak }; chan meet = [0] of { mtype, byte }; chan q = [2] of { mtype, bool };
byte g; bool b;
init {
  byte n = 2; mtype k;
  twice(g); add(g, n);
  d_step { g = 1; b = true };
  atomic { n = g; q!nak, b; q!ack(0) };
  run Q(n);
  meet?k, n;
  for (n : 1 .. 1) { skip };
  (_nr_pr == 1);
  assert(k == nak && -n != 3)
}
proctype Q(byte c) { meet!ack(c + 4) }
"""
    assert spoken(tmp_path, text) == [
        "  1:\tproc  0 (:init::1) m.pml:9 (state 1)\t[g = (g+1)]",
        "\t\tg = 1",
        "  2:\tproc  0 (:init::1) m.pml:9 (state 2)\t[g = (g*2)]",
        "\t\tg = 2",
        "  3:\tproc  0 (:init::1) m.pml:3 (state 3)\t[g = (g+n)]",
        "\t\tg = 4",
        "  4:\tproc  0 (:init::1) m.pml:3 (state 4)\t[((g>3))]",
        "  5:\tproc  0 (:init::1) m.pml:3 (state 5)\t[g = 0]",
        "\t\tg = 0",
        "  6:\tproc  0 (:init::1) m.pml:10 (state 13)\t[g = 1]",
        "  6:\tproc  0 (:init::1) m.pml:10 (state 12)\t[b = 1]",
        "\t\tg = 1",
        "\t\tb = 1",
        "  7:\tproc  0 (:init::1) m.pml:11 (state 14)\t[n = g]",
        "  8:\tproc  0 (:init::1) m.pml:11 (state 15)\t[q!nak,b]",
        "  9:\tproc  0 (:init::1) m.pml:11 (state 16)\t[q!ack,0]",
        "\t\tqueue (q): [nak,1][ack,0]",
        "\t\t:init:(0):n = 1",
        " 10:\tproc  0 (:init::1) m.pml:12 (state 18)\t[(run Q(n))]",
        "\t\tQ(1):c = 1",
        " 11:\tproc  1 (Q:1) m.pml:18 (state 1)\t[meet!ack,(c+4)]",
        " 12:\tproc  0 (:init::1) m.pml:13 (state 19)\t[meet?k,n]",
        "\t\t:init:(0):n = 5",
        "\t\t:init:(0):k = ack",
        " 13: proc 1 terminates",
        " 14:\tproc  0 (:init::1) m.pml:14 (state 20)\t[n = 1]",
        "\t\t:init:(0):n = 1",
        " 15:\tproc  0 (:init::1) m.pml:14 (state 21)\t[((n<=1))]",
        " 16:\tproc  0 (:init::1) m.pml:14 (state 22)\t[(1)]",
        " 17:\tproc  0 (:init::1) m.pml:14 (state 23)\t[n = (n+1)]",
        "\t\t:init:(0):n = 2",
        " 18:\tproc  0 (:init::1) m.pml:14 (state 24)\t[else]",
        " 19:\tproc  0 (:init::1) m.pml:15 (state 29)\t[((_nr_pr==1))]",
        " 20:\tproc  0 (:init::1) m.pml:16 (state 30)\t[assert(((k==nak)&&(-(n)!=3)))]",
        "spin: trail ends after 20 steps",
        "#processes: 1",
        " 20:\tproc  0 (:init::1) m.pml:16 (state 30)",
    ]


def test_a_rule_with_processes_as_parameters_names_them(tmp_path: Path) -> None:
    text = "byte x, y; active [9] proctype P() { atomic { _pid == 7 -> x = _pid; assert(y == 1); y = 2 } }"
    assert [each.partition(" m.pml")[0] for each in spoken(tmp_path, text)][:4] == [
        "  1:\tproc  7 (P:1)",
        "  2:\tproc  7 (P:1)",
        "  3:\tproc  7 (P:1)",
        "spin: trail ends after 3 steps",
    ], "the statement behind the one that fails is not executed"


def test_traces_end_with_the_places_of_the_processes(tmp_path: Path) -> None:
    text = (
        "byte x; active [2] proctype P() { end: do :: _pid == 1 && x == 0 -> run Q() od }\n"
        "proctype Q() { x = 1; x == 7 }"
    )
    assert spoken(tmp_path, text)[-5:] == [
        "spin: trail ends after 3 steps",
        "#processes: 3",
        "  3:\tproc  2 (Q:1) m.pml:2 (state 2)",
        "  3:\tproc  1 (P:1) m.pml:1 (state 3) <valid end state>",
        "  3:\tproc  0 (P:1) m.pml:1 (state 3) <valid end state>",
    ]


def test_rules_have_different_names(tmp_path: Path) -> None:
    text = (
        "#define twice(x) x++; x = x * 2\n#define small(x) (x < 3)\nbyte g, i;\n"
        "active proctype P() { do :: small(g) -> twice(g); for (i : 1 .. 2) { skip } :: atomic { g > 3 -> g = 1 } od }"
    )
    path = tmp_path / "m.pml"
    path.write_text(text)
    names = [each.name.partition(" ")[2] for each in outcrop.load(path).check(engine="interpreter").coverage]
    assert sorted(names) == sorted(
        ["small(g)", "g = (g+1)", "g = (g*2)", "i = 1", "((i<=2))", "skip", "i = (i+1)", "else", "g > 3 ... (2 steps)"]
    ), "and none begins inside an atomic sequence that stops nowhere"


def test_a_rendezvous_shows_the_values_of_its_message(tmp_path: Path) -> None:
    text = (
        "mtype = { req, rsp }; chan a = [0] of { mtype, byte }; chan b = [0] of { byte };\n"
        "proctype W(byte id) { byte v; a?req(v); atomic { b!v + id; a!rsp, v * 2 } }\n"
        "init { byte x = 5, y; mtype m; run W(3); atomic { a!req(x); b?y }; a?m,y; assert(y != 10) }"
    )
    made = charted(tmp_path, text)
    server, client = made.lanes.index("W"), made.lanes.index("init")
    assert [(arrow.text, arrow.source, arrow.target) for row in made.rows for arrow in row.arrows] == [
        ("req, 5", client, server),
        ("8", server, client),
        ("rsp, 10", server, client),
    ]


def test_messages_of_processes_that_are_parameters(tmp_path: Path) -> None:
    text = (
        "chan c = [0] of { byte }; byte got;\n"
        "active [4] proctype P() { byte n = 3; if :: _pid == 3 -> c!n + 1 :: _pid == 1 -> c?got; assert(false) fi }"
    )
    made = charted(tmp_path, text)
    arrows = [arrow for row in made.rows for arrow in row.arrows]
    assert [(each.text, made.lanes[each.source], made.lanes[each.target]) for each in arrows] == [("4", "P[3]", "P[1]")]


def test_charts_leave_out_what_the_end_of_a_process_clears(tmp_path: Path) -> None:
    made = charted(tmp_path, "active proctype Q() { (_nr_pr == 1); assert(false) } active proctype P() { byte n = 3 }")
    changes = [(change.name, change.after) for row in made.rows for change in row.changes]
    assert changes == [("at", "-"), ("at", "line 1.2")], "neither n nor the number of processes"


def test_expressions_name_variables_of_init(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    path.write_text("init { byte x; x = 3; x = 4; there: skip }")
    model = outcrop.load(path, invariants=["init:x < 4 || !init@there"])
    assert model.check(engine="interpreter").verdict == "violated"


def test_values_of_channels_have_names(tmp_path: Path) -> None:
    text = (
        "typedef T { chan c }; chan row[2] = [1] of { chan }; chan one = [1] of { byte, chan };\n"
        "proctype P(chan in) { chan own = [1] of { byte }; T t; t.c = own; in?in; one!7,t.c; assert(in == 0) }\n"
        "init { chan none; row[1]!row[0]; run P(row[1]) }"
    )
    trace = violated(tmp_path, text).trace
    assert trace is not None
    lines = {each.strip() for each in render(trace, TraceStyle.FULL)}
    assert {"row[1]: [row[0]]", "one: empty", "P.in: row[1]", "P.in: row[0]", "P.t.c: P.own", "init.none: 0"} <= lines
    assert any(each.endswith("queue (one): [7,P.own]") for each in render(trace, TraceStyle.SPIN))


def test_channels_are_shown_whole(tmp_path: Path) -> None:
    text = (
        "mtype = { ack }; chan c = [2] of { mtype, bool }; chan d[2] = [1] of { mtype };\n"
        "active proctype P() { c!ack,true; c!ack,false; d[1]!ack; c?ack,_; assert(false) }"
    )
    trace = violated(tmp_path, text).trace
    assert trace is not None
    shown = [line.strip() for line in render(trace) if line.strip().startswith(("c", "d"))]
    steps = ["c: empty -> [ack,true]", "c: [ack,true] -> [ack,true][ack,false]", "d[1]: empty -> [ack]"]
    assert shown == ["c: empty", "d[*]: empty", *steps, "c: [ack,true][ack,false] -> [ack,false]"]
    in_spin = [line.strip() for line in render(trace, TraceStyle.SPIN) if "queue" in line]
    queues = ["queue (c): [ack,1]", "queue (c): [ack,1][ack,0]", "queue (d[1]): [ack]", "queue (c): [ack,0]"]
    assert in_spin == queues


def test_the_length_of_a_channel_has_the_name_of_the_language(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    path.write_text("chan c = [2] of { byte }; active proctype P() { c!1; c!2 }")
    (found,) = outcrop.load(path, invariants=["len(c) < 2"]).check(engine="interpreter").violations
    assert found.because == ("len(c) < 2 (len(c) = 2)",)


def test_the_closing_brace_and_a_label_end_have_different_names(tmp_path: Path) -> None:
    text = "byte x; active proctype P() { end: x++; x++ } active proctype Q() { (x == 2); assert(false) }"
    trace = violated(tmp_path, text).trace
    assert trace is not None
    assert "P.at: line 1 -> -end-" in [line.strip() for line in render(trace)]


def test_a_variable_with_the_name_of_the_place_has_another(tmp_path: Path) -> None:
    trace = violated(tmp_path, "active proctype P() { byte at = 1; at = 2; assert(at != 2) }").trace
    assert trace is not None
    lines = [each.strip() for each in render(trace, TraceStyle.FULL)]
    assert "P.at (variable): 2" in lines and lines.count("P.at: line 1.2") == 1
