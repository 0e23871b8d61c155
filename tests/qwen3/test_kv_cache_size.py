import pytest

from backends.qwen3.errors import ModelError
from backends.qwen3.group import SingleRank
from backends.qwen3.kv_cache_size import MemoryUse, num_blocks_that_fit

GIB = 2**30
USE = MemoryUse(total=100 * GIB, others=5 * GIB, peak=20 * GIB, graphs=GIB)


class FullerNeighbour:
    """A group of two whose other rank has room for fewer blocks."""

    rank, size = 0, 2

    def __init__(self, blocks_there):
        self.blocks_there = blocks_there

    def minimum(self, value):
        return min(value, self.blocks_there)


def test_blocks_fill_what_is_left():
    assert USE.left(0.9) == 64 * GIB
    assert num_blocks_that_fit(USE, 0.9, 3 * GIB, SingleRank()) == 21  # 21.3 would fit


def test_the_fullest_rank_decides():
    assert num_blocks_that_fit(USE, 0.9, GIB, FullerNeighbour(7)) == 7


def test_nothing_left_names_numbers_and_settings():
    # A second engine on the GPU: the first one holds 88 GiB.
    use = MemoryUse(total=100 * GIB, others=88 * GIB, peak=20 * GIB)
    with pytest.raises(ModelError) as error:
        num_blocks_that_fit(use, 0.9, GIB, SingleRank())
    message = str(error.value)
    for part in (
        "0.9 of 100.000 GiB",
        "88.000 GiB used by other",
        "20.000 GiB for weights",
        "-18.000 GiB",
        "1.000 GiB",
    ):
        assert part in message
    for setting in ("memory_utilization", "max_num_batched_tokens", "max_num_seqs"):
        assert setting in message


def test_every_rank_raises_when_one_has_no_room():
    with pytest.raises(ModelError, match="No memory is left"):
        num_blocks_that_fit(USE, 0.9, GIB, FullerNeighbour(-3))


def test_less_than_a_block_is_nothing():
    with pytest.raises(ModelError, match=r"a block takes 65\.000 GiB"):
        num_blocks_that_fit(USE, 0.9, 65 * GIB, SingleRank())


@pytest.mark.parametrize("share", [0, -1, 1.01])
def test_share_must_be_a_share(share):
    with pytest.raises(ModelError, match=f"memory_utilization is {share}"):
        num_blocks_that_fit(USE, share, GIB, SingleRank())
