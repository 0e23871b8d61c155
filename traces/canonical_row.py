"""A request as one line of the native format, always in the same bytes."""

from collections.abc import Iterable, Iterator

import msgspec

from traces.time_quantum import to_milliseconds
from traces.trace_request import TraceRequest


def default_request_id(index: int) -> str:
    """Return the id of a row that has none; `index` is its position among the data rows, from 0."""
    return f"r{index}"


def canonical_rows(requests: Iterable[TraceRequest]) -> Iterator[bytes]:
    """Yield each request as JSON with a line end; what a reader would fill in by itself is left out."""
    encoder = msgspec.json.Encoder()
    for index, request in enumerate(requests):
        yield canonical_row(index, request, encoder)


def canonical_row(index: int, request: TraceRequest, encoder: msgspec.json.Encoder) -> bytes:
    """Return the request at position `index` as JSON with a line end."""
    return encoder.encode(_fields(index, request)) + b"\n"


def _fields(index: int, request: TraceRequest) -> dict[str, object]:
    fields: dict[str, object | None] = {
        "timestamp": None if request.arrival_s is None else to_milliseconds(request.arrival_s),
        "delay": None if request.delay_s is None else to_milliseconds(request.delay_s),
        "input_length": request.input_length,
        "output_length": request.output_length,
        "hash_ids": request.hash_ids,
        "request_id": None if request.request_id == default_request_id(index) else request.request_id,
        "session_id": request.session_id,
        "priority": request.priority or None,
        "prompt": request.prompt,
    }
    return {name: value for name, value in fields.items() if value is not None}
