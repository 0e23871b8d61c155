"""A profile as a file: Parquet, a row a step, with everything else as JSON in the file's metadata."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from analysis.arrow_values import to_arrow
from analysis.schema import STEPS
from analysis.table_files import conformed
from sim.errors import SimError

FORMAT = "twinserve-profile"
FORMAT_VERSION = 3
_VERSION_WITHOUT_SHARING = 2
"""Loads of such a profile share nothing, and it lacks the column that says so."""
_SHARED = "shared_context"
META_KEY = b"twinserve"
_OF_A_RUN = ("step", "num_waiting", "num_running", "num_used_blocks")
"""Columns of a run's steps that say nothing about a step's time."""
STEP_FIELDS = tuple(field for field in STEPS if field.name not in _OF_A_RUN)
_SCHEMA = pa.schema(
    [*STEP_FIELDS, pa.field("load", pa.int32(), nullable=False), pa.field("is_warm_up", pa.int32(), nullable=False)]
)


@dataclass(frozen=True, slots=True)
class Profile:
    """Steps and where they come from.

    Attributes:
        columns: of each step those of a run's step table (all but `_OF_A_RUN`), `load` (number of its load) and
            `is_warm_up` (1.0 = no measurement); `graph_size` is NaN for eager.
        meta: as written; see `sim.profiling.profile_meta`.
    """

    columns: dict[str, NDArray[np.float64]]
    meta: dict[str, Any]


def is_profile(path: Path) -> bool:
    """Whether `path` looks like a profile, as opposed to a run directory."""
    return path.is_file()


def write_profile(profile: Profile, path: Path) -> None:
    """Write the file.

    Raises:
        SimError: it cannot be written.
    """
    meta = {"format": FORMAT, "format_version": FORMAT_VERSION} | profile.meta
    schema = _SCHEMA.with_metadata({META_KEY: json.dumps(meta)})
    arrays = [to_arrow(_values(profile.columns[field.name], field), field.type) for field in schema]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_arrays(arrays, schema=schema), path, compression="zstd")
    except OSError as error:
        raise SimError(f"The profile cannot be written to {path}: {error.strerror or error}.") from error


def read_profile(path: Path) -> Profile:
    """Read a file of `write_profile`.

    Raises:
        SimError: it is none.
        RunError: it lacks a column, or has one of another kind, a missing value or a time that is not finite.
    """
    try:
        table = pq.read_table(path)
        meta = json.loads((table.schema.metadata or {})[META_KEY])
    except (OSError, pa.ArrowException, KeyError, ValueError) as error:
        raise SimError(f"{path} is no profile: give a file that `sim profile` has written.") from error
    if not isinstance(meta, dict):
        raise SimError(f"{path} is no profile: give a file that `sim profile` has written.")
    if (meta.get("format"), meta.get("format_version")) == (FORMAT, _VERSION_WITHOUT_SHARING):
        table = _with_sharing(table)
    elif (meta.get("format"), meta.get("format_version")) != (FORMAT, FORMAT_VERSION):
        raise SimError(
            f"{path} has format {meta.get('format')!r}, version {meta.get('format_version')!r}; this program reads "
            f"{FORMAT}, version {FORMAT_VERSION}. Take the profile again."
        )
    table = conformed(table, _SCHEMA, path)
    columns = {name: np.array(table.column(name).to_pylist(), dtype=np.float64) for name in _SCHEMA.names}
    return Profile(columns, meta)


def _with_sharing(table: pa.Table) -> pa.Table:
    nothing = pa.array([0] * len(table), pa.int64())
    return table if _SHARED in table.column_names else table.append_column(_SHARED, nothing)


def _values(column: NDArray[np.float64], field: "pa.Field[Any]") -> list[Any]:
    if not pa.types.is_integer(field.type):
        return list(column.tolist())
    return [None if math.isnan(value) else int(value) for value in column.tolist()]
