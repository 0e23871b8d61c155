"""Reads a run directory, finished or not, of ours or written from another engine."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from analysis.errors import RunError
from analysis.frame import to_frame
from analysis.heading import heading
from analysis.json_file import read_json
from analysis.observation import Observation
from analysis.run_meta import read_meta
from analysis.schema import SCHEMAS
from analysis.table_files import TableFiles

if TYPE_CHECKING:
    import pandas as pd

    from analysis.sample import Sample


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

    def __repr__(self) -> str:
        state = "" if self.is_complete else ", partial"
        return f"Run({str(self.path)!r}{state}; {heading(self.meta)})"

    @property
    def observation(self) -> Observation:
        """What the record knows."""
        return Observation.of(self.meta)

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

        frame = to_frame(self.tables.requests.sort_by("index"))
        for name, values in RunColumns.of(self).latencies().items():
            frame[f"{name}_s"] = values
        return frame

    def itl_s(self) -> "Sample":
        """Gaps between the tokens of all finished requests, pooled, in seconds: inter-token latency."""
        from analysis.run_columns import RunColumns

        columns = RunColumns.of(self)
        return columns.emissions.of_requests(columns.requests.is_finished).gaps_s(columns.steps)

    @cached_property
    def steps(self) -> "pd.DataFrame":
        """One row a step."""
        return to_frame(self.tables.steps)

    @cached_property
    def events(self) -> "pd.DataFrame":
        """One row an event, in the order in which they happened."""
        return to_frame(self.tables.events)


def load(path: str | Path) -> Run:
    """Opens a run directory and checks its metadata and the columns of its tables.

    Raises:
        RunError: it is no run directory, its format is unknown, or a file is missing, damaged or lacks a column.
    """
    path = Path(path)
    meta = read_meta(path)
    for name in SCHEMAS:
        files = TableFiles(path, name)
        if meta["complete"] and not files.paths():
            raise RunError(f"{path} has no {files.single.name}, though its meta.json calls the run complete.")
        files.check()
    summary = path / "summary.json"
    return Run(path, meta, read_json(summary) if summary.exists() else None)
