"""How long whole replays take, run directory included, and how much memory.

python -m benchmarks.replay_speed TRACE -- FLAGS OF SIM REPLAY
"""

import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.table import Table


class Usage(NamedTuple):
    """What one replay took."""

    wall_s: float
    cpu_s: float
    peak_mib: float


def measure(arguments: list[str]) -> Usage:
    """Run one replay as a process of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "sim", "replay", *arguments, "--json", "--output", str(Path(scratch) / "run")]
        start = time.perf_counter()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wall_s = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # The peak is that of the largest child so far: run the largest replay last, or one at a time.
    return Usage(wall_s, cpu_s, after.ru_maxrss / 1024)


def main(
    trace: Annotated[Path, typer.Argument(help="Trace to replay.")],
    flags: Annotated[list[str] | None, typer.Argument(help="Flags of `sim replay`, after --.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Runs; the median counts.")] = 3,
) -> None:
    """Replay a trace several times and print wall time, processor time and peak memory."""
    usages = sorted(measure([str(trace), *(flags or [])]) for _ in range(repeats))
    table = Table("run", "wall s", "cpu s", "peak MiB", title=f"{trace.name} on {machine()}")
    for number, usage in enumerate(usages):
        name = "median" if number == len(usages) // 2 else ""
        table.add_row(name, f"{usage.wall_s:.2f}", f"{usage.cpu_s:.2f}", f"{usage.peak_mib:.0f}")
    Console().print(table)


def machine() -> str:
    """Processor and Python, as far as the system tells."""
    names = [line.partition(":")[2].strip() for line in _cpuinfo() if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {len(names)} cores, Python {platform.python_version()}"


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


if __name__ == "__main__":
    typer.run(main)
