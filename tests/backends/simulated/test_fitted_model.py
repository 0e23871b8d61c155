from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.cost_model import StepColumns, StepTimes
from backends.simulated.calibration_file import shipped_calibrations
from backends.simulated.fitted_model import FittedModel
from backends.simulated.gpu_sheet import GpuSheet, load_gpu_sheet
from backends.simulated.least_time import LeastTime
from backends.simulated.model_shard import ModelShard, Projection
from backends.simulated.model_sheet import ModelSheet, load_model_sheet
from engine.step_shape import StepShape
from tests.backends.fitted_numbers import fitted_times
from tests.backends.peaks import assert_within_the_peaks
from tests.backends.step_shapes import BATCHES, Row, shape_of

MODELS = [load_model_sheet(name) for name in ("qwen3-0.6b", "qwen3-8b", "qwen3-32b")]
GPUS = [load_gpu_sheet(name) for name in ("h200", "a100-80", "l40s")]
MODEL, GPU = MODELS[0], GPUS[0]


def fitted(model: ModelSheet = MODEL, gpu: GpuSheet = GPU, tp: int = 1, scale: float = 1.0) -> FittedModel:
    return FittedModel(fitted_times(scale), LeastTime(ModelShard(model, tp), gpu))


def times(shape: StepShape, graph_size: int | None = None) -> StepTimes[float]:
    return fitted().step_times(StepColumns.one_row(shape, graph_size))


@given(
    st.sampled_from(MODELS),
    st.sampled_from(GPUS),
    st.sampled_from([1, 2, 8]),
    BATCHES,
    st.floats(0, 1),
    st.sampled_from([0.0, 1e-3, 1.0]),
)
def test_no_step_is_faster_than_its_flops_and_bytes_at_peak_rates(
    model: ModelSheet, gpu: GpuSheet, tp: int, rows: list[Row], sampled_share: float, scale: float
) -> None:
    num_sampled = round(len(rows) * sampled_share)
    assert_within_the_peaks(fitted(model, gpu, tp, scale), model, gpu, tp, rows, num_sampled)


STEPS = st.builds(
    lambda rows, count, size, shared: (
        shape_of(rows, num_new_blocks=count * 7, num_admitted=count, shared_context=shared), size
    ),
    BATCHES, st.integers(0, 9), st.none() | st.integers(1, 512), st.just(0) | st.integers(0, 200_000),
)  # fmt: skip


@given(st.lists(STEPS, min_size=1, max_size=20), st.sampled_from(MODELS), st.sampled_from([0.01, 1.0]))
def test_one_row_and_many_rows_give_the_same_bits(
    steps: list[tuple[StepShape, int | None]], model: ModelSheet, scale: float
) -> None:
    cost_model = fitted(model, scale=scale)
    together = cost_model.step_times(StepColumns.from_rows(*zip(*steps, strict=True)))
    alone = [cost_model.step_times(StepColumns.one_row(*step)) for step in steps]
    assert together.duration_s.tobytes() == np.array([one.duration_s for one in alone]).tobytes()
    assert together.device_s.tobytes() == np.array([one.device_s for one in alone]).tobytes()


@given(STEPS, st.sampled_from([0.01, 1.0]))
def test_terms_add_up(step: tuple[StepShape, int | None], scale: float) -> None:
    cost_model = fitted(scale=scale)
    terms = cost_model.explain(*step)
    found = cost_model.step_times(StepColumns.one_row(*step))
    assert sum(term.time_s for term in terms) == pytest.approx(found.duration_s, rel=1e-12)
    assert min(term.time_s for term in terms) > -1e-12


@pytest.mark.parametrize(("num_rows", "places"), [(4, 4), (16, 16), (32, 32), (128, 32)])
def test_rows_that_share_blocks_are_saved_a_part_of_their_reading(num_rows: int, places: int) -> None:
    """Half of it, of the rows that fill the device together; 32 places are taken by rows at once.

    What they read less goes on while the longest row reads, which then has as much more for itself.
    """
    rows, shared = [Row(1, 1999)] * num_rows, (num_rows - 1) * 1500
    apart, together = shape_of(rows), shape_of(rows, shared_context=shared)
    token_us = np.interp(num_rows, (1, 16, 256), (24.0, 26.0, 29.5)) / 1000
    tail_us = np.interp(num_rows, (1, 16, 256), (3.0, 20.0, 200.0)) / 1000
    saved_s = times(apart, num_rows).device_s - times(together, num_rows).device_s
    assert saved_s == pytest.approx(
        1e-6 * 0.5 * shared * places / num_rows * (token_us - tail_us * places / 32 / num_rows)
    )


