"""What a trace is like: load, burstiness, lengths, shared prefixes, sessions."""

from traces.statistics.cache_size import CacheSize
from traces.statistics.trace_profile import TraceProfile
from traces.statistics.trace_profiler import TraceProfiler

__all__ = ["CacheSize", "TraceProfile", "TraceProfiler"]
