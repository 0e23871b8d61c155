"""How fast a long trace is read where only a part of it is wanted, and in how much memory.

python -m benchmarks.read_speed [--rows N]
"""

import resource
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Annotated

import typer

from benchmarks.replay_speed import machine
from traces import ReadSettings, Window, read_trace

START = datetime(2024, 5, 10, tzinfo=UTC)


def write_rows(path: Path, num_rows: int) -> None:
    """Write rows in the form of Azure's traces of 2024, some 33 a second, one in 1,000 without an output."""
    rng = Random(20240510)
    arrival = START
    with path.open("w") as file:
        file.write("TIMESTAMP,ContextTokens,GeneratedTokens\n")
        for index in range(num_rows):
            arrival += timedelta(microseconds=rng.randrange(60_000))
            num_output = 0 if index % 1000 == 999 else rng.randrange(1, 400)
            file.write(f"{arrival},{rng.randrange(1, 7000)},{num_output}\n")


def main(
    rows: Annotated[int, typer.Option(min=1, help="Rows to make.")] = 1_000_000,
    repeats: Annotated[int, typer.Option(min=1, help="Readings; the quickest counts.")] = 3,
) -> None:
    """Read 60 s of a long file several times and print rows a second and peak memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "azure.csv"
        write_rows(path, rows)
        times_s = []
        for _ in range(repeats):
            start_s = time.process_time()
            trace = read_trace(path, ReadSettings(window=Window(start_s=60, end_s=120)))
            times_s.append(time.process_time() - start_s)
    rate = rows / min(times_s)
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(machine())
    print(
        f"{rows:,} rows, {trace.num_requests:,} kept: {rate:,.0f} a second of processor time, peak {peak_mib:.0f} MiB"
    )


if __name__ == "__main__":
    typer.run(main)
