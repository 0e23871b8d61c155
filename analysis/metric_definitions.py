"""What each metric means, in a sentence, read from `metric_definitions.toml`.

Pages show these sentences, and `docs/metrics.md` has a heading for each name, so that both say the same.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class MetricDefinition:
    """One metric.

    Attributes:
        key: short name in code, such as "ttft".
        name: its name in text, and as a heading of `docs/metrics.md`.
        unit: of the values that reports show; "1" for counts and for what is no number.
        meaning: one sentence.
        source: what computes it, as module and attribute, such as "analysis.metrics.ttft_s".
        summary_keys: under which keys `summary.json` or the frame of a sweep has it; none if only figures show it. `*`
            stands for a statistic: mean, median, std, p50, p90, p95 or p99.
    """

    key: str
    name: str
    unit: str
    meaning: str
    source: str
    summary_keys: tuple[str, ...]

    @property
    def anchor(self) -> str:
        """The anchor that Markdown renderers make of a heading with the name: "Queue time" becomes "queue-time"."""
        return re.sub(r"[^\w\- ]", "", self.name.lower()).replace(" ", "-")

    def is_under(self, summary_key: str) -> bool:
        """Whether a key of `summary.json` holds this metric."""
        return any(fnmatchcase(summary_key, pattern) for pattern in self.summary_keys)


class MetricDefinitions(Mapping[str, MetricDefinition]):
    """All definitions by key, in the order of `docs/metrics.md`."""

    @cached_property
    def _by_key(self) -> dict[str, MetricDefinition]:
        text = files("analysis").joinpath("metric_definitions.toml").read_text("utf-8")
        return {
            key: MetricDefinition(
                key=key,
                name=entry["name"],
                unit=entry["unit"],
                meaning=entry["meaning"],
                source=entry["source"],
                summary_keys=tuple(entry.get("summary_keys", ())),
            )
            for key, entry in tomllib.loads(text).items()
        }

    def __getitem__(self, key: str) -> MetricDefinition:
        return self._by_key[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_key)

    def __len__(self) -> int:
        return len(self._by_key)

    def of_summary(self, summary_key: str) -> MetricDefinition | None:
        """The definition that a key of `summary.json` falls under; None if it is no metric."""
        return next((known for known in self.values() if known.is_under(summary_key)), None)
