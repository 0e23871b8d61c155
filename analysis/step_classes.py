"""Steps by the kind of their work, as far as it decides how long they take."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analysis.arrow_values import to_numpy
from analysis.paired_error import PairedError, largest
from analysis.run import Run
from analysis.sample import Sample
from analysis.step_columns import Bools, Floats

STATISTICS = ("mean", "p50", "p90", "p99")


class StepClass(IntEnum):
    """What a step computes; EMPTY if nothing."""

    EMPTY = 0
    DECODE_IN_GRAPH = 1
    DECODE_EAGER = 2
    PREFILL_IN_GRAPH = 3
    PREFILL_EAGER = 4
    MIXED_IN_GRAPH = 5
    MIXED_EAGER = 6

    @property
    def label(self) -> str:
        """Its name in a table."""
        return self.name.lower().replace("_", " ")


@dataclass(frozen=True, slots=True, eq=False)
class ClassedSteps:
    """Steps of a run with their classes; one entry a step. Made by `of`.

    Attributes:
        classes: `StepClass` of each.
        duration_s: how long each lasted.
        device_s: how long the device was busy in each.
    """

    classes: NDArray[np.int8]
    duration_s: Floats
    device_s: Floats

    NAMES = ("num_prefill_seqs", "num_decode_seqs", "graph_size", "duration_s", "device_s")

    @classmethod
    def of(cls, run: Run) -> "ClassedSteps":
        """Reads the steps of a run.

        Raises:
            RunError: the table is damaged.
        """
        table = run.table("steps", cls.NAMES)
        has_prefill, has_decode = (to_numpy(table.column(name)) > 0 for name in cls.NAMES[:2])
        is_eager = np.isnan(to_numpy(table.column("graph_size").cast(pa.float64())))
        conditions = [has_prefill & has_decode, has_prefill, has_decode]
        outcomes = [StepClass.MIXED_IN_GRAPH, StepClass.PREFILL_IN_GRAPH, StepClass.DECODE_IN_GRAPH]
        in_graph = np.select(conditions, [np.int8(outcome) for outcome in outcomes], np.int8(StepClass.EMPTY))
        # Of each kind, eager comes right behind in a graph.
        classes = in_graph + (is_eager & (in_graph > StepClass.EMPTY)).astype(np.int8)
        return cls(classes, to_numpy(table.column("duration_s")), to_numpy(table.column("device_s")))

    def are(self, step_class: StepClass) -> Bools:
        """Says which steps are of a class."""
        is_of_class: Bools = self.classes == step_class
        return is_of_class

    def upto(self, end: int) -> "ClassedSteps":
        """Keeps the first steps."""
        return ClassedSteps(self.classes[:end], self.duration_s[:end], self.device_s[:end])


@dataclass(frozen=True, slots=True)
class StepClassError:
    """Step times of two runs in one class. Made by `step_class_errors`.

    Attributes:
        step_class: the class.
        counts: steps of the first and of the second run.
        shares: of the time that all steps took, the share of the class; None if they took none.
        duration_ms: for each of `STATISTICS`, the duration in the first and in the second run; None without steps.
        host_ms: mean of the time in which the device was idle, likewise.
        matched: error of the second run's durations, over the steps that both runs decided alike.
        spread: the same of the repetition of the first run that is farthest from it; None if there is none.
    """

    step_class: StepClass
    counts: tuple[int, int]
    shares: tuple[float | None, float | None]
    duration_ms: dict[str, tuple[float | None, float | None]]
    host_ms: tuple[float | None, float | None]
    matched: PairedError
    spread: PairedError | None

    def as_dict(self) -> dict[str, Any]:
        """Returns all values for JSON."""
        return {
            "class": self.step_class.label,
            "counts": list(self.counts),
            "shares": list(self.shares),
            "duration_ms": {name: list(values) for name, values in self.duration_ms.items()},
            "host_ms": list(self.host_ms),
            "matched": self.matched.as_dict(),
            "spread": self.spread.as_dict() if self.spread else None,
        }


def step_class_errors(
    a: ClassedSteps, b: ClassedSteps, num_matched: int, repetitions: Sequence[tuple[ClassedSteps, int]] = ()
) -> Iterator[StepClassError]:
    """Compares the classes of which either run has a step; a matched step is of the class that it has in the first run.

    Args:
        a: steps of the first run.
        b: steps of the second.
        num_matched: leading steps that both decided alike.
        repetitions: steps of further runs of the first, each with the number that it decided as the first did.
    """
    for step_class in StepClass:
        is_a, is_b = a.are(step_class), b.are(step_class)
        if step_class is StepClass.EMPTY or not (is_a.any() or is_b.any()):
            continue
        durations = (Sample.of(a.duration_s[is_a]), Sample.of(b.duration_s[is_b]))
        yield StepClassError(
            step_class=step_class,
            counts=(durations[0].size, durations[1].size),
            shares=(_share(a, is_a), _share(b, is_b)),
            duration_ms={name: _both_ms(name, *durations) for name in STATISTICS},
            host_ms=_both_ms(
                "mean", *(Sample.of((each.duration_s - each.device_s)[each.are(step_class)]) for each in (a, b))
            ),
            matched=_matched(step_class, a, b, num_matched),
            spread=largest([_matched(step_class, a, other, num) for other, num in repetitions]),
        )


def _matched(step_class: StepClass, a: ClassedSteps, b: ClassedSteps, num_matched: int) -> PairedError:
    a, b = a.upto(num_matched), b.upto(num_matched)
    is_of_class = a.are(step_class)
    return PairedError.of(a.duration_s[is_of_class], b.duration_s[is_of_class])


def _share(steps: ClassedSteps, is_of_class: Bools) -> float | None:
    total_s = float(steps.duration_s.sum())
    return float(steps.duration_s[is_of_class].sum()) / total_s if total_s > 0 else None


def _both_ms(name: str, a: Sample, b: Sample) -> tuple[float | None, float | None]:
    return _statistic_ms(name, a), _statistic_ms(name, b)


def _statistic_ms(name: str, sample: Sample) -> float | None:
    value_s = sample.mean() if name == "mean" else sample.percentile(float(name.removeprefix("p")))
    return None if value_s is None else 1000 * value_s
