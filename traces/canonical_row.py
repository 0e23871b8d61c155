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
    times = ("timestamp", request.arrival_s), ("delay", request.delay_s)
    fields: dict[str, object] = {name: to_milliseconds(time_s) for name, time_s in times if time_s is not None}
    fields["input_length"] = request.input_length
    fields["output_length"] = request.output_length
    if request.hash_ids is not None:
        fields["hash_ids"] = request.hash_ids
    if request.request_id != default_request_id(index):
        fields["request_id"] = request.request_id
    if request.session_id is not None:
        fields["session_id"] = request.session_id
    if request.priority:
        fields["priority"] = request.priority
    if request.prompt is not None:
        fields["prompt"] = request.prompt
    return fields
