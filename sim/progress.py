"""The progress bar of a replay, on stderr."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sim.replay import OnProgress


@contextmanager
def progress_bar(num_requests: int) -> Iterator[OnProgress]:
    """Show requests done, the run's clock and how much faster than the wall it goes; nothing if stderr is no terminal.

    Yields:
        What to call with (requests ended, clock).
    """
    console = Console(stderr=True)
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("requests, {task.fields[clock_s]:.0f} s served, {task.fields[speed]:.0f} times as fast"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=num_requests, clock_s=0.0, speed=0.0)
        start = time.perf_counter()

        def on_progress(num_ended: int, clock_s: float) -> None:
            wall_s = max(time.perf_counter() - start, 1e-9)
            progress.update(task, completed=num_ended, clock_s=clock_s, speed=clock_s / wall_s)

        yield on_progress
