"""How fast `sim trace info` and `convert` go through a long trace, and in how much memory.

python -m benchmarks.trace_speed [TRACE] [--rows N]
"""

import resource
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.read_speed import write_rows
from benchmarks.replay_speed import machine
from sim.trace.trace_portrait import portray
from sim.trace.trace_rows import TraceRows
from traces import ReadSettings
from traces.feed import feed
from traces.row_file import RowFile
from traces.statistics import CacheSize

SIZES = [CacheSize(size, is_tokens=False) for size in (1_000, 10_000, 100_000)]


def main(
    trace: Annotated[
        Path | None, typer.Argument(help="A trace; without one, rows as Azure's of 2024 are made.")
    ] = None,
    rows: Annotated[int, typer.Option(min=1, help="Rows to make.")] = 1_000_000,
) -> None:
    """Go through a trace twice and print requests a second of processor time and peak memory."""
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "azure.csv" if trace is None else trace
        if trace is None:
            write_rows(path, rows)
        start_s = time.process_time()
        num_requests = portray(path, ReadSettings(), "auto", SIZES, None).profile.num_requests
        _tell("info", num_requests, time.process_time() - start_s)
        start_s = time.process_time()
        _convert(path, Path(folder) / "native.jsonl.zst")
        _tell("convert", num_requests, time.process_time() - start_s)


def _convert(path: Path, output: Path) -> None:
    with RowFile(output) as file:
        _, rows = feed(path, ReadSettings(), "auto", lambda block_size: TraceRows(file, block_size, str(path)))
        rows.finish()


def _tell(what: str, num_requests: int, time_s: float) -> None:
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what}: {num_requests:,} requests, {num_requests / time_s:,.0f} a second, peak {peak_mib:.0f} MiB")


if __name__ == "__main__":
    typer.run(main)
