"""What a trace is like, in figures."""

from collections.abc import Mapping
from dataclasses import dataclass

from traces.statistics.arrival_counts import ArrivalSummary
from traces.statistics.length_counts import LengthSummary
from traces.statistics.prefix_reuse import ReuseSummary
from traces.statistics.session_counts import SessionSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceProfile:
    """All figures of a trace.

    Attributes:
        num_requests: requests, later turns of sessions included.
        arrivals: those that the trace gives.
        inputs: lengths of prompts.
        outputs: lengths of outputs.
        reuse: shared prefixes; None where no prompt has ids.
        sessions: sessions and open and closed loop.
        num_over_length: requests whose prompt and output are longer together than asked for; None if not asked.
        dropped: rows of the file that cannot be replayed, by reason.
        warnings: what a user should know before trusting a replay of the trace, one sentence each.
    """

    num_requests: int
    arrivals: ArrivalSummary
    inputs: LengthSummary
    outputs: LengthSummary
    reuse: ReuseSummary | None
    sessions: SessionSummary
    num_over_length: int | None
    dropped: Mapping[str, int]
    warnings: tuple[str, ...]
