"""Everything that a report is made of, whatever its form."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from analysis.errors import RunError
from analysis.reporting.cdf_figures import cdf_figures
from analysis.reporting.colours import NUM_COLOURS
from analysis.reporting.figure import FigureGroup
from analysis.reporting.gantt_figures import GanttFigures
from analysis.reporting.latency_figures import LatencyFigures
from analysis.reporting.load_figures import LoadFigures
from analysis.reporting.rate_figures import RateFigures
from analysis.reporting.setting_rows import SettingRow, setting_rows
from analysis.reporting.subject import Subject, labels_of
from analysis.reporting.summary_rows import SummaryRow, summary_rows
from analysis.reporting.sweep_figures import SweepFigures
from analysis.reporting.sweep_subject import SweepSubject, is_sweep
from analysis.reporting.time_axis import TimeAxis
from analysis.run import load
from analysis.slo import Slo


@dataclass(frozen=True)
class ReportContent:
    """Runs and sweeps of one report. Made by `of`.

    Attributes:
        subjects: the runs.
        sweeps: the sweeps.
    """

    subjects: Sequence[Subject]
    sweeps: Sequence[SweepSubject]

    @classmethod
    def of(cls, paths: Sequence[Path], slo: Slo | None = None, warmup_s: float | None = None) -> "ReportContent":
        """Opens run directories and folders of sweeps.

        Args:
            paths: both in any order.
            slo: limits for goodput and attainment; those of each run or sweep if None.
            warmup_s: seconds that steady-state windows leave out; those of each run if None.

        Raises:
            RunError: a path is neither, a table is damaged, or there are more runs than colours.
            SloError: a `meta.json` holds limits that have no meaning.
        """
        named = list(zip(paths, labels_of(paths), strict=True))
        runs = [(path, label) for path, label in named if not is_sweep(path)]
        if len(runs) > NUM_COLOURS:
            raise RunError(
                f"{len(runs)} runs are too many for one report: the colours of at most {NUM_COLOURS} can be told "
                "apart; name fewer, or the folder of a sweep."
            )
        subjects = [Subject.of(load(path), label, slo, warmup_s) for path, label in runs]
        sweeps = [SweepSubject.of(path, label, slo) for path, label in named if is_sweep(path)]
        return cls(subjects, sweeps)

    @property
    def title(self) -> str:
        """What it is a report of."""
        labels = [*(subject.label for subject in self.subjects), *(sweep.label for sweep in self.sweeps)]
        return f"TwinServe report: {', '.join(labels)}"

    @property
    def summary_rows(self) -> list[SummaryRow]:
        """The figures of the runs' summaries."""
        return summary_rows([subject.summary for subject in self.subjects])

    @property
    def setting_rows(self) -> list[SettingRow]:
        """All that is known of how the runs were made."""
        return setting_rows([subject.run.meta for subject in self.subjects])

    @cached_property
    def groups(self) -> list[FigureGroup]:
        """The figures of the runs."""
        if not self.subjects:
            return []
        axis = TimeAxis(self.subjects)
        loads, rates = LoadFigures(self.subjects, axis), RateFigures(self.subjects, axis)
        return [
            FigureGroup("Latency distributions", cdf_figures(self.subjects)),
            FigureGroup("Latency over time", LatencyFigures(self.subjects, axis).figures()),
            FigureGroup("Load over time", [*rates.throughput(), *loads.levels()]),
            FigureGroup("Batches and cache over time", [*loads.batches(), *rates.cache()]),
            FigureGroup("Requests", GanttFigures(self.subjects).figures()),
        ]

    @cached_property
    def sweep_groups(self) -> list[FigureGroup]:
        """The figures of each sweep."""
        return [
            FigureGroup(f"Figures of {sweep.label}", SweepFigures(sweep, f"sweep-{k + 1}").figures())
            for k, sweep in enumerate(self.sweeps)
        ]
