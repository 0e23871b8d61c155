"""The steps of a run in a timeline: a track of slices, and counters."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from analysis import metrics
from analysis.run import Run
from analysis.step_columns import Bools, StepColumns
from analysis.timeline_file import TimelineFile, Track, microseconds, nanoseconds

_ROWS_AT_A_TIME = 4096

Step = dict[str, Any]


class StepTrack:
    """Draws the steps of one run.

    Args:
        file: takes the events.
        track: where the steps go; the counters are its process's.
        run: whose steps.
        steps: the same steps as columns.
    """

    NAMES = (
        *("step", "start_s", "duration_s", "host_s", "device_s", "graph_size", "num_prefill_tokens"),
        *("num_prefill_seqs", "num_decode_seqs", "num_new_blocks", "num_admitted", "num_released"),
        *("num_waiting", "num_running", "num_used_blocks"),
    )
    """Columns of `steps` that are read."""

    def __init__(self, file: TimelineFile, track: Track, run: Run, steps: StepColumns) -> None:
        self._file = file
        self._track = track
        self._run = run
        self._steps = steps
        self._usage = metrics.kv_usage(steps, run.meta["num_kv_blocks"])
        self._levels: dict[str, dict[str, float]] = {}

    def draw(self, is_shown: Bools) -> None:
        """Writes those steps of which it is said, one entry a step."""
        pieces = self._run.scan("steps", self.NAMES)
        for position, row in enumerate(row for piece in pieces for row in _rows(piece)):
            if is_shown[position]:
                self._draw_step(position, row)

    def _draw_step(self, position: int, row: Step) -> None:
        start_s, end_s = float(self._steps.start_s[position]), float(self._steps.end_s[position])
        kind, name = step_name(row)
        self._file.slice(self._track, name, kind, nanoseconds(start_s), nanoseconds(end_s), _args(row))
        running, waiting = int(self._steps.num_running[position]), row["num_waiting"]
        self._count(start_s, running, waiting, float(self._usage[position]))
        is_followed = position + 1 < len(self._steps) and float(self._steps.start_s[position + 1]) <= end_s
        if not is_followed and row["num_running"] == 0:
            # Nobody runs and nobody holds a block until the next step.
            self._count(end_s, 0, waiting, 0.0)

    def _count(self, time_s: float, running: int, waiting: int, usage: float) -> None:
        """Writes what has changed."""
        levels: dict[str, dict[str, float]] = {
            "Requests": {"running": running, "waiting": waiting},
            "KV cache": {"used %": round(100 * usage, 3)},
        }
        for name, values in levels.items():
            if self._levels.get(name) != values:
                self._levels[name] = values
                self._file.counter(name, self._track.pid, nanoseconds(time_s), values)


def step_name(row: Step) -> tuple[str, str]:
    """Returns kind and name of a step by its shape: "decode 12", "prefill 512", or decodes + tokens: "mixed 3+512"."""
    decodes, tokens = row["num_decode_seqs"], row["num_prefill_tokens"]
    if decodes and tokens:
        return "mixed", f"mixed {decodes}+{tokens}"
    if decodes or tokens:
        kind = "decode" if decodes else "prefill"
        return kind, f"{kind} {decodes or tokens}"
    return "empty", "empty"


def _args(row: Step) -> Step:
    num_tokens = row["num_prefill_tokens"] + row["num_decode_seqs"]
    graph = "eager" if row["graph_size"] is None else row["graph_size"]
    return {
        "step": row["step"],
        "num_tokens": num_tokens,
        "num_prefill_seqs": row["num_prefill_seqs"],
        "num_decode_seqs": row["num_decode_seqs"],
        "device_us": microseconds(nanoseconds(row["device_s"])),
        "host_us": microseconds(nanoseconds(row["host_s"])),
        **({"graph": graph} if num_tokens else {}),
        **{name: row[name] for name in ("num_admitted", "num_released", "num_new_blocks", "num_used_blocks")},
    }


def _rows(piece: pa.Table) -> Iterator[Step]:
    for batch in piece.to_batches(max_chunksize=_ROWS_AT_A_TIME):
        yield from batch.to_pylist()
