import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.errors import RunError
from sim.errors import SimError
from sim.profiling.profile_file import META_KEY, STEP_FIELDS, Profile, read_profile, write_profile


def profile() -> Profile:
    names = [*[field.name for field in STEP_FIELDS], "load", "is_warm_up"]
    columns = {name: np.array([1.0, 2.0]) for name in names}
    columns["duration_s"] = np.array([0.1, 0.2])
    columns["graph_size"] = np.array([np.nan, 8.0])
    return Profile(columns, {"settings": {"model": "m"}})


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_profile(profile(), tmp_path / "p.parquet")
    read = read_profile(tmp_path / "p.parquet")
    for name, column in profile().columns.items():
        assert np.array_equal(read.columns[name], column, equal_nan=True), name
    assert read.meta["settings"] == {"model": "m"}


def test_a_profile_without_sharing_is_read(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    write_profile(profile(), path)
    schema = {META_KEY: json.dumps({"format": "twinserve-profile", "format_version": 2, "settings": {"model": "m"}})}
    pq.write_table(pq.read_table(path).drop_columns("shared_context").replace_schema_metadata(schema), path)
    assert read_profile(path).columns["shared_context"].tolist() == [0.0, 0.0]
    pq.write_table(pq.read_table(path).drop_columns("max_query"), path)
    with pytest.raises(RunError, match="lacks the column max_query"):
        read_profile(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    path.write_text("text")
    with pytest.raises(SimError, match="is no profile"):
        read_profile(path)
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(SimError, match="is no profile"):
        read_profile(path)
    schema = pa.schema([pa.field("a", pa.int64())], metadata={META_KEY: json.dumps({"format": "other"})})
    pq.write_table(pa.table({"a": [1]}, schema=schema), path)
    with pytest.raises(SimError, match="has format 'other'"):
        read_profile(path)
    with pytest.raises(SimError, match="is no profile"):
        read_profile(tmp_path / "missing")


@pytest.mark.parametrize("meta", [[], "text", None])
def test_metadata_that_are_no_object_are_refused(meta: object, tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    write_profile(profile(), path)
    pq.write_table(pq.read_table(path).replace_schema_metadata({META_KEY: json.dumps(meta)}), path)
    with pytest.raises(SimError, match="is no profile"):
        read_profile(path)


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("duration_s", None, "lacks the column duration_s"),
        ("load", None, "lacks the column load"),
        ("device_s", ["x", "y"], "column device_s is of type string"),
        ("duration_s", [0.1, float("nan")], "column duration_s holds NaN or infinity"),
        ("num_decode_seqs", [1, None], "column num_decode_seqs has 1 missing values"),
    ],
)
def test_columns_that_a_fit_cannot_use_are_refused(
    name: str, values: list[Any] | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "p.parquet"
    write_profile(profile(), path)
    table = pq.read_table(path)
    place, table = table.column_names.index(name), table.drop_columns([name])
    pq.write_table(table if values is None else table.add_column(place, name, pa.array(values)), path)
    with pytest.raises(RunError, match=said):
        read_profile(path)


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SimError, match="cannot be written"):
        write_profile(profile(), tmp_path / "file" / "p.parquet")
