"""What each request of a run was in, from when to when: queue, prefill, decode, preempted."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from analysis.run_columns import RunColumns
from analysis.step_columns import Bools, Floats, Ints


class Phase(IntEnum):
    """What a request is in; of cuts at one instant the larger one counts."""

    QUEUE = 0
    PREFILL = 1
    DECODE = 2
    PREEMPTED = 3


@dataclass(frozen=True, slots=True, eq=False)
class Phases:
    """Pieces of the time of requests, by request and in order of time. Made by `of`.

    The pieces of a request follow each other without a gap, from its arrival to its end, or to the end of the run if
    it had not ended. Those of a finished request sum up to `metrics.latency_split`, phase by phase:

        cuts     arrival   scheduled   preempted   resumed   first token              last token
        pieces      |  queue   |  prefill  | preempted |  prefill  |       decode         |

    Attributes:
        owner: row of `requests`; ascending.
        phase: a value of `Phase`.
        start_s: when it began.
        end_s: when it ended; later than `start_s`.
    """

    owner: Ints
    phase: Ints
    start_s: Floats
    end_s: Floats

    def __len__(self) -> int:
        return len(self.owner)

    @classmethod
    def of(cls, columns: RunColumns) -> "Phases":
        """Cuts the time of every request that arrived; pieces of no length are left out."""
        requests = columns.requests
        everyone = np.arange(len(requests))
        owners, phases, times = [], [], []
        for phase, time_s in (
            (Phase.QUEUE, requests.arrival_s),
            (Phase.PREFILL, requests.first_scheduled_s),
            (Phase.DECODE, requests.first_token_s),
        ):
            is_known = ~np.isnan(time_s) & requests.is_injected
            owners.append(everyone[is_known])
            phases.append(np.full(int(is_known.sum()), phase, np.int64))
            times.append(time_s[is_known])
        for owner, phase_after, time_s in _preemption_cuts(columns):
            owners.append(owner)
            phases.append(phase_after)
            times.append(time_s)
        return cls._between(np.concatenate(owners), np.concatenate(phases), np.concatenate(times), ends_s(columns))

    @classmethod
    def _between(cls, owner: Ints, phase: Ints, start_s: Floats, end_s: Floats) -> "Phases":
        """Makes pieces of cuts: each lasts until the next of its request, or until the request's end."""
        order = np.lexsort((phase, start_s, owner))
        owner, phase, start_s = owner[order], phase[order], start_s[order]
        until_s = end_s[owner]
        is_followed = np.flatnonzero(owner[1:] == owner[:-1])
        until_s[is_followed] = np.minimum(until_s[is_followed], start_s[is_followed + 1])
        is_long = until_s > start_s
        return cls(owner[is_long], phase[is_long], start_s[is_long], until_s[is_long])


def ends_s(columns: RunColumns) -> Floats:
    """Returns when each request ended in seconds: its last token, or how else it did; else the end of the run."""
    requests = columns.requests
    run_end_s = columns.steps.end_s[-1:].max(initial=-np.inf)
    end_s = np.where(requests.is_finished, requests.last_token_s, requests.finish_s)
    return np.where(np.isnan(end_s), np.fmax(requests.arrival_s, run_end_s), end_s)


def _preemption_cuts(columns: RunColumns) -> list[tuple[Ints, Ints, Floats]]:
    """Cuts into "preempted", and back to what was interrupted."""
    preemptions, first_token_s = columns.preemptions, columns.requests.first_token_s
    is_long: Bools = preemptions.end_s > preemptions.start_s
    owner, start_s, end_s = (values[is_long] for values in (preemptions.owner, preemptions.start_s, preemptions.end_s))
    # As in the split of latencies: what is preempted before the first token goes on with its prefill.
    goes_on = np.where(start_s >= first_token_s[owner], Phase.DECODE, Phase.PREFILL)
    is_out = np.full(len(owner), Phase.PREEMPTED, np.int64)
    is_left_out = np.full(len(preemptions.open_owner), Phase.PREEMPTED, np.int64)
    return [
        (owner, is_out, start_s),
        (owner, goes_on, end_s),
        (preemptions.open_owner, is_left_out, preemptions.open_start_s),
    ]
