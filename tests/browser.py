"""A Chromium without a window, for tests of pages. Without one tests are skipped, but under CI they fail."""

import base64
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.wait import WebDriverWait

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
_TIMEOUT_S = 60


class Browser:
    """Opens pages and says what came of it.

    Args:
        driver: what drives the browser.
    """

    def __init__(self, driver: webdriver.Chrome) -> None:
        self._driver: Any = driver  # half of its methods have no types

    def open(self, page: Path, *, width: int, scheme: Literal["light", "dark"] = "light") -> None:
        """Opens a page of a report in a window of some width, and waits until it says that all figures are drawn."""
        self.resize(width)
        self.prefer(scheme)
        self._driver.get_log("performance")
        self._driver.get(page.as_uri())
        self.wait(lambda: bool(self.run("return document.documentElement.dataset.drawn")))

    def wait(self, is_so: Callable[[], bool]) -> None:
        """Waits until something is so; raises if it takes too long."""
        WebDriverWait(self._driver, _TIMEOUT_S, poll_frequency=0.1).until(lambda _: is_so())

    def resize(self, width: int) -> None:
        """Gives the window another width, in CSS pixels."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self._driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def prefer(self, scheme: Literal["light", "dark"]) -> None:
        """Sets what the user prefers."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def run(self, script: str) -> Any:
        """What a script returns."""
        return self._driver.execute_script(script)

    def print(self) -> bytes:
        """The page as a PDF on A4."""
        size = {"paperWidth": 8.27, "paperHeight": 11.69, "printBackground": True}
        return base64.b64decode(self._driver.execute_cdp_cmd("Page.printToPDF", size)["data"])

    def messages(self) -> list[str]:
        """What is on the console since the last call."""
        return [entry["message"] for entry in self._driver.get_log("browser")]

    def requested(self) -> set[str]:
        """Addresses that were asked for since the page was opened."""
        events = [json.loads(entry["message"])["message"] for entry in self._driver.get_log("performance")]
        return {e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"}


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """Starts a browser with an empty profile, and ends it."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    driver_program = shutil.which("chromedriver")
    if program is None or driver_program is None:
        text = "needs Chromium and chromedriver; on Debian: apt-get install chromium chromium-driver"
        if os.environ.get("CI"):
            pytest.fail(text)
        pytest.skip(text)  # the pages themselves are tested without a browser too
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(driver_program))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
