"""Processes that replay the points of a sweep."""

import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import TracebackType

from sim.replay_settings import ReplaySettings
from sim.sweeping.work import work


@dataclass(frozen=True, slots=True)
class Task:
    """A run to be made.

    Attributes:
        settings: how to replay.
        output: the run directory.
    """

    settings: ReplaySettings
    output: Path


@dataclass(frozen=True, slots=True)
class _Worker:
    process: SpawnProcess
    connection: Connection

    def begin(self, task: Task) -> None:
        self.connection.send((task.settings, task.output))

    def death(self) -> str:
        """Why it died, in words."""
        self.process.join()
        self.connection.close()
        code = self.process.exitcode
        assert code is not None, "the process has ended"
        if code < 0:
            return (
                f"its process was killed by signal {-code} ({signal.Signals(-code).name}); if memory ran out, use "
                "fewer processes (--jobs)"
            )
        return f"its process ended with exit code {code}; it has said above why"

    def stop(self) -> None:
        """End it at once; a run under way stays partial."""
        self.process.terminate()
        self.process.join()
        self.connection.close()


class Workers:
    """Runs tasks side by side, in processes that are started when needed and stopped on leaving the context.

    Args:
        trace: trace file that all of them replay.
        num_processes: most processes.
    """

    def __init__(self, trace: Path, num_processes: int) -> None:
        self._trace = trace
        self._num_processes = num_processes
        # Spawned, not forked: a process begins as `sim replay` does, whatever this one has loaded.
        self._context = get_context("spawn")
        self._idle: list[_Worker] = []
        self._busy: dict[Connection, tuple[_Worker, Task]] = {}

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        for worker in (*self._idle, *(worker for worker, _ in self._busy.values())):
            worker.stop()

    def run(self, tasks: Sequence[Task], on_end: Callable[[str | None], None]) -> dict[str, str]:
        """Run all tasks; one that fails does not keep others from running.

        Args:
            tasks: in the order in which to begin.
            on_end: called whenever one has ended, with what went wrong.

        Returns:
            What went wrong, by name of the run directory, in the order of the tasks; empty if nothing did.
        """
        waiting, failures = deque(tasks), dict[str, str]()
        while waiting or self._busy:
            while waiting and len(self._busy) < self._num_processes:
                self._begin(waiting.popleft())
            # A connection is ready when it has an answer, or when its process has died.
            for connection in wait(list(self._busy)):
                assert isinstance(connection, Connection)
                task, failure = self._end(connection)
                if failure is not None:
                    failures[task.output.name] = failure
                on_end(failure)
        return {task.output.name: failures[task.output.name] for task in tasks if task.output.name in failures}

    def _begin(self, task: Task) -> None:
        worker = self._idle.pop() if self._idle else self._started()
        self._busy[worker.connection] = (worker, task)
        worker.begin(task)

    def _end(self, connection: Connection) -> tuple[Task, str | None]:
        worker, task = self._busy.pop(connection)
        try:
            failure = connection.recv()
        except (EOFError, ConnectionResetError):
            return task, worker.death()
        self._idle.append(worker)
        return task, failure

    def _started(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=work, args=(self._trace, theirs))
        with _ignoring_interrupts():
            process.start()
        theirs.close()
        return _Worker(process, ours)


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """A process that starts inherits what is ignored, so that a Ctrl-C does not hit it before it can ignore it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
