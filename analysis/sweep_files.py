"""The frame of a sweep as files: `sweep.parquet` and `sweep.csv`."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq

from analysis.load_curve import LoadCurve
from analysis.sweep import rows_of, table_of
from traces.whole_file import whole_file


def write_files(folder: Path, curves: Sequence[LoadCurve]) -> None:
    """Writes both files, each whole or not at all; undefined values are null, and empty in the CSV file."""
    table = table_of(curves)
    with whole_file(folder / "sweep.parquet") as draft:
        pq.write_table(table, draft, compression="zstd")
    with (
        whole_file(folder / "sweep.csv") as draft,
        draft.open("w", encoding="utf-8", newline="", errors="backslashreplace") as file,
    ):
        writer = csv.DictWriter(file, table.column_names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows_of(curves))


def remove_files(folder: Path) -> None:
    """Removes both, as they are about to be no longer what the folder holds."""
    for name in ("sweep.parquet", "sweep.csv"):
        (folder / name).unlink(missing_ok=True)
