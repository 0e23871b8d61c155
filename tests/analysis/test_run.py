import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.errors import RunError
from analysis.run import load
from tests.run_builder import RunBuilder, small_run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return small_run(tmp_path / "run").build(summary={"completed": 2}).path


def change_meta(path: Path, **changes: Any) -> None:
    meta = json.loads((path / "meta.json").read_text()) | changes
    (path / "meta.json").write_text(json.dumps({key: value for key, value in meta.items() if value is not ...}))


def replace_column(path: Path, table: str, column: str, values: "pa.Array[Any] | None") -> None:
    file = path / f"{table}.parquet"
    found = pq.read_table(file)
    index = found.column_names.index(column)
    found = found.remove_column(index)
    pq.write_table(found if values is None else found.append_column(column, values), file)


def test_summary_and_meta(path: Path) -> None:
    run = load(path)
    assert run.summary == {"completed": 2}
    assert run.meta["num_kv_blocks"] == 100
    assert run.is_complete


def test_path_may_be_text(path: Path) -> None:
    assert load(str(path)).path == path


def test_pandas_frames_have_documented_columns_and_types(path: Path) -> None:
    run = load(path)
    assert list(run.steps.columns) == run.tables.steps.column_names
    assert str(run.steps["graph_size"].dtype) == "Int32"
    assert run.steps["graph_size"].isna().tolist() == [True, True, False, True, False]
    assert str(run.events["num_tokens"].dtype) == "Int64"
    assert run.events["num_tokens"].dropna().tolist() == [0, 10, 4, 6, 0, 11]
    assert run.events["block_ids"].dropna().map(list).tolist() == [[0], [1, 2]]


def test_frame_of_requests_has_latencies(path: Path) -> None:
    requests = load(path).requests
    assert requests["ttft_s"].tolist()[:2] == [1.0, 1.5]
    assert requests["ttft_s"].isna().tolist() == [False, False, True]
    assert requests["preempted_s"].tolist() == [0.0, 2.0, 0.0]
    assert requests["decode_s"].tolist()[:2] == [3.0, 2.0]


def test_run_without_rows_has_empty_frames(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "run").build()
    assert len(run.requests) == len(run.steps) == len(run.events) == 0
    assert "ttft_s" in run.requests.columns


def test_extra_columns_are_kept_behind_ours(path: Path) -> None:
    file = path / "steps.parquet"
    table = pq.read_table(file).add_column(0, "power_w", pa.array([300.0] * 5))
    pq.write_table(table, file)
    found = load(path).tables.steps
    assert found.column_names[0] == "step"
    assert found.column_names[-1] == "power_w"


def test_other_widths_of_a_type_are_fine(path: Path) -> None:
    replace_column(path, "steps", "num_waiting", pa.array([1.0, 0.0, 1.0, 0.0, 0.0], pa.float32()))
    replace_column(path, "events", "kind", pa.array(["chunk"] * 11).dictionary_encode())
    replace_column(path, "requests", "session_id", pa.nulls(3))
    replace_column(path, "requests", "emission_counts", pa.array([[3], [1, 2], []], pa.large_list(pa.uint16())))
    tables = load(path).tables
    assert tables.steps.column("num_waiting").to_pylist() == [1, 0, 1, 0, 0]
    assert tables.steps.schema.field("num_waiting").type == pa.int64()
    assert tables.requests.column("emission_counts").to_pylist() == [[3], [1, 2], []]


def test_path_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="does not exist"):
        load(tmp_path / "nothing")


def test_directory_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"not a run directory: it holds no meta\.json"):
        load(tmp_path)


def test_file_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").write_text("{}")
    with pytest.raises(RunError, match="not a run directory"):
        load(tmp_path / "trace.jsonl")


