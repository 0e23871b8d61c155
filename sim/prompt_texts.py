"""Prompts that a trace gives as text."""

from collections.abc import Mapping
from dataclasses import replace

from engine import Tokenizer
from traces import Trace

TokenIds = tuple[int, ...]


def tokenise(trace: Trace, tokenizer: Tokenizer | None) -> tuple[Trace, Mapping[str, TokenIds]]:
    """Turn the prompt texts of a trace into tokens.

    Returns:
        The trace, with the real lengths of such prompts, and the tokens by request id. Without a tokenizer the trace is
        unchanged but for a notice, and those prompts count as unique.
    """
    texts = {request.request_id: request.prompt for request in trace.requests if request.prompt is not None}
    if not texts:
        return trace, {}
    if tokenizer is None:
        notice = f"{len(texts)} prompts are texts; without a tokenizer they count as unique, with the given lengths."
        return replace(trace, notices=(*trace.notices, notice)), {}
    tokens = {request_id: tuple(tokenizer.encode(text)) for request_id, text in texts.items()}
    lengths = {request_id: max(1, len(ids)) for request_id, ids in tokens.items()}
    changed = tuple(
        replace(request, input_length=lengths[request.request_id], hash_ids=None)
        if request.request_id in lengths
        else request
        for request in trace.requests
    )
    num_other = sum(old.input_length != new.input_length for old, new in zip(trace.requests, changed, strict=True))
    notice = f"{len(texts)} prompt texts were tokenised; {num_other} have another length than the trace says."
    return replace(trace, requests=changed, notices=(*trace.notices, notice)), tokens
