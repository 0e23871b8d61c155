from dataclasses import fields, replace
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.cost_model import StepColumns, StepTimes
from backends.simulated.gpu_sheet import GpuSheet, HostTimes, KernelOverheads, load_gpu_sheet
from backends.simulated.model_sheet import ModelSheet, load_model_sheet
from backends.simulated.roofline import RooflineModel
from backends.simulated.term import Term
from engine.errors import SettingError
from engine.step_shape import StepShape
from tests.backends.peaks import assert_within_the_peaks
from tests.backends.step_shapes import BATCHES, Row, decode_shape, shape_of

Seconds = TypeVar("Seconds", KernelOverheads, HostTimes)
MODELS = [load_model_sheet(name) for name in ("qwen3-0.6b", "qwen3-8b", "qwen3-32b", "llama-3.1-8b")]
GPUS = [load_gpu_sheet(name) for name in ("h200", "h100", "a100-80", "l40s", "rtx 4090", "b200")]
MODEL, GPU = MODELS[1], GPUS[0]
ROOFLINE = RooflineModel(MODEL, GPU)
# Alike lengths or alike histories: here the shape tells exactly what prefill rows read of the cache.
EQUAL_QUERIES = st.tuples(st.integers(1, 3000), st.lists(st.integers(0, 40_000), min_size=1, max_size=40)).map(
    lambda drawn: [Row(drawn[0], history) for history in drawn[1]]
)
EQUAL_HISTORIES = st.tuples(st.integers(0, 40_000), st.lists(st.integers(2, 3000), min_size=1, max_size=40)).map(
    lambda drawn: [Row(query, drawn[0]) for query in drawn[1]]
)


def times(roofline: RooflineModel, shape: StepShape, graph_size: int | None = None) -> StepTimes[float]:
    return roofline.step_times(StepColumns.one_row(shape, graph_size))


@given(st.sampled_from(MODELS), st.sampled_from(GPUS), st.sampled_from([1, 2, 4, 8]), BATCHES, st.floats(0, 1))
def test_no_step_is_faster_than_its_flops_and_bytes_at_peak_rates(
    model: ModelSheet, gpu: GpuSheet, tp: int, rows: list[Row], sampled_share: float
) -> None:
    num_sampled = round(len(rows) * sampled_share)
    assert_within_the_peaks(RooflineModel(model, gpu, tp), model, gpu, tp, rows, num_sampled)


@given(st.sampled_from(MODELS), st.sampled_from(GPUS), EQUAL_QUERIES | EQUAL_HISTORIES, st.sampled_from([1, 2, 8]))
def test_no_step_is_faster_than_all_its_bytes_where_the_shape_tells_them(
    model: ModelSheet, gpu: GpuSheet, rows: list[Row], tp: int
) -> None:
    context = sum(row.context for row in rows)
    assert_within_the_peaks(RooflineModel(model, gpu, tp), model, gpu, tp, rows, len(rows), context)


@given(st.sampled_from(GPUS), st.integers(1, 256), st.integers(1, 40_000), st.integers(0, 100))
def test_a_padded_decode_step_is_not_faster_than_the_rows_alone(
    gpu: GpuSheet, num_rows: int, context: int, padding: int
) -> None:
    rows = [Row(1, context - 1)] * num_rows
    roofline = RooflineModel(MODEL, gpu)
    assert_within_the_peaks(roofline, MODEL, gpu, 1, rows, num_rows, graph_size=num_rows + padding)
    padded = times(roofline, shape_of(rows), num_rows + padding)
    assert padded.device_s >= times(roofline, shape_of(rows), num_rows).device_s


STEPS = st.tuples(BATCHES, st.integers(0, 9), st.none() | st.integers(1, 512)).map(
    lambda drawn: (shape_of(drawn[0], num_new_blocks=drawn[1] * 7, num_admitted=drawn[1]), drawn[2])
)


@given(
    st.lists(STEPS, min_size=1, max_size=20), st.sampled_from(MODELS), st.sampled_from(GPUS), st.sampled_from([1, 4])
)
def test_one_row_and_many_rows_give_the_same_bits(
    steps: list[tuple[StepShape, int | None]], model: ModelSheet, gpu: GpuSheet, tp: int
) -> None:
    roofline = RooflineModel(model, gpu, tp)
    together = roofline.step_times(StepColumns.from_rows(*zip(*steps, strict=True)))
    alone = [times(roofline, *step) for step in steps]
    assert together.duration_s.tobytes() == np.array([one.duration_s for one in alone]).tobytes()
    assert together.device_s.tobytes() == np.array([one.device_s for one in alone]).tobytes()
    assert together.duration_s.dtype == together.device_s.dtype == np.float64


