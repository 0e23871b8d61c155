"""Writes a run directory while the run goes on, so that a killed run can still be read."""

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.arrow_values import empty_table
from analysis.errors import RunError
from analysis.json_file import write_json
from analysis.run_meta import check_name
from analysis.schema import FORMAT, FORMAT_VERSION, SCHEMAS
from analysis.table_buffer import Row, TableBuffer
from analysis.table_files import TableFiles

ROWS_PER_GROUP = 65_536


class RunWriter:
    """Collects rows and writes them as part files; at the end each table becomes one file.

    Rows go out when enough have come or enough wall time has passed. That is looked at only when steps come, and steps
    are written before requests: a request's tokens never lie in a step that the directory does not hold.

    Where rows cannot be written, the run ends with the rows before: nothing that comes later is written behind a gap.

    Args:
        path: the directory to make; an empty one may exist.
        meta: what `analysis.schema.REQUIRED_META` documents, without `format`, `format_version` and `complete`.
        rows_per_part: rows of one table after which all tables are written.
        seconds_per_part: wall time after which they are written in any case.
        clock: gives wall time in seconds.

    Raises:
        RunError: the directory exists and is not empty, or it cannot be made or written.
    """

    def __init__(
        self,
        path: str | Path,
        meta: Mapping[str, Any],
        *,
        rows_per_part: int = 50_000,
        seconds_per_part: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = Path(path)
        self._meta = {"format": FORMAT, "format_version": FORMAT_VERSION, "complete": False, **meta}
        self._buffers = {name: TableBuffer(name) for name in SCHEMAS}
        self._part_numbers = {name: itertools.count() for name in SCHEMAS}
        self._rows_per_part = rows_per_part
        self._seconds_per_part = seconds_per_part
        self._clock = clock
        self._flushed_at = clock()
        self._error: RunError | None = None
        self._make_directory()
        self._write_meta(complete=False)

    @property
    def trace_path(self) -> Path:
        """Where the canonical trace as run belongs; the caller writes it there."""
        return self.path / "trace.jsonl.zst"

    def add_steps(self, rows: Sequence[Row]) -> None:
        """Adds rows of `steps`, in step order; may write all that has come so far to disk."""
        self._buffers["steps"].add_rows(rows)
        self._flush_if_due()

    def add_step_columns(self, columns: Sequence[Sequence[Any]]) -> None:
        """Adds rows of `steps` given as columns, otherwise as `add_steps`."""
        self._buffers["steps"].add_columns(columns)
        self._flush_if_due()

    def add_events(self, rows: Sequence[Row]) -> None:
        """Adds rows of `events`, in the order in which they happened."""
        self._buffers["events"].add_rows(rows)

    def add_requests(self, rows: Sequence[Row]) -> None:
        """Adds rows of `requests`, in any order; all steps that gave them tokens must come before the next flush."""
        self._buffers["requests"].add_rows(rows)

    def flush(self) -> None:
        """Writes all rows that have come so far, so that `analysis.run.load` sees them.

        Raises:
            RunError: the directory cannot be written, now or at an earlier call.
        """
        if self._error is not None:
            raise self._error
        parts: list[Path] = []
        try:
            for name in SCHEMAS:
                parts += self._flush_table(name)
        except RunError:
            # Tables that end at different steps would contradict each other.
            for part in parts:
                part.unlink()
            raise
        self._flushed_at = self._clock()

    def finish(self, summary: Mapping[str, Any], complete: bool) -> None:
        """Merges the part files, sorts requests into trace order, and writes the summary.

        Args:
            summary: becomes `summary.json`.
            complete: False if the run was stopped before its end.

        Raises:
            RunError: the directory cannot be written.
        """
        self.flush()
        with self._writing():
            for name in SCHEMAS:
                self._merge(name)
            write_json(self.path / "summary.json", summary)
        self._write_meta(complete)
        for name in SCHEMAS:
            for part in self._files(name).parts():
                part.unlink()

    def _flush_if_due(self) -> None:
        is_full = any(len(buffer) >= self._rows_per_part for buffer in self._buffers.values())
        if is_full or self._clock() - self._flushed_at >= self._seconds_per_part:
            self.flush()

    def _files(self, name: str) -> TableFiles:
        return TableFiles(self.path, name)

    def _make_directory(self) -> None:
        with self._writing():
            self.path.mkdir(parents=True, exist_ok=True)
            check_vacant(self.path)

    def _write_meta(self, complete: bool) -> None:
        with self._writing():
            write_json(self.path / "meta.json", self._meta | {"complete": complete})

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._error = RunError(f"The run cannot be written to {self.path}: {error.strerror or error}.")
            raise self._error from error

    def _flush_table(self, name: str) -> list[Path]:
        """Writes the rows of one table; returns the part file, if there were any."""
        if not self._buffers[name]:
            return []
        table = self._buffers[name].take()
        path = self._files(name).part(next(self._part_numbers[name]))
        with self._writing(), _replacing(path) as draft:
            # Parts live briefly: quick to write and read is worth more than small.
            pq.write_table(table, draft, compression="none", use_dictionary=False)
        return [path]

    def _merge(self, name: str) -> None:
        files = self._files(name)
        with _replacing(files.single) as draft, pq.ParquetWriter(draft, SCHEMAS[name], compression="zstd") as out:
            tables = _in_trace_order(files) if name == "requests" else files.scan()
            for table in _regrouped(tables, SCHEMAS[name]):
                out.write_table(table, row_group_size=ROWS_PER_GROUP)


def check_vacant(path: Path) -> None:
    """Raise RunError if a run directory cannot be made at `path` because something is there, or nothing can be."""
    check_name(path)
    try:
        is_vacant = not path.is_dir() or not any(path.iterdir())
    except OSError as error:
        raise RunError(f"A run cannot be made in {path}: {error.strerror or error}.") from error
    if not is_vacant:
        raise RunError(f"{path} exists and is not empty; name a new directory for the run, or remove it.")


def _in_trace_order(files: TableFiles) -> Iterator[pa.Table]:
    yield files.read().sort_by("index")


def _regrouped(tables: Iterator[pa.Table], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yields the same rows in equal groups, so that files do not depend on when parts were written."""
    pending = empty_table(schema)
    for table in tables:
        pending = pa.concat_tables([pending, table])
        while pending.num_rows >= ROWS_PER_GROUP:
            yield pending.slice(0, ROWS_PER_GROUP)
            pending = pending.slice(ROWS_PER_GROUP)
    if pending.num_rows:
        yield pending


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """Gives a draft to write; `path` appears when the draft is whole, so a kill leaves no damaged file."""
    draft = path.with_name(path.name + ".tmp")
    yield draft
    draft.replace(path)
