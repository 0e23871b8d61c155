"""Counts of FLOPs and bytes against slow, obvious counting from the rows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.cost_model import StepColumns
from backends.simulated.device_work import OPERATIONS, DeviceWork
from backends.simulated.model_shard import ModelShard
from backends.simulated.model_sheet import load_model_sheet
from engine.step_shape import StepShape
from tests.backends.step_shapes import BATCHES, Row, decode_shape, shape_of

MODEL = load_model_sheet("qwen3-8b")
LAYERS, HIDDEN, HEADS, KV_HEADS, HEAD, MLP, VOCAB = 36, 4096, 32, 8, 128, 12288, 151_936


def amounts(shape: StepShape, graph_size: int | None = None, tp: int = 1) -> dict[str, tuple[float, float]]:
    """{operation: (bytes, FLOPs)}."""
    counted = DeviceWork(ModelShard(MODEL, tp)).amounts(StepColumns.one_row(shape, graph_size))
    return dict(zip(OPERATIONS, counted, strict=True))


@given(BATCHES, st.sampled_from([1, 2, 4, 8, 16]))
def test_flops_are_counted_exactly(rows: list[Row], tp: int) -> None:
    shape = shape_of(rows, num_sampled=len(rows) // 2)
    found = amounts(shape, tp=tp)
    tokens = sum(row.query for row in rows)
    prefill_pairs = sum(row.num_pairs for row in rows if row.query > 1)
    kv_heads = max(KV_HEADS // tp, 1)
    assert found["qkv projection"][1] == 2 * tokens * LAYERS * HIDDEN * HEAD * (HEADS // tp + 2 * kv_heads)
    assert found["output projection"][1] == 2 * tokens * LAYERS * HEADS * HEAD * HIDDEN / tp
    assert found["gate and up projection"][1] == 2 * tokens * LAYERS * HIDDEN * 2 * MLP / tp
    assert found["down projection"][1] == 2 * tokens * LAYERS * MLP * HIDDEN / tp
    assert found["head"][1] == 2 * (len(rows) // 2) * HIDDEN * VOCAB / tp
    assert found["prefill attention"][1] == 2 * 2 * HEAD * HEADS / tp * LAYERS * prefill_pairs
    assert found["decode attention"][1] == 2 * 2 * HEAD * HEADS / tp * LAYERS * shape.decode_context


def test_bytes_of_a_decode_step() -> None:
    found = amounts(decode_shape(100, 500), 100)
    assert found["qkv projection"][0] == 2 * LAYERS * (HIDDEN * 6144 + 100 * (HIDDEN + 6144))
    assert found["gate and up projection"][0] == 2 * LAYERS * (HIDDEN * 2 * MLP + 100 * (HIDDEN + 2 * MLP))
    assert found["head"][0] == 2 * (HIDDEN * VOCAB + 100 * (HIDDEN + VOCAB))
    assert found["KV write"][0] == 100 * 2 * (2 * LAYERS * KV_HEADS * HEAD * 2)
    kv_read = 100 * 500 * 2 * LAYERS * KV_HEADS * HEAD * 2
    assert found["decode attention"][0] == kv_read + 100 * 2 * LAYERS * HEADS * HEAD * 2
    assert found["sampler"][0] == 100 * VOCAB * 30
    assert found["prefill attention"] == (0, 0)
    assert found["all-reduce"] == (0, 0)


def test_the_head_is_neither_read_nor_run_without_sampled_rows() -> None:
    found = amounts(shape_of([Row(512, 0)], num_sampled=0))
    assert found["head"] == found["sampler"] == (0, 0)


def test_padding_costs_rows_with_a_context_of_one_but_no_kv_write_head_or_sampler() -> None:
    padded, exact = amounts(decode_shape(5, 100), 8), amounts(decode_shape(5, 100), 5)
    mixed = shape_of([Row(1, 99)] * 5 + [Row(1, 0)] * 3, num_sampled=5)
    as_rows = amounts(mixed, 8)
    for name in ("KV write", "head", "sampler"):
        assert padded[name] == exact[name]
    for name in set(OPERATIONS) - {"KV write"}:
        assert padded[name] == as_rows[name]


@given(BATCHES)
def test_kv_read_by_prefill_rows_is_that_of_their_contexts(rows: list[Row]) -> None:
    found = amounts(shape_of(rows))["prefill attention"][0]
    chunks = [row for row in rows if row.query > 1]
    queries = sum(row.query for row in chunks) * 2 * LAYERS * HEADS * HEAD * 2
    assert found == pytest.approx(sum(row.context for row in chunks) * 2 * LAYERS * KV_HEADS * HEAD * 2 + queries)


@pytest.mark.parametrize("tp", [2, 4, 8])
def test_all_reduces_move_a_rings_share(tp: int) -> None:
    found = amounts(shape_of([Row(1000, 0)], num_sampled=1), tp=tp)
    reduces = (2 * LAYERS + 1) * 1000 * HIDDEN * 2 * 2 * (tp - 1) / tp
    assert found["all-reduce"][0] == pytest.approx(reduces + (tp - 1) * VOCAB / tp * 2)


@given(BATCHES, st.booleans(), st.sampled_from([1, 2]))
def test_kernels_add_up(rows: list[Row], is_sampled: bool, tp: int) -> None:
    steps = StepColumns.one_row(shape_of(rows, num_sampled=len(rows) * is_sampled), None)
    work = DeviceWork(ModelShard(MODEL, tp))
    launches = work.launches(steps)
    counts = dict(zip(OPERATIONS, work.counts(steps), strict=True))
    assert launches.collectives == counts.pop("all-reduce") == (2 * LAYERS + 1 + is_sampled) * (tp > 1)
    assert launches.kernels == sum(counts.values())
    assert launches.attention_calls == counts["prefill attention"] + counts["decode attention"]


def test_kernels_of_a_decode_step() -> None:
    # In each of 36 layers: qkv, KV write, attention, output, gate-up, down, two norms, rope, activation, two qk norms;
    # around them: embedding, final norm, head and five of the sampler.
    launches = DeviceWork(ModelShard(MODEL, 1)).launches(StepColumns.one_row(decode_shape(4, 9), 4))
    assert launches.kernels == 36 * 12 + 8
