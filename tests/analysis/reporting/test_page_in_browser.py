"""Pages of simulated runs, opened in a browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.metric_definitions import MetricDefinitions
from analysis.reporting.html_page import HtmlPage
from analysis.reporting.report_content import ReportContent
from analysis.reporting.vega_library import vega_library
from analysis.slo import Slo
from tests.analysis.small_sweep import small_sweep
from tests.browser import Browser, browser
from tests.run_builder import RunBuilder
from tests.sim.command import ROOT, command, row, write_rows

DESKTOP, PHONE = 1280, 360
HOSTILE_NAMES = ("</script><script>alert(1)</script>", "\u2028\u2029", "\0", "\"'\\", "<!--", "r" * 10_000)
TRACE = ROOT / "examples" / "shared_prefixes.jsonl"

# Of each figure: its key, its marks, and the size of its drawing.
SIZES = """
return [...document.querySelectorAll(".chart")].map((chart) => {
  const svg = chart.querySelector("svg");
  const box = svg ? svg.getBoundingClientRect() : { width: 0, height: 0 };
  const marks = chart.querySelectorAll(".mark-line path, .mark-rect path, .mark-area path").length;
  return { key: chart.dataset.figure, width: box.width, height: box.height, marks };
});
"""

# Colours of the ground, of a text in a drawing, and of a line.
LOOK = """
const of = (place, what) => getComputedStyle(document.querySelector(place))[what];
return [
  of("body", "backgroundColor"), of(".chart svg text", "fill"), of(".chart .mark-line path", "stroke"),
];
"""
GANTT_TABLE = "[data-table=gantt] tbody"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two busy runs with preemptions, a sweep, and runs in which next to nothing happens."""
    folder = tmp_path_factory.mktemp("runs")
    busy = ("--limit", 60, "--rate-scale", 40, "--num-blocks", 700)
    one = write_rows(folder / "one.jsonl", row(0.0, 100, 5))
    hostile = write_rows(
        folder / "hostile.jsonl", *(row(100.0 * k, 100, 5, request_id=name) for k, name in enumerate(HOSTILE_NAMES))
    )
    for words in (
        ("replay", TRACE, *busy, "-o", folder / "vllm"),
        ("replay", TRACE, *busy, "--policy", "nano-vllm", "-o", folder / "<i>nano"),
        ("replay", one, "-o", folder / "one"),
        ("replay", hostile, "-o", folder / "hostile\u2028<i>"),
    ):
        assert command(*words).code == 0, words
    small_sweep(folder / "sweep", slo={"ttft": 1.2})
    RunBuilder(folder / "empty").build()
    failed = RunBuilder(folder / "failed")
    for k in range(3):
        failed.request(
            f"r{k}", arrival_s=float(k), finish_s=float(k), status="refused", reason="the prompt is too long"
        )
    failed.build()
    return folder


def page_of(folder: Path, name: str, *runs: str, slo: str | None = None) -> Path:
    content = ReportContent.of([folder / run for run in runs], None if slo is None else Slo.parse(slo))
    page = folder / f"{name}.html"
    page.write_text(HtmlPage(vega_library(), MetricDefinitions(), "docs/metrics.md").render(content), "utf-8")
    return page


def drawn(chromium: Browser) -> dict[str, dict[str, Any]]:
    return {size["key"]: size for size in chromium.run(SIZES)}


