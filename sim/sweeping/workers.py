"""Processes that replay the points of a sweep, one process a point."""

import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from sim.replay_settings import ReplaySettings
from sim.sweeping.run_point import main


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
    task: Task
    process: SpawnProcess
    failure: Connection

    def ended(self) -> str | None:
        """Wait for its end; returns what went wrong, in words."""
        try:
            sentence = str(self.failure.recv())
        except EOFError:
            sentence = None
        self.process.join()
        self.failure.close()
        code = self.process.exitcode
        assert code is not None, "the process has ended"
        if sentence is not None or code == 0:
            return sentence
        if code < 0:
            return (
                f"its process was killed by signal {-code} ({signal.Signals(-code).name}); if memory ran out, use "
                "fewer processes (--jobs)"
            )
        return f"its process ended with exit code {code}; it has said above why"

    def stop(self) -> None:
        """End it at once; its run directory stays partial."""
        self.process.terminate()
        self.process.join()
        self.failure.close()


class Workers:
    """Runs tasks side by side.

    Args:
        trace: trace file that all of them replay.
        num_processes: most processes at a time.
    """

    def __init__(self, trace: Path, num_processes: int) -> None:
        self._trace = trace
        self._num_processes = num_processes
        # Spawned, not forked: a process begins as `sim replay` does, whatever this one has loaded.
        self._context = get_context("spawn")

    def run(self, tasks: Sequence[Task], on_end: Callable[[], None]) -> dict[str, str]:
        """Run all tasks; one that fails does not keep others from running.

        Args:
            tasks: in the order in which to begin.
            on_end: called whenever one has ended.

        Returns:
            What went wrong, by name of the run directory; empty if nothing did.
        """
        waiting, running, failures = deque(tasks), dict[Connection, _Worker](), dict[str, str]()
        try:
            while waiting or running:
                while waiting and len(running) < self._num_processes:
                    worker = self._started(waiting.popleft())
                    running[worker.failure] = worker
                # A connection is ready when it has a sentence, or when its process has ended.
                for failure in wait(list(running)):
                    assert isinstance(failure, Connection)
                    worker = running.pop(failure)
                    sentence = worker.ended()
                    if sentence is not None:
                        failures[worker.task.output.name] = sentence
                    on_end()
        finally:
            for worker in running.values():
                worker.stop()
        return failures

    def _started(self, task: Task) -> _Worker:
        receiver, sender = self._context.Pipe(duplex=False)
        process = self._context.Process(target=main, args=(self._trace, task.settings, task.output, sender))
        with _ignoring_interrupts():
            process.start()
        sender.close()
        return _Worker(task, process, receiver)


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """A process that starts inherits what is ignored, so that a Ctrl-C does not hit it before it can ignore it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
