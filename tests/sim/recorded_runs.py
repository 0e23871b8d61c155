"""Makes runs to verify: of any settings, with faults on purpose, and altered afterwards."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.run import Run, load
from analysis.schema import SCHEMAS
from analysis.table_files import TableFiles
from engine import Backend, BackendError, Batch, StepResult
from sim.interrupt import Interrupt
from sim.parts import make_parts
from sim.replay import fit_trace, load_trace, replay
from sim.replay_settings import ReplaySettings
from tests.sim.command import row, write_rows


def busy_trace(path: Path) -> Path:
    """Sixty requests with shared prefixes, sessions, priorities and one prompt that is too long.

    Sessions are interleaved and their turns come without delay, so that several come at one instant and only the lines
    of this file order them.
    """
    rows: list[dict[str, Any]] = []
    for number in range(60):
        more: dict[str, Any] = {"priority": number % 3}
        if number % 4:
            more["hash_ids"] = [number % 3, 10 + number % 7, 100 + number]
        if number % 3 == 0:
            more["session_id"] = f"s{number * 7 % 12}"
        is_later = number >= 12 and "session_id" in more
        when = {"timestamp": None, "delay": 0} if is_later else {}
        rows.append(row(2.5 * number, 100 + 7 * number % 40, 5 + 3 * number % 50, **more) | when)
    return write_rows(path, *rows, row(100, 700, 3))


class FaultyBackend:
    """Wraps a backend: rows that fail (by step and row), steps that break, and something that happens in a step."""

    def __init__(
        self,
        backend: Backend,
        *,
        failing: Mapping[int, Mapping[int, str]] | None = None,
        broken: Mapping[int, str] | None = None,
        before: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._backend = backend
        self._failing = failing or {}
        self._broken = broken or {}
        self._before = before

    @property
    def num_blocks(self) -> int:
        return self._backend.num_blocks

    def execute(self, batch: Batch) -> StepResult:
        self._before(batch.step)
        result = self._backend.execute(batch)
        if batch.step in self._broken:
            raise BackendError(self._broken[batch.step])
        failing = {row: reason for row, reason in self._failing.get(batch.step, {}).items() if row < len(batch)}
        return replace(result, failed={batch.request_ids[row]: reason for row, reason in failing.items()})

    def close(self) -> None:
        self._backend.close()


def record(
    trace: Path, output: Path, wrap: Callable[[Backend], Backend], interrupt: Interrupt | None = None, **settings: Any
) -> Run:
    """Replays a trace on a wrapped backend and keeps the run."""
    values = ReplaySettings(**settings)
    parts = make_parts(values)
    parts = replace(parts, engine=replace(parts.engine, backend=wrap(parts.engine.backend)))
    loaded = fit_trace(load_trace(trace, values), parts)
    replay(loaded, {}, parts, output, interrupt or Interrupt(), lambda _, __: None)
    return load(output)


def change(run: Run, name: str, alter: Callable[[list[dict[str, Any]]], object]) -> None:
    """Alters rows of a table of a finished run, in place."""
    rows = run.table(name).to_pylist()
    alter(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMAS[name]), run.path / f"{name}.parquet")


def change_json(path: Path, **values: Any) -> None:
    """Sets keys of a JSON file."""
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def kill(run: Run, *, steps: int, events: int, requests: int) -> None:
    """Turns a finished run into what one leaves that was killed: part files with so many rows of each table."""
    for name, length in (("steps", steps), ("events", events), ("requests", requests)):
        table = run.table(name)
        files = TableFiles(run.path, name)
        pq.write_table(table.slice(0, length // 2), files.part(0))
        pq.write_table(table.slice(length // 2, length - length // 2), files.part(1))
        files.single.unlink()
    (run.path / "summary.json").unlink()
    change_json(run.path / "meta.json", complete=False)
