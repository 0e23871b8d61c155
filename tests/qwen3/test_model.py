"""Logits equal those of Hugging Face, however a sequence is cut into steps and blocks."""

import pytest
import torch

from backends.qwen3.attention import PagedAttention
from backends.qwen3.attention_torch import TorchKernels
from backends.qwen3.group import SingleRank
from backends.qwen3.loader import load_model
from tests.qwen3.tiny_model import (
    CPU,
    PADDING,
    VOCAB,
    Row,
    make_inputs,
    poisoned_cache,
    reference_logits,
    save_tiny,
)

LARGEST_DIFFERENCE = 1e-4
ATTENTION = PagedAttention(TorchKernels())
SHAPES = {
    "gqa": {},
    "mha_tied": {"num_heads": 2, "num_kv_heads": 2, "head_dim": 64, "tied": True},
    "mqa_odd_head": {"num_heads": 3, "num_kv_heads": 1, "head_dim": 24},
}
BLOCK_SIZES = (16, 48, 256)
A, B = ([(seed * i * i + 3 * i) % VOCAB for i in range(300)] for seed in (5, 7))  # two sequences


@pytest.fixture(scope="module", params=SHAPES)
def case(request, tmp_path_factory):
    """(our model, reference logits of A, of B, of B behind one block of A by block size)."""
    folder = tmp_path_factory.mktemp(request.param)
    reference = save_tiny(folder, **SHAPES[request.param])
    model = load_model(folder, SingleRank(), device=CPU)
    sharing = {size: reference_logits(reference, A[:size] + B[:20]) for size in BLOCK_SIZES}
    return model, reference_logits(reference, A), reference_logits(reference, B), sharing


def run(model, cache, *rows, **how):
    inputs = make_inputs(rows, cache.block_size, **how)
    return model.logits(model(inputs, cache, ATTENTION))