def check(chromium: Browser, page: Path, num: int) -> None:
    """Everything is drawn, within the window, without a message and without asking for anything but the page."""
    sizes = drawn(chromium)
    assert len(sizes) == num
    for size in sizes.values():
        assert min(size["width"], size["height"]) > 30, size
        assert size["marks"] > 0, size
    assert chromium.messages() == []
    assert chromium.requested() <= {page.as_uri()}
    width, window = chromium.run("return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert width <= window


def test_two_runs(chromium: Browser, folder: Path) -> None:
    page = page_of(folder, "two", "vllm", "<i>nano", slo="ttft=500ms,tpot=20ms")
    chromium.open(page, width=DESKTOP)
    check(chromium, page, 18)
    sizes = drawn(chromium)
    assert sizes["cdf-ttft"]["marks"] >= 2
    assert sizes["gantt"]["marks"] >= 60
    assert "preempted" in chromium.run("return document.querySelector('#figure-gantt .legend').textContent")
    assert chromium.run("return document.querySelectorAll('article.run h3')[1].textContent") == "<i>nano"

    chromium.resize(PHONE)
    chromium.wait(lambda: max(size["width"] for size in drawn(chromium).values()) < PHONE)
    check(chromium, page, 18)


def test_sweep_on_a_phone(chromium: Browser, folder: Path) -> None:
    page = page_of(folder, "sweep", "sweep")
    chromium.open(page, width=PHONE, scheme="dark")
    check(chromium, page, 6)
    assert chromium.run(LOOK)[0] == "rgb(20, 24, 29)"
    verdict = chromium.run("return document.querySelector('.runs-of-sweep td').getBoundingClientRect().toJSON()")
    assert verdict["right"] < PHONE
    assert verdict["height"] < 60


def test_names_of_any_letters_are_shown_and_not_run(chromium: Browser, folder: Path) -> None:
    page = page_of(folder, "hostile", "hostile\u2028<i>", "one")
    chromium.open(page, width=DESKTOP)
    check(chromium, page, 18)
    assert drawn(chromium)["gantt"]["marks"] >= len(HOSTILE_NAMES)


def test_run_of_one_request(chromium: Browser, folder: Path) -> None:
    page = page_of(folder, "one", "one")
    chromium.open(page, width=DESKTOP)
    assert chromium.requested() == {page.as_uri()}
    check(chromium, page, 17)
    check_dark(chromium)
    check_tables(chromium)
    check_tooltip(chromium)
    assert len(chromium.print()) > 50_000
    assert chromium.messages() == []


def check_dark(chromium: Browser) -> None:
    """Light and dark change without drawing anew."""
    light = chromium.run(LOOK)
    chromium.prefer("dark")
    dark = chromium.run(LOOK)
    assert light[:2] == ["rgb(255, 255, 255)", "rgb(27, 31, 36)"]
    assert dark[:2] == ["rgb(20, 24, 29)", "rgb(230, 233, 237)"]
    assert light[2] != dark[2]


def check_tables(chromium: Browser) -> None:
    """The table behind each figure has its values."""
    chromium.run("for (const details of document.querySelectorAll('details')) details.open = true")
    count = "return [...document.querySelectorAll('details')].map((e) => e.querySelectorAll('tbody tr').length)"
    chromium.wait(lambda: all(chromium.run(count)))
    assert len(chromium.run(count)) == 17
    assert chromium.run(f"return document.querySelector('{GANTT_TABLE}').rows[0].cells[1].textContent") == "prefill"


def check_tooltip(chromium: Browser) -> None:
    """Pointing at a bar says what it is."""
    text = chromium.run(
        "const bar = document.querySelector('#figure-gantt .mark-rect path'); const box = bar.getBoundingClientRect();"
        "const at = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true };"
        "bar.dispatchEvent(new PointerEvent('pointermove', at)); bar.dispatchEvent(new MouseEvent('mousemove', at));"
        "return document.getElementById('vg-tooltip-element').textContent"
    )
    assert "prefill" in text
    assert "length (ms)" in text


@pytest.mark.parametrize(("name", "num"), [("empty", 0), ("failed", 3)])
def test_run_in_which_nothing_finishes(chromium: Browser, folder: Path, name: str, num: int) -> None:
    page = page_of(folder, name, name)
    chromium.open(page, width=DESKTOP)
    check(chromium, page, num)
    empty = "return [...document.querySelectorAll('figure:not(:has(.chart))')]"
    reasons = chromium.run(empty + ".map((figure) => figure.querySelector('.notes').textContent)")
    assert len(reasons) == 17 - num
    assert all(reasons)
