"""Gathers the figures of a trace in one pass."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from traces.statistics.arrival_counts import ArrivalCounts
from traces.statistics.cache_size import CacheSize
from traces.statistics.length_counts import LengthCounts
from traces.statistics.prefix_reuse import PrefixReuse
from traces.statistics.session_counts import SessionCounts
from traces.statistics.trace_profile import TraceProfile
from traces.statistics.trace_warnings import trace_warnings
from traces.time_order import TimeOrder
from traces.trace_request import TraceRequest


class TraceProfiler:
    """Takes the requests of a trace in its order.

    Args:
        block_size: prompt tokens of one id of the trace.
        max_model_len: length from which on requests are counted as too long, prompt and output together; None counts
            none.

    Attributes:
        arrivals: counts of arrivals, for plots; likewise the others.
        inputs: lengths of prompts.
        outputs: lengths of outputs.
        reuse: shared prefixes.
    """

    def __init__(self, block_size: int, max_model_len: int | None = None) -> None:
        self.arrivals = ArrivalCounts()
        self.inputs = LengthCounts()
        self.outputs = LengthCounts()
        self.reuse = PrefixReuse(block_size)
        self._sessions = SessionCounts()
        self._order = TimeOrder(lambda request, _: self.reuse.add(request))
        self._max_model_len = max_model_len
        self._num_over_length = 0
        self._num_requests = 0

    def add(self, request: TraceRequest) -> None:
        """Take the next request."""
        self._num_requests += 1
        if request.arrival_s is not None:
            self.arrivals.add(request.arrival_s)
        self.inputs.add(request.input_length)
        self.outputs.add(request.output_length)
        self._sessions.add(request)
        self._order.add(request)
        if self._max_model_len is not None:
            self._num_over_length += request.input_length + request.output_length > self._max_model_len

    def profile(self, sizes: Sequence[CacheSize], dropped: Mapping[str, int]) -> TraceProfile:
        """Return all figures; nothing may be added afterwards.

        Args:
            sizes: of LRU caches to say the prefix reuse for.
            dropped: rows of the file that cannot be replayed, by reason.
        """
        self._order.finish()
        profile = TraceProfile(
            num_requests=self._num_requests,
            arrivals=self.arrivals.summary(),
            inputs=self.inputs.summary(),
            outputs=self.outputs.summary(),
            reuse=self.reuse.summary(sizes),
            sessions=self._sessions.summary(),
            num_over_length=None if self._max_model_len is None else self._num_over_length,
            dropped=dropped,
            warnings=(),
        )
        return replace(profile, warnings=trace_warnings(profile, self._max_model_len))
