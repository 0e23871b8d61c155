"""Prompts and outputs made longer or shorter."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from traces.errors import TraceError
from traces.hash_id_count import HashIdCount
from traces.trace import Trace
from traces.trace_request import TraceRequest

MAX_TOKENS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class LengthScale:
    """Factors on lengths; a length is rounded and stays at least 1.

        prompt             |id 0|id 1|id 2|.|
        input 0.5          |id 0|id 1|
        input 1.5          |id 0|id 1|id 2|id 3|new |new|

    Attributes:
        input_scale: on prompts. A prompt that is cut keeps the ids of what is left; what a longer one has more is
            shared with no other.
        output_scale: on outputs.

    Raises:
        TraceError: a factor is not a number above 0.
    """

    input_scale: float = 1.0
    output_scale: float = 1.0

    def __post_init__(self) -> None:
        for name, scale in (("input", self.input_scale), ("output", self.output_scale)):
            if not (math.isfinite(scale) and scale > 0):
                raise TraceError(f"the {name} scale is {scale}, but it must be a number above 0")

    def apply(self, trace: Trace) -> Trace:
        """Return the trace with its lengths scaled; its times stay.

        Raises:
            TraceError: a length becomes longer than any can be.
        """
        if self.input_scale == self.output_scale == 1:
            return trace
        ids = NewIds(trace)
        requests = tuple(self._scaled(request, trace, ids) for request in trace.requests)
        new = f"; {ids.num_new} new blocks are shared with no other prompt" if ids.num_new else ""
        notice = f"Lengths scaled: prompts by {self.input_scale:g}, outputs by {self.output_scale:g}{new}."
        return replace(trace, requests=requests, notices=(*trace.notices, notice))

    def _scaled(self, request: TraceRequest, trace: Trace, ids: "NewIds") -> TraceRequest:
        num_input = _scaled_length(request.input_length, self.input_scale, request, trace)
        num_output = _scaled_length(request.output_length, self.output_scale, request, trace)
        hash_ids = None if request.hash_ids is None else ids.fitting(request.hash_ids, num_input)
        return replace(request, input_length=num_input, output_length=num_output, hash_ids=hash_ids)


class NewIds:
    """Cuts or lengthens the ids of prompts.

    Args:
        trace: whose ids they are.

    Attributes:
        num_new: ids that were made.
    """

    def __init__(self, trace: Trace) -> None:
        self.num_new = 0
        self._block_size = trace.block_size
        self._rule: HashIdCount | None = trace.hash_id_count
        self._next = 1 + max((max(request.hash_ids) for request in trace.requests if request.hash_ids), default=0)
        self._name = trace.name

    def fitting(self, hash_ids: Sequence[int], num_tokens: int) -> tuple[int, ...]:
        """Return as many ids as a prompt of this length has."""
        num_full, rest = divmod(num_tokens, self._block_size)
        num = num_full + (rest > 0 and self._rule == "ceil")
        return (*hash_ids[:num], *(self._new() for _ in range(num - len(hash_ids))))

    def _new(self) -> int:
        if self._next >= 2**64:
            raise TraceError(f"{self._name} has no hash ids left that could be new; convert it with smaller ones first")
        self.num_new += 1
        self._next += 1
        return self._next - 1


def _scaled_length(length: int, scale: float, request: TraceRequest, trace: Trace) -> int:
    scaled = max(1, round(length * scale))
    if scaled > MAX_TOKENS:
        raise TraceError(
            f"{trace.name} line {request.line}: {length} tokens times {scale:g} are more than {MAX_TOKENS}",
            request.line,
        )
    return scaled