@pytest.mark.parametrize("graph_size", [None, 8])
def test_steps_of_one_size_differ_by_their_contexts_and_requests(graph_size: int | None) -> None:
    roofline = RooflineModel(MODEL, GPU)
    rows = [Row(1, 900)] * 5 if graph_size else [Row(30, 7), Row(40, 0), Row(1, 900)]
    longer = [Row(row.query, row.history + 5000) for row in rows]
    shapes = [shape_of(rows), shape_of(longer), shape_of(rows, num_new_blocks=3, num_admitted=2)]
    alone = [times(roofline, shape, graph_size) for shape in shapes]
    assert len(set(alone)) == 3
    together = roofline.step_times(StepColumns.from_rows(shapes, [graph_size] * 3))
    assert together.duration_s.tolist() == [one.duration_s for one in alone]
    assert together.device_s.tolist() == [one.device_s for one in alone]


@given(STEPS, st.sampled_from(MODELS), st.sampled_from([1, 8]))
def test_terms_add_up(step: tuple[StepShape, int | None], model: ModelSheet, tp: int) -> None:
    roofline = RooflineModel(model, GPU, tp)
    terms = roofline.explain(*step)
    found = times(roofline, *step)
    assert sum(term.time_s for term in terms) == pytest.approx(found.duration_s, rel=1e-13)
    assert sum(term.time_s for term in terms if term.limited_by != "host") == pytest.approx(found.device_s, rel=1e-13)


@given(BATCHES, st.integers(0, 39), st.integers(1, 4000))
def test_more_context_is_never_faster(rows: list[Row], index: int, extra: int) -> None:
    row = rows[index % len(rows)]
    longer = [*rows]
    longer[index % len(rows)] = Row(row.query, row.history + extra)
    assert times(ROOFLINE, shape_of(longer)).duration_s >= times(ROOFLINE, shape_of(rows)).duration_s


@given(st.lists(st.builds(Row, st.integers(1, 3000), st.just(0)), min_size=1, max_size=40), st.integers(1, 3000))
def test_one_more_prompt_is_never_faster(rows: list[Row], query: int) -> None:
    more, fewer = times(ROOFLINE, shape_of([*rows, Row(query, 0)])), times(ROOFLINE, shape_of(rows))
    assert more.duration_s >= fewer.duration_s
    assert more.device_s >= fewer.device_s


@given(STEPS)
def test_a_machine_twice_as_slow_takes_exactly_twice_as_long(step: tuple[StepShape, int | None]) -> None:
    slow = replace(
        GPU,
        flops_per_s=GPU.flops_per_s / 2,
        memory_bytes_per_s=GPU.memory_bytes_per_s / 2,
        link_bytes_per_s=GPU.link_bytes_per_s / 2,
        overheads=doubled(GPU.overheads),
        host=doubled(GPU.host),
    )
    fast_times, slow_times = times(RooflineModel(MODEL, GPU, 2), *step), times(RooflineModel(MODEL, slow, 2), *step)
    assert slow_times == (2 * fast_times.duration_s, 2 * fast_times.device_s)


def doubled(seconds: Seconds) -> Seconds:
    return replace(seconds, **{field.name: 2 * getattr(seconds, field.name) for field in fields(seconds)})


def by_name(roofline: RooflineModel, shape: StepShape, graph_size: int | None = None) -> dict[str, Term]:
    return {term.name: term for term in roofline.explain(shape, graph_size)}


def test_large_prompts_are_limited_by_compute_and_small_decodes_by_memory() -> None:
    prompt, decode = by_name(ROOFLINE, shape_of([Row(8192, 0)])), by_name(ROOFLINE, decode_shape(4, 1000), 4)
    products = ("qkv projection", "output projection", "gate and up projection", "down projection")
    assert {prompt[name].limited_by for name in (*products, "prefill attention")} == {"compute"}
    assert {decode[name].limited_by for name in (*products, "head", "decode attention", "sampler")} == {"memory"}
    assert by_name(RooflineModel(MODEL, GPU, 2), decode_shape(4, 1000), 4)["all-reduce"].limited_by == "link"
    assert prompt["kernel gaps"].limited_by == "latency"
    assert prompt["host: step"].limited_by == "host"


def test_terms_count_what_happens() -> None:
    terms = by_name(ROOFLINE, shape_of([Row(500, 0), Row(1, 9)], num_new_blocks=33, num_admitted=2))
    counted = ("host: step", "host: rows", "host: prompt tokens", "host: admissions", "host: blocks", "graph launch")
    assert [terms[name].count for name in counted] == [1, 2, 500, 2, 33, 0]
    assert terms["host: blocks"].time_s == 33 * GPU.host.block_s
    assert terms["prefill attention"].count == terms["decode attention"].count == 36
    assert terms["launches not hidden"].count == terms["kernel gaps"].count
    assert by_name(ROOFLINE, decode_shape(1, 9), 1)["graph launch"].count == 1
    assert by_name(ROOFLINE, decode_shape(1, 9), 1)["launches not hidden"].count == 0


