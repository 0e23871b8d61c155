"""A run that a report is about."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis import metrics
from analysis.metrics import Span
from analysis.run import Run
from analysis.run_columns import RunColumns
from analysis.slo import Slo
from analysis.summary import summarise

_KEPT = ("cost_model", "mean_lag_s", "max_lag_s", "host_probe_us")
"""Keys of `summary.json` that the program which made the run knows alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """One run with its figures. Made by `of`.

    Attributes:
        label: name that no other run of the report has.
        run: the run.
        summary: its figures, as `analysis.summary.summarise` makes them.
        columns: the columns that the figures are from.
    """

    label: str
    run: Run
    summary: dict[str, Any]
    columns: RunColumns

    @classmethod
    def of(cls, run: Run, label: str, slo: Slo | None = None, warmup_s: float | None = None) -> "Subject":
        """Computes the figures of a run from its tables.

        Args:
            run: complete or not.
            label: name that no other run of the report has.
            slo: limits for goodput and attainment; those of the run if None.
            warmup_s: seconds that the steady-state window leaves out; those of the run if None.

        Raises:
            RunError: the tables are damaged or contradict each other.
            SloError: `meta.json` holds limits that have no meaning.
        """
        stored, columns = run.summary or {}, RunColumns.of(run)
        summary = summarise(
            run,
            wall_s=stored.get("wall_s"),
            decision_digest=stored.get("decision_digest"),
            slo=slo,
            warmup_s=warmup_s,
            columns=columns,
        )
        kept = {key: stored[key] for key in _KEPT if key in stored}
        return cls(label, run, summary | kept, columns)

    @property
    def span(self) -> Span | None:
        """The run's time, first arrival or step to last stamp; None if it had none, or requests share no clock."""
        if not self.run.observation.has_arrivals:
            return None
        return metrics.stamped_span(self.columns.requests, self.columns.steps)

    @property
    def limits_ms(self) -> dict[str, float]:
        """Limits of the SLO by metric, in milliseconds."""
        return {name.removesuffix("_s"): 1000 * limit for name, limit in (self.summary["slo"] or {}).items()}


def without_clock(subjects: Sequence[Subject]) -> Iterator[str]:
    """Yields a sentence for each run of which nothing can be drawn over time."""
    for subject in subjects:
        if not subject.run.observation.has_arrivals:
            yield f"{subject.label}: arrival times are not known, so nothing can be said over time."
        elif subject.span is None:
            yield f"{subject.label}: nothing arrived and no step was taken."


def with_run(fields: Sequence[tuple[str, str]], subjects: Sequence[Subject]) -> list[tuple[str, str]]:
    """Fields to show, the run before them if there are several."""
    return [("series", "run"), *fields] if len(subjects) > 1 else [*fields]


def labels_of(paths: Sequence[Path]) -> list[str]:
    """Names for paths: as few of their last parts as tell them apart; a path that comes twice gets numbers."""
    parts = [path.resolve().parts for path in paths]
    longest = max(map(len, parts), default=1)
    for count in range(1, longest + 1):
        names = ["/".join(own[-count:]) for own in parts]
        if len(set(names)) == len(set(parts)):
            break
    repeated = [f" ({names[: k + 1].count(name)})" if names.count(name) > 1 else "" for k, name in enumerate(names)]
    return [name + number for name, number in zip(names, repeated, strict=True)]
