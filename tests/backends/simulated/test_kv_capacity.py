from dataclasses import replace
from typing import Any

import pytest

from backends.simulated.gpu_sheet import GpuSheet, load_gpu_sheet
from backends.simulated.kv_capacity import activation_bytes, num_kv_blocks
from backends.simulated.model_shard import ModelShard
from backends.simulated.model_sheet import ModelSheet, load_model_sheet
from engine.errors import SettingError

MODEL = load_model_sheet("qwen3-8b")
GPU = load_gpu_sheet("h200")


def blocks(model: ModelSheet = MODEL, gpu: GpuSheet = GPU, **changes: float) -> int:
    settings: dict[str, Any] = {
        "tp": 1,
        "block_size": 16,
        "memory_utilization": 0.9,
        "max_num_batched_tokens": 8192,
        "max_num_seqs": 256,
    }
    return num_kv_blocks(model, gpu, **{**settings, **changes})


def test_qwen3_8b_on_an_h200() -> None:
    # (0.9 x 150.1 GB - 16.38 GB of weights - 0.74 GB of activations - 0.8 GB) / 2.36 MB
    activations = 8192 * 2 * (2 * 4096 + 3 * 12288)
    assert activation_bytes(ModelShard(MODEL, 1), 8192, 256) == activations
    left = 0.9 * GPU.memory_bytes - 2 * 8_190_735_360 - activations - 800_000_000
    assert blocks() == int(left // (16 * 36 * 2 * 8 * 128 * 2)) == 49_663


def test_the_sampler_sets_the_peak_when_steps_are_small() -> None:
    assert activation_bytes(ModelShard(MODEL, 1), 16, 256) == 256 * 151_936 * 14


def test_a_published_run_on_the_rtx_4090_had_2588_blocks() -> None:
    found = blocks(load_model_sheet("llama-3.1-8b"), load_gpu_sheet("rtx 4090"), max_num_batched_tokens=2048)
    assert found == pytest.approx(2588, rel=0.01)


def test_block_size_utilisation_and_split() -> None:
    assert blocks(block_size=256) == blocks() // 16
    assert blocks(memory_utilization=0.95) > blocks()
    assert blocks(max_num_batched_tokens=65536) < blocks()
    # Half the weights and half the block: a little more than twice the blocks.
    assert 2 < blocks(tp=2) / blocks() < 2.4


@pytest.mark.parametrize("utilization", [0, -0.1, 1.01, float("nan")])
def test_the_utilisation_is_a_share(utilization: float) -> None:
    with pytest.raises(SettingError, match=rf"memory utilisation is {utilization}; it must be above 0 and at most 1"):
        blocks(memory_utilization=utilization)


def test_a_model_that_leaves_nothing_says_why_and_what_to_change() -> None:
    with pytest.raises(
        SettingError,
        match=r"^Qwen3-32B leaves no memory for KV blocks on 1 x RTX 4090: 22\.7 GB may be used \(0\.9 of 25\.3 GB\), "
        r"weights take 65\.5 GB, activations and reserve 2\.2 GB; use a larger --tp or --memory-utilization, or "
        r"another GPU\.$",
    ):
        blocks(load_model_sheet("qwen3-32b"), load_gpu_sheet("rtx 4090"))


def test_exactly_one_block_is_enough() -> None:
    taken = 2 * MODEL.num_parameters + activation_bytes(ModelShard(MODEL, 1), 8192, 256) + GPU.reserved_bytes
    gpu = replace(GPU, memory_bytes=taken + 16 * 147_456)
    assert blocks(gpu=gpu, memory_utilization=1) == 1
    with pytest.raises(SettingError, match="leaves no memory for KV blocks"):
        blocks(gpu=replace(gpu, memory_bytes=gpu.memory_bytes - 1), memory_utilization=1)
