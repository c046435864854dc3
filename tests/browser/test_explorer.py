"""The explorer in a real browser."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from screen_reader import roles_and_names

from outcrop.api import read_source
from outcrop.lang import load_open
from outcrop.options import LoadOptions
from outcrop.report.explorer_page import explorer_document, explorer_page
from outcrop.serve.operations import Explorer
from outcrop.serve.server import Server

pytest_plugins = ["browser_page"]

#: Two nodes that take turns; names that are markup.
TURNS = """
type Node: scalarset(2);
var count: array [Node] of 0..3; last: Node;
startstate "<i>calm</i>" begin for n: Node do count[n] := 0; end; end;
ruleset n: Node do
  rule "<img src=x onerror=window.pwned=1>" count[n] < 3 & (isundefined(last) | last != n) ==>
  begin count[n] := count[n] + 1; last := n; end;
end;
invariant "small" forall n: Node do count[n] < 3 end;
"""


#: A process whose statements have commas.
COMMAS = (
    'bit Active; chan q = [2] of { byte, byte }; active proctype P() { if :: q!1, 2 :: printf("so, n: %d, m", 3) fi }'
)


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    yield from _served(tmp_path / "turns.m", TURNS)


@pytest.fixture
def promela(tmp_path: Path) -> Iterator[str]:
    yield from _served(tmp_path / "commas.pml", COMMAS)


@pytest.fixture
def long(tmp_path: Path) -> Iterator[str]:
    yield from _served(tmp_path / "long.pml", "byte x; active proctype P() { do :: x < 99 -> x++ od }")


def _served(path: Path, text: str) -> Iterator[str]:
    path.write_text(text)
    system, _, lower = load_open(read_source(path), LoadOptions())
    document = explorer_document(system)
    explorer = Explorer(system, lower, LoadOptions(), document, engine="interpreter")
    with Server(0, *explorer_page(document), explorer.answer) as server:
        thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
        thread.start()
        yield server.url
        server.shutdown()
        thread.join()


class Explored:
    """The explorer's page. Every action waits for the server's answer."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser = browser
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": 1300, "height": 1400, "deviceScaleFactor": 1, "mobile": False},
        )
        browser.get_log("browser")
        browser.get(address)
        self.wait(lambda: self.all(".choice"))

    def wait(self, condition: Callable[[], object]) -> None:
        from selenium.webdriver.support.ui import WebDriverWait  # installed where there is a browser

        WebDriverWait(self.browser, 20, poll_frequency=0.02).until(lambda _: condition())

    def all(self, selector: str) -> list[Any]:
        found: list[Any] = self.browser.find_elements("css selector", selector)
        return found

    @property
    def where(self) -> str:
        return str(self.all("#where")[0].text)

    def go(self, action: Callable[[], object]) -> None:
        """Does something that leads to another step."""
        before = self.where
        action()
        self.wait(lambda: self.where != before)

    def tool(self, number: int, text: str | None = None) -> None:
        form = self.all("form.tool")[number]
        if text is not None:
            form.find_element("css selector", "input").clear()
            form.find_element("css selector", "input").send_keys(text)
        form.find_element("css selector", "button").click()


def test_exploring(browser: Any, address: str) -> None:
    page = Explored(browser, address)
    assert page.where.startswith("Step 0")
    page.go(lambda: page.all(".choice")[0].click())
    assert page.where.startswith("Step 1") and "n: Node_1" in page.where
    page.go(lambda: browser.find_element("css selector", "body").send_keys("1"))
    assert page.where.startswith("Step 2") and "n: Node_2" in page.where
    assert len(page.all(".lanes-row[data-step]")) == 3, "the chart grows"
    page.go(lambda: page.all(".lanes-row[data-step] .lanes-rule")[1].click())
    assert page.where.startswith("Step 1")
    page.go(lambda: page.all(".bar-top button")[0].click())  # back to the start
    page.go(lambda: page.all(".choice")[1].click())  # another branch
    page.all(".tab")[1].click()
    assert len(page.all(".history li")) == 4
    page.tool(0, "count[last] + 4")
    page.wait(lambda: page.all(".value-out")[0].text == "count[last] + 4: 5")
    page.go(lambda: page.tool(1, ""))  # search for a violation
    assert "small" in page.all("main > .ending")[0].text and page.where.startswith("Step 5")
    page.all(".tab")[2].click()
    assert page.all(".seen-node.here")
    assert browser.get_log("browser") == []
    assert browser.execute_script("return window.pwned") is None and page.all("img, i") == []


def test_statements_stay_whole(browser: Any, promela: str) -> None:
    page = Explored(browser, promela)
    assert [each.text.split("\n")[-1] for each in page.all(".choice")] == [
        "P:1 q!1, 2",
        'P:1 printf("so, n: %d, m", 3)',
    ]
    assert "Active" not in [each.text for each in page.all(".source .keyword")]


LEFT, RIGHT = "\ue012", "\ue014"  #: the arrow keys, for WebDriver


def test_channels_and_trails_of_promela(browser: Any, promela: str, tmp_path: Path) -> None:
    page = Explored(browser, promela)
    page.go(lambda: page.all(".choice")[0].click())
    assert "q empty [1,2]" in " ".join(page.all(".tree")[0].text.split())
    page.go(lambda: browser.find_element("css selector", "body").send_keys(LEFT))
    assert page.where.startswith("Step 0") and "q empty P" in " ".join(page.all(".tree")[0].text.split())
    page.go(lambda: browser.find_element("css selector", "body").send_keys(RIGHT))
    assert page.where.startswith("Step 1")
    (tmp_path / "run.trail").write_text("1:0:1\n")
    page.go(lambda: page.all(".bar-top button")[0].click())
    page.go(lambda: page.all("input[type=file]")[0].send_keys(str(tmp_path / "run.trail")))
    assert page.where == 'Step 1: P:1 printf("so, n: %d, m", 3)'


def test_the_graph_shows_where_the_run_is(browser: Any, long: str) -> None:
    page = Explored(browser, long)
    page.all(".tab")[2].click()
    page.go(lambda: page.tool(2, "30"))
    inside, around = (
        browser.execute_script("return arguments[0].getBoundingClientRect().toJSON()", page.all(each)[0])
        for each in (".seen-node.here", ".seen-scroll")
    )
    assert around["top"] < inside["top"] and inside["bottom"] < around["bottom"]


def test_fits_a_phone(browser: Any, address: str) -> None:
    page = Explored(browser, address)
    page.go(lambda: page.tool(2))  # a random walk
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    )
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 360


def test_controls_have_names(browser: Any, address: str) -> None:
    page = Explored(browser, address)
    page.go(lambda: page.tool(2))  # a random walk
    page.all(".tab")[2].click()
    found = roles_and_names(browser)
    assert {"button", "textbox", "searchbox"} <= {role for role, _ in found}
    assert [role for role, name in found if not name] == []


def test_the_page_reaches_its_own_server_alone(browser: Any, address: str) -> None:
    Explored(browser, address)
    fetched = browser.execute_script("return performance.getEntriesByType('resource').map((each) => each.name)")
    assert fetched and all(each.startswith(address) for each in fetched)
    refused = """
        const done = arguments[arguments.length - 1];
        fetch("http://127.0.0.1:9/").then(() => done("fetched"), () => done("refused"));
    """
    assert browser.execute_async_script(refused) == "refused"
    assert any("Content Security Policy" in each["message"] for each in browser.get_log("browser"))
