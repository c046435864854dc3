"""Stepping through models by hand, and state graphs."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import outcrop
from outcrop.errors import UsageError
from outcrop.explore.evaluate import Scope
from outcrop.explore.formats import dot, graphml, mermaid, svg
from outcrop.explore.graph import around, explore
from outcrop.explore.picture import picture
from outcrop.explore.session import Session
from outcrop.explore.shell import Shell
from outcrop.lang import load_open
from outcrop.options import LoadOptions
from outcrop.source import Source
from outcrop.trace.itf import trace_document

COUNTER = """
type who: scalarset(2); phase: enum { low, high };
var n: 0..5; at: phase; seen: array [who] of boolean; spare: 0..3;
function twice(x: 0..5): 0..10; begin return x + x; end;
startstate "zero" begin n := 0; at := low; for w: who do seen[w] := false; end; end;
rule "up" n < 5 ==> begin n := n + 1; at := high; end;
ruleset w: who do rule "see" !seen[w] ==> begin seen[w] := true; end; end;
rule "break" n = 2 ==> begin spare := 4 + n; end;
invariant "small" n != 3;
"""


@pytest.fixture
def session() -> Session:
    system, _, _ = load_open(Source("counter.m", COUNTER), LoadOptions())
    run = Session(system)
    run.restart()
    return run


@pytest.fixture
def shell() -> Shell:
    system, _, lower = load_open(Source("counter.m", COUNTER), LoadOptions())
    written = Shell(Session(system), Scope(lower).evaluate, lambda path, document: None)
    list(written.greet())
    return written


def says(shell: Shell, *lines: str) -> str:
    """Returns the output of the last of some commands."""
    printed = ""
    for line in lines:
        printed = "\n".join(shell.run(line))
    return printed


def test_steps_back_and_jump(session: Session) -> None:
    for _ in range(2):
        session.take(session.find("up"))
    assert len(session.steps) == 3
    session.jump(0)
    assert [line for line in session.values("n") if line.startswith("n:")] == ["n: 0"]
    session.jump(2)
    assert list(session.differences()) == ["n: 1 -> 2"]
    assert session.back(5) == 3
    assert session.state is None
    assert session.forward(2) == 2
    session.take(session.find("see, w: who_1"))
    assert session.forward() == 0, "what was taken back is forgotten after another step"


def test_says_what_is_wrong(session: Session) -> None:
    for _ in range(2):
        session.take(session.find("up"))
    failing = session.find("break")
    assert failing.failure
    with pytest.raises(UsageError, match="fails"):
        session.take(failing)
    assert not session.wrong()
    session.take(session.find("up"))
    assert session.wrong() == 'invariant "small" is false'


def test_choices_by_number_and_text(session: Session) -> None:
    assert [each.label for each in session.choices()] == ["up", "see, w: who_1", "see, w: who_2"]
    assert session.find("3").label == "see, w: who_2"
    with pytest.raises(UsageError, match="fits 2 choices"):
        session.find("see")
    for text in ("9", "0", "nothing"):
        with pytest.raises(UsageError):
            session.find(text)


def test_saved_traces_go_on(session: Session) -> None:
    session.take(session.find("up"))
    session.take(session.find("3"))
    document = json.loads(json.dumps(trace_document(session.trace())))
    labels = [step.label for step in session.steps]
    session.restart()
    assert session.load(document) == 3
    assert [step.label for step in session.steps] == labels
    session.jump(1)
    session.take(session.find("up"))
    assert [step.label for step in session.steps] == ["zero", "up", "up"]
    document["states"][1]["n"] = 4
    with pytest.raises(UsageError, match="no rule leads to its state 1"):
        session.load(document)
    assert len(session.steps) == 3, "a trace that does not fit changes nothing"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("n + 1", "1"),
        ("twice(n + 2)", "4"),
        ("at", "low"),
        ("at = high", "false"),
        ("exists w: who do seen[w] end", "false"),
        ("seen", "([who_1]: false, [who_2]: false)"),
        ("spare", "undefined"),
        ("seen[who_2]", "false"),
        ("who_1 != who_2", "true"),
        ("forall w: who do w = who_1 | w = who_2 end", "true"),
    ],
)
def test_expressions(shell: Shell, expression: str, value: str) -> None:
    assert says(shell, f"print {expression}").strip() == value


@pytest.mark.parametrize("expression", ["nn", "who_3", "1 +", "n n", "at + 1", "twice(5) + spare", ""])
def test_wrong_expressions_are_explained(shell: Shell, expression: str) -> None:
    said = says(shell, f"= {expression}")
    assert "error" in said or "cannot be evaluated" in said or "expression is missing" in said
    assert "> " not in said
    assert says(shell, "= n").strip() == "0"


def test_commands(shell: Shell) -> None:
    assert "jump N" in says(shell, "help")
    assert "n: 0 -> 1" in says(shell, "1")
    assert "at: low -> high" in says(shell, "diff")
    assert "spare: undefined" in says(shell, "state")
    assert says(shell, "state at").strip() == "at: high"
    assert "no variable" in says(shell, "state zz")
    assert "Rule up fired." in says(shell, "trace")
    assert "spin: trail ends after" in says(shell, "trace spin")
    assert "not a style" in says(shell, "trace sideways")
    assert "Step 0" in says(shell, "back")
    assert "VIOLATION" in says(shell, "up", "up", "up")
    assert "FAILS" in says(shell, "jump 2")
    assert "there is no step 9" in says(shell, "jump 9")
    assert "cannot read" in says(shell, "load nowhere.json")
    assert "Startstate zero" in says(shell, "start")
    assert not shell.has_ended
    says(shell, "quit")
    assert shell.has_ended


def test_random_steps(shell: Shell) -> None:
    walked = says(shell, "random 3 7", "trace")
    assert says(shell, "start", "random 3 7", "trace") == walked, "the seed decides"
    assert any(says(shell, "start", f"random 3 {seed}", "trace") != walked for seed in range(9))
    assert "stopped before break, which fails" in says(shell, "start", "random 99") and len(shell.session.steps) < 9
    assert "not a number" in says(shell, "random many")


def test_dve(repository: Path) -> None:
    path = repository / "examples/peterson.dve"
    system, _, lower = load_open(Source(str(path), path.read_text()), LoadOptions())
    shell = Shell(Session(system), Scope(lower).evaluate, lambda path, document: None)
    list(shell.greet())
    assert says(shell, "1", "= flag[0] + 1").strip() == "2"
    assert "unknown" in says(shell, "= nothing")


# --- Graphs ------------------------------------------------------------------------------------------------


def test_whole_graph_is_what_a_check_finds(repository: Path) -> None:
    model = outcrop.load(repository / "examples/peterson.m")
    for symmetry in (False, True):
        result = model.check(engine="interpreter", symmetry=symmetry)
        graph = explore(model.system, symmetry, 1000, None)
        assert (len(graph.nodes), len(graph.links)) == (result.states, result.rules_fired)
        assert not graph.open_nodes


def test_limits(repository: Path) -> None:
    system = outcrop.load(repository / "examples/peterson.m").system
    few = explore(system, False, 5, None)
    assert len(few.nodes) == 5
    assert few.open_nodes
    near = explore(system, False, 1000, 2)
    assert max(node.distance for node in near.nodes) == 2
    assert near.open_nodes <= {node.number for node in near.nodes if node.distance == 2}


def test_around_a_trace(session: Session) -> None:
    session.take(session.find("up"))
    session.take(session.find("up"))
    document = trace_document(session.trace())
    alone = around(session.system, document, 100, 0)
    assert [node.trace_step for node in alone.nodes] == [0, 1, 2]
    assert [(link.source, link.target) for link in alone.links if link.in_trace] == [(0, 1), (1, 2)]
    wider = around(session.system, document, 100, 1)
    assert len(wider.nodes) == 3 + 3 * 2 + 1
    assert [node.wrong for node in wider.nodes if node.wrong] == ["small"]
    with pytest.raises(UsageError, match="more than 2 states"):
        around(session.system, document, 2, 0)


def test_formats(session: Session) -> None:
    graph = explore(session.system, False, 6, None)
    text = dot(picture(graph, ["seen[who_1]"], (), "property"))
    assert text.count(" -> ") == len(graph.links)
    assert "seen[who_1] = false" in text
    assert "n = " not in text
    root = ElementTree.fromstring(graphml(picture(graph, None, (), "level")))
    tag = "{http://graphml.graphdrawing.org/xmlns}"
    assert len(root.findall(f".//{tag}node")) == len(graph.nodes)
    assert len(root.findall(f".//{tag}edge")) == len(graph.links)
    document = json.loads(json.dumps(graph.to_dict()))
    assert document["nodes"][0]["state"]["n"] == 0
    assert document["complete"] is False


def test_a_picture_has_every_state_and_link(session: Session) -> None:
    drawing = picture(explore(session.system, False, 6, None), None, (), "n")
    tag = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring(svg(drawing))
    assert len(root.findall(f"{tag}rect")) == len(drawing.shapes) + 1  # and the paper
    assert len([each for each in root.findall(f"{tag}path") if "link" in each.attrib["class"]]) == len(drawing.lines)
    assert len({each.fill for each in drawing.shapes}) == len({each.lines[0] for each in drawing.shapes})
    assert mermaid(drawing).count("-->") == len(drawing.lines)


def test_a_quotient_counts_states(session: Session) -> None:
    graph = explore(session.system, False, 100, None)
    drawing = picture(graph, None, ("n",), "property")
    assert sum(each.states for each in drawing.shapes) == len(graph.nodes)
    assert [each.values for each in drawing.shapes] == [{"n": str(value)} for value in range(len(drawing.shapes))]
    classes = {(each.source, each.target) for each in drawing.lines}
    assert len(classes) == len(drawing.lines), "parallel links are one line"
    assert drawing.to_dict()["by"] == ["n"]


def test_a_large_graph_needs_graphviz(session: Session) -> None:
    drawing = picture(explore(session.system, False, 100, None), None, (), "property")
    drawing.shapes *= 300
    with pytest.raises(UsageError, match="Install Graphviz"):
        svg(drawing)


def test_steps_and_expressions_show_what_they_print() -> None:
    text = r"""
    var n: 0..5;
    function loud(): 0..5; begin put "asked\n"; return n; end;
    startstate begin n := 0; put "zero\n"; end;
    rule "up" n < 5 ==> begin n := n + 1; put n; end;
    """
    system, _, lower = load_open(Source("m.m", text), LoadOptions())
    shell = Shell(Session(system), Scope(lower).evaluate, lambda path, document: None)
    assert "    prints: zero" in list(shell.greet())
    assert "    n: 0 -> 1\n    prints: n:1\n" in says(shell, "up")
    assert says(shell, "print loud()") == "  prints: asked\n  1"
    assert "     prints: zero\n1  Rule up fired.\n     n: 0 -> 1\n     prints: n:1" in says(shell, "trace")


def test_a_record_like_a_channel_is_shown_in_full() -> None:
    """Only channels of Promela are shown by their messages."""
    text = """
        var q: record length: 0..2; messages: array [0..1] of 0..3; end;
        startstate begin q.length := 0; q.messages[0] := 3; q.messages[1] := 1; end;
        rule begin q.length := 1; end;
    """
    system, _, _ = load_open(Source("queue.m", text), LoadOptions())
    session = Session(system)
    session.restart()
    assert list(session.values()) == ["q.length: 0", "q.messages[0]: 3", "q.messages[1]: 1"]
