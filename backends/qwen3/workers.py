"""The processes of the ranks above 0."""

import os
import subprocess
import sys
import tempfile
import time
import weakref
from pathlib import Path
from typing import Protocol

import torch
import torch.distributed as dist

import backends
from backends.qwen3.ranks import reported_failure


class Workers(Protocol):
    """The processes of ranks above 0."""

    def failure(self) -> str | None:
        """Why one of them has ended, as a sentence; None while all live."""
        ...

    def stop(self, patience_s: float) -> None:
        """Return when none is left; one that has not ended by itself after `patience_s` seconds is killed."""
        ...


class NoWorkers:
    """Rank 0 is alone."""

    def failure(self) -> None:
        """None: nobody can fail."""

    def stop(self, patience_s: float) -> None:
        """Nothing to do."""


class StartedWorkers:
    """Processes started here, one a rank, on this host.

    Not by `multiprocessing`, whose children import the caller's main module: a script without a `__main__` guard would
    start itself again. They live in a session of their own, so that Ctrl-C reaches rank 0 alone, and end when their
    standard input closes, so that none outlives rank 0 however that ends.

    Args:
        devices: of ranks 1, 2, ...

    Attributes:
        store: through which the ranks find each other; a file of its own, so that engines do not meet.
    """

    def __init__(self, devices: list[torch.device]) -> None:
        self._size = len(devices) + 1
        self._folder = tempfile.TemporaryDirectory(prefix="twinserve-", ignore_cleanup_errors=True)
        self._store_path = Path(self._folder.name) / "store"
        self.store = dist.FileStore(str(self._store_path), self._size)
        self._processes = [self._start(rank, device) for rank, device in enumerate(devices, start=1)]
        self._finalizer = weakref.finalize(self, _kill, self._processes)

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of ranks 1, 2, ..."""
        return tuple(process.pid for process in self._processes)

    def failure(self) -> str | None:
        """What a worker has reported, or how it ended without a word."""
        for rank, process in enumerate(self._processes, start=1):
            code = process.poll()
            if code is not None:
                return reported_failure(self.store, self._size) or (
                    f"The process of rank {rank} was killed by signal {-code}; the memory of the host may have run out."
                    if code < 0
                    else f"The process of rank {rank} ended with exit code {code}; see what it printed."
                )
        return None

    def stop(self, patience_s: float) -> None:
        """Wait, then kill."""
        deadline = time.monotonic() + patience_s
        for process in self._processes:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
        self._finalizer()
        self._folder.cleanup()

    def _start(self, rank: int, device: torch.device) -> "subprocess.Popen[bytes]":
        paths = [str(Path(backends.__file__).parent.parent), *(path for path in sys.path if path)]
        command = [sys.executable, "-m", "backends.qwen3.worker", "--store", str(self._store_path)]
        command += ["--rank", str(rank), "--size", str(self._size), "--device", str(device)]
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,  # rank 0's output may be piped into a program
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,
        )


class LaunchedWorkers:
    """Processes that torchrun has started; it also ends them all when one fails.

    Args:
        store: through which the ranks have found each other.
        size: number of ranks, rank 0 included.
    """

    def __init__(self, store: dist.Store, size: int) -> None:
        self._store = store
        self._size = size

    def failure(self) -> str | None:
        """What a worker has reported."""
        return reported_failure(self._store, self._size)

    def stop(self, patience_s: float) -> None:
        """Nothing: they end by themselves, or their launcher sees to it."""


def _kill(processes: "list[subprocess.Popen[bytes]]") -> None:
    for process in processes:
        process.kill()
        process.wait()
        if process.stdin:
            process.stdin.close()
