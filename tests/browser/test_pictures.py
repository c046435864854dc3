"""The pictures of a trace in a real browser: chart, matrix, source, and what else could happen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from screen_reader import roles_and_names

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


def test_nothing_covers_the_bar_while_the_page_scrolls(shown: Any) -> None:
    covered = shown.script("""
        const bar = document.querySelector(".controls"), chart = document.querySelector(".lanes-body"), found = [];
        for (let down = 0; down < chart.clientHeight; down += 7) {
          window.scrollTo(0, bar.parentElement.offsetTop + down);
          const box = bar.getBoundingClientRect();
          for (let x = box.left + 2; x < box.right; x += 9) {
            const top = document.elementFromPoint(x, box.bottom - 6);
            if (top && !bar.contains(top) && box.top === 0) found.push(top.className);
          }
        }
        return found;""")
    assert covered == []


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


def test_matrix_keeps_its_first_column_in_sight(shown: Any) -> None:
    shown.size(320, 800)
    shown.all(".values summary")[0].click()
    shown.wait(lambda: shown.all(".matrix th[scope=row]"))
    shown.script("document.querySelector('.matrix-scroll').scrollLeft = 1000")
    left = shown.box(".matrix-scroll")["left"]
    assert shown.box(".matrix thead th")["left"] == shown.box(".matrix th[scope=row]")["left"] == left


def test_axes_count_in_whole_numbers_and_end_above_the_bars(shown: Any) -> None:
    texts = [each.text for each in shown.all("#levels svg")[0].find_elements("css selector", "text[text-anchor=end]")]
    assert texts[:-1] == ["0", "1"], "a level has one state"


def test_marks_leave_out_indentation(open_page: Callable[[Path], Any], tmp_path: Path) -> None:
    model, page = tmp_path / "lines.m", tmp_path / "lines.html"
    model.write_text('var x: 0..1;\nstartstate begin x := 1; end;\ninvariant "two lines"\n  !(x = 1\n      & true);\n')
    assert main(["check", str(model), "--engine", "interpreter", "-q", "--report", str(page)]) == 1
    marked = [each.get_attribute("textContent") for each in open_page(page).all(".condition .innermost")]
    assert [each.strip() for each in marked] == marked and "".join(marked) == "!(x = 1& true)"


def test_controls_have_names(shown: Any) -> None:
    """A screen reader names every control and every picture."""
    for summary in shown.all(".values summary"):
        summary.click()
    shown.wait(lambda: shown.all(".near-node") and shown.all(".matrix th[scope=row]"))
    found = roles_and_names(shown.browser)
    assert {"button", "slider", "checkbox", "link"} <= {role for role, _ in found}
    assert [role for role, name in found if not name] == []


def test_no_address_is_reached(shown: Any) -> None:
    """The page fetches nothing, and its policy refuses what is not in it."""
    assert shown.script("return performance.getEntriesByType('resource').length") == 0
    refused = """
        const done = arguments[arguments.length - 1];
        fetch("https://example.com/").then(() => done("fetched"), () => done("refused"));
    """
    assert shown.browser.execute_async_script(refused) == "refused"
    assert any("Content Security Policy" in each for each in shown.complaints())


def test_lanes_stand_on_every_printed_page(shown: Any) -> None:
    shown.media("light", "print")
    display = "return getComputedStyle(document.querySelector(arguments[0])).display"
    assert [shown.script(display, each) for each in (".lanes-body", ".lanes-top")] == ["table", "table-header-group"]
    assert [each.text for each in shown.all(".lane-name .on-paper")][:2] == ["Node_1", "Node_2"]
    shown.media()


def test_print_has_the_chart(shown: Any) -> None:
    shown.media("dark", "print")
    assert shown.all(".lanes")[0].is_displayed() and not shown.all(".around")[0].is_displayed()
    shown.media()
    for width in (320, 768):
        shown.size(width, 800)
        assert shown.script("return document.documentElement.scrollWidth") <= width
