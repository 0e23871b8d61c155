"""The progress bar of a replay, on stderr."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sim.replay import OnProgress


def can_redraw() -> bool:
    """Whether stderr is a terminal that can overwrite what it shows; asking for colours makes no file one."""
    return sys.stderr.isatty() and os.environ.get("TERM", "") not in {"dumb", "unknown"}


@contextmanager
def progress_bar(num_requests: int, *, is_wanted: bool = True) -> Iterator[OnProgress]:
    """Show requests done, the run's clock and how much faster than the wall it goes; nothing if stderr is no terminal.

    Args:
        num_requests: of the trace.
        is_wanted: whether anything is shown at all.

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
    with Progress(*columns, console=console, transient=True, disable=not (is_wanted and can_redraw())) as progress:
        task = progress.add_task("", total=num_requests, clock_s=0.0, speed=0.0)
        start = time.perf_counter()

        def on_progress(num_ended: int, clock_s: float) -> None:
            wall_s = max(time.perf_counter() - start, 1e-9)
            progress.update(task, completed=num_ended, clock_s=clock_s, speed=clock_s / wall_s)

        yield on_progress
