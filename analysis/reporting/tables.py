"""Tables of the page."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any
from xml.etree.ElementTree import Element

from analysis.metric_definitions import MetricDefinitions
from analysis.reporting.markup import element
from analysis.reporting.setting_rows import NOT_SET, SettingRow
from analysis.reporting.summary_rows import SummaryRow
from analysis.reporting.sweep_rows import SWEEP_COLUMNS, sweep_cells, sweep_verdicts
from analysis.reporting.sweep_subject import SweepSubject

_MAX_LISTED = 300
_LAST = ("digest", "notices")
"""Settings that say little to a person."""


def summary_tables(
    rows: Sequence[SummaryRow], labels: Sequence[str], definitions: MetricDefinitions
) -> Iterator[Element]:
    """The figures of the runs, a table for each section; further runs also with their distance from the first."""
    for section, members in groupby(rows, lambda row: row.section):
        body = [_summary_row(row, definitions) for row in members]
        yield _table(f"Summary: {section}", [section, *labels, "Unit"], body)


def _summary_row(row: SummaryRow, definitions: MetricDefinitions) -> Element:
    defined = definitions.of_summary(row.key)
    label = element("a", row.label, href=f"#def-{defined.key}") if defined else row.label
    cells = []
    for k, (text, change) in enumerate(zip(row.texts(), row.changes(), strict=True)):
        # An empty change takes its room too, so that the digits of a run stand below each other.
        cells.append(
            element("td", text, element("small", f" {change}" if change else "") if k else None, class_="number")
        )
    return element("tr", element("th", label, scope="row"), *cells, element("td", row.unit or "-"))


def setting_table(rows: Sequence[SettingRow], labels: Sequence[str]) -> Element:
    """Every setting of the runs; those in which they differ are marked by a sign and a colour."""
    body = []
    for group, members in groupby(rows, lambda row: row.group):
        body.append(_section_row(group, len(labels) + 1))
        body += [_setting_row(row) for row in members]
    return _table("Every setting of the runs", ["Setting", *labels], body)


def _setting_row(row: SettingRow) -> Element:
    sign = element("abbr", "≠ ", title="the runs differ") if row.differs else None
    cells = [element("td", "-" if text is None else text, class_="text") for text in row.texts]
    return element(
        "tr", element("th", sign, row.name, scope="row"), *cells, class_="differs" if row.differs else "same"
    )


def sweep_setting_table(rows: Sequence[SettingRow]) -> Element:
    """Every setting of the runs of a sweep, with all values that it has in them; what varies first."""
    body = []
    for group, members in groupby(rows, lambda row: row.group):
        body.append(_section_row(group, 2))
        body += [_setting_row(SettingRow(group, *each)) for each in _by_weight(list(members))]
    return _table("Every setting of the runs", ["Setting", "in all runs"], body)


def _by_weight(rows: Sequence[SettingRow]) -> Iterator[tuple[str, tuple[str]]]:
    """Yields names and values; what no run sets is one row."""
    named = [row for row in rows if set(row.texts) != {NOT_SET}]
    for row in sorted(named, key=lambda row: (row.name in _LAST, not row.differs)):
        yield row.name, (_values(row),)
    unset = [row.name for row in rows if row not in named]
    if unset:
        yield NOT_SET, (", ".join(unset),)


def _values(row: SettingRow) -> str:
    values = ["not named" if text is None else text for text in dict.fromkeys(row.texts)]
    if len(values) == 1:
        return values[0]
    listed = f"varies: {', '.join(values)}"
    return (
        listed if len(listed) <= _MAX_LISTED else f"varies: {len(values)} values; the meta.json of each run has its own"
    )


def sweep_table(sweep: SweepSubject) -> Element:
    """A row a run; pointing at a verdict shows the whole of it."""
    pairs = zip(sweep_cells(sweep), sweep_verdicts(sweep), strict=True)
    body = [element("tr", *_cells(cells, verdict)) for cells, verdict in pairs]
    titles = ["configuration", *(title for title, _ in SWEEP_COLUMNS)]
    return element("div", _table(f"Runs of sweep {sweep.label}", titles, body), class_="runs-of-sweep")


def _cells(texts: Sequence[str], verdict: str) -> Iterator[Element]:
    name, status, *numbers, mark = texts
    yield element("th", name, scope="row")
    yield element("td", status, class_="short", title=verdict)
    for number in numbers:
        yield element("td", number, class_="number")
    yield element("td", mark, class_="short")


def _section_row(title: str, num_columns: int) -> Element:
    return element("tr", element("th", title, colspan=str(num_columns), scope="colgroup"), class_="section")


def _table(caption: str, titles: Sequence[str], body: Sequence[Any]) -> Element:
    head = element("thead", element("tr", *(element("th", title, scope="col") for title in titles)))
    table = element("table", element("caption", caption), head, element("tbody", *body))
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label=caption)
