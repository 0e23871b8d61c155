"""What each step of a run was given from outside of the scheduler: times, and rows that failed."""

from collections.abc import Mapping
from typing import NamedTuple

import pyarrow.compute as pc

from analysis.arrow_values import text_scalar
from analysis.run import Run
from analysis.step_columns import Floats, StepColumns
from sim.errors import SimError

# So the scheduler begins the reason of a request that it fails itself, because of another one that the backend failed.
_DERIVED = "It shares blocks with "


class RecordedStep(NamedTuple):
    """One step.

    Attributes:
        duration_s: how long it lasted, in seconds.
        device_s: how long the device was busy, in seconds.
        failed: reason for each row that failed.
    """

    duration_s: float
    device_s: float
    failed: Mapping[str, str]


class RecordedSteps:
    """The steps of a run by their numbers, from 0. Made by `of`."""

    def __init__(self, durations_s: Floats, devices_s: Floats, failed: Mapping[int, Mapping[str, str]]) -> None:
        """Take one entry a step; `failed` holds those steps alone in which a row failed."""
        self._durations_s: list[float] = durations_s.tolist()
        self._devices_s: list[float] = devices_s.tolist()
        self._failed = failed

    @classmethod
    def of(cls, run: Run) -> "RecordedSteps":
        """Read them.

        Raises:
            RunError: the tables are damaged.
            SimError: a request was aborted, or the first steps are missing.
        """
        columns = StepColumns.of(run.table("steps", StepColumns.NAMES))
        if columns.first_step != 0:
            raise SimError(f"{run.path} begins with step {columns.first_step}; all steps from 0 on are needed.")
        return cls(columns.duration_s, columns.device_s, _failed(run))

    def __len__(self) -> int:
        """How many there are."""
        return len(self._durations_s)

    def __getitem__(self, step: int) -> RecordedStep:
        """One of them; one beyond the last takes no time."""
        if step >= len(self):
            return RecordedStep(0.0, 0.0, {})
        return RecordedStep(self._durations_s[step], self._devices_s[step], self._failed.get(step, {}))


def _failed(run: Run) -> dict[int, dict[str, str]]:
    failed: dict[int, dict[str, str]] = {}
    for piece in run.scan("events", ("step", "request_id", "kind", "reason")):
        _check_aborts(run, piece.filter(pc.equal(piece.column("kind"), text_scalar("aborted"))).to_pylist())
        for event in piece.filter(pc.equal(piece.column("kind"), text_scalar("failed"))).to_pylist():
            if not (event["reason"] or "").startswith(_DERIVED):
                failed.setdefault(event["step"], {})[event["request_id"]] = event["reason"] or ""
    return failed


def _check_aborts(run: Run, aborts: list[dict[str, object]]) -> None:
    for event in aborts[:1]:
        raise SimError(
            f"{run.path}: request {event['request_id']!r} was aborted in step {event['step']}; when a caller gives a "
            "request up is in no trace, so such a run cannot be replayed."
        )
