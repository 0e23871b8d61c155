"""100,000 requests: the page stays small, and what it shows is still true."""

import numpy as np
import pytest

from analysis.metric_definitions import MetricDefinitions
from analysis.reporting.cdf_figures import PERCENTS
from analysis.reporting.figure import Figure
from analysis.reporting.html_page import HtmlPage
from analysis.reporting.report_content import ReportContent
from tests.analysis.reporting.large_run import STEP_S, large_run

NUM = 100_000
MAX_BYTES = 5_000_000
LIBRARY_BYTES = 900_000
"""That of the library which draws, rounded up; it is put into the page by a test in a browser, too."""


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> ReportContent:
    run = large_run(tmp_path_factory.mktemp("large") / "run", NUM)
    return ReportContent.of([run.path])


@pytest.fixture(scope="module")
def figures(content: ReportContent) -> dict[str, Figure]:
    return {figure.key: figure for group in content.groups for figure in group.figures}


def test_page_is_small_and_has_every_figure(content: ReportContent, figures: dict[str, Figure]) -> None:
    page = HtmlPage("", MetricDefinitions(), None).render(content)
    assert len(page.encode()) + LIBRARY_BYTES < MAX_BYTES / 2
    assert len(figures) == 17
    assert all(figure.rows for figure in figures.values())
    assert page.count('class="chart"') == 17


def test_percentiles_are_exact(figures: dict[str, Figure]) -> None:
    rows = figures["cdf-ttft"].rows
    assert [row["percent"] for row in rows] == list(PERCENTS)
    ttft_ms = 1000 * STEP_S * (1 + np.arange(NUM) % 7)
    assert [row["value"] for row in rows] == pytest.approx(np.percentile(ttft_ms, PERCENTS), rel=1e-5)


def test_time_is_cut_into_few_bins_and_nothing_is_lost(figures: dict[str, Figure]) -> None:
    arrivals, output = figures["arrivals"].rows, figures["output-rate"].rows
    assert len(arrivals) <= 60
    assert 190 <= len(output) <= 200
    width_s = output[1]["time"] - output[0]["time"]
    num_tokens = sum(1 + k % 50 for k in range(NUM))
    assert sum(row["value"] for row in output) * width_s == pytest.approx(num_tokens, rel=1e-4)
    assert "a bin of 4 s" in figures["output-rate"].shows


def test_few_requests_are_shown_and_the_page_says_which(figures: dict[str, Figure]) -> None:
    gantt = figures["gantt"]
    assert len({row["request"] for row in gantt.rows}) == 60
    assert "Shown are 60 of the 100,000 requests that arrived: those 60 consecutive arrivals" in gantt.shows
