import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from analysis.errors import RunError
from analysis.run import load as load_run
from analysis.sweep import curves, load
from analysis.sweep_columns import COST_MODEL, FIGURES, JUDGED, VERDICT
from analysis.sweep_files import remove_files, write_files
from tests.analysis.small_sweep import RATES, small_sweep


def test_frame_has_a_row_a_run_and_the_documented_columns(tmp_path: Path) -> None:
    frame = load(small_sweep(tmp_path))

    assert list(frame.columns) == [
        *("run", "rate_scale", "policy", "max_num_seqs"),
        *(column.name for column in (*FIGURES, *COST_MODEL, *VERDICT, *JUDGED)),
    ]
    assert frame["run"].tolist() == list(RATES)
    assert frame["rate_scale"].tolist() == [1.0, 2.0]
    assert frame["max_num_seqs"].tolist() == [4, 4]
    # a: arrives at 0, first token at 1 s; b: arrives at 0.5 s, first token at 2 s.
    assert frame["mean_ttft_ms"].tolist() == [1250.0, 1250.0]
    assert frame["decision_digest"].tolist() == ["d", "d"]
    assert frame["meets_slo"].isna().all()


def test_figures_are_those_of_the_summary(tmp_path: Path) -> None:
    frame = load(small_sweep(tmp_path))
    summary = load_run(tmp_path / next(iter(RATES))).summary

    assert summary is not None
    for column in FIGURES:
        value = None if frame[column.name].isna()[0] else frame[column.name][0]
        assert value == summary[column.name], column.name
    assert frame["arrivals_per_s"][0] == summary["verdict"]["arrivals_per_s"]
    assert frame["verdict"][0] == summary["verdict"]["status"]


def test_limits_of_the_sweep_count_and_not_those_of_the_runs(tmp_path: Path) -> None:
    frame = load(small_sweep(tmp_path, slo={"ttft": 1.2}, attainment=0.3))

    assert frame["slo_attainment"].tolist() == [1 / 3, 1 / 3]  # a of a, b, and the refused c
    assert frame["meets_slo"].tolist() == [True, True]
    assert frame["is_highest_in_slo"].tolist() == [False, True]


def test_incomplete_sweep_is_refused_unless_asked_for(tmp_path: Path) -> None:
    small_sweep(tmp_path, is_complete=False)

    with pytest.raises(RunError, match=r"1 of 2 runs in .* are not complete, such as vllm,max_num_seqs=4,rate=2; "):
        load(tmp_path)
    assert load(tmp_path, partial=True)["rate_scale"].tolist() == [1.0]


def test_sweep_without_a_complete_run_is_an_empty_frame(tmp_path: Path) -> None:
    small_sweep(tmp_path, runs={})

    assert len(load(tmp_path, partial=True)) == 0


def test_both_files_hold_the_frame(tmp_path: Path) -> None:
    made = curves(small_sweep(tmp_path))
    write_files(tmp_path, made)
    table = pq.read_table(tmp_path / "sweep.parquet")
    with (tmp_path / "sweep.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))

    assert table.column_names == list(rows[0])
    assert table.column("run").to_pylist() == [row["run"] for row in rows] == list(RATES)
    assert table.column("duration").to_pylist() == [float(row["duration"]) for row in rows]
    assert {row["slo_attainment"] for row in rows} == {""}
    assert table.column("slo_attainment").to_pylist() == [None, None]
    metadata = table.schema.field("mean_ttft_ms").metadata
    assert metadata is not None
    assert metadata[b"doc"].startswith(b"mean of arrival to first token")
    remove_files(tmp_path)
    assert not list(tmp_path.glob("sweep.[pc]*"))


def test_folder_that_is_no_sweep(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"is not the folder of a sweep: it holds no sweep\.json"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"format": "other"}, "is not of format twinserve-sweep"),
        ({"format_version": 2}, "is not of format twinserve-sweep, version 1"),
        ({"runs": None}, "is damaged"),
        ({"runs": {"a": {"rate_scale": 1.0}}}, "run a gives rate_scale, not max_num_seqs, policy, rate_scale"),
        ({"attainment": "most"}, "is damaged"),
    ],
)
def test_damaged_record(change: dict[str, Any], part: str, tmp_path: Path) -> None:
    file = small_sweep(tmp_path) / "sweep.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))

    with pytest.raises(RunError) as raised:
        load(tmp_path)
    assert part in str(raised.value)


def test_summary_that_lacks_a_figure(tmp_path: Path) -> None:
    file = small_sweep(tmp_path) / next(iter(RATES)) / "summary.json"
    summary = json.loads(file.read_text())
    del summary["duration"]
    file.write_text(json.dumps(summary))

    with pytest.raises(RunError, match=r"summary\.json lacks 'duration'; remove that run"):
        load(tmp_path)


@pytest.mark.parametrize("change", [{"output_throughput": "x"}, {"verdict": "keeps up"}, {"cost_model": [1]}])
def test_summary_with_a_figure_of_another_kind(change: dict[str, Any], tmp_path: Path) -> None:
    file = small_sweep(tmp_path) / next(iter(RATES)) / "summary.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))

    with pytest.raises(RunError, match=rf"summary\.json: {next(iter(change))} is .*; remove that run"):
        load(tmp_path)