@pytest.mark.parametrize("name", [name for name, _ in shipped_calibrations()])
@pytest.mark.parametrize("prefix", [1024, 4096, 30_720])
def test_many_users_of_one_prompt_are_never_quicker_than_fewer(name: str, prefix: int) -> None:
    """Within what tables of measured times are uneven by."""
    calibration = dict(shipped_calibrations())[name]
    least = LeastTime(ModelShard(load_model_sheet(calibration.settings.model), 1), GPU)
    model = FittedModel(calibration.times, least)
    shapes = [
        shape_of([Row(1, prefix - 1)] * n, shared_context=(n - 1) * prefix) for n in (1, 2, 4, 8, 16, 32, 64, 256)
    ]
    times_s = [model.step_times(StepColumns.one_row(shape, shape.num_decode_seqs)).device_s for shape in shapes]
    assert all(more > 0.96 * max(times_s[:number]) for number, more in enumerate(times_s) if number)


def test_a_row_that_shares_all_of_its_context_costs_what_one_alone_does() -> None:
    """If all is saved; the tables say 30 us for 1,000 tokens of one row and 9 more of the longest one."""
    whole = replace(fitted_times().attention, shared_saving=1.0)
    model = FittedModel(replace(fitted_times(), attention=whole), LeastTime(ModelShard(MODEL, 1), GPU))
    one, four = [
        model.step_times(StepColumns.one_row(shape_of([Row(1, 999)] * n, shared_context=(n - 1) * 1000), 4)).device_s
        for n in (1, 4)
    ]
    alone_us = 30 + 9 * (1 - 1 / 32)
    assert four >= one - 1e-6 * 0.3
    assert four - 1e-6 * (1200 + 10 * 3 / 7 + 4 * 0.3) >= 1e-6 * alone_us * (1 - 1e-9)


def test_no_step_is_faster_than_what_is_read_once() -> None:
    """64 rows with a prefix of 8,000 tokens in common and 10 of their own, on a model that says nearly nothing."""
    shape = shape_of([Row(1, 8009)] * 64, shared_context=63 * 8000)
    least_s = fitted(scale=1e-6).step_times(StepColumns.one_row(shape, 64)).device_s
    weights = 28 * sum(matrix.num_weights for matrix in _matrices()) + ModelShard(MODEL, 1).head.num_weights
    kv_bytes = (8000 + 64 * 10 + 64) * ModelShard(MODEL, 1).kv_bytes_per_token
    assert least_s == pytest.approx((2 * weights + kv_bytes) / GPU.memory_bytes_per_s)


def _matrices() -> tuple[Projection, ...]:
    shard = ModelShard(MODEL, 1)
    return shard.qkv, shard.output, shard.gate_up, shard.down


def test_a_decode_step_is_the_sum_of_its_parts() -> None:
    rows = [Row(1, 499)] * 15 + [Row(1, 2499)]
    # 16 rows padded to 36 tokens: half way between the points 8 and 64.
    products_us, sampled_us = (1210 + 1400) / 2, 16 * 0.3
    # The longest context, 2,500, is in the second band; 36 rows lie between its points 16 and 256.
    share, total = (36 - 16) / (256 - 16), 15 * 500 + 2500
    evenness = total**2 / (16 * (15 * 500**2 + 2500**2))
    # 16 rows are half of those that fill the device, which others would do by the time the longest is half read.
    tail = 2500 - total / 32
    attention_us = 15 * (1 - share) + (8 + 12 * share) * evenness
    attention_us += (26 + 3.5 * share) * total / 1000 + (20 + 180 * share) * tail / 1000
    host_us = 300 + 16 * 3 + 15 + 1.5 + 10 * 0.2
    found = times(shape_of(rows, num_new_blocks=2), 36)
    assert found.device_s == pytest.approx(1e-6 * (products_us + sampled_us + attention_us), rel=1e-12)
    assert found.duration_s - found.device_s == pytest.approx(1e-6 * host_us, rel=1e-9)


