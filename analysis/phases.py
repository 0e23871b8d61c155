"""What each request of a run was in, from when to when: queue, prefill, decode, preempted."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from analysis.run_columns import RunColumns
from analysis.step_columns import Bools, Floats, Ints

Cuts = tuple[Ints, Ints, Floats]
"""Row of a request, the phase that begins, and when."""


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
        owners, phases, starts_s = zip(*_stamp_cuts(columns), *_preemption_cuts(columns), strict=True)
        return cls._between(np.concatenate(owners), np.concatenate(phases), np.concatenate(starts_s), ends_s(columns))

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


def _stamp_cuts(columns: RunColumns) -> Iterator[Cuts]:
    requests = columns.requests
    for phase, start_s in (
        (Phase.QUEUE, requests.arrival_s),
        (Phase.PREFILL, requests.first_scheduled_s),
        (Phase.DECODE, requests.first_token_s),
    ):
        owner = np.flatnonzero(~np.isnan(start_s) & requests.is_injected)
        yield owner, _all(phase, owner), start_s[owner]


def _preemption_cuts(columns: RunColumns) -> Iterator[Cuts]:
    """Cuts into "preempted", and back to what was interrupted."""
    each, first_token_s = columns.preemptions, columns.requests.first_token_s
    is_long: Bools = each.end_s > each.start_s
    owner: Ints = each.owner[is_long]
    start_s: Floats = each.start_s[is_long]
    end_s: Floats = each.end_s[is_long]
    # As in the split of latencies: what is preempted before the first token goes on with its prefill.
    goes_on: Ints = np.where(start_s >= first_token_s[owner], int(Phase.DECODE), int(Phase.PREFILL))
    yield owner, _all(Phase.PREEMPTED, owner), start_s
    yield owner, goes_on, end_s
    yield each.last_owner, _all(Phase.PREEMPTED, each.last_owner), each.last_start_s


def _all(phase: Phase, like: Ints) -> Ints:
    return np.full(len(like), int(phase), np.int64)
