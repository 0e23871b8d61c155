"""A report as Markdown: what an issue, a chat or a wiki takes."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from analysis.reporting.report_content import ReportContent
from analysis.reporting.run_card import run_sentences
from analysis.reporting.subject import Subject
from analysis.reporting.summary_rows import SummaryRow
from analysis.reporting.sweep_rows import SWEEP_COLUMNS, sweep_cells
from analysis.reporting.sweep_subject import SweepSubject
from analysis.sweep_table import curve_sentence, remarks


def markdown_report(content: ReportContent) -> str:
    """The text of a report: runs and what became of them, in what they differ, their figures; sweeps run by run."""
    return "\n".join(_lines(content)) + "\n"


def _lines(content: ReportContent) -> Iterator[str]:
    yield f"# {_escaped(content.title)}"
    for subject in content.subjects:
        yield from _run(subject)
    if content.subjects:
        labels = [subject.label for subject in content.subjects]
        yield from _settings(content, labels)
        for section, rows in groupby(content.summary_rows, lambda row: row.section):
            yield from _summary(section, list(rows), labels)
    for sweep in content.sweeps:
        yield from _sweep(sweep)


def _run(subject: Subject) -> Iterator[str]:
    yield from ("", f"## {_escaped(subject.label)}", "")
    for _, title, text in run_sentences(subject):
        yield f"- {f'**{_escaped(title)}**: ' if title else ''}{_escaped(text)}"


def _settings(content: ReportContent, labels: Sequence[str]) -> Iterator[str]:
    rows = [row for row in content.setting_rows if row.differs]
    if rows:
        yield from ("", "## Settings that differ", "")
        yield from _table(["setting", *labels], [[row.name, *(text or "-" for text in row.texts)] for row in rows], 1)


def _summary(section: str, rows: Sequence[SummaryRow], labels: Sequence[str]) -> Iterator[str]:
    yield from ("", f"## {section}", "")
    cells = []
    for row in rows:
        values = (
            f"{text} ({change})" if change else text for text, change in zip(row.texts(), row.changes(), strict=True)
        )
        cells.append([f"{row.label} ({row.unit})" if row.unit else row.label, *values])
    yield from _table(["", *labels], cells, 1)


def _sweep(sweep: SweepSubject) -> Iterator[str]:
    yield from ("", f"## Sweep {_escaped(sweep.label)}", "")
    if sweep.missing:
        yield f"- **Partial sweep**: {sweep.missing_sentence}"
    for sentence in (*map(curve_sentence, sweep.curves), *(remarks(sweep.curves) if sweep.curves else ())):
        yield f"- {_escaped(sentence)}"
    yield ""
    yield from _table(["configuration", *(title for title, _ in SWEEP_COLUMNS)], list(sweep_cells(sweep)), 2)


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]], num_left: int) -> Iterator[str]:
    """A table; columns from `num_left` on are aligned to the right."""
    yield f"| {' | '.join(map(_escaped, titles))} |"
    yield f"|{'---|' * num_left}{'---:|' * (len(titles) - num_left)}"
    for row in rows:
        yield f"| {' | '.join(map(_escaped, row))} |"


def _escaped(text: str) -> str:
    """Text without a meaning in Markdown: no markup, no end of a line or of a cell."""
    for sign in "\\`*_|<[":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())
