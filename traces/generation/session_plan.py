"""How requests of a made trace follow each other in sessions."""

from dataclasses import dataclass

import numpy as np

from traces.errors import TraceError
from traces.generation.checks import MAX_COUNT, check_count, check_from_zero
from traces.time_quantum import MAX_TIME_S


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlan:
    """Conversations: the prompt of a turn is the prompt before, its answer, and what the turn adds.

    Attributes:
        mean_turns: mean number of turns, geometrically distributed; at least 1.
        mean_delay_s: mean time between the end of a turn and the next, exponentially distributed.
        max_input: a session ends before a turn whose prompt would be longer than this, in tokens.

    Raises:
        TraceError: a setting is not in its range.
    """

    mean_turns: float
    mean_delay_s: float
    max_input: int = 32_768

    def __post_init__(self) -> None:
        if not 1 <= self.mean_turns <= MAX_COUNT:
            raise TraceError(f"turns is {self.mean_turns}, but it must be a number from 1 to {MAX_COUNT}")
        check_from_zero("delay", self.mean_delay_s, MAX_TIME_S / 100)  # of the longest of millions of delays
        check_count("max", self.max_input)

    def draw_num_turns(self, rng: np.random.Generator) -> int:
        """Return how many turns a session shall have."""
        return int(rng.geometric(1 / self.mean_turns))

    def draw_delay_us(self, rng: np.random.Generator) -> int:
        """Return a delay in whole microseconds."""
        return round(rng.exponential(self.mean_delay_s) * 10**6)
