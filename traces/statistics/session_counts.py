"""Sessions of a trace, and how much of its load is open and how much closed loop."""

from dataclasses import dataclass

from traces.statistics.length_counts import LengthCounts
from traces.trace_request import TraceRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """Sessions and their turns.

    Attributes:
        num: sessions of one turn or more; requests without a session do not count.
        num_single: requests without a session.
        num_later_turns: turns that come after the turn before has ended.
        mean_turns: turns of a session; None without sessions, as the next four.
        p50_turns: median.
        max_turns: most.
        mean_delay_s: mean time between the end of a turn and the next; None without later turns, as the next.
        max_delay_s: longest.
        open_request_share: share of requests that come at a time of the trace (open loop), whatever else happens.
        closed_request_share: share of those that wait for a turn before (closed loop).
        open_token_share: likewise of prompt and output tokens.
        closed_token_share: likewise.
    """

    num: int
    num_single: int
    num_later_turns: int
    mean_turns: float | None
    p50_turns: float | None
    max_turns: int | None
    mean_delay_s: float | None
    max_delay_s: float | None
    open_request_share: float
    closed_request_share: float
    open_token_share: float
    closed_token_share: float


class SessionCounts:
    """Takes the requests of a trace in its order, in which the turns of a session stand together."""

    def __init__(self) -> None:
        self._turns = LengthCounts()
        self._num_turns = 0  # of the session that may go on
        self._num_sessions = self._num_single = self._num_later = 0
        self._open_tokens = self._closed_tokens = 0
        self._sum_of_delays_s = self._longest_delay_s = 0.0

    def add(self, request: TraceRequest) -> None:
        """Take the next request."""
        num_tokens = request.input_length + request.output_length
        if request.delay_s is not None:
            self._num_turns += 1
            self._num_later += 1
            self._closed_tokens += num_tokens
            self._sum_of_delays_s += request.delay_s
            self._longest_delay_s = max(self._longest_delay_s, request.delay_s)
            return
        self._end_session()
        self._open_tokens += num_tokens
        if request.session_id is None:
            self._num_single += 1
        else:
            self._num_sessions += 1
            self._num_turns = 1

    def _end_session(self) -> None:
        if self._num_turns:
            self._turns.add(self._num_turns)
            self._num_turns = 0

    def summary(self) -> SessionSummary:
        """Return the figures of all requests, of which there is at least one; nothing may be added afterwards."""
        self._end_session()
        turns = self._turns.summary() if self._num_sessions else None
        num_requests = self._num_single + self._num_sessions + self._num_later
        num_tokens = self._open_tokens + self._closed_tokens
        return SessionSummary(
            num=self._num_sessions,
            num_single=self._num_single,
            num_later_turns=self._num_later,
            mean_turns=None if turns is None else turns.mean,
            p50_turns=None if turns is None else turns.p50,
            max_turns=None if turns is None else turns.max,
            mean_delay_s=self._sum_of_delays_s / self._num_later if self._num_later else None,
            max_delay_s=self._longest_delay_s if self._num_later else None,
            open_request_share=(num_requests - self._num_later) / num_requests,
            closed_request_share=self._num_later / num_requests,
            open_token_share=self._open_tokens / num_tokens,
            closed_token_share=self._closed_tokens / num_tokens,
        )
