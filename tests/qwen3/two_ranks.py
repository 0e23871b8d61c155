"""What each of two processes computes in the tests of tensor parallelism; imported by the processes they start."""

from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from backends.qwen3.attention import PagedAttention
from backends.qwen3.attention_torch import TorchKernels
from backends.qwen3.errors import ModelError
from backends.qwen3.group import DistributedGroup
from backends.qwen3.loader import load_model
from tests.qwen3.tiny_model import CPU, PADDING, Row, make_inputs, poisoned_cache

A, B = [(5 * i * i + 3 * i) % 97 for i in range(60)], list(range(20, 80))  # tokens of both halves and of the border
STEPS = [  # (rows, logits wanted)
    ([Row(A, 0, 40, [0, 1, 2])], None),
    ([Row(A, 40, 41, [0, 1, 2]), PADDING, Row(A[:16] + B, 16, 50, [0, 4, 5, 3])], [0, 35]),
    ([Row(B, 0, 20, [6, 7])], []),
    ([Row(B, 20, 21, [6, 7])], None),
]


def run_steps(model, num_ranks):
    """Logits of each of STEPS."""
    cache = poisoned_cache(model.config, num_blocks=8, block_size=16, num_ranks=num_ranks)
    attention = PagedAttention(TorchKernels())
    return [model.logits(model(make_inputs(rows, 16, logits_rows=wanted), cache, attention)) for rows, wanted in STEPS]


def work(rank: int, meeting_point: Path, folders: list[Path]) -> None:
    """Load each folder on this rank, run it, and leave the logits (or the error) in the folder."""
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{meeting_point}", rank=rank, world_size=2, timeout=timedelta(seconds=60)
    )
    try:
        group = DistributedGroup(CPU)
        assert group.minimum(5 + rank) == 5
        for folder in folders:
            try:
                result = run_steps(load_model(folder, group, device=CPU), 2)
            except ModelError as error:
                result = str(error)
            torch.save(result, folder / f"rank{rank}.pt")
    finally:
        dist.destroy_process_group()


def start(meeting_point: Path, folders: list[Path]) -> None:
    """Run `work` in two processes; raises what they raise."""
    mp.spawn(work, args=(meeting_point, folders), nprocs=2)
