from collections import OrderedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.traces.requests import single
from traces import TraceError
from traces.statistics import CacheSize
from traces.statistics.prefix_reuse import PrefixReuse, ReuseSummary

Prompt = tuple[int, ...]


def reuse_of(prompts: list[tuple[int, Prompt | None]], sizes: list[int], block_size: int = 10) -> ReuseSummary | None:
    reuse = PrefixReuse(block_size)
    for number, (length, hash_ids) in enumerate(prompts):
        reuse.add(single(number, 0.0, length, hash_ids=hash_ids))
    return reuse.summary([CacheSize(size, is_tokens=False) for size in sizes])


def hits_of_lru(prompts: list[Prompt], size: int) -> int:
    """Blocks hit by a cache that is written down as such: the last prompt's first block is the last to go."""
    cache: OrderedDict[Prompt, None] = OrderedDict()
    hits = 0
    for prompt in prompts:
        blocks = [prompt[: end + 1] for end in range(len(prompt))]
        for block in blocks:
            if block not in cache:
                break
            hits += 1
        for block in reversed(blocks):
            cache[block] = None
            cache.move_to_end(block)
        while len(cache) > size:
            cache.popitem(last=False)
    return hits


def test_figures_by_hand() -> None:
    # Blocks used last, the latest first, before each prompt: -; 1 2 3; 7; then 7 8 1 2 3.
    found = reuse_of([(30, (1, 2, 3)), (20, (7, 8)), (25, (1, 2, 9)), (25, (1, 2, 9))], [2, 3, 4, 100])
    assert found is not None
    assert (found.block_size, found.num_blocks, found.num_distinct) == (10, 11, 6)
    # The third prompt finds blocks 1 and 2 at places 3 and 4, the fourth all three at 1, 2 and 3, the last half full.
    assert [each.block_share * 11 for each in found.lru] == pytest.approx([2, 4, 5, 5])
    assert [each.token_share * 100 for each in found.lru] == pytest.approx([20, 35, 45, 45])
    assert [each.num_tokens for each in found.lru] == [20, 30, 40, 1000]
    assert found.infinite.block_share == pytest.approx(5 / 11)
    assert (found.infinite.num_blocks, found.infinite.num_tokens) == (None, None)


def test_equal_ids_behind_different_ones_are_different_blocks() -> None:
    found = reuse_of([(20, (1, 5)), (20, (2, 5)), (20, (5, 1))], [100])
    assert found is not None
    assert (found.num_distinct, found.infinite.block_share) == (6, 0.0)


def test_prompts_without_ids_count_as_tokens_that_are_not_shared() -> None:
    found = reuse_of([(10, (1,)), (10, (1,)), (80, None)], [1])
    assert found is not None
    assert found.infinite.token_share == pytest.approx(0.1)
    assert found.infinite.block_share == pytest.approx(0.5)
    assert reuse_of([(80, None), (5, ())], [1]) is None


@given(st.lists(st.lists(st.integers(0, 2), max_size=6).map(tuple), max_size=30), st.integers(1, 30))
def test_each_size_hits_what_a_cache_of_that_size_does(prompts: list[Prompt], size: int) -> None:
    found = reuse_of([(10 * max(1, len(prompt)), prompt) for prompt in prompts], [size, 10_000])
    num_blocks = sum(map(len, prompts))
    if found is None:
        assert num_blocks == 0
        return
    expected = [hits_of_lru(prompts, each) / num_blocks for each in (size, 10_000)]
    assert [each.block_share for each in found.lru] == pytest.approx(expected)
    assert found.infinite.block_share == pytest.approx(1 - found.num_distinct / num_blocks)


def test_sizes_in_tokens_are_whole_blocks() -> None:
    assert CacheSize(5119, is_tokens=True).num_blocks(512) == 9
    assert CacheSize(7, is_tokens=False).num_blocks(512) == 7
    with pytest.raises(TraceError, match="a cache has 0 tokens, but it must have at least 1"):
        CacheSize(0, is_tokens=True)
