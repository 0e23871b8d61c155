"""Requests made by hand."""

from traces import Trace, TraceRequest


def single(
    number: int, arrival_s: float, input_length: int = 10, output_length: int = 5, **more: object
) -> TraceRequest:
    """A request r<number> that comes at a time."""
    return TraceRequest(
        request_id=f"r{number}",
        line=number + 1,
        input_length=input_length,
        output_length=output_length,
        arrival_s=arrival_s,
        **more,  # type: ignore[arg-type]  # a test names what it needs
    )


def later(number: int, session_id: str, delay_s: float, input_length: int = 10, output_length: int = 5) -> TraceRequest:
    """A later turn."""
    return TraceRequest(
        request_id=f"r{number}",
        line=number + 1,
        input_length=input_length,
        output_length=output_length,
        delay_s=delay_s,
        session_id=session_id,
    )


def trace_of(*requests: TraceRequest, block_size: int = 512) -> Trace:
    """A trace called t."""
    return Trace(name="t", requests=requests, block_size=block_size)
