"""How a request ended."""

from typing import Literal, NamedTuple

EndStatus = Literal["finished", "aborted", "failed"]


class Ended(NamedTuple):
    """The end of one request; every added request gets exactly one.

    Attributes:
        request_id: which.
        status: "finished" (all went well), "aborted" (by the caller), "failed" (by the engine or backend).
        reason: "length" or "stop" when finished, "abort" when aborted, else a sentence.
        output_ids: all its output tokens.
    """

    request_id: str
    status: EndStatus
    reason: str
    output_ids: tuple[int, ...]
