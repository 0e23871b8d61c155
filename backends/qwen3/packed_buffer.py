"""Memory through which a step's numbers reach the device in one copy."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

_ALIGNMENT = 64
_TORCH_DTYPES = {np.dtype(np.int64): torch.int64, np.dtype(np.int32): torch.int32, np.dtype(np.float32): torch.float32}


class Field(NamedTuple):
    """One array in the buffer: where it is written on the host, and where it is read on the device."""

    host: NDArray[Any]
    device: torch.Tensor
    end: int


class FieldSpec(NamedTuple):
    """What to make room for: name, type of number, shape."""

    name: str
    dtype: type[np.generic]
    shape: tuple[int, ...]

    @property
    def num_bytes(self) -> int:
        """Bytes that the field takes in a buffer, alignment included."""
        size = int(np.prod(self.shape)) * np.dtype(self.dtype).itemsize
        return -(-size // _ALIGNMENT) * _ALIGNMENT


class PackedBuffer:
    """Equal memory on host and device: pinned on the host, so that the copy runs by itself while the host goes on.

    What has been uploaded may be written again on the host once the step that reads it on the device has ended. With
    several copies on the host, another one can be written meanwhile. On a CPU device a single copy is the very memory
    of the device. Fields begin at multiples of 64 bytes, so that kernels see the same alignment at each step.
    """

    def __init__(self, num_bytes: int, device: torch.device, num_copies: int = 1) -> None:
        """Take the memory, zeroed, `num_copies` times on the host."""
        is_cpu = device.type == "cpu"
        self._device = torch.zeros(num_bytes, dtype=torch.uint8, device=device)
        self._hosts = [torch.zeros(num_bytes, dtype=torch.uint8, pin_memory=not is_cpu) for _ in range(num_copies)]
        if is_cpu and num_copies == 1:
            self._hosts = [self._device]

    @property
    def num_bytes(self) -> int:
        """Size of each copy."""
        return len(self._device)

    def lay_out(self, specs: Iterable[FieldSpec], copy: int = 0) -> dict[str, Field]:
        """Views of fields, one after the other from the start of the buffer and of a copy on the host."""
        fields, start, host_bytes = {}, 0, self._hosts[copy].numpy()
        for name, dtype, shape in specs:
            end = start + int(np.prod(shape)) * np.dtype(dtype).itemsize
            assert end <= self.num_bytes, f"{end} bytes do not fit into a buffer of {self.num_bytes}"
            host = host_bytes[start:end].view(dtype).reshape(shape)
            device = self._device[start:end].view(_TORCH_DTYPES[np.dtype(dtype)]).view(shape)
            fields[name] = Field(host, device, end)
            start += FieldSpec(name, dtype, shape).num_bytes
        return fields

    def upload(self, num_bytes: int, copy: int = 0) -> None:
        """Start to copy the first `num_bytes` to the device; what is launched afterwards sees them."""
        host = self._hosts[copy]
        if host is not self._device:
            self._device[:num_bytes].copy_(host[:num_bytes], non_blocking=True)
