"""The phases of requests, as pieces of the run's clock.

    arrival      first scheduled          first token                                 end
       |  queue  |  prefill               |  decode  | preempted |  decode             |

What is not known of a phase is merged: a client's record has one phase from arrival to first token.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import numpy as np

from analysis.run_columns import RunColumns

PhaseName = Literal["queue", "prefill", "decode", "preempted", "until first token"]
PHASES: tuple[PhaseName, ...] = ("queue", "prefill", "decode", "preempted", "until first token")


class Phase(NamedTuple):
    """One phase of one request.

    Attributes:
        row: row of `requests`.
        name: which phase.
        start_s: when it began, on the run's clock.
        end_s: when it ended, or the run did.
    """

    row: int
    name: PhaseName
    start_s: float
    end_s: float


class RequestPhases:
    """Cuts requests into phases.

    Args:
        columns: the run.
        by_client: whether a client recorded it, who cannot tell queue from prefill.
    """

    def __init__(self, columns: RunColumns, *, by_client: bool = False) -> None:
        self._by_client = by_client
        self._requests = columns.requests
        self._preemptions = columns.preemptions
        ends_s = [columns.requests.finish_s, columns.requests.arrival_s, columns.steps.end_s[-1:]]
        self.run_end_s = float(np.nanmax(np.concatenate([*ends_s, [-np.inf]])))

    def of(self, rows: Iterable[int]) -> Iterator[Phase]:
        """Yields the phases of each row, in order of time; none of a request that never arrived."""
        for row in rows:
            if self._requests.is_injected[row]:
                out_s = self._preempted(row)
                for name, start_s, end_s in self._main_phases(row):
                    yield from _cut(Phase(row, name, start_s, end_s), out_s)

    def end_s(self, row: int) -> float:
        """When a request ended, or the run did before it."""
        end_s = float(self._requests.finish_s[row])
        return self.run_end_s if np.isnan(end_s) else end_s

    def _main_phases(self, row: int) -> Iterator[tuple[PhaseName, float, float]]:
        """As if nothing had been preempted."""
        requests, end_s = self._requests, self.end_s(row)
        arrival_s = float(requests.arrival_s[row])
        scheduled_s, token_s = (float(stamps[row]) for stamps in (requests.first_scheduled_s, requests.first_token_s))
        first_s = end_s if np.isnan(token_s) else token_s
        if self._by_client:
            yield "until first token", arrival_s, first_s
        elif np.isnan(scheduled_s):
            yield "queue", arrival_s, end_s
        else:
            yield "queue", arrival_s, scheduled_s
            yield "prefill", scheduled_s, first_s
        if not np.isnan(token_s):
            yield "decode", token_s, end_s

    def _preempted(self, row: int) -> list[tuple[float, float]]:
        """When it was preempted, in order."""
        out = self._preemptions
        own, last = out.owner == row, out.last_owner == row
        starts_s = [*out.start_s[own], *out.last_start_s[last]]
        ends_s = [*out.end_s[own], *(self.end_s(row) for _ in out.last_start_s[last])]
        return sorted(zip(map(float, starts_s), map(float, ends_s), strict=True))


def _cut(phase: Phase, out_s: Iterable[tuple[float, float]]) -> Iterator[Phase]:
    """Takes the times out that lie in the phase, and yields them as phases of their own where they begin in it."""
    start_s = phase.start_s
    for out_start_s, out_end_s in out_s:
        if out_end_s <= phase.start_s or out_start_s >= phase.end_s:
            continue
        if out_start_s > start_s:
            yield phase._replace(start_s=start_s, end_s=out_start_s)
        yield phase._replace(name="preempted", start_s=max(out_start_s, start_s), end_s=min(out_end_s, phase.end_s))
        start_s = min(out_end_s, phase.end_s)
    if phase.end_s > start_s:
        yield phase._replace(start_s=start_s)
