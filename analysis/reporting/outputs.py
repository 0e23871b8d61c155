"""Writes a report in the forms that were asked for."""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from analysis.errors import ReportError
from analysis.metric_definitions import MetricDefinitions
from analysis.reporting.csv_report import csv_report
from analysis.reporting.html_page import HtmlPage
from analysis.reporting.markdown_report import markdown_report
from analysis.reporting.report_content import ReportContent
from analysis.reporting.vega_library import vega_library
from traces.whole_file import whole_file

STDOUT = Path("-")


class Outputs(NamedTuple):
    """Where to write which form; None for nowhere, `-` for stdout.

    Attributes:
        html: a page that is complete in itself.
        markdown: tables.
        csv: a row for each run.
    """

    html: Path | None = None
    markdown: Path | None = None
    csv: Path | None = None

    @property
    def are_any(self) -> bool:
        """Whether any form is asked for."""
        return any(path is not None for path in self)

    def check(self, *, is_stdout_taken: bool = False) -> None:
        """Look at what can be known before runs are read.

        Args:
            is_stdout_taken: whether something else is written to stdout.

        Raises:
            ReportError: two forms go to one place, or a library is missing.
        """
        known = [*(path for path in self if path is not None), *[STDOUT] * is_stdout_taken]
        for path in known:
            if known.count(path) > 1:
                place = "stdout" if path == STDOUT else str(path)
                raise ReportError(f"Two reports would go to {place}; give each of them a file of its own.")
        if self.html is not None:
            vega_library()

    def write(self, content: ReportContent) -> list[str]:
        """Writes all forms, what goes to stdout last; returns a sentence for each file.

        Raises:
            ReportError: a library is missing.
            OSError: a file cannot be written.
        """
        makers: Sequence[tuple[Path | None, Callable[[], str]]] = (
            (self.html, lambda: _page(content, self.html)),
            (self.markdown, lambda: markdown_report(content)),
            (self.csv, lambda: csv_report(content)),
        )
        sentences = [_write(path, make()) for path, make in makers if path is not None and path != STDOUT]
        for path, make in makers:
            if path == STDOUT:
                sys.stdout.write(make())
        return sentences


def _page(content: ReportContent, path: Path | None) -> str:
    assert path is not None, "it is asked for"
    return HtmlPage(vega_library(), MetricDefinitions(), _metrics_document(path)).render(content)


def _metrics_document(page: Path) -> str | None:
    """Way from a page to `docs/metrics.md` of the checkout that this package is in; None without one."""
    document = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"
    if page == STDOUT or not document.is_file():
        return None
    return Path(os.path.relpath(document, page.resolve().parent)).as_posix()


def _write(path: Path, text: str) -> str:
    # Names of files and requests may hold what UTF-8 cannot.
    content = text.encode("utf-8", errors="backslashreplace")
    with whole_file(path) as draft:
        draft.write_bytes(content)
    size = f"{len(content) / 1e6:.2f} MB" if len(content) >= 1e6 else f"{len(content) / 1e3:.1f} kB"
    return f"{path}: {size}"
