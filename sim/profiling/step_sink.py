"""Takes the step rows of a sweep."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.rows import EventRow, RequestRow, StepRow


class StepSink:
    """Satisfies `sim.recorder.Rows`; keeps steps, and of requests only why some failed.

    Nothing is written while the sweep runs: the step in which a real run happens to write its tables takes longer,
    which says nothing about its shape.

    Attributes:
        failures: reasons of requests that did not finish.
    """

    def __init__(self) -> None:
        self._rows: list[StepRow] = []
        self._packed: list[NDArray[np.float64]] = []
        self.failures: list[str] = []

    def add_step_columns(self, columns: Sequence[Sequence[Any]]) -> None:
        """Take steps given as columns; see `add_steps`."""
        self.add_steps(list(map(StepRow._make, zip(*columns, strict=True))))

    def add_steps(self, rows: Sequence[StepRow]) -> None:
        """Keep them."""
        self._rows += rows

    def add_events(self, rows: Sequence[EventRow]) -> None:
        """Not wanted."""

    def add_requests(self, rows: Sequence[RequestRow]) -> None:
        """Keep the reasons of failures."""
        self.failures += [str(row.reason) for row in rows if row.status not in ("finished", "unfinished")]

    def pack(self) -> None:
        """Turn rows into numbers, so that the garbage collector does not look at them again and again."""
        rows, self._rows = self._rows, []
        if rows:
            self._packed.append(np.array(rows, dtype=np.float64))

    def columns(self) -> dict[str, NDArray[np.float64]]:
        """All steps as columns; `graph_size` is NaN for eager."""
        self.pack()
        table = np.concatenate(self._packed) if self._packed else np.zeros((0, len(StepRow._fields)))
        return dict(zip(StepRow._fields, table.T, strict=True))
