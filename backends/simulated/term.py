"""One part of a predicted step time."""

from dataclasses import dataclass
from typing import Literal

Limit = Literal["compute", "memory", "link", "latency", "host", "device"]


@dataclass(frozen=True, slots=True)
class Term:
    """One part of a step's time; the terms of a step, added first to last, are its duration to the last bit.

    Attributes:
        name: what is done.
        count: how often in the step: kernels, collectives, or things that the host handles; 0 if it does not occur.
        flops: floating-point operations, on one GPU.
        num_bytes: bytes moved on one GPU; over the link for an all-reduce, otherwise in device memory.
        time_s: its part of the step, in seconds.
        limited_by: what sets the time: "compute", "memory" or "link" rate, a fixed "latency", or the "host";
            "device" if no more than that is known.
    """

    name: str
    count: float
    flops: float
    num_bytes: float
    time_s: float
    limited_by: Limit
