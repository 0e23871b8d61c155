"""Everything that one step leaves for the record."""

from typing import NamedTuple

from engine import Batch, Ended, StepResult


class StepRecord(NamedTuple):
    """One step, executed or empty.

    Attributes:
        batch: what was decided.
        result: what the backend returned; None for an empty step and for one that the backend could not execute.
        ended: requests that ended while it was made or with it.
        start_s: clock when it was scheduled.
        end_s: clock when its tokens appeared.
        num_waiting: requests that wait after it.
        num_running: requests that run after it.
        num_used_blocks: blocks held right after it was scheduled.
    """

    batch: Batch
    result: StepResult | None
    ended: tuple[Ended, ...]
    start_s: float
    end_s: float
    num_waiting: int
    num_running: int
    num_used_blocks: int
