import torch

from backends.qwen3.kv_cache import KVCache
from tests.qwen3.tiny_model import CPU


def make_cache():
    return KVCache(3, 5, 16, 2, 8, dtype=torch.bfloat16, device=CPU)


def test_layers_are_contiguous_zero_and_apart():
    cache = make_cache()
    assert (cache.num_blocks, cache.block_size) == (5, 16)
    tensors = [*cache.keys, *cache.values]
    for number, tensor in enumerate(tensors):
        assert tensor.shape == (5, 16, 2, 8)
        assert tensor.is_contiguous()
        assert (tensor == 0).all()  # whatever padding reads is a number
        tensor.fill_(number + 1)
    assert [int(tensor.unique()) for tensor in tensors] == [1, 2, 3, 4, 5, 6]


def test_clear_zeroes_these_blocks_in_every_layer_and_no_other():
    cache = make_cache()
    for tensor in (*cache.keys, *cache.values):
        tensor.fill_(torch.nan)
    cache.clear([0, 3])
    for tensor in (*cache.keys, *cache.values):
        assert (tensor[[0, 3]] == 0).all()
        assert tensor[[1, 2, 4]].isnan().all()
