"""A report as text and as JSON, for a terminal."""

from typing import Any, TextIO

from analysis.report import render_report
from analysis.reporting.report_content import ReportContent
from analysis.sweep import rows_of
from analysis.sweep_table import print_sweep


def print_report(content: ReportContent, file: TextIO) -> None:
    """Prints the summary of each run, under its name if there are several things, and the table of each sweep."""
    is_one = len(content.subjects) + len(content.sweeps) == 1
    for subject in content.subjects:
        file.write(("" if is_one else f"{subject.label}\n") + render_report(subject.summary))
    for sweep in content.sweeps:
        file.write("" if is_one else f"{sweep.label}\n")
        if sweep.missing:
            file.write(f"Partial sweep: {sweep.missing_sentence}\n")
        if sweep.curves:
            print_sweep(sweep.curves, file)


def values_of(content: ReportContent) -> Any:  # noqa: ANN401  # JSON is of any type
    """The summary of a run, or the rows of a sweep; a list of them if there are several."""
    values: list[Any] = [subject.summary for subject in content.subjects]
    values += [rows_of(sweep.curves) for sweep in content.sweeps]
    return values[0] if len(values) == 1 else values
