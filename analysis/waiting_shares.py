"""For how much of the time requests waited, and for what."""

import numpy as np
from numpy.typing import NDArray

from analysis.admission import Hold
from analysis.metrics import Span
from analysis.step_columns import StepColumns


def waiting_shares(steps: StepColumns, holds: NDArray[np.int8], span: Span | None) -> dict[str, float]:
    """Returns, by lower-case name of `Hold`, the share of the time in which it held requests back.

    Args:
        steps: the steps of a run.
        holds: the `Hold` of each.
        span: the time; None means all time with a step under way.
    """
    inside_s = steps.duration_s
    total_s = float(inside_s.sum())
    if span is not None:
        inside_s = np.maximum(np.minimum(steps.end_s, span.end_s) - np.maximum(steps.start_s, span.start_s), 0.0)
        total_s = span.length_s
    held_s = {hold: float(inside_s[holds == hold].sum()) for hold in Hold if hold}
    return {hold.name.lower(): value / total_s if total_s else 0.0 for hold, value in held_s.items()}
