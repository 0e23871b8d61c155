"""What the record of a run knows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.errors import RunError

OBSERVERS = ("engine", "client")


@dataclass(frozen=True, slots=True)
class Observation:
    """Who recorded a run, and what that one could not see. Made by `of`.

    Attributes:
        by_client: whether a client recorded it from outside. Then nothing is known of queue, steps, blocks, hits and
            preemptions, and rows of `steps` are the instants at which tokens came.
        has_arrivals: whether all requests stand on one clock. If not, the times of each request count from its own
            start: its latencies are known, and nothing that sets requests in relation.
        duration_s: first arrival to last end, where arrivals do not tell; None if not known.
    """

    by_client: bool
    has_arrivals: bool
    duration_s: float | None

    @classmethod
    def of(cls, meta: Mapping[str, Any]) -> "Observation":
        """Takes what `meta.json` says.

        Raises:
            RunError: it says something that cannot be.
        """
        observer, has_arrivals = meta.get("observed_by", "engine"), meta.get("has_arrivals", True)
        duration_s = meta.get("duration_s")
        if observer not in OBSERVERS:
            raise RunError(f"meta.json: 'observed_by' is {observer!r}; it must be one of {', '.join(OBSERVERS)}.")
        if not isinstance(has_arrivals, bool) or not isinstance(duration_s, float | int | None):
            raise RunError(
                f"meta.json: 'has_arrivals' is {has_arrivals!r} and 'duration_s' is {duration_s!r}; the first must be "
                "true or false, the second seconds or null."
            )
        return cls(observer == "client", has_arrivals, duration_s)

    @property
    def text(self) -> str:
        """Sentences for a person on what is not known; empty if all is."""
        sentences = []
        if self.by_client:
            sentences.append(
                "Recorded by a client: queueing, steps, KV blocks, prefix hits and preemptions are not known."
            )
        if not self.has_arrivals:
            sentences.append("Arrival times are not known: neither is load over time.")
        return " ".join(sentences)
