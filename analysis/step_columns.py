"""The steps of a run as numpy columns."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analysis.arrow_values import to_numpy
from analysis.errors import RunError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_ROUNDING_S = 1e-6  # other engines may stamp microseconds


@dataclass(frozen=True, slots=True, eq=False)
class StepColumns:
    """What metrics need of `steps`; one entry a step, in order. Made by `of`.

    Attributes:
        first_step: number of the first step; the others follow by one.
        start_s: clock when the step was scheduled.
        end_s: clock when its tokens appeared.
        duration_s: time between the two.
        device_s: part of it in which the device was busy.
        num_prefill_tokens: query tokens of rows with more than one.
        num_decode_tokens: rows with one query token.
        num_waiting: requests left waiting.
        num_running: sequences that ran: those in the batch or, if more, those running after the step.
        num_used_blocks: KV blocks held.
    """

    first_step: int
    start_s: Floats
    end_s: Floats
    duration_s: Floats
    device_s: Floats
    num_prefill_tokens: Ints
    num_decode_tokens: Ints
    num_waiting: Ints
    num_running: Ints
    num_used_blocks: Ints

    NAMES = (
        "step",
        "start_s",
        "duration_s",
        "device_s",
        "num_prefill_tokens",
        "num_prefill_seqs",
        "num_decode_seqs",
        "num_waiting",
        "num_running",
        "num_used_blocks",
    )
    """Columns of the table that are read."""

    def __len__(self) -> int:
        return len(self.start_s)

    @property
    def num_tokens(self) -> Ints:
        """Query tokens computed in each step."""
        return self.num_prefill_tokens + self.num_decode_tokens

    @classmethod
    def of(cls, table: pa.Table) -> "StepColumns":
        """Takes the columns of a `steps` table.

        Raises:
            RunError: step numbers do not count up by one, a duration is negative, or steps overlap.
        """
        column = {name: to_numpy(table.column(name)) for name in cls.NAMES}
        steps = column["step"]
        _check_numbers(steps)
        _check_times(steps, column["start_s"], column["duration_s"])
        # A sequence that ended in its step is off the running set but was in the batch.
        num_rows = column["num_prefill_seqs"] + column["num_decode_seqs"]
        return cls(
            first_step=int(steps[0]) if len(steps) else 0,
            start_s=column["start_s"],
            end_s=column["start_s"] + column["duration_s"],
            duration_s=column["duration_s"],
            device_s=column["device_s"],
            num_prefill_tokens=column["num_prefill_tokens"],
            num_decode_tokens=column["num_decode_seqs"],
            num_waiting=column["num_waiting"],
            num_running=np.maximum(column["num_running"], num_rows),
            num_used_blocks=column["num_used_blocks"],
        )

    def positions(self, numbers: Ints, table: str) -> Ints:
        """Returns where steps stand.

        Args:
            numbers: of steps, as another table names them.
            table: its name, for the message.

        Raises:
            RunError: one of them is not there.
        """
        positions = numbers - self.first_step
        outside = np.flatnonzero((positions < 0) | (positions >= len(self)))
        if len(outside):
            raise RunError(f"Table {table} names step {numbers[outside[0]]}, which table steps does not hold.")
        return positions


def _check_numbers(steps: Ints) -> None:
    jumps = np.flatnonzero(np.diff(steps) != 1)
    if len(jumps):
        before, after = steps[jumps[0]], steps[jumps[0] + 1]
        raise RunError(f"Table steps: step {after} follows step {before}, but step numbers must count up by one.")


def _check_times(steps: Ints, start_s: Floats, duration_s: Floats) -> None:
    negative = np.flatnonzero(duration_s < 0)
    if len(negative):
        step, duration = steps[negative[0]], duration_s[negative[0]]
        raise RunError(f"Table steps: step {step} has a duration of {duration} s; it must not be negative.")
    end_s = start_s + duration_s
    early = np.flatnonzero(start_s[1:] < end_s[:-1] - _ROUNDING_S)
    if len(early):
        step, end = steps[early[0] + 1], end_s[early[0]]
        raise RunError(f"Table steps: step {step} starts before the one ahead of it ends at {end} s.")
