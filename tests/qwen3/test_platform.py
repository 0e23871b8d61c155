"""What set-up does with a GPU, on one that is played; it shows what is called, not that CUDA does it."""

import pytest
import torch

from backends.qwen3 import platform
from backends.qwen3.errors import ModelError
from backends.qwen3.group import SingleRank
from backends.qwen3.platform import CpuPlatform, platform_of
from tests.qwen3.runner_settings import settings

GIB = 2**30
BLOCK = 2**20


@pytest.fixture
def gpu(monkeypatch):
    """One H200 on which a process uses 10 GiB already."""
    cuda = platform.torch.cuda
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    monkeypatch.setattr(cuda, "device_count", lambda: 1)
    monkeypatch.setattr(cuda, "set_device", lambda _: None)

    class Memory:
        total, others = 140 * GIB, 10 * GIB

        def __init__(self, device, settle):
            pass

        def used_here(self):
            return 3 * GIB

        def peak_of(self, run):
            run()
            return {"largest_step": 5 * GIB, "largest_graphs": GIB}[run.__name__]

    monkeypatch.setattr(platform, "DeviceMemory", Memory)


class WarmUp:
    """Notes what runs."""

    def __init__(self):
        self.runs = []

    def special_sizes(self):
        self.runs.append("special_sizes")

    def largest_step(self):
        self.runs.append("largest_step")

    def largest_graphs(self):
        self.runs.append("largest_graphs")


def test_the_cache_gets_what_the_largest_step_the_graphs_and_the_others_leave(gpu):
    place, steps = platform_of(torch.device("cuda"), None), WarmUp()
    place.warm_up(steps)
    assert steps.runs == ["special_sizes", "largest_step", "largest_step", "largest_graphs"]
    left = 126 * GIB - 10 * GIB - 3 * GIB - 5 * GIB
    graphs = GIB + 3 * platform.GRAPH_BYTES
    assert place.num_blocks(settings(num_blocks=None), 3, BLOCK, SingleRank()) == (left - graphs) // BLOCK
    assert place.num_blocks(settings(num_blocks=None), 0, BLOCK, SingleRank()) == left // BLOCK


def test_a_gpu_that_is_full_is_said_with_numbers(gpu, monkeypatch):
    monkeypatch.setattr(platform.DeviceMemory, "others", 125 * GIB)
    place = platform_of(torch.device("cuda"), None)
    place.warm_up(WarmUp())
    with pytest.raises(ModelError, match=r"125\.000 GiB used by other processes"):
        place.num_blocks(settings(num_blocks=None), 3, BLOCK, SingleRank())


def test_a_gpu_number_that_is_not_there_is_said(gpu):
    with pytest.raises(ModelError, match="Device cuda:1 was asked for, but torch sees 1 GPUs"):
        platform_of(torch.device("cuda:1"), None)


def test_a_machine_without_gpu_is_said(monkeypatch):
    monkeypatch.setattr(platform.torch.cuda, "is_available", lambda: False)
    with pytest.raises(
        ModelError, match="torch sees no CUDA GPU; install a torch with CUDA and see nvidia-smi, or use"
    ):
        platform_of(torch.device("cuda"), None)


@pytest.mark.parametrize(("block_bytes", "expected"), [(1, 64), (2**25, 32), (2**40, 1)])
def test_the_cpu_takes_what_is_needed_or_a_gibibyte(block_bytes, expected):
    assert CpuPlatform().num_blocks(settings(num_blocks=None), 0, block_bytes, SingleRank()) == expected
