"""What a backend returns for one batch."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class StepResult:
    """Tokens and times of one executed batch.

    Attributes:
        token_ids: one for each sampling row, in batch order; that of a failed row is ignored.
        duration_s: time from one step to the next that a backend predicts, host included, in seconds.
        device_s: time that the device was busy, in seconds; at most `duration_s`.
        graph_size: tokens of the captured graph that ran (the batch padded up), or None if it ran eager.
        failed: sentence for each row that failed; the other rows are good.
    """

    token_ids: tuple[int, ...]
    duration_s: float
    device_s: float
    graph_size: int | None = None
    failed: Mapping[str, str] = field(default_factory=dict)