def test_a_step_with_chunks_is_the_sum_of_its_parts() -> None:
    rows = [Row(1, 999)] * 256 + [Row(100, 500), Row(100, 0)]
    pairs = 100 * 600 - (100**2 - 100) / 2 + 100 * 100 - (100**2 - 100) / 2
    products_us = 1500 + (2600 - 1500) * (456 - 16) / (512 - 16)
    # Equal contexts of rows that fill the device have no tail. Those of the chunks are 600 and 100.
    attention_us = 10 + 256 * 29
    context_us = (60 - 20 * (200 - 16) / (512 - 16)) * 0.35
    device_us = products_us + 180 + 258 * 0.4 + 2 * 12 + pairs * 450e-6 + attention_us + context_us
    host_us = 500 + 258 * 3 + 2 * 20 + 100 * 0.2 + 2 * 40 + 15 + 256 * 0.2
    found = times(shape_of(rows, num_admitted=2), 456)
    assert found.device_s == pytest.approx(1e-6 * device_us, rel=1e-12)
    assert found.duration_s - found.device_s == pytest.approx(1e-6 * host_us, rel=1e-9)


def test_the_host_looks_at_blocks_and_releases_once_a_step() -> None:
    """Inputs of a decode step are foreseen; if rows have grown or others have left, they are written anew."""

    def host_us(rows: list[Row], **counts: int) -> float:
        found = times(shape_of(rows)._replace(**counts), 36)
        return 1e6 * (found.duration_s - found.device_s)

    decodes, chunk = [Row(1, 99)] * 16, [Row(20, 0)]
    plain_us = host_us(decodes)
    for count in (1, 9):
        assert host_us(decodes, num_new_blocks=count) == pytest.approx(plain_us + 1.5)
        assert host_us(decodes, num_released=count) == pytest.approx(plain_us + 6)
    # Blocks of chunks count with the chunks' tokens.
    assert host_us(decodes + chunk, num_new_blocks=9) == pytest.approx(host_us(decodes + chunk))


def test_decode_rows_take_as_long_beside_a_chunk_with_a_longer_context_as_alone() -> None:
    def attention_s(chunks: list[Row]) -> float:
        terms = fitted().explain(shape_of([Row(1, 899)] * 8 + chunks), None)
        return next(term.time_s for term in terms if term.name == "decode attention")

    assert attention_s([Row(100, 9000)]) == attention_s([])


def test_a_few_long_contexts_cost_more_than_the_same_tokens_evenly() -> None:
    even, uneven = [Row(1, 999)] * 128, [Row(1, 599)] * 120 + [Row(1, 6999)] * 8
    assert sum(row.context for row in even) == sum(row.context for row in uneven)
    assert times(shape_of(uneven), 128).device_s > times(shape_of(even), 128).device_s


@pytest.mark.parametrize(
    ("rows", "launches_us"),
    [([Row(1, 9)], 9000.0), ([Row(30, 0)], 11_000.0), ([Row(30, 0), Row(1, 9)], 13_000.0)],
)
def test_an_eager_step_takes_no_less_than_its_launches(rows: list[Row], launches_us: float) -> None:
    assert times(shape_of(rows)).device_s == pytest.approx(1e-6 * launches_us)
    assert times(shape_of(rows), 32).device_s < 2e-3


def test_a_large_eager_step_hides_its_launches() -> None:
    rows = [Row(8192, 0)]
    assert times(shape_of(rows)).device_s == times(shape_of(rows), 8192).device_s


def test_without_a_bound_times_are_the_numbers_alone() -> None:
    rows = [Row(1, 9)] * 3
    free = FittedModel(fitted_times(0.0), None).step_times(StepColumns.one_row(shape_of(rows), 4))
    assert free.device_s == 0.0
    assert free.duration_s == pytest.approx(1e-6 * (300 + 9 + 15 + 0.03 * 0.2))
