"""Reads a run directory, finished or not, of ours or written from another engine."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from analysis.errors import RunError
from analysis.json_file import read_json
from analysis.schema import FORMAT, FORMAT_VERSION, REQUIRED_META, SCHEMAS
from analysis.table_files import TableFiles

if TYPE_CHECKING:
    import pandas as pd


class Tables(NamedTuple):
    """The three tables of a run as Arrow tables; `analysis.schema` documents their columns."""

    requests: pa.Table
    steps: pa.Table
    events: pa.Table


class Run:
    """One run; made by `load`. Tables are read when they are first asked for.

    Attributes:
        path: the run directory.
        meta: the content of `meta.json`; see `analysis.schema.REQUIRED_META`.
        summary: the content of `summary.json`, or None if the run was killed before it was written.
    """

    def __init__(self, path: Path, meta: dict[str, Any], summary: dict[str, Any] | None) -> None:
        self.path = path
        self.meta = meta
        self.summary = summary

    @property
    def is_complete(self) -> bool:
        """Whether the run came to its end."""
        return bool(self.meta["complete"])

    @cached_property
    def tables(self) -> Tables:
        """All three tables, every column."""
        return Tables(**{name: self.table(name) for name in SCHEMAS})

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Reads one table, or some columns of it.

        Raises:
            RunError: data is damaged, a value is missing, or one does not fit its type.
        """
        return TableFiles(self.path, name).read(columns)

    def scan(self, name: str, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yields one table in pieces, so that it need not fit into memory; errors as `table`."""
        return TableFiles(self.path, name).scan(columns)

    @cached_property
    def requests(self) -> "pd.DataFrame":
        """One row a request, in trace order, with its latencies (`analysis.metrics.LATENCIES`) as further columns."""
        from analysis.run_columns import RunColumns

        frame = _frame(self.tables.requests.sort_by("index"))
        for name, values in RunColumns.of(self).latencies().items():
            frame[f"{name}_s"] = values
        return frame

    @cached_property
    def steps(self) -> "pd.DataFrame":
        """One row a step."""
        return _frame(self.tables.steps)

    @cached_property
    def events(self) -> "pd.DataFrame":
        """One row an event, in the order in which they happened."""
        return _frame(self.tables.events)


def load(path: str | Path) -> Run:
    """Opens a run directory and checks its metadata and the columns of its tables.

    Raises:
        RunError: it is no run directory, its format is unknown, or a file is missing, damaged or lacks a column.
    """
    path = Path(path)
    meta = _read_meta(path)
    for name in SCHEMAS:
        files = TableFiles(path, name)
        if meta["complete"] and not files.paths():
            raise RunError(f"{path} has no {files.single.name}, though its meta.json calls the run complete.")
        files.check()
    summary = path / "summary.json"
    return Run(path, meta, read_json(summary) if summary.exists() else None)


def _read_meta(path: Path) -> dict[str, Any]:
    check_name(path)
    file = path / "meta.json"
    try:
        exists, has_meta = path.exists(), file.is_file()
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror or error}.") from error
    if not exists:
        raise RunError(f"{path} does not exist; name the directory of a run.")
    if not has_meta:
        raise RunError(f"{path} is not a run directory: it holds no meta.json.")
    meta = read_json(file)
    _check_format(meta, file)
    for key, type_ in REQUIRED_META.items():
        if key not in meta:
            raise RunError(f"{file} lacks {key!r}.")
        if type(meta[key]) is not type_:
            raise RunError(f"{file}: {key!r} is {meta[key]!r}, but it must be of JSON type {_json_type(type_)}.")
    if meta["num_kv_blocks"] < 1:
        raise RunError(f"{file}: 'num_kv_blocks' is {meta['num_kv_blocks']}; it must be at least 1.")
    return meta


def check_name(path: Path) -> None:
    """Raise RunError if `path` is not UTF-8: Arrow opens no such file."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise RunError(f"The name {str(path)!r} is not UTF-8; give the run directory another one.") from None


def _check_format(meta: dict[str, Any], file: Path) -> None:
    if meta.get("format") != FORMAT:
        raise RunError(f"{file}: 'format' is {meta.get('format')!r}, but a run has {FORMAT!r}.")
    if meta.get("format_version") != FORMAT_VERSION:
        version = meta.get("format_version")
        raise RunError(f"{file}: 'format_version' is {version!r}; this release reads version {FORMAT_VERSION} only.")


def _json_type(type_: type) -> str:
    return {bool: "boolean", int: "integer", dict: "object"}[type_]


def _frame(table: pa.Table) -> "pd.DataFrame":
    """Nullable integers become pandas' own nullable integers, not floats."""
    import pandas as pd

    frame = table.to_pandas()
    integers: dict[pa.DataType, Any] = {pa.int64(): pd.Int64Dtype(), pa.int32(): pd.Int32Dtype()}
    for field in table.schema:
        if field.nullable and field.type in integers:
            frame[field.name] = table.column(field.name).to_pandas(types_mapper=integers.get)
    return frame
