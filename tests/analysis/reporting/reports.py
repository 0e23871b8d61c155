"""Contents of reports on small runs."""

from pathlib import Path

from analysis.reporting.figure import Figure
from analysis.reporting.report_content import ReportContent
from analysis.reporting.subject import Subject
from analysis.slo import Slo
from tests.run_builder import RunBuilder, small_run


def small_content(folder: Path, *names: str, slo: str | None = None) -> ReportContent:
    """A report on small runs of these names; they are equal."""
    paths = [small_run(folder / name).build().path for name in names]
    return ReportContent.of(paths, None if slo is None else Slo.parse(slo))


def subject_of(builder: RunBuilder) -> Subject:
    """A run as a report takes it, under the name of its folder."""
    return Subject.of(builder.build(), builder.path.name)


def figures_of(content: ReportContent) -> dict[str, Figure]:
    """All figures by key."""
    groups = [*content.groups, *content.sweep_groups]
    return {figure.key: figure for group in groups for figure in group.figures}


def column(figure: Figure, name: str, series: str | None = None) -> list[object]:
    """The values of a field of a figure, of one series or of all."""
    return [row[name] for row in figure.rows if series is None or row["series"] == series]
