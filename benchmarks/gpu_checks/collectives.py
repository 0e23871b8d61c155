"""One of two ranks that exchange tensors in a captured graph; `tensor_parallel` starts both.

python -m benchmarks.gpu_checks.collectives RANK STORE_FILE DEVICE
"""

import sys
from typing import Any

import torch
import torch.distributed

from backends.qwen3.group import Group
from backends.qwen3.ranks import join, leave, loopback_only
from benchmarks.gpu_checks.capture import capture_for

_SIZE = 2


def main(rank: int, store: str, device: torch.device) -> None:
    """Capture a gather and a sum, replay them with other numbers; raises if a result is wrong."""
    distributed: Any = torch.distributed  # its types leave FileStore out
    if device.type == "cuda":
        torch.cuda.set_device(device)
    with loopback_only():
        group = join(distributed.FileStore(store, _SIZE), rank, _SIZE, device).group
    _exchange(group, rank, device)  # its graph must be gone when the ranks part
    leave(is_broken=False)


def _exchange(group: Group, rank: int, device: torch.device) -> None:
    mine = torch.zeros(3, 5, device=device)
    gathered, summed = torch.zeros(3, 5 * _SIZE, device=device), torch.zeros(3, 5, device=device)

    def exchange() -> None:
        gathered.copy_(group.all_gather(mine))
        summed.copy_(group.all_reduce(mine.clone()))

    replay = capture_for(is_cuda=device.type == "cuda")(exchange)
    for value in (1.0, 5.0):
        mine.fill_(value + rank)
        replay()
        parts = [torch.full((3, 5), value + other, device=device) for other in range(_SIZE)]
        assert torch.equal(gathered, torch.cat(parts, dim=1)), f"gathered {gathered}"
        assert torch.equal(summed, parts[0] + parts[1]), f"summed {summed}"


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], torch.device(sys.argv[3]))
