"""What a format's reader hands back."""

from collections import Counter
from dataclasses import dataclass

from traces.trace_request import TraceRequest


@dataclass(frozen=True, slots=True)
class ParsedRows:
    """The requests of a file as one format understands them.

    Attributes:
        requests: in the order of the file.
        notices: what the format decided, one sentence each.
    """

    requests: tuple[TraceRequest, ...]
    notices: tuple[str, ...]


def dropped_notice(num_kept: int, dropped: Counter[str]) -> tuple[str, ...]:
    """Return one sentence that accounts for every row read, or nothing if all were kept.

    Args:
        num_kept: rows that became requests.
        dropped: rows that did not, by reason.
    """
    if not dropped:
        return ()
    reasons = ", ".join(f"{num_rows} because {reason}" for reason, num_rows in dropped.items())
    return (f"{num_kept + dropped.total()} rows read: {num_kept} kept, {dropped.total()} dropped ({reasons}).",)