def test_launches_of_an_eager_step_hide_behind_a_long_device_time_only() -> None:
    roofline = RooflineModel(MODELS[0], GPU)
    small, large = decode_shape(1, 9), shape_of([Row(16_384, 0)])
    exposed = by_name(roofline, small)["launches not hidden"]
    launches_s = exposed.count * GPU.overheads.launch_s + 28 * GPU.overheads.attention_launch_s
    assert exposed.time_s == pytest.approx(launches_s - times(roofline, small).device_s)
    assert exposed.time_s > 0.001
    assert by_name(roofline, large)["launches not hidden"].time_s == 0
    assert times(roofline, small, 1).duration_s < times(roofline, small).duration_s


def test_two_gpus_halve_the_work_and_add_all_reduces() -> None:
    shape = shape_of([Row(8192, 0)])
    one, two = by_name(ROOFLINE, shape), by_name(RooflineModel(MODEL, GPU, 2), shape)
    for name in ("qkv projection", "prefill attention", "gate and up projection", "down projection"):
        assert two[name].time_s == pytest.approx(one[name].time_s / 2)
    # 73 all-reduces of 8,192 x 4,096 bf16 at 0.75 x 450 GB/s.
    assert two["all-reduce"].time_s == pytest.approx(73 * 8192 * 4096 * 2 / (0.75 * 450e9), rel=0.01)
    assert two["all-reduce latency"].time_s == 74 * GPU.overheads.all_reduce_s
    assert one["all-reduce"].time_s == one["all-reduce latency"].time_s == 0


@pytest.mark.parametrize("shape", [decode_shape(64, 4000), shape_of([Row(8192, 0)])])
def test_more_gpus_are_faster_but_not_linearly(shape: StepShape) -> None:
    durations = [times(RooflineModel(MODEL, GPU, tp), shape).duration_s for tp in (1, 2, 4, 8)]
    assert durations == sorted(durations, reverse=True)
    assert durations[3] > durations[0] / 8


def test_a_faster_card_is_faster() -> None:
    for shape in (decode_shape(64, 2000), shape_of([Row(4096, 0)])):
        fastest_first = sorted(GPUS, key=lambda gpu: times(RooflineModel(MODEL, gpu), shape).duration_s)
        assert fastest_first[0].name == "B200"
        assert fastest_first[1].name == "H200"
        assert {fastest_first[-1].name, fastest_first[-2].name} == {"L40S", "RTX 4090"}


def test_a_degree_that_does_not_fit_is_refused() -> None:
    with pytest.raises(SettingError, match="32 query heads, which 3 GPUs"):
        RooflineModel(MODEL, GPU, 3)


# Decode steps of Qwen3-0.6B on one H200, measured with an offline engine: rows, context, CUDA graph alone (without
# head and sampler) and whole step, in milliseconds, beside the predictions. The kernel gap and the host's share of the
# H200 sheet come from these measurements; the rest is bytes, FLOPs and rates measured on their own.
#
#   rows x context   graph: measured, predicted   step: measured, predicted
#        1 x 512              1.72   1.64                2.26   2.17
#       32 x 512              1.95   2.13                2.54   2.79
#      128 x 512              3.64   3.65                4.54   4.70
#      256 x 512              5.77   5.70                7.13   7.29
#      256 x 2048            16.8   17.30               18.1   18.89
MEASURED = [
    (1, 512, 1.72, 2.26),
    (32, 512, 1.95, 2.54),
    (128, 512, 3.64, 4.54),
    (256, 512, 5.77, 7.13),
    (256, 2048, 16.8, 18.1),
]


@pytest.mark.parametrize(("num_rows", "context", "graph_ms", "step_ms"), MEASURED)
def test_predictions_are_near_the_steps_measured_on_an_h200(
    num_rows: int, context: int, graph_ms: float, step_ms: float
) -> None:
    roofline, shape = RooflineModel(MODELS[0], GPU), decode_shape(num_rows, context)
    terms = by_name(roofline, shape, num_rows)
    outside = terms["head"].time_s + terms["sampler"].time_s + GPU.overheads.gap_s * (1 + terms["sampler"].count)
    found = times(roofline, shape, num_rows)
    assert 1e3 * (found.device_s - outside) == pytest.approx(graph_ms, rel=0.1)
    assert 1e3 * found.duration_s == pytest.approx(step_ms, rel=0.1)
