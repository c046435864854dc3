"""The report in a real browser: its content, its keys, its clipboard, and the scripts that it must not run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY

import outcrop
from outcrop.ir.interpreter import Interpreter
from outcrop.report.page import page
from outcrop.result import Result
from outcrop.trace.itf import itf
from outcrop.trace.render import render

pytest_plugins = ["browser_page"]

Open = Callable[[Path], Any]

#: Scalarsets, unions, records, arrays, nested ones, and multisets of two kinds.
RICH = """
const Nodes: 2;
type
  Node: scalarset(Nodes);
  Home: enum { Main };
  Place: union { Home, Node };
  Message: record dest: Place; size: 0..3; end;
var
  net: multiset [3] of Message;
  tags: multiset [4] of 0..7;
  held: array [Node] of record message: Message; busy: boolean; end;
  owner: Place;
  count: -2..5;
startstate "cold" begin
  undefine net; undefine tags; undefine held; owner := Main; count := -2;
end;
ruleset n: Node do
  rule "send <b>&amp;" count < 4 ==>
  var message: Message;
  begin
    message.dest := n; message.size := 1;
    multisetadd(message, net); multisetadd(3, tags);
    held[n].busy := true; held[n].message.size := 2; owner := n; count := count + 2;
  end;
end;
rule "drain" count = 2 ==> begin multisetremovepred(m: net, true); count := 3; end;
invariant "</script><img src=x onerror=window.pwned=1>" (count < 3 & true) | forall n: Node do !(held[n].busy) end;
"""


def report(model: Path, place: Path, **options: Any) -> tuple[Result, Path]:
    result = outcrop.load(model).check(coverage=True, engine="interpreter", **options)
    place.write_text(page(result.to_dict()), encoding="utf-8")
    return result, place


@pytest.fixture
def rich(tmp_path: Path) -> tuple[Result, Path]:
    (tmp_path / "rich.m").write_text(RICH)
    result, path = report(tmp_path / "rich.m", tmp_path / "rich.html")
    assert result.trace is not None
    return result, path


def test_shows_the_violation(open_page: Open, tmp_path: Path) -> None:
    _, path = report(REPOSITORY / "examples" / "bounded_buffer.m", tmp_path / "run.html")
    shown = open_page(path)
    assert shown.complaints() == []
    assert "Violated." in shown.text("h1")
    assert shown.texts(".condition .innermost") == ["ring[take_at % Slots] = expected"]
    assert shown.text(".place") == "4 of 4"
    assert [each.split() for each in shown.texts(".row.changed")] == [["[0]", "0", "3"], ["put_at", "3", "4"]]
    assert "Here: invariant" in shown.text(".ending")


def test_keys(open_page: Open, tmp_path: Path) -> None:
    _, path = report(REPOSITORY / "examples" / "bounded_buffer.m", tmp_path / "run.html")
    shown = open_page(path)
    left, right, home, end = "\ue012", "\ue014", "\ue011", "\ue010"
    for keys, expected in (
        ([left], "3"),
        ([home], "0"),
        ([left], "0"),
        ([right, right], "2"),
        ([end], "4"),
        ([right], "4"),
    ):
        shown.press(*keys)
        assert shown.text(".place") == f"{expected} of 4"
        assert [each.text.split()[0] for each in shown.all("[aria-current]")] == [expected]
    shown.press("/")
    search = shown.browser.switch_to.active_element
    search.send_keys("put_at")
    assert [each.split()[0] for each in shown.texts(".tree .row")] == ["put_at"]
    assert len(shown.all(".steps .hit")) == 4
    search.send_keys("\ue008\ue007")  # Shift and Enter: the step before that changes it
    assert shown.text(".place") == "3 of 4"
    search.send_keys("\ue00c")  # Escape
    assert len(shown.all(".tree .row")) == 6


def test_clicking_and_filtering(open_page: Open, rich: tuple[Result, Path]) -> None:
    result, path = rich
    assert result.trace is not None
    shown = open_page(path)
    shown.all(".lanes-row[data-step] .lanes-rule")[1].click()
    assert shown.text(".place").startswith("1 of ")
    shown.all(".stepper input[type=checkbox]")[0].click()
    assert all("changed" in each.get_attribute("class") for each in shown.all(".tree .row"))
    assert "+" in " ".join(shown.texts(".row.changed"))  # an element was added
    shown.all("[aria-label='Previous step']")[0].click()
    assert shown.text(".tree .nothing").startswith("The start state")


def test_a_swipe_is_a_step(open_page: Open, tmp_path: Path) -> None:
    _, path = report(REPOSITORY / "examples" / "bounded_buffer.m", tmp_path / "run.html")
    shown = open_page(path)
    swipe = """
      const state = document.querySelector(".state");
      const at = (x) => new Touch({ identifier: 1, target: state, clientX: x, clientY: 300 });
      state.dispatchEvent(new TouchEvent("touchstart", { changedTouches: [at(100)] }));
      state.dispatchEvent(new TouchEvent("touchend", { changedTouches: [at(arguments[0])] }));
    """
    shown.script(swipe, 300)
    assert shown.text(".place") == "3 of 4"
    shown.script(swipe, 10)
    assert shown.text(".place") == "4 of 4"


def test_copies(open_page: Open, rich: tuple[Result, Path]) -> None:
    result, path = rich
    assert result.trace is not None
    shown = open_page(path)
    text = shown.copied("text").splitlines()
    assert text[:-1] == render(result.trace)
    assert text[-1] == f"Here: {result.violations[0].message}."
    assert json.loads(shown.copied("json")) == itf(result.violations[0])


def test_a_state_copied_as_murphi_is_that_state(open_page: Open, rich: tuple[Result, Path], tmp_path: Path) -> None:
    result, path = rich
    assert result.trace is not None
    shown = open_page(path)
    for number, step in enumerate(result.trace.steps):
        shown.all(".lanes-row[data-step] .lanes-rule")[number].click()
        (tmp_path / "again.m").write_text(RICH + shown.copied("murphi"))
        system = outcrop.load(tmp_path / "again.m").system
        starts = {each.successor for each in Interpreter(system, symmetry=True).start_states() if each.successor}
        wanted = Interpreter(result.trace.system, symmetry=True).normalise(step.state)
        assert wanted in starts, number


def test_hostile_text_does_nothing(open_page: Open, rich: tuple[Result, Path]) -> None:
    _, path = rich
    shown = open_page(path)
    assert shown.complaints() == []
    assert shown.script("return window.pwned") is None
    assert shown.all("img, b, #report script") == []
    assert "</script><img src=x onerror=window.pwned=1>" in shown.text("h1")
    assert any("send <b>&amp;" in each for each in shown.texts(".lanes-rule"))


def test_a_script_that_is_not_ours_does_not_run(open_page: Open, rich: tuple[Result, Path]) -> None:
    _, path = rich
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("</header>", "</header><script>window.pwned=1</script><img src=x onerror=window.pwned=2>")
    )
    shown = open_page(path)
    assert shown.script("return window.pwned") is None
    assert any("Content Security Policy" in each for each in shown.complaints())


def test_a_lasso_goes_round(open_page: Open, tmp_path: Path) -> None:
    result = outcrop.load(REPOSITORY / "examples" / "bounded_buffer.m").check(engine="interpreter").to_dict()
    trace = result["violations"][0]["trace"]
    trace["loop_start"] = 2
    trace["#meta"]["closing_rule"] = "rewind"
    for state in trace["states"]:
        state["#meta"]["propositions"] = {"full": state["put_at"] == 4, "p": True}
    (tmp_path / "run.html").write_text(page(result), encoding="utf-8")
    shown = open_page(tmp_path / "run.html")
    assert [each.split()[0] for each in shown.texts(".steps .looping")] == ["2", "3", "4"]
    assert shown.text(".ending").startswith("Rule rewind fired: back to step 2. This cycle repeats forever: invariant")
    assert "2 steps to the cycle, 3 steps in the cycle" in shown.text(".guarantee")
    assert shown.texts(".truths code") == ["full", "p"]
    shown.press("\ue014")
    assert shown.text(".place") == "2 of 4"
    assert shown.texts(".truths code") == ["!full", "p"]
    lines = shown.copied("text").splitlines()
    assert lines[lines.index("2  Rule produce fired.") - 1] == (
        "--- the cycle starts here: states 2 to 4 repeat forever ---"
    )
    closing = lines.index("   Rule rewind fired: back to 2.")
    assert lines[closing - 1].strip() == "propositions: full, p"
    assert [each.strip() for each in lines[closing + 1 : -1]] == [
        "ring[0]: 3 -> 0",
        "ring[2]: 2 -> undefined",
        "put_at: 4 -> 2",
    ]


def test_steps_show_what_they_print(open_page: Open, tmp_path: Path) -> None:
    model = tmp_path / "chatty.m"
    model.write_text(
        """
        var x: 0..2; startstate begin x := 0; end;
        rule "up" x < 2 ==> begin put "up <b>\\n"; put x; x := x + 1; end;
        rule "bad" x = 2 ==> begin put "about to fail"; error "no"; end;
        """
    )
    result, path = report(model, tmp_path / "run.html")
    shown = open_page(path)
    assert shown.complaints() == []
    assert shown.text(".place") == "3 of 3" and shown.text(".rule") == "Step 3: rule bad fails in this state"
    assert shown.texts(".state .output") == ["", "about to fail"]
    assert len(shown.all(".steps li")) == 4
    shown.press("\ue012")
    assert shown.texts(".state .output") == ["up <b>\nx:1", ""] and shown.texts(".ending") == [""]
    lines = shown.copied("text").splitlines()
    assert result.trace is not None
    assert lines[:-2] == render(result.trace)
    assert lines[-1] == "    prints: about to fail"
    shown.press("\ue011")
    assert shown.text(".place").startswith("0 of ")
    assert [each.is_displayed() for each in shown.all(".state .output")] == [False, False]


def test_a_lasso_of_a_formula(open_page: Open, tmp_path: Path) -> None:
    result, path = report(REPOSITORY / "examples" / "coat_check.m", tmp_path / "run.html")
    trace = result.violations[0].trace
    assert trace is not None and trace.loop_start is not None
    shown = open_page(path)
    assert shown.complaints() == []
    assert shown.copied("text").splitlines()[:-1] == render(trace)
    assert "-> F" in shown.texts(".condition")[0]


def test_fits_a_phone_and_follows_the_readers_colours(open_page: Open, rich: tuple[Result, Path]) -> None:
    _, path = rich
    shown = open_page(path)
    background = "return getComputedStyle(document.body).backgroundColor"
    light = shown.script(background)
    shown.media("dark")
    assert shown.script(background) != light
    shown.media("dark", "print")
    assert shown.script(background) == "rgb(255, 255, 255)"
    assert not shown.all(".controls")[0].is_displayed() and shown.all(".printed")[0].is_displayed()
    shown.media()
    for width in (320, 390, 768):
        shown.size(width, 800)
        assert shown.script("return document.documentElement.scrollWidth") <= width


def test_charts_and_tables(open_page: Open, tmp_path: Path) -> None:
    result, path = report(REPOSITORY / "examples" / "two_phase_commit.m", tmp_path / "run.html")
    shown = open_page(path)
    assert shown.complaints() == []
    first = shown.all("figure svg")[0]
    assert len(first.find_elements("css selector", "rect")) == len(result.levels)
    shown.script("arguments[0].focus()", first)
    first.send_keys("\ue014\ue014")  # two to the right
    assert f"new states: {result.levels[1]:,}" in shown.all(".tip")[0].text
    head = next(each for each in shown.all("#rules th button") if each.text == "Fired")
    for expected in (sorted((rule.fired for rule in result.coverage), reverse=True), None):
        head.click()
        column = [int(each.split("\n")[0].replace(",", "")) for each in shown.texts("#rules td:nth-child(4)")]
        assert column == (expected or sorted(column))


@pytest.mark.parametrize("levels", [0, 1, 20_000])
def test_odd_shapes(open_page: Open, tmp_path: Path, levels: int) -> None:
    """Tries an empty report, and one with far more levels than pixels."""
    result = outcrop.load(REPOSITORY / "examples" / "peterson.m").check(engine="interpreter").to_dict()
    rows = [k % 97 + 1 for k in range(levels)]
    result |= {"levels": rows, "duplicates": rows, "missed": None, "samples": {}, "coverage": [], "properties": []}
    (tmp_path / "run.html").write_text(page(result), encoding="utf-8")
    shown = open_page(tmp_path / "run.html")
    assert shown.complaints() == []
    assert len(shown.all("#levels rect")) <= 2 * 2 * 400
    assert bool(shown.all("#levels")) == bool(levels)


def test_a_long_trace_stays_quick(open_page: Open, tmp_path: Path) -> None:
    result = outcrop.load(REPOSITORY / "examples" / "bounded_buffer.m").check(engine="interpreter").to_dict()
    trace = result["violations"][0]["trace"]
    trace["states"] = [trace["states"][0], *(trace["states"][1 + k % 4] for k in range(5_000))]
    (tmp_path / "run.html").write_text(page(result), encoding="utf-8")
    shown = open_page(tmp_path / "run.html")
    assert shown.text(".place") == "5000 of 5000"
    assert 100 < len(shown.all(".steps button")) < 1_000
    shown.press("\ue011")
    assert shown.text(".place") == "0 of 5000"


WIDE = """
var clock: 0..99; grid: array [1..100] of record busy: boolean; value: 0..99; end;
startstate begin clock := 0; for c: 1..100 do grid[c].busy := false; grid[c].value := 0; end; end;
rule "work" clock < 99 ==> begin clock := clock + 1; grid[clock].value := clock; end;
invariant "early" clock < 60;
"""


def test_a_large_state_shows_what_changes(open_page: Open, tmp_path: Path) -> None:
    """A stretch that stays the same takes one line, which opens; the rest stays in sight."""
    (tmp_path / "wide.m").write_text(WIDE)
    _, place = report(tmp_path / "wide.m", tmp_path / "run.html")
    shown = open_page(place)
    folded = [each for each in shown.texts(".tree summary") if "unchanged" in each]
    assert folded == ["[1] … [59] 59 unchanged", "[61] … [100] 40 unchanged"]
    tree, change = (shown.box(each) for each in (".tree", ".tree details .changed"))
    assert tree["top"] <= change["top"] <= tree["bottom"]
    shown.all(".tree details details summary")[0].click()
    assert "[7]" in shown.texts(".tree summary")
    assert shown.box(".steps [aria-current] span")["height"] < 30, "a number of two digits stays on one line"


def test_shows_the_reduction_and_unreached_code(open_page: Open, tmp_path: Path) -> None:
    model = tmp_path / "m.pml"
    steps = "; ".join(["x++"] * 4)
    model.write_text(f"active [3] proctype P() {{ byte x; {steps}; if :: x > 9 -> skip; x = 0 :: else fi }}\n")
    _, path = report(model, tmp_path / "run.html", reduce="por")
    shown = open_page(path)
    assert shown.complaints() == []
    assert "every state of the reduced system" in shown.text("header")
    assert "of the states left enabled rules out; on average, 0.95 of 2.37 fired" in shown.text(".figures")
    (unreached,) = [each for each in shown.texts("section") if each.startswith("Unreached code")]
    assert "P: 1 of 11 states, which no process reached" in unreached
    assert "m.pml:1:" in unreached and "x = 0" in unreached
