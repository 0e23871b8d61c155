import json
from pathlib import Path

from analysis.comparison import compare
from analysis.metric_row import MetricRow
from analysis.step_classes import StepClass
from tests.run_builder import RunBuilder, small_run


def _early(path: Path, by_s: float = 1.0, **meta: object) -> RunBuilder:
    """The small run, whose first request has come sooner."""
    run = small_run(path, **meta)
    run.requests[0] = run.requests[0]._replace(arrival_s=-by_s)
    return run


def test_equal_runs(tmp_path: Path) -> None:
    a, b = (small_run(tmp_path / name).build(summary={"decision_digest": "d"}) for name in "ab")
    comparison = compare(a, b)

    assert comparison.warnings == ()
    assert comparison.decisions.is_equal is True
    assert all(row.a == row.b for row in comparison.metrics)
    assert {error.error.bias_s for error in comparison.requests} == {0.0}
    assert {error.matched.mape for error in comparison.steps} == {0.0}
    assert {error.difference.mean_abs for error in comparison.levels} == {0.0}
    assert comparison.num_matched == 5


def test_metrics_of_both(tmp_path: Path) -> None:
    rows = {
        row.metric: row for row in compare(small_run(tmp_path / "a").build(), _early(tmp_path / "b").build()).metrics
    }

    assert rows["mean_ttft_ms"] == MetricRow("mean_ttft_ms", 1250.0, 1750.0)
    assert (rows["mean_ttft_ms"].diff, rows["mean_ttft_ms"].diff_percent) == (500.0, 40.0)
    assert {f"{s}_{m}_ms" for s in ("mean", "p50", "p90", "p95", "p99") for m in ("ttft", "tpot", "itl", "e2el")} <= {
        *rows
    }
    assert {"mean_queue_ms", "request_throughput", "output_throughput", "total_token_throughput"} <= {*rows}


def test_each_request_is_compared(tmp_path: Path) -> None:
    comparison = compare(small_run(tmp_path / "a").build(), _early(tmp_path / "b").build())
    (ttft, *_) = comparison.requests

    assert (ttft.latency, ttft.error.size, ttft.error.bias_s) == ("ttft", 2, 0.5)


def test_requests_of_other_traces_are_not_compared(tmp_path: Path) -> None:
    other = small_run(tmp_path / "b", trace={"digest": "xyz"}).build()
    comparison = compare(small_run(tmp_path / "a").build(), other)

    assert comparison.requests == ()
    assert comparison.warnings[0].startswith("The traces differ: ")


def test_steps_are_matched_until_decisions_part(tmp_path: Path) -> None:
    slow = small_run(tmp_path / "b")
    slow.steps[1] = slow.steps[1]._replace(duration_s=0.5)
    slow.steps[2] = slow.steps[2]._replace(num_released=7)
    comparison = compare(small_run(tmp_path / "a").build(), slow.build())
    mixed = next(each for each in comparison.steps if each.step_class is StepClass.MIXED_EAGER)

    assert (comparison.decisions.first_difference, comparison.num_matched) == (2, 2)
    assert (mixed.matched.size, mixed.matched.bias_s) == (1, -0.5)
    assert {each.matched.size for each in comparison.steps} == {0, 1}


def test_runs_that_begin_with_other_steps_are_not_matched(tmp_path: Path) -> None:
    later = small_run(tmp_path / "b")
    later.steps = [row._replace(step=row.step + 1) for row in later.steps]
    later.events = [row._replace(step=row.step + 1) for row in later.events]
    later.requests = [
        row._replace(emission_first_steps=[first + 1 for first in row.emission_first_steps]) for row in later.requests
    ]

    assert compare(small_run(tmp_path / "a").build(), later.build()).num_matched == 0


def test_repetition_shows_the_machines_own_spread(tmp_path: Path) -> None:
    a, b = small_run(tmp_path / "a").build(), _early(tmp_path / "b", by_s=0.5).build()
    other = _early(tmp_path / "c", by_s=0.75, seed=3).build()
    comparison = compare(a, b, [other])
    rows = {row.metric: row for row in comparison.metrics}

    assert rows["mean_ttft_ms"].spread == 375.0
    assert rows["mean_ttft_ms"].is_noise is True
    assert rows["mean_tpot_ms"].spread == 0.0
    assert comparison.requests[0].spread is not None
    assert comparison.requests[0].spread.bias_s == 0.375
    assert comparison.steps[0].spread is not None
    assert comparison.levels[0].spread is not None
    assert comparison.warnings == (f"Spread, {other.path}: Seeds differ: 0 and 3.",)


def test_empty_runs(tmp_path: Path) -> None:
    comparison = compare(RunBuilder(tmp_path / "a").build(), RunBuilder(tmp_path / "b").build())

    assert comparison.decisions.is_equal is True
    assert json.loads(json.dumps(comparison.as_dict(), allow_nan=False))["first_difference"] is None


def test_all_of_it_is_json(tmp_path: Path) -> None:
    run = small_run(tmp_path / "a", settings={"backend": "gpu", "model": "m"}).build()
    value = json.loads(json.dumps(compare(run, run, [run]).as_dict(), allow_nan=False))

    assert value["names"] == [f"{run.path} (gpu, m)"] * 2
    assert [error["latency"] for error in value["requests"]] == ["ttft", "tpot", "e2e", "queue"]
    assert [error["class"] for error in value["steps"]] == ["decode in graph", "prefill eager", "mixed eager"]
    assert [error["level"] for error in value["levels"]] == ["running", "waiting"]
    assert value["num_matched_steps"] == 5
    assert value["decisions_equal"] is True
