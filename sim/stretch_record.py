"""Everything that a stretch of steps leaves for the record."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, repeat
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from analysis.rows import EventRow
from backends.foreseeing_backend import StretchTimes
from engine import Stretch, StretchOutcome
from sim.time_quantum import quantise_column


class StretchRecord(NamedTuple):
    """Steps that were taken together, as `StepRecord` has each by itself.

    Attributes:
        stretch: what was certain.
        outcome: what came of it.
        times: of the steps taken, durations as multiples of the time quantum.
        start_s: clock at the start of each step.
        end_s: clock at the end of each step.
        num_waiting: requests that wait after each step.
    """

    stretch: Stretch
    outcome: StretchOutcome
    times: StretchTimes
    start_s: Sequence[float]
    end_s: Sequence[float]
    num_waiting: int

    @property
    def num_steps(self) -> int:
        """Steps taken."""
        return len(self.end_s)

    @property
    def last_step(self) -> int:
        """Number of the last step taken."""
        return self.stretch.first_step + self.num_steps - 1

    def growth_events(self) -> list[EventRow]:
        """The events of all steps, but for the ends in the last."""
        first, request_ids = self.stretch.first_step, self.stretch.request_ids
        return [
            EventRow(first + offset, request_ids[row], "blocks", None, (block_id,))
            for offset, row, block_id in self.outcome.growth
        ]

    def step_columns(self) -> Iterator[Iterable[Any]]:
        """A row for each step, as columns in the order of `StepRow`."""
        stretch, num_steps = self.stretch, self.num_steps
        yield range(stretch.first_step, stretch.first_step + num_steps)
        yield self.start_s
        yield from self._times()
        yield repeat(self.times.graph_size, num_steps)
        yield from self._shapes()
        yield repeat(self.num_waiting, num_steps)
        num_rows, new_blocks = len(stretch.request_ids), stretch.num_new_blocks[:num_steps]
        yield [num_rows] * (num_steps - 1) + [num_rows - len(self.outcome.ended)]
        yield accumulate(new_blocks[1:], initial=stretch.num_used_blocks + new_blocks[0])

    def _times(self) -> Iterator[list[float]]:
        duration_s = self.times.duration_s[: self.num_steps]
        # A device cannot be busy for longer than the step lasts; rounding to the time quantum could make it seem so.
        device_s = np.minimum(quantise_column(self.times.device_s[: self.num_steps]), duration_s)
        yield duration_s.tolist()
        yield (duration_s - device_s).tolist()
        yield device_s.tolist()

    def _shapes(self) -> Iterator[Iterable[int]]:
        """The columns of `StepShape`."""
        stretch, num_steps = self.stretch, self.num_steps
        num_rows, firsts = len(stretch.request_ids), stretch.first_positions
        none, rows = [0] * num_steps, [num_rows] * num_steps
        sum_firsts, squares = sum(firsts), sum(map(mul, firsts, firsts))
        longest = range(max(firsts) + 1, max(firsts) + 1 + num_steps)
        # No prefill: tokens, sequences, query x context, query x query, context.
        yield from (none, none, none, none, none)
        yield [1] * num_steps
        yield longest
        yield rows
        yield range(sum_firsts + num_rows, sum_firsts + num_rows * (num_steps + 1), num_rows)
        # Over rows, the sum of (first + step)^2 with steps counted from 1.
        yield [squares + step * (2 * sum_firsts + num_rows * step) for step in range(1, num_steps + 1)]
        yield longest
        yield [stretch.shared_context] * num_steps
        yield rows
        yield stretch.num_new_blocks[:num_steps]
        yield none
        yield [len(stretch.released), *none[1:]]
