from dataclasses import replace

import pytest

from backends.simulated.model_shard import ModelShard
from backends.simulated.model_sheet import load_model_sheet
from engine.errors import SettingError

MODEL = load_model_sheet("qwen3-8b")


def test_one_gpu_holds_the_whole_model() -> None:
    shard = ModelShard(MODEL, 1)
    assert shard.weight_bytes == 2 * MODEL.num_parameters
    assert shard.kv_bytes_per_token == 2 * 36 * 8 * 128 * 2
    assert (shard.qkv.num_in, shard.qkv.num_out) == (4096, 6144)
    assert (shard.output.num_in, shard.output.num_out) == (4096, 4096)
    assert (shard.gate_up.num_in, shard.gate_up.num_out) == (4096, 24576)
    assert (shard.down.num_in, shard.down.num_out) == (12288, 4096)
    assert (shard.head.num_in, shard.head.num_out) == (4096, 151936)


@pytest.mark.parametrize("tp", [2, 4, 8])
def test_shards_add_up_to_the_model_but_for_the_norms_on_every_gpu(tp: int) -> None:
    norms = 2 * (36 * (2 * 4096 + 2 * 128) + 4096)
    assert tp * (ModelShard(MODEL, tp).weight_bytes - norms) == ModelShard(MODEL, 1).weight_bytes - norms
    assert tp * ModelShard(MODEL, tp).kv_bytes_per_token == ModelShard(MODEL, 1).kv_bytes_per_token


def test_key_value_heads_are_replicated_when_there_are_fewer_than_gpus() -> None:
    assert ModelShard(MODEL, 16).num_kv_heads == 1
    assert ModelShard(MODEL, 16).kv_bytes_per_token == ModelShard(MODEL, 8).kv_bytes_per_token


def test_the_vocabulary_is_padded_to_the_number_of_gpus() -> None:
    assert ModelShard(replace(MODEL, vocab_size=151_937), 2).vocab_size == 75_969


@pytest.mark.parametrize(
    ("tp", "message"),
    [
        (0, "tensor-parallel degree is 0; it must be at least 1"),
        (3, "Qwen3-8B has 32 query heads, which 3 GPUs cannot share evenly; use another --tp"),
        (64, "Qwen3-8B has 32 query heads, which 64 GPUs"),
    ],
)
def test_a_degree_that_does_not_fit_is_refused(tp: int, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        ModelShard(MODEL, tp)


def test_key_value_heads_must_divide_or_be_divided() -> None:
    model = replace(MODEL, num_heads=24)
    assert ModelShard(model, 4).num_kv_heads == 2
    with pytest.raises(
        SettingError, match="8 key/value heads; --tp must divide them or be a multiple of them, and 6 is"
    ):
        ModelShard(model, 6)


def test_mlp_columns_must_be_shared_evenly() -> None:
    with pytest.raises(SettingError, match="Qwen3-8B has 12289 MLP columns, which 2 GPUs cannot share evenly"):
        ModelShard(replace(MODEL, intermediate_size=12289), 2)
