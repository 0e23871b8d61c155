"""What differs between a CPU and a GPU when a runner is put together."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

import torch

from backends.qwen3.backend_settings import BackendSettings
from backends.qwen3.cuda_graphs import Capture, CudaCapture
from backends.qwen3.device_memory import GRAPH_BYTES, DeviceMemory
from backends.qwen3.errors import ModelError
from backends.qwen3.group import Group
from backends.qwen3.kv_cache_size import MemoryUse, num_blocks_that_fit
from backends.qwen3.step_timer import CpuTimer, CudaTimer, StepTimer, settle
from backends.qwen3.warm_up import WarmUp

_CPU_CACHE_BYTES = 2**30


class Platform(Protocol):
    """One device, before it computes."""

    def explain(self, what: str, remedy: str) -> AbstractContextManager[None]:
        """Inside, memory that `what` lacks becomes one sentence with the numbers and the remedy."""
        ...

    def warm_up(self, warm_up: WarmUp) -> None:
        """Run the steps that make later ones quick, and measure the largest."""
        ...

    def num_blocks(self, settings: BackendSettings, num_graphs: int, block_bytes: int, group: Group) -> int:
        """KV blocks that fit beside `num_graphs` graphs and what `warm_up` has measured; the same on each rank."""
        ...

    def capture(self) -> Capture | None:
        """What captures graphs; None if the device has none."""
        ...

    def timer(self) -> StepTimer:
        """What measures and waits."""
        ...


class CpuPlatform:
    """No warm-up, no graphs, and a KV cache of at most 1 GiB unless its size is given."""

    def explain(self, what: str, remedy: str) -> AbstractContextManager[None]:
        """Nothing to add."""
        return nullcontext()

    def warm_up(self, warm_up: WarmUp) -> None:
        """Nothing is compiled."""

    def num_blocks(self, settings: BackendSettings, num_graphs: int, block_bytes: int, group: Group) -> int:
        """As many as all sequences may need at most, but no more than 1 GiB holds."""
        wanted = settings.max_num_seqs * settings.blocks_per_sequence
        return group.minimum(max(1, min(wanted, _CPU_CACHE_BYTES // block_bytes)))

    def capture(self) -> None:
        """None."""

    def timer(self) -> CpuTimer:
        """The wall clock."""
        return CpuTimer()


class CudaPlatform:
    """One GPU, looked at before anything is on it.

    Args:
        device: which.
        check: raises when another rank has ended, so that this one does not wait for it; None = no need to ask.

    Raises:
        ModelError: there is no such GPU.
    """

    def __init__(self, device: torch.device, check: Callable[[], None] | None) -> None:
        if not torch.cuda.is_available():
            raise ModelError(
                f"Device {device} was asked for, but torch sees no CUDA GPU; install a torch with CUDA and see "
                f"nvidia-smi, or use device cpu."
            )
        if (device.index or 0) >= torch.cuda.device_count():
            raise ModelError(
                f"Device {device} was asked for, but torch sees {torch.cuda.device_count()} GPUs; use a lower number, "
                f"or see CUDA_VISIBLE_DEVICES."
            )
        torch.cuda.set_device(device.index or 0)
        self._device = device
        self._check = check
        self._memory = DeviceMemory(device, self._settle)
        self._peak = self._graphs = 0

    def explain(self, what: str, remedy: str) -> AbstractContextManager[None]:
        """Watch for "out of memory"."""
        return self._memory.explain(what, remedy)

    def warm_up(self, warm_up: WarmUp) -> None:
        """All steps; the first time that a kernel runs counts for nothing, so the largest ones run again."""
        warm_up.special_sizes()
        warm_up.largest_step()
        base = self._memory.used_here()
        self._peak = base + self._memory.peak_of(warm_up.largest_step)
        self._graphs = self._memory.peak_of(warm_up.largest_graphs)

    def num_blocks(self, settings: BackendSettings, num_graphs: int, block_bytes: int, group: Group) -> int:
        """What is left of the share of memory that may be used."""
        graphs = self._graphs + GRAPH_BYTES * num_graphs if num_graphs else 0
        use = MemoryUse(total=self._memory.total, others=self._memory.others, peak=self._peak, graphs=graphs)
        return num_blocks_that_fit(use, settings.memory_utilization, block_bytes, group)

    def capture(self) -> CudaCapture:
        """CUDA graphs."""
        return CudaCapture(self._settle)

    def timer(self) -> CudaTimer:
        """CUDA events."""
        return CudaTimer(self._check)

    def _settle(self) -> None:
        settle(self._check)


def platform_of(device: torch.device, check: Callable[[], None] | None) -> Platform:
    """The platform of a device; see `CudaPlatform` about `check`.

    Raises:
        ModelError: there is no such device.
    """
    if device.type == "cpu":
        return CpuPlatform()
    if device.type == "cuda":
        return CudaPlatform(device, check)
    raise ModelError(f"Device {device} is not supported; use cuda or cpu.")
