"""What becomes of prompts that the model or the pool cannot hold."""

from dataclasses import replace
from typing import Literal

from sim.errors import SimError
from traces import Trace, TraceRequest


def handle_oversize(trace: Trace, longest: int, rule: Literal["error", "fail", "truncate"]) -> Trace:
    """Apply the rule to prompts of more than `longest` tokens.

    Args:
        trace: what is to be replayed.
        longest: longest prompt that can be served, in tokens.
        rule: "fail" leaves the trace as it is: the scheduler refuses such requests one by one, and they count as
            failed. "truncate" cuts the prompt's end, so that the whole output fits where that is possible. "error"
            refuses the trace.

    Raises:
        SimError: the rule is "error" and there is such a prompt, or nothing at all can be served.
    """
    shortest = 1 if rule == "truncate" else min(request.input_length for request in trace.requests)
    if shortest > longest:
        raise SimError(
            f"No request of {trace.name} can be served: even a prompt of {shortest} tokens is too long, where the "
            f"model and the KV blocks hold prompts of at most {longest}; raise --max-model-len or --num-blocks."
        )
    over = [request for request in trace.requests if request.input_length > longest]
    if not over or rule == "fail":
        return trace
    if rule == "error":
        raise SimError(
            f"{trace.name} line {over[0].line}: the prompt has {over[0].input_length} tokens and at most {longest} can "
            f"be served (so it is with {len(over)} requests in all); raise --max-model-len or --num-blocks, or use "
            "--oversize fail or truncate."
        )
    cut = {request.request_id: _cut(request, longest, trace) for request in over}
    kept = tuple(cut.get(request.request_id, request) for request in trace.requests)
    notice = f"{len(over)} prompts of more than {longest} tokens were cut."
    return replace(trace, requests=kept, notices=(*trace.notices, notice))


def _cut(request: TraceRequest, longest: int, trace: Trace) -> TraceRequest:
    length = max(1, longest + 1 - request.output_length)
    whole, rest = divmod(length, trace.block_size)
    num_ids = whole + (rest > 0 and trace.hash_id_count == "ceil")
    ids = request.hash_ids and request.hash_ids[:num_ids]
    return replace(request, input_length=length, hash_ids=ids)
