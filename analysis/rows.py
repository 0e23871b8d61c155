"""One row of each table of a run directory. `analysis/schema.py` says what the columns mean; the order is the same."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

EventKind = Literal["admitted", "resumed", "chunk", "blocks", "preempted", "finished", "aborted", "failed"]
RequestStatus = Literal["finished", "failed", "aborted", "refused", "unfinished"]


class StepRow(NamedTuple):
    """One row of `steps`."""

    step: int
    start_s: float
    duration_s: float
    host_s: float
    device_s: float
    graph_size: int | None
    num_prefill_tokens: int
    num_prefill_seqs: int
    prefill_qk: int
    prefill_qq: int
    prefill_context: int
    max_query: int
    max_context: int
    num_decode_seqs: int
    decode_context: int
    decode_context_sq: int
    max_decode_context: int
    shared_context: int
    num_sampled: int
    num_new_blocks: int
    num_admitted: int
    num_released: int
    num_waiting: int
    num_running: int
    num_used_blocks: int


class EventRow(NamedTuple):
    """One row of `events`."""

    step: int
    request_id: str
    kind: EventKind
    num_tokens: int | None = None
    block_ids: Sequence[int] | None = None
    reason: str | None = None


class RequestRow(NamedTuple):
    """One row of `requests`."""

    index: int  # type: ignore[assignment] # shadows tuple.index, which no row needs
    request_id: str
    session_id: str | None
    line: int
    priority: int
    input_tokens: int
    requested_output_tokens: int
    output_tokens: int
    arrival_s: float | None
    submit_s: float | None
    first_scheduled_s: float | None
    first_token_s: float | None
    last_token_s: float | None
    finish_s: float | None
    status: RequestStatus
    reason: str | None
    hit_tokens: int
    reprefill_tokens: int
    num_preemptions: int
    preempted_s: float
    emission_first_steps: Sequence[int]
    emission_counts: Sequence[int]
