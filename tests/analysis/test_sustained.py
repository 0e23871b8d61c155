from collections.abc import Sequence
from pathlib import Path

import pytest

from analysis import metrics
from analysis.request_columns import RequestColumns
from analysis.run_columns import RunColumns
from analysis.sustained import sustained_per_s
from tests.run_builder import RunBuilder


def served(path: Path, *requests: tuple[float, float, int]) -> RequestColumns:
    """Requests of (arrival, end, prompt tokens), in a run of one-second steps."""
    builder = RunBuilder(path)
    for _ in range(int(max(end_s for _, end_s, _ in requests))):
        builder.step(decode=1, running=1)
    for k, (arrival_s, end_s, num_tokens) in enumerate(requests):
        builder.request(f"r{k}", arrival_s=arrival_s, emissions=[(int(end_s) - 1, 1)], input_tokens=num_tokens)
    return RunColumns.of(builder.build()).requests


def bound(requests: RequestColumns) -> float | None:
    return sustained_per_s(requests, metrics.arrival_span(requests), metrics.whole_span(requests))


def even(num: int, gap_s: float, service_s: float) -> Sequence[tuple[float, float, int]]:
    return [(k * gap_s, (k + 1) * service_s, 10) for k in range(num)]


def test_whole_run_with_its_drain_is_a_bound(tmp_path: Path) -> None:
    """One a second comes, one in two seconds is served: 100 within 200 s."""
    assert bound(served(tmp_path, *even(100, 1.0, 2.0))) == pytest.approx(0.5)


def test_slow_start_is_left_out(tmp_path: Path) -> None:
    """In the second half, 100 to 200 s, 101 of 111 requests come, and 300 s later all are served."""
    slow = [(10.0 * k, 10.0 * k + 2, 10) for k in range(10)]
    quick = [(100.0 + k, 100.0 + 3 * (k + 1), 10) for k in range(101)]
    assert bound(served(tmp_path, *slow, *quick)) == pytest.approx(101 / 303)


def test_small_requests_that_go_first_are_not_taken_for_all(tmp_path: Path) -> None:
    """Fifty of 10 tokens are served while requests come, fifty of 190 later: 50 in 99 s are 5 of mean size."""
    small = [(2.0 * k, 2.0 * k + 1, 10) for k in range(50)]
    large = [(2.0 * k + 1, 119.0 + 19 * k, 190) for k in range(50)]
    requests = served(tmp_path, *small, *large)
    assert bound(requests) == pytest.approx(100 / 1050)
    arrivals = metrics.arrival_span(requests)
    assert sustained_per_s(requests, arrivals, arrivals) == pytest.approx(50 * 10 / 100 / 99)


def test_without_an_end_there_is_none(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step(decode=1, running=1)
    builder.request("r0", status="unfinished")
    assert bound(RunColumns.of(builder.build()).requests) is None
