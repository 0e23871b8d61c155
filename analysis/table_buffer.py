"""Rows of one table on their way to disk."""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from analysis.arrow_values import to_arrow
from analysis.schema import SCHEMAS

Row = tuple[Any, ...]
_ROWS_PER_ZIP = 256


class TableBuffer:
    """Collects rows as columns.

    Args:
        name: "steps", "events" or "requests".
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._schema = SCHEMAS[name]
        self._columns = self._empty()

    def add_rows(self, rows: Sequence[Row]) -> None:
        """Takes rows, tuples in column order.

        A few at a time: zip makes an iterator for each of them, and so many at once that they set off the garbage
        collector would have it look at all rows again and again.
        """
        lengths = set(map(len, rows)) - {len(self._schema)}
        assert not lengths, f"a row of {self._name} has {lengths} values, not {len(self._schema)}"
        for start in range(0, len(rows), _ROWS_PER_ZIP):
            self.add_columns(zip(*rows[start : start + _ROWS_PER_ZIP], strict=True))

    def add_columns(self, columns: Iterable[Sequence[Any]]) -> None:
        """Takes many rows as columns, equally long, in the schema's order."""
        for column, values in zip(self._columns, columns, strict=True):
            column.extend(values)

    def take(self) -> pa.Table:
        """Returns what has come as an Arrow table, and forgets it."""
        columns, self._columns = self._columns, self._empty()
        arrays = [to_arrow(column, field.type) for column, field in zip(columns, self._schema, strict=True)]
        return pa.Table.from_arrays(arrays, schema=self._schema)

    def _empty(self) -> list[list[Any]]:
        return [[] for _ in self._schema]

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._columns[0])
