"""Each implementation is handed what it needs and answers alike; flash-attn is played by functions of our own."""

from dataclasses import replace

import pytest
import torch

from backends.qwen3.attention import PagedAttention
from backends.qwen3.attention_flash2 import Flash2Kernels
from backends.qwen3.attention_flash4 import Flash4Kernels
from backends.qwen3.attention_torch import TorchKernels
from backends.qwen3.context_splits import context_splits
from tests.qwen3.tiny_model import PADDING, Row, make_inputs

NUM_HEADS, NUM_KV_HEADS, SIZE = 6, 2, 8
TOKENS = [0] * 600
ROWS = [
    Row(TOKENS, 257, 258, [4, 1]),
    PADDING,
    Row(TOKENS, 0, 1, [0]),
    Row(TOKENS, 254, 260, [2, 5]),
    Row(TOKENS, 0, 7, [3]),
]


def by_definition(query, keys, values, table, context):
    """Softmax attention row by row in float64: query row i of n sees tokens 0 .. context - n + i."""
    out = torch.zeros(query.shape, dtype=torch.float64)
    for i, head in ((i, head) for i in range(len(query)) for head in range(NUM_HEADS)):
        seen = range(context - len(query) + i + 1)
        if not seen:
            continue
        blocks, offsets = [int(table[t // keys.shape[1]]) for t in seen], [t % keys.shape[1] for t in seen]
        key, value = (cache[blocks, offsets, head * NUM_KV_HEADS // NUM_HEADS].double() for cache in (keys, values))
        weights = (key @ query[i, head].double() / SIZE**0.5).exp()
        out[i, head] = weights @ value / weights.sum()
    return out.float()


def flash2():
    def with_kvcache(q, k, v, *, cache_seqlens, block_table, causal, num_splits):
        assert num_splits == context_splits(len(q), k.shape[2], block_table.shape[1] * k.shape[1])
        assert k.shape[1] % 256 == 0
        assert q.shape[1] == 1
        assert causal
        return in_turn(q.squeeze(1), k, v, torch.arange(len(q) + 1), cache_seqlens, block_table).unsqueeze(1)

    def varlen(q, k, v, *, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, causal, block_table):
        assert causal
        contexts = cu_seqlens_k.diff()
        assert max_seqlen_q >= cu_seqlens_q.diff().max()
        assert max_seqlen_k >= contexts.max()
        return in_turn(q, k, v, cu_seqlens_q, contexts, block_table)

    return Flash2Kernels(varlen, with_kvcache)


def flash4():
    def varlen(q, k, v, *, seqused_k, page_table, causal, cu_seqlens_q=None):
        assert causal
        if cu_seqlens_q is not None:
            return in_turn(q, k, v, cu_seqlens_q, seqused_k, page_table), None
        starts = torch.arange(len(q) + 1)
        return in_turn(q.squeeze(1), k, v, starts, seqused_k, page_table).unsqueeze(1), None

    return Flash4Kernels(varlen)


def in_turn(q, k, v, starts, contexts, tables):
    """Rows of no sequence come out as NaN."""
    out = torch.full_like(q, torch.nan)
    for first, end, table, context in zip(starts[:-1].tolist(), starts[1:].tolist(), tables, contexts, strict=True):
        out[first:end] = by_definition(q[first:end], k, v, table, int(context))
    return out


IMPLEMENTATIONS = {
    "torch": PagedAttention(TorchKernels()),
    "flash2": PagedAttention(flash2()),
    "flash4": PagedAttention(flash4()),
    "flash2+flash4": PagedAttention(flash2(), flash4()),
}


@pytest.fixture(scope="module")
def problem():
    """(query, keys, values) of ROWS in blocks of 256; NaN wherever no row's context reaches."""
    random = torch.Generator().manual_seed(11)
    num_tokens = sum(max(1, row.end - row.first) for row in ROWS)
    query = torch.randn(num_tokens, NUM_HEADS, SIZE, generator=random)
    keys, values = (torch.randn(6, 256, NUM_KV_HEADS, SIZE, generator=random) for _ in range(2))
    for row in ROWS:
        for position in range(row.end, 256 * len(row.table)) if row is not PADDING else ():
            place = (row.table[position // 256], position % 256)
            keys[place], values[place] = torch.nan, torch.nan
    return query, keys, values


@pytest.fixture(scope="module")
def expected(problem):
    query, keys, values = problem
    first, parts = 0, []
    for row in ROWS:
        count = max(1, row.end - row.first)
        parts.append(by_definition(query[first : first + count], keys, values, row.table, row.end))
        first += count
    return torch.cat(parts)


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_mixed_step(name, problem, expected):
    attention = IMPLEMENTATIONS[name]
    assert attention.name == name
    ours = attention(*problem, make_inputs(ROWS, 256))
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-6)
    assert (ours[1] == 0).all()  # padding


def split_on_device(rows, num_decodes, num_padding):
    """Inputs of captured steps: three decode rows at most, chunk starts that count from row 0, empty chunks."""
    inputs = make_inputs(rows, 256)
    lens, tables = torch.zeros(3 + num_padding, dtype=torch.int32), torch.zeros(3 + num_padding, 2, dtype=torch.int32)
    lens[:num_decodes] = inputs.decode_context_lens
    tables[:num_decodes, : inputs.decode_block_tables.shape[1]] = inputs.decode_block_tables
    return replace(
        inputs,
        num_decodes=len(lens),
        decode_context_lens=lens,
        decode_block_tables=tables,
        chunk_query_starts=_two_more(num_decodes + inputs.chunk_query_starts),
        chunk_key_starts=_two_more(inputs.chunk_key_starts),
        chunk_context_lens=torch.cat((inputs.chunk_context_lens, torch.zeros(2, dtype=torch.int32))),
        chunk_block_tables=torch.cat((inputs.chunk_block_tables, torch.zeros(2, 2, dtype=torch.int32))),
        max_query=100,
        max_context=1000,
        is_split_on_device=True,
    )


def _two_more(starts):
    return torch.cat((starts, starts[-1:], starts[-1:]))


@pytest.mark.parametrize("num_decodes", [0, 1, 3])
@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_a_step_whose_split_only_the_device_knows(name, num_decodes, problem, expected):
    query, keys, values = problem
    rows, first = [*ROWS[3 - num_decodes : 3], *ROWS[3:]], 3 - num_decodes
    padded = torch.cat((query[first:], torch.full((2, NUM_HEADS, SIZE), torch.nan)))
    ours = IMPLEMENTATIONS[name](padded, keys, values, split_on_device(rows, num_decodes, 2))
    wanted = expected[first:].clone()
    real = [row for row in range(len(wanted)) if rows[min(row, num_decodes)] is not PADDING or row >= num_decodes]
    torch.testing.assert_close(ours[: len(wanted)][real], wanted[real], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_only_decodes_and_only_chunks(name, problem, expected):
    query, keys, values = problem
    for part, rows in ((slice(3), ROWS[:3]), (slice(3, None), ROWS[3:])):
        ours = IMPLEMENTATIONS[name](query[part], keys, values, make_inputs(rows, 256))
        torch.testing.assert_close(ours, expected[part], rtol=1e-5, atol=1e-6)


def test_torch_takes_a_batch_of_padding_alone():
    keys = values = torch.full((1, 16, NUM_KV_HEADS, SIZE), torch.nan)
    ours = IMPLEMENTATIONS["torch"](torch.ones(2, NUM_HEADS, SIZE), keys, values, make_inputs([PADDING, PADDING], 16))
    assert (ours == 0).all()


def test_torch_computes_in_float32_and_returns_the_dtype(problem):
    query, keys, values = (tensor.bfloat16() for tensor in problem)
    ours = IMPLEMENTATIONS["torch"](query, keys, values, make_inputs(ROWS, 256))
    exact = IMPLEMENTATIONS["torch"](query.float(), keys.float(), values.float(), make_inputs(ROWS, 256))
    assert ours.dtype == torch.bfloat16
    assert torch.equal(ours, exact.bfloat16())
