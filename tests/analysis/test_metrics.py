from pathlib import Path

import numpy as np
import pytest

from analysis import metrics
from analysis.metrics import Span
from analysis.run_columns import RunColumns
from tests.run_builder import RunBuilder, small_run


@pytest.fixture
def small(tmp_path: Path) -> RunColumns:
    return RunColumns.of(small_run(tmp_path).build())


@pytest.fixture
def empty(tmp_path: Path) -> RunColumns:
    return RunColumns.of(RunBuilder(tmp_path).build())


def test_ttft_counts_from_arrival(small: RunColumns) -> None:
    assert metrics.ttft_s(small.requests)[:2].tolist() == [1.0, 1.5]


def test_e2e_ends_with_the_last_token(small: RunColumns) -> None:
    assert metrics.e2e_s(small.requests)[:2].tolist() == [4.0, 5.5]


def test_tpot_leaves_out_the_first_token(small: RunColumns) -> None:
    assert metrics.tpot_s(small.requests)[:2].tolist() == [1.5, 2.0]


def test_tpot_of_one_token_is_undefined(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step(decode=1)
    builder.request("a", emissions=[(0, 1)])
    assert np.isnan(metrics.tpot_s(RunColumns.of(builder.build()).requests)).all()


def test_latency_split(small: RunColumns) -> None:
    split = metrics.latency_split(small.requests, small.preemptions)
    assert split.queue_s[:2].tolist() == [0.0, 0.5]
    assert split.prefill_s[:2].tolist() == [1.0, 1.0]
    assert split.decode_s[:2].tolist() == [3.0, 2.0]
    assert split.preempted_s[:2].tolist() == [0.0, 2.0]


def test_preemption_before_the_first_token_is_no_prefill_time(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    for _ in range(6):
        builder.step(decode=1)
    builder.event(1, "a", "preempted")
    builder.event(3, "a", "resumed", num_tokens=0)
    builder.request("a", scheduled=0, emissions=[(3, 2)], num_preemptions=1, preempted_s=2.0)
    columns = RunColumns.of(builder.build())
    split = metrics.latency_split(columns.requests, columns.preemptions)
    assert [part.tolist() for part in split] == [[0.0], [2.0], [1.0], [2.0]]


def test_split_sums_up_to_e2e(small: RunColumns) -> None:
    split = metrics.latency_split(small.requests, small.preemptions)
    assert np.sum(split, axis=0)[:2].tolist() == metrics.e2e_s(small.requests)[:2].tolist()


def test_requests_without_tokens_have_no_latency(small: RunColumns) -> None:
    for name, values in small.latencies().items():
        assert np.isnan(values[2]) == (name != "preempted")


def test_spans(small: RunColumns) -> None:
    assert metrics.whole_span(small.requests) == Span(0.0, 6.0)
    assert metrics.arrival_span(small.requests) == Span(0.0, 1.0)
    assert metrics.steady_span(small.requests, 0.25) == Span(0.25, 1.0)
    assert metrics.steady_span(small.requests, 1.0) is None


def test_spans_of_an_empty_run(empty: RunColumns) -> None:
    assert metrics.whole_span(empty.requests) is None
    assert metrics.arrival_span(empty.requests) is None
    assert metrics.steady_span(empty.requests, 0.0) is None


def test_rate_needs_time() -> None:
    assert metrics.rate(3, 2.0) == 1.5
    assert metrics.rate(3, 0.0) is None


def test_peak_of_tokens_per_second(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    for duration_s in (0.5, 0.25, 0.5, 0.5):
        builder.step(duration_s=duration_s, decode=3)
    builder.step(start_s=1e9, decode=3)
    builder.request("a", emissions=[(0, 4)])
    builder.request("b", emissions=[(0, 3), (4, 1)])
    builder.request("c", emissions=[(1, 2)])
    columns = RunColumns.of(builder.build())
    # Ends at 0.5, 0.75, 1.25, 1.75 and an age later: 2 + 3 tokens in the first second, 3 + 1 in the next.
    assert metrics.max_output_tokens_per_s(columns.emissions, columns.steps, 0.0) == 5.0
    assert metrics.max_output_tokens_per_s(columns.emissions, columns.steps, 0.25) == 5.0
    assert metrics.max_output_tokens_per_s(columns.emissions, columns.steps, 0.6) == 6.0


def test_peak_of_an_empty_run(empty: RunColumns) -> None:
    assert metrics.max_output_tokens_per_s(empty.emissions, empty.steps, 0.0) == 0.0


def test_concurrency_counts_from_arrival_to_end(small: RunColumns) -> None:
    assert metrics.max_concurrent_requests(small.requests) == 2


def test_request_that_ends_makes_room_for_one_that_arrives(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    for _ in range(3):
        builder.step(decode=1)
    builder.request("a", arrival_s=0.0, emissions=[(0, 1)])
    builder.request("b", arrival_s=1.0, emissions=[(1, 1)])
    builder.request("c", arrival_s=2.0, emissions=[(2, 1)])
    assert metrics.max_concurrent_requests(RunColumns.of(builder.build()).requests) == 1


def test_unfinished_requests_stay(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.request("a", arrival_s=0.0, status="unfinished")
    builder.request("b", arrival_s=5.0, status="unfinished")
    builder.request("c", arrival_s=None, status="unfinished")
    assert metrics.max_concurrent_requests(RunColumns.of(builder.build(complete=False)).requests) == 2


def test_concurrency_of_an_empty_run(empty: RunColumns) -> None:
    assert metrics.max_concurrent_requests(empty.requests) == 0


def test_time_averages_weigh_by_duration(small: RunColumns) -> None:
    assert metrics.time_average(small.steps.num_running, small.steps) == pytest.approx(7 / 6)
    assert metrics.time_average(small.steps.num_waiting, small.steps) == 0.5
    assert metrics.time_average(metrics.kv_usage(small.steps, 100), small.steps) == pytest.approx(0.14)


def test_time_average_without_time(empty: RunColumns) -> None:
    assert metrics.time_average(empty.steps.num_running, empty.steps) is None


def test_stepping_time_within_a_span(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step()
    builder.step(start_s=2.0)
    steps = RunColumns.of(builder.build()).steps
    assert metrics.stepping_s(steps, Span(0.0, 3.0)) == 2.0
    assert metrics.stepping_s(steps, Span(0.5, 2.25)) == 0.75
    assert metrics.stepping_s(steps, Span(1.25, 1.75)) == 0.0


def test_tokens_within_a_span(small: RunColumns) -> None:
    assert metrics.tokens_inside(small.emissions, small.steps, Span(1.5, 4.0)) == 3
