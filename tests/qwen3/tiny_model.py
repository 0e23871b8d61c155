"""A tiny Qwen3 on disk, and forward inputs made by hand: what the tests of the model share."""

from dataclasses import dataclass
from itertools import accumulate

import torch

from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.kv_cache import KVCache

CPU = torch.device("cpu")
VOCAB = 97  # odd, so that two ranks need padding


def save_tiny(folder, *, num_heads=4, num_kv_heads=2, head_dim=16, tied=False, dtype=torch.float32, **more):
    """Save a random model with logits far from uniform; returns it."""
    from transformers import Qwen3Config, Qwen3ForCausalLM  # slow to import, and not every user needs it

    torch.manual_seed(1)
    config = Qwen3Config(
        vocab_size=VOCAB,
        hidden_size=40,
        intermediate_size=56,
        num_hidden_layers=3,
        num_attention_heads=num_heads,
        num_key_value_heads=num_kv_heads,
        head_dim=head_dim,
        max_position_embeddings=640,
        tie_word_embeddings=tied,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        initializer_range=0.25,
        attn_implementation="eager",
    )
    model = Qwen3ForCausalLM(config).to(dtype).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("norm.weight"):
                weight.uniform_(0.5, 1.5)
    model.save_pretrained(folder, **more)
    return model


def reference_logits(model, token_ids):
    """[T, VOCAB] of a sequence in one pass."""
    with torch.no_grad():
        return model(torch.tensor([token_ids])).logits[0]


def poisoned_cache(config, *, num_blocks, block_size, num_ranks=1):
    """A cache full of NaN, so that whatever is read before it was written shows."""
    cache = KVCache(
        config.num_hidden_layers,
        num_blocks,
        block_size,
        config.num_kv_heads_on(num_ranks),
        config.head_dim,
        dtype=config.dtype,
        device=CPU,
    )
    for tensor in (*cache.keys, *cache.values):
        tensor.fill_(torch.nan)
    return cache


@dataclass(frozen=True)
class Row:
    """Tokens `first` .. `end` of a sequence, computed in one step."""

    token_ids: list[int]
    first: int
    end: int
    table: list[int]


PADDING = Row([0], 0, 0, [0])


def make_inputs(rows, block_size, *, logits_rows=None, num_decodes=None):
    """Inputs for rows in order; rows of one token at the front (or `num_decodes` of them) are decode rows.

    A row `PADDING` is padding of a captured graph.
    """
    is_chunk = [row.end - row.first > 1 for row in rows]
    if num_decodes is None:
        num_decodes = is_chunk.index(True) if True in is_chunk else len(rows)
    decodes, chunks = rows[:num_decodes], rows[num_decodes:]
    positions = [range(row.first, max(row.end, row.first + 1)) for row in rows]
    slots = [
        -1 if row.end == row.first else row.table[position // block_size] * block_size + position % block_size
        for row, its in zip(rows, positions, strict=True)
        for position in its
    ]
    return ForwardInputs(
        token_ids=torch.tensor([row.token_ids[i] for row, its in zip(rows, positions, strict=True) for i in its]),
        positions=torch.tensor([i for its in positions for i in its]),
        slots=torch.tensor(slots),
        num_decodes=num_decodes,
        decode_block_tables=_tables(decodes),
        decode_context_lens=torch.tensor([row.end for row in decodes], dtype=torch.int32),
        chunk_query_starts=_starts([row.end - row.first for row in chunks]),
        chunk_key_starts=_starts([row.end for row in chunks]),
        chunk_context_lens=torch.tensor([row.end for row in chunks], dtype=torch.int32),
        chunk_block_tables=_tables(chunks),
        max_query=max((row.end - row.first for row in chunks), default=0),
        max_context=max((row.end for row in chunks), default=0),
        logits_rows=None if logits_rows is None else torch.tensor(logits_rows, dtype=torch.int64),
    )


def _tables(rows):
    width = max((len(row.table) for row in rows), default=0)
    return torch.tensor([row.table + [0] * (width - len(row.table)) for row in rows], dtype=torch.int32).view(
        len(rows), width
    )


def _starts(lengths):
    return torch.tensor([0, *accumulate(lengths)], dtype=torch.int32)
