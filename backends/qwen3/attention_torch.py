"""Attention in plain torch: the reference, and the CPU's."""

import torch

from backends.qwen3.forward_inputs import ForwardInputs


class TorchKernels:
    """Paged attention in float32 that reads through block tables, any block and head size.

    What lies behind a row's context is never used, not even times 0, so it may be NaN.
    """

    name = "torch"
    is_split_by_width = False
    can_capture_chunks = False

    def decode(
        self,
        query: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        block_tables: torch.Tensor,
        context_lens: torch.Tensor,
    ) -> torch.Tensor:
        """All rows at once, as wide as the widest block table; on a GPU free of host reads, so it can be captured."""
        if query.device.type == "cpu":
            width = -(-int(context_lens.max()) // keys.shape[1]) if len(context_lens) else 0
            block_tables = block_tables[:, :width]
        key, value = (cache[block_tables].flatten(1, 2).float() for cache in (keys, values))  # [D, L, heads, size]
        is_seen = torch.arange(key.shape[1], device=query.device) < context_lens[:, None]
        grouped = query.float().unflatten(1, (keys.shape[2], -1))  # [D, KV heads, queries of one, size]
        scores = torch.einsum("dhgs,dlhs->dhgl", grouped, key) * query.shape[-1] ** -0.5
        weights = _masked_softmax(scores, is_seen[:, None, None, :])
        value = value.masked_fill(~is_seen[:, :, None, None], 0)
        return torch.einsum("dhgl,dlhs->dhgs", weights, value).flatten(1, 2).to(query.dtype)

    def chunks(
        self, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, inputs: ForwardInputs
    ) -> torch.Tensor:
        """One chunk after the other; zeros in rows of no chunk."""
        starts, lens = inputs.chunk_query_starts.tolist(), inputs.chunk_context_lens.tolist()
        out = torch.zeros_like(query)
        for start, end, table, context in zip(starts[:-1], starts[1:], inputs.chunk_block_tables, lens, strict=True):
            out[start:end] = _attend_chunk(query[start:end], keys, values, table, context)
        return out


def _attend_chunk(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, table: torch.Tensor, context: int
) -> torch.Tensor:
    """The last len(query) of `context` tokens attend to all that come before them and to themselves."""
    blocks = table[: -(-context // keys.shape[1])]
    key, value = (cache[blocks].flatten(0, 1)[:context].float() for cache in (keys, values))  # [L, heads, size]
    last_seen = torch.arange(context - len(query), context, device=query.device)
    is_seen = torch.arange(context, device=query.device) <= last_seen[:, None]
    grouped = query.float().unflatten(1, (keys.shape[2], -1))
    scores = torch.einsum("qhgs,lhs->hgql", grouped, key) * query.shape[-1] ** -0.5
    weights = _masked_softmax(scores, is_seen)
    return torch.einsum("hgql,lhs->qhgs", weights, value).flatten(1, 2).to(query.dtype)


def _masked_softmax(scores: torch.Tensor, is_seen: torch.Tensor) -> torch.Tensor:
    """Softmax over what is seen; zeros, not NaN, where nothing is."""
    weights = scores.masked_fill(~is_seen, -torch.inf).softmax(dim=-1)
    return weights.masked_fill(~is_seen, 0)
