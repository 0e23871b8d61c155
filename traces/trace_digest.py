"""The identity of a trace's content."""

from hashlib import blake2b

import msgspec

from traces.canonical_row import canonical_row
from traces.trace_request import TraceRequest


class TraceDigest:
    """Takes the requests of a trace in their order; the same for the same requests from any file.

    Args:
        block_size: of the trace.

    Attributes:
        block_size: likewise.
        num_requests: requests so far.
    """

    def __init__(self, block_size: int) -> None:
        self.block_size = block_size
        self._digest = blake2b(b"block_size %d\n" % block_size, digest_size=16)
        self._encoder = msgspec.json.Encoder()
        self.num_requests = 0

    def add(self, request: TraceRequest) -> bytes:
        """Take the next request; return its row in the native format, with a line end."""
        row = canonical_row(self.num_requests, request, self._encoder)
        self._digest.update(row)
        self.num_requests += 1
        return row

    def hexdigest(self) -> str:
        """Return 32 hex digits."""
        return self._digest.hexdigest()
