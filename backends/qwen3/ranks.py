"""This process among those that share a model."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from os import environ
from socket import if_nameindex

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d

from backends.qwen3.control_channel import ControlChannel
from backends.qwen3.errors import ModelError
from backends.qwen3.group import DistributedGroup, Group, SingleRank

_JOIN_TIMEOUT = timedelta(seconds=120)
_IDLE_TIMEOUT = timedelta(days=1000)  # workers wait for the next step as long as it takes
_READY_KEY = "rank {} is ready"
_FAILURE_KEY = "failure of rank {}"


@dataclass(frozen=True, slots=True)
class Ranks:
    """What a rank needs of the others.

    Attributes:
        group: collectives of the model's layers.
        device: this rank's device.
        control: messages of rank 0; None if there is only one rank.
    """

    group: Group
    device: torch.device
    control: ControlChannel | None


class _Group:
    """Tensors go over one process group; numbers of set-up over gloo, which notices when a rank has died."""

    def __init__(self, data: DistributedGroup, control: DistributedGroup) -> None:
        self.rank, self.size = data.rank, data.size
        self.all_reduce = data.all_reduce
        self.all_gather = data.all_gather
        self.minimum = control.minimum


def single_rank(device: torch.device) -> Ranks:
    """A process that has the model for itself."""
    return Ranks(SingleRank(), device, None)


def join(store: dist.Store, rank: int, size: int, device: torch.device) -> Ranks:
    """Meet the other ranks; all call this at about the same time.

    Raises:
        ModelError: this process is in a process group already, or the ranks do not find each other.
    """
    if dist.is_initialized():
        raise ModelError(
            "torch.distributed is in use in this process already, perhaps by another tensor-parallel engine; close "
            "that one first, or start this one in a process of its own."
        )
    is_cuda = device.type == "cuda"
    try:
        # By default NCCL's watchdog ends the whole process when a collective fails, as one does that is aborted because
        # another rank has died. Who waits for a step asks after the other ranks, and ends the engine alone.
        with _variable("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0"):
            dist.init_process_group(
                "nccl" if is_cuda else "gloo",
                store=store,
                rank=rank,
                world_size=size,
                timeout=_JOIN_TIMEOUT,
                device_id=device if is_cuda else None,
            )
        control = dist.new_group(backend="gloo", timeout=_IDLE_TIMEOUT)
    except (RuntimeError, ValueError) as error:
        leave(is_broken=True)
        raise ModelError(
            f"Rank {rank} could not join the {size} ranks of the model ({first_line(error)}); see whether another rank "
            f"has said why it ended."
        ) from error
    group = _Group(DistributedGroup(device), DistributedGroup(torch.device("cpu"), control))
    return Ranks(group, device, ControlChannel(control))


def leave(*, is_broken: bool) -> None:
    """Leave the process group. A broken one is aborted, for a kernel may wait in it for a rank that has died."""
    if not dist.is_initialized():
        return
    abort = getattr(distributed_c10d, "_abort_process_group", None)
    if is_broken and abort is not None and dist.get_backend() == "nccl":
        abort()
    else:
        dist.destroy_process_group()


@contextmanager
def loopback_only() -> Iterator[None]:
    """Let gloo use the loopback interface, whatever the host's name resolves to, unless the user has chosen one."""
    loopback = [interface for _, interface in if_nameindex() if interface.startswith("lo")]
    with _variable("GLOO_SOCKET_IFNAME", loopback[0]) if loopback else nullcontext():
        yield


@contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    """Set an environment variable for a while, unless the user has set it."""
    if name in environ:
        yield
        return
    environ[name] = value
    try:
        yield
    finally:
        del environ[name]


def report_ready(store: dist.Store, rank: int) -> None:
    """Tell rank 0 that this rank is about to join."""
    store.set(_READY_KEY.format(rank), "")


def are_ready(store: dist.Store, size: int) -> bool:
    """Whether all ranks above 0 are about to join."""
    return bool(store.check([_READY_KEY.format(rank) for rank in range(1, size)]))


def report_failure(store: dist.Store, rank: int, error: BaseException) -> None:
    """Leave a sentence for rank 0."""
    store.set(_FAILURE_KEY.format(rank), f"{type(error).__name__}: {first_line(error)}")


def reported_failure(store: dist.Store, size: int) -> str | None:
    """The sentence that a rank has left, if one has."""
    for rank in range(1, size):
        key = _FAILURE_KEY.format(rank)
        if store.check([key]):
            return f"Rank {rank} failed: {store.get(key).decode()}"
    return None


def first_line(error: BaseException) -> str:
    """The first line of an error's message; what follows in torch's are C++ frames."""
    return (str(error).strip().splitlines() or [repr(error)])[0]
