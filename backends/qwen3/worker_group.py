"""Rank 0's hold on all ranks of a model."""

import os
import sys
import time

import torch
import torch.distributed as dist

from backends.qwen3.errors import ModelError
from backends.qwen3.ranks import Ranks, are_ready, first_line, join, leave, loopback_only, single_rank
from backends.qwen3.worker import run_rank
from backends.qwen3.workers import LaunchedWorkers, NoWorkers, StartedWorkers, Workers
from engine.errors import BackendError

_PATIENCE_S = 5.0  # for a worker to end by itself, or to say why it failed
_POLL_S = 0.02


class WorkerGroup:
    """Sends commands to the ranks above 0, notices when one ends, and leaves none behind.

    Attributes:
        ranks: this process's place among the ranks.
    """

    def __init__(self, ranks: Ranks, workers: Workers) -> None:
        self.ranks = ranks
        self._workers = workers
        self._is_closed = False

    @property
    def has_workers(self) -> bool:
        """Whether there is any rank but this one."""
        return self.ranks.control is not None

    @property
    def worker_pids(self) -> tuple[int, ...]:
        """Process ids of the workers that were started here."""
        return self._workers.pids if isinstance(self._workers, StartedWorkers) else ()

    def send(self, value: object) -> None:
        """Tell all workers."""
        if self.ranks.control is not None:
            self.ranks.control.send(value)

    def check(self) -> None:
        """Raise BackendError if a worker has ended."""
        failure = self._workers.failure()
        if failure is not None:
            raise BackendError(failure)

    def explain(self, error: Exception) -> str:
        """What has gone wrong: a worker's own words if it ended first, else this rank's error.

        A connection breaks a moment before the process behind it has ended, so this waits a little.
        """
        deadline = time.monotonic() + (_PATIENCE_S if self.has_workers else 0)
        while (failure := self._workers.failure()) is None and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        return failure or first_line(error)

    def close(self, *, is_broken: bool) -> None:
        """End all workers and leave them; idempotent.

        Args:
            is_broken: whether ranks may be out of step, so that no message would reach them.
        """
        if self._is_closed:
            return
        self._is_closed = True
        try:
            if not is_broken:
                self.send(None)
            # The workers leave together with this rank: leaving may be a collective.
            leave(is_broken=is_broken)
        finally:
            self._workers.stop(0 if is_broken else _PATIENCE_S)


def open_group(device: torch.device, num_ranks: int) -> WorkerGroup:
    """Bring the ranks together: this process alone, with workers of its own, or with those that torchrun has started.

    Under torchrun every rank runs the same program. In the ranks above 0 this does not return: they work for rank 0,
    and their process ends when the engine is closed.

    Raises:
        ModelError: there are too few devices, torchrun has started another number, or a rank fails to start.
    """
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        return _launched(device, num_ranks)
    if num_ranks == 1:
        return WorkerGroup(single_rank(device), NoWorkers())
    return _started(_devices(device, num_ranks))


def _started(devices: list[torch.device]) -> WorkerGroup:
    with loopback_only():
        workers = StartedWorkers(devices[1:])
        try:
            while not are_ready(workers.store, len(devices)):
                _raise_failure(workers)
                time.sleep(_POLL_S)
            return WorkerGroup(join(workers.store, 0, len(devices), devices[0]), workers)
        except BaseException:
            workers.stop(0)
            raise


def _launched(device: torch.device, num_ranks: int) -> WorkerGroup:
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if size != num_ranks:
        raise ModelError(
            f"The launcher has started {size} ranks but tensor_parallel is {num_ranks}; set tensor_parallel to {size}, "
            f"or start this program without torchrun: it starts its workers itself."
        )
    if size == 1:
        return WorkerGroup(single_rank(device), NoWorkers())
    devices = _devices(device, int(os.environ.get("LOCAL_WORLD_SIZE", size)))
    mine = devices[int(os.environ.get("LOCAL_RANK", rank))]
    store = _launchers_store()
    if rank > 0:
        sys.exit(run_rank(store, rank, size, mine))
    return WorkerGroup(join(store, 0, size, mine), LaunchedWorkers(store, size))


def _launchers_store() -> dist.Store:
    try:
        return next(dist.rendezvous("env://"))[0]
    except (RuntimeError, ValueError) as error:
        address = f"{os.environ.get('MASTER_ADDR')}:{os.environ.get('MASTER_PORT')}"
        raise ModelError(
            f"The ranks cannot meet at {address} ({first_line(error)}); the port may be in use: give torchrun another "
            f"--master-port, or --standalone, which finds a free one."
        ) from None


def _devices(first: torch.device, num_ranks: int) -> list[torch.device]:
    """Devices of the ranks of this host: the first one and those after it."""
    if first.type != "cuda":
        return [first] * num_ranks
    start, num_gpus = first.index or 0, torch.cuda.device_count()
    if start + num_ranks > num_gpus:
        raise ModelError(
            f"tensor_parallel {num_ranks} from GPU {start} on needs {start + num_ranks} GPUs, torch sees {num_gpus}: "
            f"lower tensor_parallel, or see CUDA_VISIBLE_DEVICES."
        )
    return [torch.device("cuda", start + rank) for rank in range(num_ranks)]


def _raise_failure(workers: StartedWorkers) -> None:
    failure = workers.failure()
    if failure is not None:
        raise ModelError(failure)
