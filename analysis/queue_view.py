"""Who ran and who waited when a request arrived."""

from collections.abc import Sequence

import numpy as np

from analysis.run_columns import RunColumns
from analysis.step_columns import Bools, Ints


class QueueView:
    """Looks at the requests of a run at the instant at which one of them arrived.

    Args:
        columns: the run.
    """

    def __init__(self, columns: RunColumns) -> None:
        self._requests = columns.requests
        self._steps = columns.steps
        self._preemptions = columns.preemptions

    def running_at_arrival(self, row: int) -> Ints:
        """Rows of requests that ran."""
        return np.flatnonzero(self._is_present(row) & ~self._is_waiting(row))

    def waiting_at_arrival(self, row: int) -> Ints:
        """Rows of requests that waited, preempted ones included; of equal arrival, those ahead in the trace."""
        return np.flatnonzero(self._is_present(row) & self._is_waiting(row))

    def waited_s(self, row: int) -> float:
        """How long a request waited for its first step, or for its end if it had none, in seconds."""
        return self._wait_end_s(row) - float(self._requests.arrival_s[row])

    def steps_waited(self, row: int) -> tuple[int, int]:
        """Positions of the first step that could have run it and of the first that did; equal if it was the first."""
        bounds = [self._requests.arrival_s[row], self._wait_end_s(row)]
        first, last = np.searchsorted(self._steps.start_s, bounds, side="left")
        return int(first), int(last)

    def names(self, rows: Ints) -> list[str]:
        """Names of requests."""
        return [self._requests.request_id[int(row)].as_py() for row in rows]

    def _wait_end_s(self, row: int) -> float:
        requests = self._requests
        for time_s in (requests.first_scheduled_s[row], requests.finish_s[row]):
            if not np.isnan(time_s):
                return float(time_s)
        return float(max(self._steps.end_s[-1:].max(initial=-np.inf), requests.arrival_s[row]))

    def _is_present(self, row: int) -> Bools:
        requests, now_s = self._requests, self._requests.arrival_s[row]
        is_ahead = np.arange(len(requests)) < row
        has_come = (requests.arrival_s < now_s) | ((requests.arrival_s == now_s) & is_ahead)
        has_gone = requests.finish_s <= now_s
        is_present: Bools = has_come & ~has_gone
        return is_present

    def _is_waiting(self, row: int) -> Bools:
        now_s = self._requests.arrival_s[row]
        # Arrivals join the queue before the step that starts at the same instant is scheduled.
        is_waiting: Bools = ~(self._requests.first_scheduled_s < now_s)
        is_out = (self._preemptions.start_s < now_s) & (now_s <= self._preemptions.end_s)
        is_waiting[self._preemptions.owner[is_out]] = True
        return is_waiting


def names(values: Sequence[str], limit: int = 5) -> str:
    """Lists names for a person: all of them, or the first few and how many more."""
    shown = ", ".join(values[:limit])
    return shown if len(values) <= limit else f"{shown} and {len(values) - limit} more"
