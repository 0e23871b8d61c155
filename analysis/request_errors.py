"""Errors of latencies, request by request."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from analysis.arrow_values import to_numpy
from analysis.paired_error import PairedError, largest
from analysis.run_columns import RunColumns
from analysis.step_columns import Ints

LATENCIES = ("ttft", "tpot", "e2e", "queue")


@dataclass(frozen=True, slots=True)
class RequestError:
    """Error of one latency. Made by `request_errors`.

    Attributes:
        latency: one of `analysis.metrics.LATENCIES`.
        error: of the second run against the first.
        spread: the same of the repetition of the first run that is farthest from it; None if there is none.
    """

    latency: str
    error: PairedError
    spread: PairedError | None

    def as_dict(self) -> dict[str, Any]:
        """Returns all values for JSON."""
        return {
            "latency": self.latency,
            "error": self.error.as_dict(),
            "spread": self.spread.as_dict() if self.spread else None,
        }


def request_errors(a: RunColumns, b: RunColumns, repetitions: Sequence[RunColumns] = ()) -> Iterator[RequestError]:
    """Compares latencies of the requests that finished in both runs, matched by request_id.

    Args:
        a: the reference.
        b: the run to judge.
        repetitions: further runs of the first.
    """
    error, others = _Pairs(a, b), [_Pairs(a, other) for other in repetitions]
    for latency in LATENCIES:
        yield RequestError(latency, error.of(latency), largest([other.of(latency) for other in others]))


class _Pairs:
    """The requests that finished in both of two runs."""

    def __init__(self, a: RunColumns, b: RunColumns) -> None:
        self._rows_a, self._rows_b = _matched(a, b)
        self._latencies_a, self._latencies_b = a.latencies(), b.latencies()

    def of(self, latency: str) -> PairedError:
        return PairedError.of(self._latencies_a[latency][self._rows_a], self._latencies_b[latency][self._rows_b])


def _matched(a: RunColumns, b: RunColumns) -> tuple[Ints, Ints]:
    row_b = pc.index_in(a.requests.request_id, b.requests.request_id)
    rows_a = np.flatnonzero(to_numpy(row_b.is_valid()))
    rows_b = to_numpy(row_b.drop_null()).astype(np.int64)
    is_finished = a.requests.is_finished[rows_a] & b.requests.is_finished[rows_b]
    return rows_a[is_finished], rows_b[is_finished]
