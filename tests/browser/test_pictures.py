"""The pictures of a trace in a real browser: chart, matrix, source, and what else could happen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from outcrop.cli.main import main

pytest_plugins = ["browser_page"]

#: A message from one node to another, a grid, and names that are markup.
MODEL = """
type Node: scalarset(2); Message: record kind: enum { Ask, Tell }; src: Node; dst: Node; end;
var net: multiset [2] of Message; known: array [Node] of array [Node] of boolean; idle: boolean;
startstate begin
  undefine net; idle := true;
  for n: Node do for m: Node do known[n][m] := false; end; end;
end;
ruleset n: Node; m: Node do
  rule "ask <b>" n != m & multisetcount(i: net, true) = 0 ==>
  var message: Message;
  begin message.kind := Ask; message.src := n; message.dst := m; multisetadd(message, net); end;
end;
choose i: net do
  rule "hear" true ==> begin known[net[i].dst][net[i].src] := true; multisetremove(i, net); end;
end;
invariant "nobody knows" forall n: Node do forall m: Node do !known[n][m] end end;
"""


@pytest.fixture
def shown(open_page: Callable[[Path], Any], tmp_path: Path) -> Any:
    (tmp_path / "ask.m").write_text(MODEL)
    report = tmp_path / "ask.html"
    assert main(["check", str(tmp_path / "ask.m"), "--engine", "interpreter", "-q", "--report", str(report)]) == 1
    return open_page(report)


def test_chart(shown: Any) -> None:
    assert shown.complaints() == []
    assert shown.texts(".lane-name")[:2] == ["Node_1", "Node_2"]
    assert [each.get_attribute("class").split()[1] for each in shown.all(".arrow")] == ["sent", "received"]
    sent = shown.all(".lanes-row[data-step='1'] .lanes-rule")[0]
    assert "ask <b>" in sent.text and "sent from Node_" in sent.get_attribute("aria-label")
    sent.click()
    assert shown.text(".place") == "1 of 2"
    shown.all(".lane-name button")[0].click()  # folds the lane
    assert len(shown.texts(".lane-name")) == len(shown.all(".lanes-legend button")) == 1


def test_source_and_alternatives(shown: Any) -> None:
    assert "hear" in " ".join(shown.texts(".source-panel li.fired"))
    assert "known[n][m]" in "".join(shown.texts(".source-panel .false"))
    shown.press("\ue012")  # one step back
    assert shown.texts(".guard li")[0].startswith("✓ n != m")
    shown.all(".tab")[1].click()
    assert "the trace goes on with this" in shown.text(".next .taken")
    shown.all("#properties a.position")[0].click()
    assert "invariant" in shown.texts("#source li.fired")[0]


def test_grid_and_matrix(shown: Any) -> None:
    assert len(shown.all(".tree table.grid td.changed")) == 1
    shown.all(".values summary")[0].click()
    shown.wait(lambda: shown.all(".matrix th[scope=row]"))
    rows = [each.text for each in shown.all(".matrix th[scope=row]")]
    assert "idle" not in rows and len(rows) == 2, "what never changes is folded"
    shown.all(".matrix input[type=checkbox]")[0].click()
    assert "idle" in [each.text for each in shown.all(".matrix th[scope=row]")]
    search = shown.all(".matrix input[type=search]")[0]
    search.send_keys("idle")
    assert [each.text for each in shown.all(".matrix th[scope=row]")] == ["idle"]
    shown.all(".matrix thead button")[0].click()
    assert shown.text(".place") == "0 of 2"


def test_source_of_a_rule_that_fails(open_page: Callable[[Path], Any], tmp_path: Path) -> None:
    model, page = tmp_path / "bad.m", tmp_path / "bad.html"
    model.write_text(
        'var x: 0..1;\nstartstate begin x := 0; end;\nrule "up" x = 0 ==> begin x := 1; end;\n'
        'rule "bad" x = 1 ==> begin error "no"; end;'
    )
    assert main(["check", str(model), "--engine", "interpreter", "-q", "--report", str(page)]) == 1
    shown = open_page(page)
    assert shown.text(".place") == "2 of 2" and "bad" in shown.text(".source-panel li.fired")
    shown.press("\ue012")
    assert shown.text(".place") == "1 of 2" and "up" in shown.text(".source-panel li.fired")
    assert shown.complaints() == []


def test_graph_around_the_trace(shown: Any) -> None:
    assert not shown.all(".near-node")
    shown.all(".values summary")[1].click()
    shown.wait(lambda: shown.all(".near-node.here"))
    assert [each.split(" ")[0] for each in shown.texts(".near-node.traced text")] == ["0", "1", "2"]
    assert len(shown.all(".near-node:not(.traced)")) == 1, "the other node could have asked"
    assert len(shown.all(".near-node.traced.wrong.here")) == 1
    shown.all(".near-node.traced rect")[1].click()
    assert shown.text(".place") == "1 of 2"
    assert shown.texts(".command code")[0].endswith("ask.m --load RESULT.json --step 1")


def test_print_has_the_chart(shown: Any) -> None:
    shown.media("dark", "print")
    assert shown.all(".lanes")[0].is_displayed() and not shown.all(".around")[0].is_displayed()
    shown.media()
    for width in (320, 768):
        shown.size(width, 800)
        assert shown.script("return document.documentElement.scrollWidth") <= width
