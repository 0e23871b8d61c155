"""What the memory of one GPU is used for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from backends.qwen3.errors import ModelError

_GIB = 2**30
_CONTEXT_BYTES = int(0.6 * _GIB)
"""Roughly what CUDA itself takes for a process; only decides whether a byte is called this process's or another's."""
GRAPH_BYTES = 8 * 2**20
"""For one captured graph: its nodes and what their kernels need, without its tensors."""


class DeviceMemory:
    """Looks at a GPU's memory, first of all before this process takes any.

    Args:
        device: the GPU.
        settle: waits until the GPU is idle.
        mem_get_info: (free, total) bytes of the whole GPU.
    """

    def __init__(
        self,
        device: torch.device,
        settle: Callable[[], None],
        mem_get_info: Callable[[torch.device], tuple[int, int]] = torch.cuda.mem_get_info,
    ) -> None:
        self._device = device
        self._settle = settle
        self._mem_get_info = mem_get_info
        free, self.total = mem_get_info(device)
        self.others = max(0, self.total - free - _CONTEXT_BYTES)

    def used_here(self) -> int:
        """Bytes in use by this process, what its allocator keeps ready not counted."""
        self._settle()
        torch.cuda.empty_cache()
        free, _ = self._mem_get_info(self._device)
        return self.total - free - self.others

    def peak_of(self, run: Callable[[], object]) -> int:
        """Most bytes that the allocator took for `run`, holes included, on top of what was in use before."""
        self._settle()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(self._device)
        before = torch.cuda.memory_reserved(self._device)
        run()
        self._settle()
        return torch.cuda.max_memory_reserved(self._device) - before

    @contextmanager
    def explain(self, what: str, remedy: str) -> Iterator[None]:
        """Turn "out of memory" inside into one sentence with the numbers.

        Args:
            what: needed the memory, as the subject of "does not fit".
            remedy: what the user can do.
        """
        try:
            yield
        except torch.OutOfMemoryError:
            free, _ = self._mem_get_info(self._device)
            raise ModelError(
                f"{what} does not fit into GPU {self._device.index or 0}: of {self.total / _GIB:.1f} GiB, other "
                f"processes use about {self.others / _GIB:.1f} GiB, and {free / _GIB:.1f} GiB are left; {remedy}, or "
                f"end the other processes."
            ) from None
