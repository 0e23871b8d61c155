"""What a format's reader hands back."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from traces.trace_request import TraceRequest


@dataclass(frozen=True, slots=True)
class ParsedRows:
    """The requests of a file as one format understands them.

    Attributes:
        requests: in any order that keeps the turns of a session in theirs.
        notices: what the format decided, one sentence each; the first says how the file was read, and its time unit.
        block_size: prompt tokens that one of hash_ids stands for, where format or file say; None leaves the default.
        num_usable: requests that the whole file has, if only those of the window were kept; None if all are here.
        dropped: rows of the whole file that cannot be replayed, by reason.
    """

    requests: tuple[TraceRequest, ...]
    notices: tuple[str, ...]
    block_size: int | None = None
    num_usable: int | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)


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


def sorted_notice(num_late: int, first_line: int | None) -> tuple[str, ...]:
    """Return one sentence about rows that were moved, or nothing if none were.

    Args:
        num_late: rows that stood behind a later arrival.
        first_line: line of the first of them.
    """
    if not num_late:
        return ()
    return (f"Rows were sorted by arrival: {num_late} rows stood behind a later arrival (first in line {first_line}).",)
