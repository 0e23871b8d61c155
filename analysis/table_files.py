"""The Parquet files of one table in a run directory: one file, or part files while the run is not finished."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from analysis.arrow_values import empty_table
from analysis.errors import RunError
from analysis.schema import SCHEMAS


class TableFiles:
    """Reads one table of a run; every error names the file and the column.

    Args:
        directory: the run directory.
        name: "steps", "events" or "requests".
    """

    def __init__(self, directory: Path, name: str) -> None:
        self._directory = directory
        self._name = name
        self._schema = SCHEMAS[name]
        self.single = directory / f"{name}.parquet"

    def part(self, number: int) -> Path:
        """Path of a part file."""
        return self._directory / f"{self._name}.part{number:06d}.parquet"

    def parts(self) -> list[Path]:
        """Paths of the part files that exist, in order."""
        return sorted(self._directory.glob(f"{self._name}.part*.parquet"))

    def paths(self) -> list[Path]:
        """Files that hold the table: the single one if it exists, else the parts."""
        return [self.single] if self.single.exists() else self.parts()

    def check(self) -> None:
        """Reads the headers only.

        Raises:
            RunError: a file is damaged, lacks a column, or has one of another kind.
        """
        for path in self.paths():
            with _open(path) as file:
                _check_columns(file.schema_arrow, self._schema, path)

    def scan(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yields the rows in order, one row group after the other.

        Args:
            columns: names of columns of the schema; None means all, and then those of the file's own come last.

        Raises:
            RunError: as `check`, or data is damaged, a value is missing, or one does not fit its type.
        """
        names = self._schema.names if columns is None else list(columns)
        fields = [self._schema.field(name) for name in names]
        for path in self.paths():
            with _open(path) as file:
                _check_columns(file.schema_arrow, self._schema, path)
                for group in range(file.num_row_groups):
                    yield _conform(_read_group(file, group, columns, path), fields, path)

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Returns all rows; arguments and errors as `scan`."""
        tables = list(self.scan(columns))
        if tables:
            return pa.concat_tables(tables, promote_options="default")
        names = self._schema.names if columns is None else columns
        return empty_table(self._schema).select(list(names))


def conformed(table: pa.Table, schema: pa.Schema, path: Path) -> pa.Table:
    """Returns the table with each column of the schema in its place and of its type; further ones follow as they are.

    Args:
        table: as read.
        schema: what is wanted.
        path: its file, for errors.

    Raises:
        RunError: a column is missing or of another kind, or a value is missing or does not fit its type.
    """
    _check_columns(table.schema, schema, path)
    return _conform(table, list(schema), path)


def _open(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror or error}.") from error
    except pa.ArrowException as error:
        raise RunError(f"{path} is not a whole Parquet file ({_first_line(error)}).") from error


def _read_group(file: pq.ParquetFile, group: int, columns: Sequence[str] | None, path: Path) -> pa.Table:
    try:
        return file.read_row_group(group, columns=None if columns is None else list(columns))
    except (pa.ArrowException, OSError) as error:
        raise RunError(f"{path} is damaged ({_first_line(error)}).") from error


def _check_columns(found: pa.Schema, wanted: pa.Schema, path: Path) -> None:
    missing = [name for name in wanted.names if name not in found.names]
    if missing:
        raise RunError(f"{path} lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}.")
    for field in wanted:
        if _kind(found.field(field.name).type) not in {_kind(field.type), "null"}:
            given = found.field(field.name).type
            raise RunError(f"{path}: column {field.name} is of type {given}, but {field.type} is needed.")


def _kind(type_: pa.DataType) -> str:
    """Types of one kind can stand for each other if the values fit."""
    if pa.types.is_integer(type_) or pa.types.is_floating(type_):
        return "number"
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return "text"
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return f"list of {_kind(type_.value_type)}"
    if pa.types.is_dictionary(type_):
        return _kind(type_.value_type)
    return str(type_)


def _conform(table: pa.Table, fields: "Sequence[pa.Field[Any]]", path: Path) -> pa.Table:
    """Gives every column of ours its type and place; further columns follow as they are."""
    names = {field.name for field in fields}
    extra = [name for name in table.column_names if name not in names]
    columns = [_conform_column(table.column(field.name), field, path) for field in fields]
    schema = pa.schema([*fields, *(table.schema.field(name) for name in extra)])
    return pa.Table.from_arrays([*columns, *(table.column(name) for name in extra)], schema=schema)


def _conform_column(column: "pa.ChunkedArray[Any]", field: "pa.Field[Any]", path: Path) -> "pa.ChunkedArray[Any]":
    try:
        column = column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:  # a value that does not fit; kinds without a cast
        raise RunError(f"{path}: column {field.name} does not fit {field.type} ({_first_line(error)}).") from error
    if not field.nullable and column.null_count:
        raise RunError(f"{path}: column {field.name} has {column.null_count} missing values; it must have none.")
    is_time = pa.types.is_floating(field.type) and not field.nullable
    if is_time and not pc.all(pc.is_finite(column), min_count=0).as_py():
        raise RunError(f"{path}: column {field.name} holds NaN or infinity; times must be finite.")
    return column


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