def tables(block_size):
    """Block tables of A and B, interleaved and backwards, and a cache that holds both."""
    count = -(-320 // block_size)
    return [2 * i + 1 for i in range(count)][::-1], [2 * i for i in range(count)][::-1], 2 * count


def assert_close(ours, reference):
    assert ours.shape == reference.shape
    assert (ours - reference).abs().max() < LARGEST_DIFFERENCE


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_whole_prompts_in_one_step(case, block_size):
    model, logits_a, logits_b, _ = case
    table_a, table_b, num_blocks = tables(block_size)
    cache = poisoned_cache(model.config, num_blocks=num_blocks, block_size=block_size)
    ours = run(model, cache, Row(A, 0, 300, table_a), Row(B, 0, 123, table_b))
    assert_close(ours, torch.cat((logits_a, logits_b[:123])))


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_chunks_and_decodes_equal_the_whole(case, block_size):
    # Keys of a chunk end with the chunk, not with the prompt; positions count from 0.
    model, logits_a, _, _ = case
    table_a, _, num_blocks = tables(block_size)
    cache = poisoned_cache(model.config, num_blocks=num_blocks, block_size=block_size)
    for first, end in ((0, 4), (4, 8), (8, 10), (10, 200), (200, 297), (297, 298), (298, 299), (299, 300)):
        assert_close(run(model, cache, Row(A, first, end, table_a)), logits_a[first:end])


def test_a_chunk_of_one_token_may_run_as_a_chunk(case):
    model, logits_a, _, _ = case
    cache = poisoned_cache(model.config, num_blocks=3, block_size=16)
    run(model, cache, Row(A, 0, 20, [2, 0]))
    assert_close(run(model, cache, Row(A, 20, 21, [2, 0]), num_decodes=0), logits_a[20:21])


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_mixed_step_of_decodes_chunks_and_padding(case, block_size):
    model, logits_a, logits_b, _ = case
    table_a, table_b, num_blocks = tables(block_size)
    cache = poisoned_cache(model.config, num_blocks=num_blocks, block_size=block_size)
    run(model, cache, Row(A, 0, 270, table_a), Row(B, 0, 100, table_b))
    ours = run(model, cache, Row(A, 270, 271, table_a), PADDING, Row(B, 100, 260, table_b))
    assert_close(ours[0], logits_a[270])
    assert_close(ours[2:], logits_b[100:260])
    assert ours.isfinite().all()


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_prefix_that_another_request_wrote(case, block_size):
    model, _, _, sharing = case
    table_a, table_b, num_blocks = tables(block_size)
    cache = poisoned_cache(model.config, num_blocks=num_blocks, block_size=block_size)
    run(model, cache, Row(A, 0, 300, table_a))
    tokens, table = A[:block_size] + B[:20], [table_a[0], *table_b]
    ours = run(model, cache, Row(tokens, block_size, block_size + 20, table))
    assert_close(ours, sharing[block_size][block_size:])


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_prefix_that_the_same_step_writes(case, block_size):
    # The reader comes first in the batch: all keys and values are stored before any row reads.
    model, logits_a, _, sharing = case
    table_a, table_b, num_blocks = tables(block_size)
    cache = poisoned_cache(model.config, num_blocks=num_blocks, block_size=block_size)
    tokens, table = A[:block_size] + B[:20], [table_a[0], *table_b]
    ours = run(model, cache, Row(tokens, block_size, block_size + 20, table), Row(A, 0, 300, table_a))
    assert_close(ours, torch.cat((sharing[block_size][block_size:], logits_a)))


def test_decode_row_reads_a_block_that_a_chunk_of_the_same_step_writes(case):
    model, _, _, sharing = case
    cache = poisoned_cache(model.config, num_blocks=4, block_size=16)
    tokens = A[:16] + B[:1]
    ours = run(model, cache, Row(tokens, 16, 17, [3, 0]), Row(A, 0, 30, [3, 2]))
    assert_close(ours[0], sharing[16][16])


def test_recomputed_after_preemption_in_other_blocks(case):
    model, logits_a, logits_b, _ = case
    cache = poisoned_cache(model.config, num_blocks=6, block_size=16)
    run(model, cache, Row(A, 0, 30, [0, 1]))
    run(model, cache, Row(A, 30, 31, [0, 1]))
    run(model, cache, Row(B, 0, 32, [0, 1]))  # takes the blocks of A
    run(model, cache, Row(A, 0, 31, [5, 2]))
    assert_close(
        run(model, cache, Row(A, 31, 32, [5, 2]), Row(B, 32, 33, [0, 1, 4])), torch.stack((logits_a[31], logits_b[32]))
    )


def test_only_wanted_rows_come_out_in_the_wanted_order(case):
    model, logits_a, logits_b, _ = case
    cache = poisoned_cache(model.config, num_blocks=4, block_size=16)
    ours = run(model, cache, Row(A, 0, 20, [0, 1]), Row(B, 0, 20, [2, 3]), logits_rows=[39, 19])
    assert_close(ours, torch.stack((logits_b[19], logits_a[19])))


def test_a_step_may_want_no_logits(case):
    model, logits_a, _, _ = case
    cache = poisoned_cache(model.config, num_blocks=4, block_size=16)
    assert run(model, cache, Row(A, 0, 20, [0, 1]), logits_rows=[]).shape == (0, VOCAB)
    assert_close(run(model, cache, Row(A, 20, 21, [0, 1])), logits_a[20:21])


def test_padding_rows_write_nothing_and_stay_finite(case):
    # Slot -1 is no index from the end: the last slot of the cache stays as it was.
    model, logits_a, _, _ = case
    cache = poisoned_cache(model.config, num_blocks=2, block_size=16)
    run(model, cache, Row(A, 0, 10, [0]))
    ours = run(model, cache, Row(A, 10, 11, [0]), PADDING, PADDING)
    assert_close(ours[:1], logits_a[10:11])
    assert ours.isfinite().all()
    assert all(tensor[1].isnan().all() for tensor in (*cache.keys, *cache.values))


def test_block_table_wider_than_the_context_changes_nothing(case):
    # Storage is rounded up past the sequence; what the surplus entries name is never read.
    model, logits_a, _, _ = case
    cache = poisoned_cache(model.config, num_blocks=4, block_size=16)
    run(model, cache, Row(A, 0, 20, [0, 2, 1, 1, 1]))
    assert_close(run(model, cache, Row(A, 20, 21, [0, 2, 1, 3, 1])), logits_a[20:21])


def test_a_nan_row_spoils_no_other_row(case):
    model, logits_a, _, _ = case
    cache = poisoned_cache(model.config, num_blocks=4, block_size=16)
    run(model, cache, Row(A, 0, 20, [0, 1]))
    ours = run(model, cache, Row(B, 20, 21, [2, 3]), Row(A, 20, 21, [0, 1]))  # B's context was never written
    assert ours[0].isnan().all()
    assert_close(ours[1:], logits_a[20:21])


def test_bfloat16_is_close_and_finite(case, tmp_path):
    reference = save_tiny(tmp_path, dtype=torch.bfloat16).float()
    model = load_model(tmp_path, SingleRank(), device=CPU)
    assert model.config.dtype == torch.bfloat16
    cache = poisoned_cache(model.config, num_blocks=4, block_size=16)
    ours, theirs = run(model, cache, Row(A, 0, 60, [0, 3, 2, 1])).float(), reference_logits(reference, A[:60])
    assert (ours - theirs).norm() / theirs.norm() < 0.03
