"""Reads the folder of a sweep: `load` gives one row a run as a pandas frame."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from analysis.arrow_values import to_arrow
from analysis.errors import RunError
from analysis.frame import to_frame
from analysis.load_curve import LoadCurve, load_curves
from analysis.run import load as load_run
from analysis.slo import Slo
from analysis.sweep_columns import schema_of
from analysis.sweep_record import SweepRecord
from analysis.sweep_row import sweep_row

if TYPE_CHECKING:
    import pandas as pd


def load(path: str | Path, *, partial: bool = False) -> "pd.DataFrame":
    """Opens the folder of a sweep.

    Args:
        path: the folder, as `python -m sim sweep --output` makes it.
        partial: take what is there of a sweep that is not complete.

    Returns:
        One row a run, configurations in order and rates rising; `analysis.sweep_columns` documents the columns.

    Raises:
        RunError: it is no sweep, a run is damaged, or without `partial`, not all runs are complete.
    """
    return to_frame(table_of(curves(Path(path), partial=partial)))


def curves(folder: Path, *, partial: bool = False, slo: Slo | None = None) -> list[LoadCurve]:
    """The runs of a sweep by configuration; arguments and errors as `load`. `slo` replaces the limits of the sweep."""
    record = SweepRecord.read(folder)
    names = [name for name in record.runs if not partial or is_complete(folder / name)]
    missing = [name for name in names if not is_complete(folder / name)]
    if missing:
        raise RunError(
            f"{len(missing)} of {len(names)} runs in {folder} are not complete, such as {missing[0]}; give the same "
            "sweep command again, which makes them."
        )
    if slo is None and record.slo is not None:
        slo = Slo.of(record.slo)
    rows = [sweep_row(load_run(folder / name), record.runs[name], slo) for name in names]
    return load_curves(rows, record.varied, record.attainment)


def is_complete(run: Path) -> bool:
    """Whether a run directory is there, and the run in it came to its end."""
    return run.is_dir() and (run / "summary.json").exists() and load_run(run).is_complete


def rows_of(curves: Sequence[LoadCurve]) -> list[dict[str, Any]]:
    """Rows of the frame as plain values."""
    return list(chain.from_iterable(curve.judged() for curve in curves))


def table_of(curves: Sequence[LoadCurve]) -> pa.Table:
    """The frame as an Arrow table."""
    rows = rows_of(curves)
    names = list(curves[0].configuration) if curves else ["policy"]
    schema = schema_of({name: _sample(name, rows) for name in names})
    arrays = [_to_arrow([row[field.name] for row in rows], field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _sample(name: str, rows: Sequence[dict[str, Any]]) -> object:
    return next((row[name] for row in rows if row[name] is not None), None)


def _to_arrow(values: list[Any], type_: pa.DataType) -> "pa.Array[Any]":
    if type_ != pa.bool_():
        return to_arrow(values, type_)
    # By way of integers: Arrow's own conversion of Python values would import pandas.
    return to_arrow([None if value is None else int(value) for value in values], pa.int64()).cast(pa.bool_())
