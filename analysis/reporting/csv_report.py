"""A report as CSV: a row for each run, a column for each figure, under the names of `summary.json`."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from analysis.reporting.report_content import ReportContent
from analysis.reporting.sweep_subject import SweepSubject
from analysis.sweep import rows_of


def csv_report(content: ReportContent) -> str:
    """The text: runs first, then those of sweeps; a figure that a row does not have is empty.

    Objects within a summary become columns of their own: the status of `verdict` is `verdict_status`.
    """
    rows = [_run_row(subject.label, subject.summary) for subject in content.subjects]
    rows += [row for sweep in content.sweeps for row in _sweep_rows(sweep)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _run_row(label: str, summary: Mapping[str, Any]) -> dict[str, Any]:
    return {"run": label, **dict(_flattened(summary, ""))}


def _sweep_rows(sweep: SweepSubject) -> Iterator[dict[str, Any]]:
    for row in rows_of(sweep.curves):
        yield {"run": row["run"], "sweep": sweep.label, **row}


def _flattened(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if name == "failed_by_reason":
            # Reasons are sentences, and no names of columns.
            yield f"{prefix}{name}", "; ".join(f"{count} x {reason}" for reason, count in value.items())
        elif isinstance(value, Mapping):
            yield from _flattened(value, f"{prefix}{name}_")
        else:
            yield f"{prefix}{name}", value
