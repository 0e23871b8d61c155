import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.errors import RunError
from analysis.run_columns import RunColumns
from tests.run_builder import RunBuilder, small_run

Runs = list[list[tuple[int, int]]]


def test_tokens_per_step(tmp_path: Path) -> None:
    columns = RunColumns.of(small_run(tmp_path).build())
    assert columns.emissions.tokens_per_step(5).tolist() == [1, 2, 1, 1, 1]


def test_gaps_pool_those_inside_runs_and_between_them(tmp_path: Path) -> None:
    columns = RunColumns.of(small_run(tmp_path).build())
    gaps = columns.emissions.gaps_s(columns.steps)
    assert np.repeat(gaps.values, np.diff(gaps.upto, prepend=0)).tolist() == [1.0, 1.0, 2.0, 3.0]


def test_gaps_of_some_requests(tmp_path: Path) -> None:
    columns = RunColumns.of(small_run(tmp_path).build())
    only_b = columns.emissions.of_requests(np.array([False, True, False]))
    assert only_b.gaps_s(columns.steps).total() == 4.0
    assert only_b.tokens_per_step(5).tolist() == [0, 1, 0, 1, 1]


def test_largest_gap_of_each_request(tmp_path: Path) -> None:
    columns = RunColumns.of(small_run(tmp_path).build())
    largest = columns.emissions.largest_gaps_s(columns.steps, 3)
    assert largest[:2].tolist() == [2.0, 3.0]
    assert np.isnan(largest[2])


def test_one_token_has_no_gap(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step(decode=1)
    builder.request("a", emissions=[(0, 1)])
    columns = RunColumns.of(builder.build())
    assert columns.emissions.gaps_s(columns.steps).size == 0
    assert np.isnan(columns.emissions.largest_gaps_s(columns.steps, 1)).all()


def test_run_without_requests(tmp_path: Path) -> None:
    columns = RunColumns.of(RunBuilder(tmp_path).build())
    assert columns.emissions.gaps_s(columns.steps).size == 0
    assert columns.emissions.tokens_per_step(0).tolist() == []
    assert columns.emissions.largest_gaps_s(columns.steps, 0).tolist() == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"emission_counts": [4], "output_tokens": 4, "emission_first_steps": [2]}, "table steps does not hold"),
        ({"emission_first_steps": [-1]}, "table steps does not hold"),
        ({"emission_counts": [2]}, "emissions that do not sum up"),
        ({"emission_counts": [3, 1]}, "emission lists of different lengths"),
        ({"emission_first_steps": [0, 2], "emission_counts": [3, 0]}, "a run of fewer than one token"),
        ({"emission_first_steps": [2, 0], "emission_counts": [1, 2]}, "emissions that are not in order"),
        ({"emission_first_steps": [0, 1], "emission_counts": [2, 1]}, "emissions that are not in order"),
    ],
)
def test_contradictions_are_errors(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    builder = small_run(tmp_path)
    builder.requests[0] = builder.requests[0]._replace(**changes)
    with pytest.raises(RunError, match=f"'a' has .*{message}" if "emission" not in message else message):
        RunColumns.of(builder.build())


@st.composite
def emission_runs(draw: st.DrawFn) -> Runs:
    """For each of some requests, the steps out of 20 that gave it a token, as runs."""
    requests = draw(st.lists(st.sets(st.integers(0, 19), min_size=1), min_size=1, max_size=5))
    runs: Runs = []
    for steps in requests:
        own: list[tuple[int, int]] = []
        for step in sorted(steps):
            if own and sum(own[-1]) == step:
                own[-1] = (own[-1][0], own[-1][1] + 1)
            else:
                own.append((step, 1))
        runs.append(own)
    return runs


@settings(max_examples=60, deadline=None)
@given(emission_runs(), st.lists(st.integers(1, 50), min_size=20, max_size=20))
def test_same_gaps_as_token_by_token(runs: Runs, ticks: list[int]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        builder = RunBuilder(Path(directory))
        for tick in ticks:
            builder.step(duration_s=tick / 1024, decode=1)
        for k, own in enumerate(runs):
            builder.request(f"r{k}", emissions=own)
        columns = RunColumns.of(builder.build())
    times_s = [[builder.end_s(first + k) for first, count in own for k in range(count)] for own in runs]
    gaps_s = [np.diff(times) for times in times_s]
    found = columns.emissions.gaps_s(columns.steps)
    assert np.repeat(found.values, np.diff(found.upto, prepend=0)).tolist() == sorted(np.concatenate(gaps_s))
    requests = columns.requests
    num_gaps = [len(own) for own in gaps_s]
    assert num_gaps == (requests.output_tokens - 1).tolist()
    e2e_less_ttft = (requests.last_token_s - requests.arrival_s) - (requests.first_token_s - requests.arrival_s)
    assert [own.sum() for own in gaps_s] == e2e_less_ttft.tolist()
    largest = columns.emissions.largest_gaps_s(columns.steps, len(runs))
    np.testing.assert_array_equal(largest, [own.max() if len(own) else np.nan for own in gaps_s])
