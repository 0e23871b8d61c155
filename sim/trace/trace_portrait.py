"""A trace as `info` shows it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from traces import ReadSettings
from traces.feed import feed
from traces.statistics import CacheSize, TraceProfile, TraceProfiler
from traces.trace_facts import TraceFacts


@dataclass(frozen=True, slots=True)
class Portrait:
    """What is known of a trace.

    Attributes:
        path: of the file, as it was named.
        facts: how it was read.
        profile: its figures.
        profiler: what the figures were made of, for plots.
    """

    path: Path
    facts: TraceFacts
    profile: TraceProfile
    profiler: TraceProfiler

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        facts = asdict(self.facts)
        return {"trace": str(self.path)} | facts | asdict(self.profile)


def portray(
    path: Path, settings: ReadSettings, format: str, sizes: Sequence[CacheSize], max_model_len: int | None
) -> Portrait:
    """Go through a trace once.

    Args:
        path: of the file.
        settings: how it is read.
        format: its name, or "auto".
        sizes: of LRU caches to say the prefix reuse for.
        max_model_len: length from which on requests are counted as too long; None for none.

    Raises:
        TraceError: the file is no trace.
    """
    facts, profiler = feed(path, settings, format, lambda block_size: TraceProfiler(block_size, max_model_len))
    return Portrait(path, facts, profiler.profile(sizes, facts.dropped), profiler)
