"""How rank 0 tells the other ranks what to do."""

import pickle
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

_LETTER_BYTES = 16384
_LENGTH_BYTES = 8


class ControlChannel:
    """Broadcasts Python values from rank 0 over a process group on the CPU.

    A message travels in one broadcast of fixed size, its length first, which a usual step fits into; a longer one is
    followed by a second broadcast with the rest. So there is no limit.

    Args:
        process_group: of all ranks, gloo.
    """

    def __init__(self, process_group: dist.ProcessGroup) -> None:
        self._group = process_group
        self._letter = torch.zeros(_LETTER_BYTES, dtype=torch.uint8)

    def send(self, value: object) -> None:
        """Tell all other ranks; rank 0 calls this."""
        message = np.frombuffer(pickle.dumps(value, protocol=5), dtype=np.uint8)
        head = message[: _LETTER_BYTES - _LENGTH_BYTES]
        letter = self._letter.numpy()
        letter[:_LENGTH_BYTES].view(np.int64)[0] = len(message)
        letter[_LENGTH_BYTES : _LENGTH_BYTES + len(head)] = head
        self._group.broadcast(self._letter, 0).wait()
        if len(head) < len(message):
            self._group.broadcast(torch.from_numpy(message[len(head) :].copy()), 0).wait()

    def receive(self) -> Any:  # noqa: ANN401 - whatever was sent
        """Wait for the next message; every rank but 0 calls this."""
        self._group.broadcast(self._letter, 0).wait()
        letter = self._letter.numpy()
        length = int(letter[:_LENGTH_BYTES].view(np.int64)[0])
        message = letter[_LENGTH_BYTES : _LENGTH_BYTES + length].tobytes()
        if len(message) < length:
            rest = torch.empty(length - len(message), dtype=torch.uint8)
            self._group.broadcast(rest, 0).wait()
            message += rest.numpy().tobytes()
        return pickle.loads(message)
