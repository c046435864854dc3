"""A real browser, where there is one: Chromium with its driver, and selenium."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

_FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--window-size=1100,1400"),
)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    chromedriver = shutil.which("chromedriver")
    if not chromium or not chromedriver:
        pytest.skip("no Chromium with its driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    yield driver
    driver.quit()


class Page:
    """A report in the browser."""

    def __init__(self, browser: Any, path: Path) -> None:
        self.browser = browser
        self.size(1100, 1400)
        self.media()
        browser.get_log("browser")
        browser.get(path.as_uri())

    def size(self, width: int, height: int) -> None:
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )

    def media(self, scheme: str = "light", kind: str = "") -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": kind, "features": features})

    def script(self, text: str, *arguments: Any) -> Any:
        return self.browser.execute_script(text, *arguments)

    def all(self, selector: str) -> list[Any]:
        found: list[Any] = self.browser.find_elements("css selector", selector)
        return found

    def texts(self, selector: str) -> list[str]:
        return [each.text for each in self.all(selector)]

    def text(self, selector: str) -> str:
        (found,) = self.all(selector)
        return str(found.text)

    def box(self, selector: str) -> dict[str, float]:
        """Where the first of some elements is drawn."""
        found: dict[str, float] = self.script(
            "return arguments[0].getBoundingClientRect().toJSON()", self.all(selector)[0]
        )
        return found

    def press(self, *keys: str) -> None:
        self.script("if (document.activeElement !== document.body) document.activeElement.blur()")
        for key in keys:
            self.browser.find_element("css selector", "body").send_keys(key)

    def copied(self, kind: str) -> str:
        """Returns the text that a copy button puts on the clipboard."""
        text = self.browser.execute_async_script(
            """
            const [kind, done] = arguments;
            const value = { writeText: async (text) => done(text) };
            Object.defineProperty(navigator, "clipboard", { configurable: true, value });
            document.querySelector(`[data-copy="${kind}"]`).click();
            """,
            kind,
        )
        return str(text)

    def wait(self, condition: Callable[[], object]) -> None:
        """Returns once a condition is true. An element that opens makes its content in a later event."""
        from selenium.webdriver.support.wait import WebDriverWait

        WebDriverWait(self.browser, 20, poll_frequency=0.02).until(lambda _: condition())

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.browser.get_log("browser")]


@pytest.fixture
def open_page(browser: Any) -> Any:
    return lambda path: Page(browser, path)
