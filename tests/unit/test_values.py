"""Traces as text and as ITF, over states made by hand."""

from __future__ import annotations

from outcrop.ir.nodes import Variable
from outcrop.ir.system import System
from outcrop.ir.types import BOOLEAN, Array, Enum, Multiset, Range, Real, Record, Scalarset, Type
from outcrop.result import Step, Trace, Violation, ViolationKind
from outcrop.source import Source, Span
from outcrop.trace.itf import itf
from outcrop.trace.render import TraceStyle, changes, render
from outcrop.trace.values import items, show

SOURCE = Source("hand.m", "-- made by hand\n")
SPAN = Span(SOURCE, 0, 2)

NODE = Scalarset("Node", 2, 1)
CELL = Record((("state", Enum(("Idle", "Wait"))), ("busy", BOOLEAN)))
MESSAGE = Record((("to", NODE), ("big", Range(0, 2**60))))
TYPES: dict[str, Type] = {
    "node": Array(NODE, CELL),
    "count": Range(-1, 5),
    "net": Multiset(2, MESSAGE),
    "level": Real(4, 10),
}


def system() -> System:
    variables, offset = [], 0
    for name, kind in TYPES.items():
        variables.append(Variable(name, kind, offset, SPAN))
        offset += kind.leaf_count
    return System("hand.m", SOURCE, {}, tuple(variables), (), (), (), (), ())


FREE = (None, None, None)
START = (0, 0, 0, 0, -1, *FREE, *FREE, None)
SENT = (0, 0, 1, 0, 0, 0, 1, 2**60, *FREE, None)
SENT_TWICE = (0, 0, 1, 1, 0, 0, 0, 7, 0, 1, 2**60, 2.5)


def trace() -> Trace:
    steps = [
        Step("Init", START, SPAN),
        Step("send, n: Node_2", SENT, SPAN),
        Step("again", SENT_TWICE, SPAN),
        Step("Rule 4", SENT_TWICE, SPAN),
    ]
    return Trace(system(), tuple(steps))


def test_leaves_are_named_as_the_author_writes_them() -> None:
    assert [item.name for item in items(system())] == [
        "node[Node_1].state",
        "node[Node_1].busy",
        "node[Node_2].state",
        "node[Node_2].busy",
        "count",
        "net",
        "level",
    ]


def test_changes_name_leaves_and_multiset_elements() -> None:
    parts = items(system())
    assert list(changes(parts, START, SENT)) == [
        "node[Node_2].state: Idle -> Wait",
        "count: -1 -> 0",
        f"net: added (to: Node_2, big: {2**60})",
    ]
    # The element moved to the second slot, which is not a change.
    assert list(changes(parts, SENT, SENT_TWICE)) == [
        "node[Node_2].busy: false -> true",
        "net: added (to: Node_1, big: 7)",
        "level: undefined -> 2.5",
    ]
    assert "net: removed (to: Node_1, big: 7)" in list(changes(parts, SENT_TWICE, SENT))


def test_diff_trace() -> None:
    assert render(trace()) == [
        "0  Startstate Init fired.",
        "     node[*].state: Idle",
        "     node[*].busy: false",
        "     count: -1",
        "     net: {}",
        "     (everything else is undefined)",
        "1  Rule send, n: Node_2 fired.",
        "     node[Node_2].state: Idle -> Wait",
        "     count: -1 -> 0",
        f"     net: added (to: Node_2, big: {2**60})",
        "2  Rule again fired.",
        "     node[Node_2].busy: false -> true",
        "     net: added (to: Node_1, big: 7)",
        "     level: undefined -> 2.5",
        "3  Rule 4 fired.",
        "     (nothing changes)",
    ]


def test_full_trace_shows_every_leaf_of_every_state() -> None:
    lines = render(trace(), TraceStyle.FULL)
    assert sum(line.startswith("     ") for line in lines) == 4 * len(items(system()))
    assert "     level: undefined" in lines
    assert f"     net: {{(to: Node_1, big: 7), (to: Node_2, big: {2**60})}}" in lines


def test_no_trace_when_off() -> None:
    assert render(trace(), TraceStyle.OFF) == []


def test_undefined_parts_of_a_record_are_left_out() -> None:
    assert show(MESSAGE, (None, 3)) == "(big: 3)"
    assert show(Array(Range(1, 2), BOOLEAN), (1, None)) == "([1]: true)"


def test_itf() -> None:
    violation = Violation(
        ViolationKind.RUNTIME, "index 9 is out of range", SPAN, trace(), failing_step="pick, n: Node_1"
    )
    document = itf(violation)
    assert document is not None
    assert document["#meta"]["failing_rule"] == "pick, n: Node_1"
    assert document["#meta"]["description"] == "index 9 is out of range"
    assert document["vars"] == ["node", "count", "net", "level"]
    assert [state["#meta"]["rule"] for state in document["states"]] == ["Init", "send, n: Node_2", "again", "Rule 4"]
    assert document["states"][1] == {
        "#meta": {"index": 1, "rule": "send, n: Node_2", "line": 1},
        "node": {"#map": [["Node_1", {"state": "Idle", "busy": False}], ["Node_2", {"state": "Wait", "busy": False}]]},
        "count": 0,
        "net": {"#map": [[{"to": "Node_2", "big": {"#bigint": str(2**60)}}, 1]]},
        "level": {"#unserializable": "undefined"},
    }
    assert document["states"][2]["level"] == {"#unserializable": "2.5"}


def test_itf_counts_equal_multiset_elements() -> None:
    twice = (*START[:5], 0, 0, 7, 0, 0, 7, None)
    made = itf(Violation(ViolationKind.DEADLOCK, "", None, Trace(system(), (Step("Init", twice, SPAN),))))
    assert made is not None
    assert made["states"][0]["net"] == {"#map": [[{"to": "Node_1", "big": 7}, 2]]}
