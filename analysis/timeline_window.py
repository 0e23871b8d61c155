"""Which part of runs a timeline shows."""

import re
from dataclasses import dataclass

import numpy as np

from analysis.errors import RunError
from analysis.step_columns import Bools, Floats, Ints


@dataclass(frozen=True, slots=True)
class TimelineWindow:
    """What is shown, whole: nothing is cut at the edges.

    Attributes:
        start_s: what ended before this instant of the run's clock is left out; None for no such limit.
        end_s: what began after it is left out.
        first_request: position in the trace of the first request that is shown.
        last_request: position of the last one; None means the last of the trace.
    """

    start_s: float | None = None
    end_s: float | None = None
    first_request: int = 0
    last_request: int | None = None

    @classmethod
    def of(cls, requests: str | None, start_s: float | None, end_s: float | None) -> "TimelineWindow":
        """Takes options of the command line.

        Args:
            requests: positions of the first and last request, such as "0-99", or of a single one; None for all.
            start_s: see the class.
            end_s: see the class.

        Raises:
            RunError: a range is none, or ends before it begins.
        """
        if start_s is not None and end_s is not None and end_s < start_s:
            raise RunError(f"The window ends at {end_s:g} s, before it starts at {start_s:g} s; swap them.")
        if requests is None:
            return cls(start_s, end_s)
        match = re.fullmatch(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", requests)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if last < first:
            raise RunError(f"--requests is {requests!r}; give positions in the trace, first and last, such as 0-99.")
        return cls(start_s, end_s, first, last)

    def overlaps(self, start_s: Floats, end_s: Floats) -> Bools:
        """Whether spans of time lie in the window, if only in part; one with NaN does not."""
        low, high = (-np.inf if self.start_s is None else self.start_s), (np.inf if self.end_s is None else self.end_s)
        is_inside: Bools = (end_s >= low) & (start_s <= high)
        return is_inside

    def holds_requests(self, index: Ints) -> Bools:
        """Whether each request is one of those that are shown, by its position in the trace."""
        is_inside: Bools = index >= self.first_request
        return is_inside if self.last_request is None else is_inside & (index <= self.last_request)
