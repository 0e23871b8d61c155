"""Requests as lines of Mooncake's format: whole milliseconds, lengths, an id for each block of 512 tokens begun."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from traces.canonical_row import default_request_id
from traces.errors import TraceError
from traces.time_quantum import to_milliseconds
from traces.trace_request import TraceRequest

BLOCK_SIZE = 512


class MooncakeRows:
    """Makes lines, and refuses what they cannot carry.

    Ids are numbered anew as they are first seen, which leaves those of Mooncake's own traces as they are. A block that
    had none, since it is partial or the prompt has no ids at all, gets one that no other has: it shares as little.

    Args:
        name: of the trace, for errors.
        block_size: prompt tokens of one id.
    """

    def __init__(self, name: str, block_size: int) -> None:
        self._name = name
        self._block_size = block_size
        self._encoder = msgspec.json.Encoder()
        self._known: dict[int, int] = {}
        self._num_ids = 0
        self._num_rows = 0

    def fitted(self, request: TraceRequest) -> TraceRequest:
        """Return the next request as a reader of its line will see it.

        Raises:
            TraceError: it has something that a line cannot carry.
        """
        self._check(request)
        self._num_rows += 1
        return replace(request, hash_ids=self._hash_ids(request.hash_ids or (), request.input_length))

    def line(self, fitted: TraceRequest) -> bytes:
        """Return the line of a request that fits."""
        fields = {
            "timestamp": to_milliseconds(fitted.arrival_s or 0.0),
            "input_length": fitted.input_length,
            "output_length": fitted.output_length,
            "hash_ids": fitted.hash_ids,
        }
        return self._encoder.encode(fields) + b"\n"

    def _check(self, request: TraceRequest) -> None:
        arrival_ms = 0 if request.arrival_s is None else to_milliseconds(request.arrival_s)
        if request.session_id is not None:
            self._refuse(request, "session_id", request.session_id)
        if arrival_ms != int(arrival_ms):
            self._refuse(request, "timestamp_fraction", arrival_ms)
        if request.request_id != default_request_id(self._num_rows):
            self._refuse(request, "request_id", request.request_id)
        if request.priority:
            self._refuse(request, "priority", request.priority)
        if request.prompt is not None:
            self._refuse(request, "prompt", request.prompt[:30])
        if request.hash_ids and self._block_size != BLOCK_SIZE:
            self._refuse(request, "hash_ids", f"in blocks of {self._block_size} tokens, not {BLOCK_SIZE}")

    def _refuse(self, request: TraceRequest, field: str, value: object) -> None:
        raise TraceError(
            f"{self._name} line {request.line}: {field} ({value}) cannot be carried by Mooncake's format; write the "
            f"native one, or leave it out with --drop {field}",
            request.line,
        )

    def _hash_ids(self, hash_ids: Sequence[int], num_tokens: int) -> tuple[int, ...]:
        num_missing = -(-num_tokens // BLOCK_SIZE) - len(hash_ids)
        return (*(self._renamed(each) for each in hash_ids), *(self._new_id() for _ in range(num_missing)))

    def _renamed(self, hash_id: int) -> int:
        if hash_id not in self._known:
            self._known[hash_id] = self._new_id()
        return self._known[hash_id]

    def _new_id(self) -> int:
        self._num_ids += 1
        return self._num_ids - 1