@pytest.mark.parametrize(
    ("text", "message"), [("{", "not valid JSON"), ("[]", "an object is needed"), ("\xff", "JSON")]
)
def test_damaged_meta(path: Path, text: str, message: str) -> None:
    (path / "meta.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(RunError, match=message):
        load(path)


def test_damaged_summary(path: Path) -> None:
    (path / "summary.json").write_text("")
    with pytest.raises(RunError, match=r"summary\.json is not valid JSON"):
        load(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": ...}, "'format' is None"),
        ({"format": "other"}, "'format' is 'other'"),
        (
            {"format_version": 1},
            "'format_version' is 1; this release reads version 3 only. Replay the run's trace again",
        ),
        ({"complete": ...}, "lacks 'complete'"),
        ({"complete": "yes"}, "must be of JSON type boolean"),
        ({"num_kv_blocks": ...}, "lacks 'num_kv_blocks'"),
        ({"num_kv_blocks": True}, "must be of JSON type integer"),
        ({"num_kv_blocks": 0}, "'num_kv_blocks' is 0; it must be from 1 to"),
        ({"num_kv_blocks": None}, "must be of JSON type integer"),
        ({"num_kv_blocks": 0, "observed_by": "client"}, "'num_kv_blocks' is 0; it must be from 1 to"),
        ({"observed_by": "nobody"}, "'observed_by' is 'nobody'"),
        ({"num_kv_blocks": 10**30}, "it must be from 1 to 4611686018427387904"),
        ({"slo": "ttft=1s"}, "'slo' is 'ttft=1s', but it must be an object"),
        ({"warmup_s": "60s"}, "'warmup_s' is '60s', but it must be a number"),
        ({"warmup_s": -1}, "'warmup_s' is -1, but it must be a number"),
        ({"warmup_s": True}, "'warmup_s' is True, but it must be a number"),
        ({"warmup_s": math.inf}, "'warmup_s' is inf, but it must be a number"),
        ({"trace": {"num_requests": "all"}}, "'num_requests' of the trace is 'all'"),
        ({"trace": {"num_requests": -1}}, "'num_requests' of the trace is -1"),
        ({"settings": []}, "must be of JSON type object"),
        ({"trace": "x"}, "must be of JSON type object"),
    ],
)
def test_meta_that_says_too_little(path: Path, changes: dict[str, Any], message: str) -> None:
    change_meta(path, **changes)
    with pytest.raises(RunError, match=message):
        load(path)


def test_client_need_not_know_how_many_blocks_there_were(path: Path) -> None:
    change_meta(path, num_kv_blocks=None, observed_by="client")
    assert load(path).observation.by_client


@pytest.mark.parametrize("table", ["steps", "events", "requests"])
def test_missing_table_of_a_complete_run(path: Path, table: str) -> None:
    (path / f"{table}.parquet").unlink()
    with pytest.raises(RunError, match=f"has no {table}.parquet"):
        load(path)


@pytest.mark.parametrize("size", [0, 3, 100, -20])
def test_truncated_table(path: Path, size: int) -> None:
    file = path / "events.parquet"
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(RunError, match=r"events\.parquet is not a whole Parquet file"):
        load(path)


def test_damaged_data(path: Path) -> None:
    file = path / "steps.parquet"
    data = bytearray(file.read_bytes())
    data[4:400] = bytes(396)
    file.write_bytes(bytes(data))
    run = load(path)
    with pytest.raises(RunError, match=r"steps\.parquet is damaged"):
        run.table("steps")


def test_missing_columns_are_named(path: Path) -> None:
    replace_column(path, "steps", "num_waiting", None)
    replace_column(path, "steps", "max_query", None)
    with pytest.raises(RunError, match="lacks the columns max_query, num_waiting"):
        load(path)


def test_column_of_another_kind_is_named(path: Path) -> None:
    replace_column(path, "steps", "num_waiting", pa.array(["1"] * 5))
    with pytest.raises(RunError, match="column num_waiting is of type string, but int64 is needed"):
        load(path)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("num_waiting", pa.array([1.5] * 5), "num_waiting does not fit int64"),
        ("num_waiting", pa.array([1, None, 3, 4, 5]), "num_waiting has 1 missing values"),
        ("duration_s", pa.array([1.0, float("nan"), 1.0, 1.0, 1.0]), "duration_s holds NaN or infinity"),
        ("start_s", pa.array([1.0, float("inf"), 1.0, 1.0, 1.0]), "start_s holds NaN or infinity"),
    ],
)
def test_values_that_do_not_fit(path: Path, column: str, values: "pa.Array[Any]", message: str) -> None:
    replace_column(path, "steps", column, values)
    run = load(path)
    with pytest.raises(RunError, match=message):
        run.table("steps")


def test_partial_run_without_any_part(tmp_path: Path) -> None:
    path = RunBuilder(tmp_path / "run").build(complete=False).path
    for table in ("steps", "events", "requests"):
        (path / f"{table}.parquet").unlink()
    assert load(path).table("steps").num_rows == 0
    assert load(path).table("events", ["step"]).column_names == ["step"]


def test_run_in_an_interpreter_says_what_it_is(tmp_path: Path) -> None:
    builder = small_run(tmp_path, hardware={"gpu": "H200"})
    what = "on 1 x H200, at most 4 sequences and 64 tokens a step, trace tiny"
    assert repr(builder.build()) == f"Run({str(tmp_path)!r}; {what})"


def test_time_between_tokens_is_pooled_over_finished_requests(tmp_path: Path) -> None:
    run = small_run(tmp_path).build()
    # Tokens of a at 1, 2, 4 s, of b at 2, 5, 6 s.
    assert run.itl_s().mean() == (1 + 2 + 3 + 1) / 4
    assert run.itl_s().percentile(100) == 3
