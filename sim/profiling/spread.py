"""How much equal steps of a profile differ in time."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_CASE = ("load", "graph_size", "num_decode_seqs", "num_prefill_seqs", "num_prefill_tokens")


class Spread(NamedTuple):
    """Times of the steps of one case, warm-up left out, in seconds.

    Attributes:
        load: number of the load.
        graph_size: rows of the graph; 0 = eager.
        num_decode_seqs: decode rows.
        num_prefill_seqs: prefill rows.
        num_prefill_tokens: query tokens of prefill rows.
        num_repeats: steps.
        duration_mean_s: of the whole step, this and the next three.
        duration_median_s: in seconds.
        duration_p10_s: in seconds.
        duration_p90_s: in seconds.
        device_mean_s: of the device's part, this and the next three.
        device_median_s: in seconds.
        device_p10_s: in seconds.
        device_p90_s: in seconds.
    """

    load: int
    graph_size: int
    num_decode_seqs: int
    num_prefill_seqs: int
    num_prefill_tokens: int
    num_repeats: int
    duration_mean_s: float
    duration_median_s: float
    duration_p10_s: float
    duration_p90_s: float
    device_mean_s: float
    device_median_s: float
    device_p10_s: float
    device_p90_s: float

    @property
    def relative(self) -> float:
        """Width from the 10th to the 90th percentile of the durations, as a share of their median."""
        return (self.duration_p90_s - self.duration_p10_s) / self.duration_median_s


def spreads(columns: Mapping[str, NDArray[np.float64]]) -> list[Spread]:
    """One entry for each set of steps of one load that are alike but for contexts; sets of one step are left out."""
    measured = columns["is_warm_up"] == 0
    cases = np.nan_to_num(np.stack([columns[name][measured] for name in _CASE], axis=1)).astype(np.int64)
    durations_s, devices_s = columns["duration_s"][measured], columns["device_s"][measured]
    unique, of_step, counts = np.unique(cases, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(of_step.reshape(-1), kind="stable")
    members = np.split(order, np.cumsum(counts)[:-1])
    return [
        Spread._make([*case.tolist(), len(rows), *_statistics(durations_s[rows]), *_statistics(devices_s[rows])])
        for case, rows in zip(unique, members, strict=True)
        if len(rows) > 1
    ]


def _statistics(times_s: NDArray[np.float64]) -> tuple[float, float, float, float]:
    p10, median, p90 = np.percentile(times_s, (10, 50, 90))
    return float(times_s.mean()), float(median), float(p10), float(p90)
