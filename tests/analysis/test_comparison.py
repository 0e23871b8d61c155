import io
import json
from pathlib import Path

import pytest

from analysis.comparison import MetricRow, compare
from analysis.comparison_table import print_comparison
from tests.run_builder import META, RunBuilder, small_run


def with_digest(builder: RunBuilder, digest: str | None) -> RunBuilder:
    builder.build(summary={"decision_digest": digest})
    return builder


@pytest.mark.parametrize(
    ("a", "b", "diff"),
    [(2.0, 3.0, 50.0), (2.0, 1.0, -50.0), (0.0, 0.0, 0.0), (0.0, 1.0, None), (None, 1.0, None), (1.0, None, None)],
)
def test_difference_in_percent(a: float | None, b: float | None, diff: float | None) -> None:
    assert MetricRow("x", a, b).diff_percent == diff


def test_equal_runs(tmp_path: Path) -> None:
    a, b = (small_run(tmp_path / name).build(summary={"decision_digest": "d"}) for name in "ab")
    comparison = compare(a, b)
    assert comparison.warnings == ()
    assert comparison.decisions_equal is True
    assert comparison.decisions_text == "Decisions: equal in every step."
    assert all(row.a == row.b for row in comparison.rows)


def test_metrics_of_both(tmp_path: Path) -> None:
    slow = small_run(tmp_path / "b")
    slow.requests[0] = slow.requests[0]._replace(arrival_s=-1.0)
    rows = {row.metric: row for row in compare(small_run(tmp_path / "a").build(), slow.build()).rows}
    assert rows["mean_ttft_ms"] == MetricRow("mean_ttft_ms", 1250.0, 1750.0)
    assert rows["mean_ttft_ms"].diff_percent == 40.0
    assert {f"{s}_{m}_ms" for s in ("mean", "p50", "p90", "p95", "p99") for m in ("ttft", "tpot", "itl", "e2el")} <= {
        *rows
    }
    assert {"mean_queue_ms", "request_throughput", "output_throughput", "total_token_throughput"} <= {*rows}


def test_warnings_name_what_differs(tmp_path: Path) -> None:
    a = small_run(tmp_path / "a", versions={"twinserve": "0.1"}).build()
    b = small_run(
        tmp_path / "b",
        trace={"digest": "xyz"},
        settings=META["settings"] | {"block_size": 256, "extra": 1},
        num_kv_blocks=200,
        versions={"twinserve": "0.2"},
    ).build(complete=False)
    assert compare(a, b).warnings == (
        f"{b.path} is partial: it was stopped before its end.",
        "The traces differ: digest abc and xyz.",
        "Num_kv_blocks differs: 100 and 200.",
        "Versions differs: {'twinserve': '0.1'} and {'twinserve': '0.2'}.",
        "Setting block_size differs: 16 and 256.",
        "Setting extra differs: None and 1.",
    )


def test_first_event_that_differs(tmp_path: Path) -> None:
    other = small_run(tmp_path / "b")
    other.events[4] = other.events[4]._replace(block_ids=[1, 3])
    comparison = compare(small_run(tmp_path / "a").build(), other.build())
    assert comparison.decisions_equal is False
    assert comparison.first_difference == 1
    assert comparison.decisions_text == "Decisions: they differ, first in step 1."


def test_first_shape_that_differs(tmp_path: Path) -> None:
    other = small_run(tmp_path / "b")
    other.steps[4] = other.steps[4]._replace(decode_context=99)
    assert compare(small_run(tmp_path / "a").build(), other.build()).first_difference == 4


def test_times_are_no_decisions(tmp_path: Path) -> None:
    other = small_run(tmp_path / "b")
    other.steps = [row._replace(start_s=row.start_s * 2, duration_s=row.duration_s * 2) for row in other.steps]
    assert compare(small_run(tmp_path / "a").build(), other.build()).decisions_equal is True


def test_step_that_only_one_run_has(tmp_path: Path) -> None:
    longer = small_run(tmp_path / "b")
    longer.step()
    assert compare(longer.build(), small_run(tmp_path / "a").build()).first_difference == 5


def test_digests_decide(tmp_path: Path) -> None:
    a = small_run(tmp_path / "a").build(summary={"decision_digest": "d1"})
    b = small_run(tmp_path / "b").build(summary={"decision_digest": "d2"})
    comparison = compare(a, b)
    assert comparison.decisions_equal is False
    assert comparison.decisions_text == "Decisions: they differ."


def test_partial_run_agrees_as_far_as_it_goes(tmp_path: Path) -> None:
    partial = small_run(tmp_path / "b")
    partial.steps, partial.events, partial.requests = partial.steps[:3], partial.events[:8], partial.requests[:1]
    comparison = compare(small_run(tmp_path / "a").build(), partial.build(complete=False))
    assert comparison.decisions_equal is None
    assert comparison.decisions_text == "Decisions: equal as far as both runs got."


def test_empty_runs(tmp_path: Path) -> None:
    comparison = compare(RunBuilder(tmp_path / "a").build(), RunBuilder(tmp_path / "b").build())
    assert comparison.decisions_equal is True
    assert json.loads(json.dumps(comparison.as_dict(), allow_nan=False))["first_difference"] is None


def test_table_as_text(tmp_path: Path) -> None:
    slow = small_run(tmp_path / "b", seed=1)
    slow.requests[0] = slow.requests[0]._replace(arrival_s=-1.0)
    out = io.StringIO()
    print_comparison(compare(small_run(tmp_path / "a").build(), slow.build()), out)
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert lines[0] == ["Warning:", "Seed", "differs:", "0", "and", "1."]
    assert lines[1] == ["metric", "A", "B", "difference"]
    assert ["mean_ttft_ms", "1250.000", "1750.000", "+40.00", "%"] in lines
    assert lines[-1] == ["Decisions:", "equal", "in", "every", "step."]
    assert "\x1b" not in out.getvalue()
