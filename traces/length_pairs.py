"""The lengths of a trace's requests."""

from traces.trace_request import TraceRequest


class LengthPairs:
    """Takes requests and keeps how long their prompts and outputs are.

    Attributes:
        pairs: prompt and output tokens of each request.
    """

    def __init__(self) -> None:
        self.pairs: list[tuple[int, int]] = []

    def add(self, request: TraceRequest) -> None:
        """Take the next request."""
        self.pairs.append((request.input_length, request.output_length))
