"""How far one column of times is from another that measures the same things."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.step_columns import Floats


@dataclass(frozen=True, slots=True)
class PairedError:
    """Error of times against those of a reference, pair by pair. Made by `of`. None means undefined.

    Attributes:
        size: pairs in which both are defined.
        bias_s: mean of (time - reference), in seconds.
        bias_percent: the same in percent of the mean reference.
        mean_abs_s: mean of |time - reference|, in seconds.
        mape: mean of |time - reference| / reference, in percent, over the pairs whose reference is above 0.
        correlation: Pearson's; undefined if either side is constant.
    """

    size: int
    bias_s: float | None
    bias_percent: float | None
    mean_abs_s: float | None
    mape: float | None
    correlation: float | None

    @classmethod
    def of(cls, reference_s: Floats, times_s: Floats) -> "PairedError":
        """Compares two columns of equal length; NaN means undefined."""
        is_pair = np.isfinite(reference_s) & np.isfinite(times_s)
        reference_s, times_s = reference_s[is_pair], times_s[is_pair]
        error_s = times_s - reference_s
        is_positive = reference_s > 0
        bias_s, mean_s = _mean(error_s), _mean(reference_s)
        return cls(
            size=len(error_s),
            bias_s=bias_s,
            bias_percent=100 * bias_s / mean_s if bias_s is not None and mean_s else None,
            mean_abs_s=_mean(np.abs(error_s)),
            mape=_mean(100 * np.abs(error_s[is_positive]) / reference_s[is_positive]),
            correlation=_correlation(reference_s, times_s),
        )

    def as_dict(self) -> dict[str, Any]:
        """Returns its values for JSON, times in milliseconds."""
        return {
            "size": self.size,
            "bias_ms": _ms(self.bias_s),
            "bias_percent": self.bias_percent,
            "mean_abs_ms": _ms(self.mean_abs_s),
            "mape": self.mape,
            "correlation": self.correlation,
        }


def largest(errors: Sequence[PairedError]) -> PairedError | None:
    """Returns the one with the largest mean absolute error; None if none has any."""
    defined = [error for error in errors if error.mean_abs_s is not None]
    return max(defined, key=lambda error: error.mean_abs_s or 0.0) if defined else None


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None


def _correlation(x: Floats, y: Floats) -> float | None:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _ms(value_s: float | None) -> float | None:
    return None if value_s is None else 1000 * value_s
