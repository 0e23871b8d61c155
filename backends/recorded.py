"""Step times of a run that has been recorded."""

import numpy as np

from backends.cost_model import FloatColumn, StepColumns, StepTimes, Value
from backends.errors import RecordedStepsError


class RecordedCostModel:
    """Replays the step times of a run, in order, as long as the steps are the same.

    With the times of a real run, a simulation that decides alike gives the real run's latencies. Each step is compared
    with the recorded one before its time is used. Recorded rows that computed nothing are passed over, since an empty
    step never reaches a backend.

    Args:
        steps: shape and graph size of each recorded step, in order.
        times: its times.

    Raises:
        RecordedStepsError: columns of unequal length, or a time that is negative or not a number.
    """

    def __init__(self, steps: StepColumns[FloatColumn], times: StepTimes[FloatColumn]) -> None:
        _check(steps, times)
        rows = zip(*(column.tolist() for column in (*steps, *times)), strict=True)
        filled = steps.num_prefill_seqs + steps.num_decode_seqs > 0
        self._rows = [(number, row) for number, row in enumerate(rows) if filled[number]]
        self._next = 0

    @property
    def num_left(self) -> int:
        """Recorded steps that have not been asked for."""
        return len(self._rows) - self._next

    def check_finished(self) -> None:
        """Say if the recorded run went on for longer.

        Raises:
            RecordedStepsError: there are recorded steps that nobody asked for.
        """
        if self.num_left:
            raise RecordedStepsError(
                f"The recorded run has {self.num_left} more steps than this run's {self._next}; replay it with the "
                "trace, settings and seed it was recorded with."
            )

    def step_times(self, steps: StepColumns[Value]) -> StepTimes[Value]:
        """Recorded times of the next step (floats) or steps (columns).

        Raises:
            RecordedStepsError: a step differs from the recorded one, or there is none left.
        """
        if isinstance(steps.graph_size, np.ndarray):
            rows = zip(*(column.tolist() for column in steps), strict=True)
            times = np.array([self._take(row) for row in rows], dtype=np.float64).reshape(-1, len(StepTimes._fields))
            return StepTimes(*np.ascontiguousarray(times.T))
        return StepTimes(*self._take(tuple(steps)))

    def _take(self, step: tuple[float, ...]) -> tuple[float, float]:
        if self._next == len(self._rows):
            raise RecordedStepsError(
                f"The recorded run ends after {self._next} steps, but this run goes on with {_described(step)}; replay "
                "it with the trace, settings and seed it was recorded with."
            )
        number, recorded = self._rows[self._next]
        *expected, duration_s, device_s = recorded
        if tuple(expected) != step:
            raise RecordedStepsError(
                f"Step {number} differs from the recorded run: {_difference(step, tuple(expected))}; replay it with "
                "the trace, settings and seed it was recorded with."
            )
        self._next += 1
        return duration_s, device_s


def _check(steps: StepColumns[FloatColumn], times: StepTimes[FloatColumn]) -> None:
    columns = {**steps._asdict(), **times._asdict()}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise RecordedStepsError(f"The recorded columns must be equally long, but their lengths are {lengths}.")
    for name, column in times._asdict().items():
        wrong = np.flatnonzero(~(np.isfinite(column) & (column >= 0)))
        if wrong.size:
            raise RecordedStepsError(
                f"{name} of recorded step {wrong[0]} is {column[wrong[0]]}; times must be numbers of at least 0."
            )


def _difference(step: tuple[float, ...], expected: tuple[float, ...]) -> str:
    named = zip(StepColumns._fields, step, expected, strict=True)
    return ", ".join(f"{name} is {here:g} here and {there:g} there" for name, here, there in named if here != there)


def _described(step: tuple[float, ...]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in zip(StepColumns._fields, step, strict=True) if value)
