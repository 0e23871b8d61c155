import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

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


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SimError, match="cannot be written"):
        write_profile(profile(), tmp_path / "file" / "p.parquet")
