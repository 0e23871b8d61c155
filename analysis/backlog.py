"""Requests that have arrived and not ended, over the arrival span: whether they pile up.

The span is cut into ten equal windows; the low mark of a window is the smallest number that was seen in it, so a burst
that is worked off leaves no mark:

    unfinished    5 1 0 1 | 1 7 2 1 | 3 2 2 4 | ...
    low mark            0 |       1 |       2 | ...

The number piles up if the last low mark exceeds the second by more than twice the square root of the number of arrivals
(chance alone rarely leaves that much) and at least three of the last four marks are higher than the mark before (a
backlog that once came and stays is none that grows).
"""

import numpy as np
from numpy.typing import NDArray

from analysis.metrics import Span
from analysis.step_columns import Floats, StepColumns

NUM_WINDOWS = 10
SPAN_SHARE = (NUM_WINDOWS - 2) / NUM_WINDOWS
"""From the second window to the last."""


def growth_per_min(counts: NDArray[np.int64], steps: StepColumns, span: Span, num_arrivals: int) -> float | None:
    """Growth of the low marks from the second window to the last, a minute; None if they do not pile up.

    Args:
        counts: what there was after each step.
        steps: the steps.
        span: the arrival span; it has a length.
        num_arrivals: requests that arrived in it.
    """
    marks = _low_marks(counts, steps, span)
    growth = int(marks[-1] - marks[1])
    num_rises = int((np.diff(marks[-5:]) > 0).sum())
    if num_rises < 3 or growth <= 2 * np.sqrt(num_arrivals):
        return None
    return growth / (span.length_s * SPAN_SHARE / 60)


def window_edges(span: Span) -> Floats:
    """The eleven edges of the ten windows."""
    edges: Floats = np.linspace(span.start_s, span.end_s, NUM_WINDOWS + 1)
    return edges


def _low_marks(counts: NDArray[np.int64], steps: StepColumns, span: Span) -> NDArray[np.int64]:
    """Smallest number in each window; a number holds from the end of its step to the end of the next."""
    held = np.concatenate([[0], counts])
    at = np.searchsorted(steps.end_s, window_edges(span), side="right")
    return np.array([held[at[k] : at[k + 1] + 1].min() for k in range(NUM_WINDOWS)])
