"""What is known of a trace beside its requests."""

from collections.abc import Mapping
from dataclasses import dataclass

from traces.hash_id_count import HashIdCount


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFacts:
    """How a file was read.

    Attributes:
        name: of the file.
        format: as settings name it.
        block_size: prompt tokens that one of hash_ids stands for.
        hash_id_count: how they are counted; None where there are none.
        notices: what was decided, sorted, dropped or cut, one sentence each; the first says format and time unit.
        dropped: rows that cannot be replayed, by reason.
        is_streamed: whether requests were taken one by one, so that the memory does not grow with the file.
    """

    name: str
    format: str
    block_size: int
    hash_id_count: HashIdCount | None
    notices: tuple[str, ...]
    dropped: Mapping[str, int]
    is_streamed: bool
