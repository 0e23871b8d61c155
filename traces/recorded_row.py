"""A usable row of a recorded trace, before it becomes a request."""

from typing import NamedTuple


class RecordedRow(NamedTuple):
    """What one call to a server was, as its recording says; times are whole nanoseconds on the recording's clock.

    Attributes:
        position: place among all calls of the file, from 0; gives the request its id.
        line: what ties are ordered by: the line in the file, or where a line holds several calls, position + 1.
        start_ns: when the call was made.
        input_length: prompt tokens, at least 1.
        output_length: tokens of the answer, at least 1.
        session_id: conversation that the call belongs to, or None.
        service_ns: how long the recorded answer took, or None where that is unknown.
        think_ns: recorded pause between the end of the call before and this one, or None where no such thing is stated.
        hash_ids: content ids of the prompt, or None.
        prompt: its text, or None.
        request_id: that of the file; None makes one of the position.
        priority: whole number by which it is scheduled.
    """

    position: int
    line: int
    start_ns: int
    input_length: int
    output_length: int
    session_id: str | None = None
    service_ns: int | None = None
    think_ns: int | None = None
    hash_ids: tuple[int, ...] | None = None
    prompt: str | None = None
    request_id: str | None = None
    priority: int = 0
