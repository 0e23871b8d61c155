"""Two runs side by side, with the machine's own spread where runs were repeated."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.decision_match import DecisionMatch
from analysis.level_error import LevelError, level_errors
from analysis.metric_row import MetricRow, metric_rows
from analysis.request_errors import RequestError, request_errors
from analysis.run import Run
from analysis.run_columns import RunColumns
from analysis.run_differences import have_one_trace, run_differences
from analysis.step_classes import ClassedSteps, StepClassError, step_class_errors
from analysis.step_columns import StepColumns
from analysis.summary import summarise


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two runs. Made by `compare`.

    Attributes:
        names: what to call both: their folders and backends.
        warnings: sentences on what makes the runs hard to compare.
        metrics: figures of `summary.json`.
        requests: errors of latencies request by request; empty if the traces differ or arrivals are not known.
        steps: step times by class; empty if a client recorded a run.
        num_matched: leading steps that both decided alike.
        levels: how many ran and waited over time; empty if a client recorded a run.
        decisions: how far both decided alike.
    """

    names: tuple[str, str]
    warnings: tuple[str, ...]
    metrics: tuple[MetricRow, ...]
    requests: tuple[RequestError, ...]
    steps: tuple[StepClassError, ...]
    num_matched: int
    levels: tuple[LevelError, ...]
    decisions: DecisionMatch

    def as_dict(self) -> dict[str, Any]:
        """Returns all values for JSON."""
        return {
            "names": list(self.names),
            "warnings": list(self.warnings),
            "metrics": [row.as_dict() for row in self.metrics],
            "requests": [error.as_dict() for error in self.requests],
            "steps": [error.as_dict() for error in self.steps],
            "num_matched_steps": self.num_matched,
            "levels": [error.as_dict() for error in self.levels],
            "decisions_equal": self.decisions.is_equal,
            "first_difference": self.decisions.first_difference,
        }


def compare(a: Run, b: Run, repetitions: Sequence[Run] = ()) -> Comparison:
    """Compares two runs; figures are computed from their tables.

    Args:
        a: the reference, such as a run on a GPU.
        b: the run to judge, such as a simulation of it.
        repetitions: further runs of the first; how far they are from it is the machine's own spread.

    Raises:
        RunError: a table is damaged or contradicts another.
    """
    runs = (a, b, *repetitions)
    columns_a, columns_b, *others = map(RunColumns.of, runs)
    summaries = [summarise(run) for run in runs]
    decisions = DecisionMatch.of(a, b)
    num_matched = _num_matched(decisions, columns_a.steps, columns_b.steps)
    is_one_trace = have_one_trace(a, b) and all(run.observation.has_arrivals for run in runs)
    return Comparison(
        names=(_name(a), _name(b)),
        warnings=(*run_differences(a, b), *_repetition_warnings(a, repetitions)),
        metrics=tuple(metric_rows(summaries[0], summaries[1], summaries[2:])),
        requests=tuple(request_errors(columns_a, columns_b, others)) if is_one_trace else (),
        steps=tuple(_step_errors(a, b, num_matched, repetitions, columns_a, others)),
        num_matched=num_matched,
        levels=_levels(runs, columns_a.steps, columns_b.steps, [other.steps for other in others]),
        decisions=decisions,
    )


def _step_errors(
    a: Run, b: Run, num_matched: int, repetitions: Sequence[Run], columns_a: RunColumns, others: Sequence[RunColumns]
) -> Sequence[StepClassError]:
    if not _are_of_engines((a, b, *repetitions)):
        return []
    repeated = [
        (ClassedSteps.of(run), _num_matched(DecisionMatch.of(a, run), columns_a.steps, columns.steps))
        for run, columns in zip(repetitions, others, strict=True)
    ]
    return [*step_class_errors(ClassedSteps.of(a), ClassedSteps.of(b), num_matched, repeated)]


def _levels(
    runs: Sequence[Run], a: StepColumns, b: StepColumns, others: Sequence[StepColumns]
) -> tuple[LevelError, ...]:
    return tuple(level_errors(a, b, others)) if _are_of_engines(runs) else ()


def _are_of_engines(runs: Sequence[Run]) -> bool:
    """Whether all of them have recorded steps."""
    return not any(run.observation.by_client for run in runs)


def _num_matched(decisions: DecisionMatch, a: StepColumns, b: StepColumns) -> int:
    if a.first_step != b.first_step:
        return 0
    length = min(len(a), len(b))
    return length if decisions.end is None else min(length, max(0, decisions.end - a.first_step))


def _name(run: Run) -> str:
    settings = run.meta["settings"]
    what = ", ".join(str(settings[key]) for key in ("backend", "model", "policy") if settings.get(key) is not None)
    return f"{run.path} ({what})" if what else str(run.path)


def _repetition_warnings(a: Run, repetitions: Sequence[Run]) -> Sequence[str]:
    return [f"Spread, {run.path}: {sentence}" for run in repetitions for sentence in run_differences(a, run)]
