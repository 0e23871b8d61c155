"""How long a later turn of a recorded session waits after the turn before has ended."""

import math
from collections import Counter
from dataclasses import dataclass

from traces.errors import TraceError
from traces.recorded_row import RecordedRow

DELAY_RULES = ("think-only", "original", "api-scaled", "open")


@dataclass(frozen=True, slots=True)
class DelayRule:
    """One of the rules by which agentic recordings are replayed.

    What the recording knows of two turns, and the delay that each rule makes of it:

        start of turn i-1       end of turn i-1             start of turn i
              |----- service time -----|------ think time -------|
              |------------------------- gap --------------------|

        think-only   think time
        original     gap
        api-scaled   service time x api_time_scale + think time

    The delay counts from the end that the turn before has in the replay, whatever the rule. "open" knows no sessions:
    each turn is a request of its own that comes at its recorded time.

    Attributes:
        name: which rule.
        api_time_scale: factor on the recorded service time, of rule "api-scaled".

    Raises:
        TraceError: there is no such rule, or the factor is no number from 0.
    """

    name: str = "think-only"
    api_time_scale: float = 1.0

    def __post_init__(self) -> None:
        if self.name not in DELAY_RULES:
            raise TraceError(f"the delay rule is {self.name!r}, but it must be one of {', '.join(DELAY_RULES)}")
        if not (math.isfinite(self.api_time_scale) and self.api_time_scale >= 0):
            raise TraceError(f"the API time scale is {self.api_time_scale}, but it must be a number from 0")

    @property
    def is_open(self) -> bool:
        """Whether turns come at their recorded times, however long the turns before take."""
        return self.name == "open"

    def delay_ns(self, before: RecordedRow, turn: RecordedRow, odd: Counter[str]) -> int:
        """Return the delay of a turn, in nanoseconds.

        Args:
            before: the turn before.
            turn: the turn that waits.
            odd: counts by reason the turns whose recording did not give what the rule needs.
        """
        gap_ns = turn.start_ns - before.start_ns
        if gap_ns < 0:
            odd["they started before the turn before them, so they follow at once"] += 1
            return 0
        if self.name == "original":
            return gap_ns
        think_ns = _think_ns(before, turn)
        if think_ns is None or (before.service_ns is None and think_ns > gap_ns):
            odd["think or service time is not recorded, so they wait for the gap between the starts"] += 1
            return gap_ns
        if think_ns < 0:
            odd["they started before the turn before them had ended, so their think time is 0"] += 1
            think_ns = 0
        if self.name == "think-only":
            return think_ns
        if before.service_ns is None:
            odd["think or service time is not recorded, so they wait for the gap between the starts"] += 1
            return gap_ns
        return round(before.service_ns * self.api_time_scale) + think_ns


def _think_ns(before: RecordedRow, turn: RecordedRow) -> int | None:
    if turn.think_ns is not None:
        return turn.think_ns
    return None if before.service_ns is None else turn.start_ns - before.start_ns - before.service_ns
