"""The trace of a run, as it was replayed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from analysis.arrow_values import to_numpy
from analysis.run import Run
from sim.errors import SimError
from traces import Trace, read_trace


class RecordedTrace(NamedTuple):
    """What a run replayed.

    Attributes:
        trace: the canonical trace of the run directory.
        has_lines: whether its requests stand on the lines of the file that the run was given. Those order what comes at
            one instant, and a run that was killed has not recorded all of them.
    """

    trace: Trace
    has_lines: bool


def recorded_trace(run: Run) -> RecordedTrace:
    """Read the trace of a run directory.

    Raises:
        TraceError: there is none, or it is damaged.
        SimError: it is not the one that the run replayed, or its block size cannot be.
    """
    path = run.path / "trace.jsonl.zst"
    block_size = positive(run, "block_size", run.meta["trace"].get("block_size"))
    trace = read_trace(path, format="native", trace_block_size=block_size)
    digest = run.meta["trace"].get("digest")
    if digest is not None and digest != trace.digest:
        raise SimError(f"{path} has digest {trace.digest}, but the run replayed a trace of digest {digest}.")
    lines = _lines(run, trace.num_requests)
    if lines is None:
        return RecordedTrace(trace, has_lines=False)
    requests = tuple(replace(request, line=line) for request, line in zip(trace.requests, lines, strict=True))
    return RecordedTrace(replace(trace, requests=requests), has_lines=True)


def positive(run: Run, name: str, value: object) -> int | None:
    """A value of `meta.json` that is a whole number from 1, or missing.

    Raises:
        SimError: it is something else.
    """
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value
    raise SimError(f"{run.path / 'meta.json'}: {name} is {value!r}; it must be a whole number from 1.")


def _lines(run: Run, num_requests: int) -> Sequence[int] | None:
    table = run.table("requests", ["index", "line"]).sort_by("index")
    if to_numpy(table.column("index")).tolist() != list(range(num_requests)):
        return None
    lines: list[int] = to_numpy(table.column("line")).tolist()
    return lines
