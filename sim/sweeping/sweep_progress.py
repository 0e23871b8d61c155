"""The progress bar of a sweep, on stderr."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from sim.message import Messages
from sim.progress import can_redraw


class SweepProgress:
    """Counts runs, and says so to who asks for details. Made by `sweep_progress`."""

    def __init__(self, progress: Progress, task: TaskID, messages: Messages) -> None:
        self._progress = progress
        self._task = task
        self._messages = messages
        self.num_runs = 0
        self.num_complete = 0
        self._num_failed = 0

    def expect(self, num_runs: int) -> None:
        """So many runs more belong to the sweep."""
        self.num_runs += num_runs
        self._progress.update(self._task, total=self.num_runs)

    def found(self, num_runs: int) -> None:
        """So many of them are complete already."""
        self.num_complete += num_runs
        self._messages.detail(f"{self.num_complete} of {self.num_runs} runs are complete already.")
        self._show()

    def run_ended(self, failure: str | None) -> None:
        """A run has ended; `failure` says what went wrong."""
        self.num_complete += failure is None
        self._num_failed += failure is not None
        failed = f", {self._num_failed} failed" if self._num_failed else ""
        self._messages.detail(f"{self.num_complete} of {self.num_runs} runs are complete{failed}.")
        self._show()

    def _show(self) -> None:
        self._progress.update(self._task, completed=self.num_complete + self._num_failed)


@contextmanager
def sweep_progress(messages: Messages) -> Iterator[SweepProgress]:
    """Show runs done and time; nothing if stderr is no terminal, or `messages` are not wanted."""
    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("runs"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=messages.is_quiet or not can_redraw()) as progress:
        yield SweepProgress(progress, progress.add_task("", total=0), messages)
