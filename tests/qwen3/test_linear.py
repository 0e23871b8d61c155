import pytest
import torch

from backends.qwen3.errors import ModelError
from backends.qwen3.linear import Linear, column_parallel, merged_column, qkv, replicated, row_parallel
from tests.qwen3.tiny_model import CPU


class Rank:
    """Place of a rank in a group that never speaks."""

    def __init__(self, rank, size):
        self.rank, self.size = rank, size


def covered(shard):
    return (shard.start, shard.start + shard.length)


def test_replicated_is_whole():
    shard = replicated("router", 8, 3)
    assert (shard.shape, shard.local_shape) == ((3, 8), (3, 8))


def test_column_parallel_splits_outputs():
    shards = [column_parallel("up_proj", 8, 12, Rank(rank, 3)) for rank in range(3)]
    assert [covered(shard) for shard in shards] == [(0, 4), (4, 8), (8, 12)]
    assert shards[1].local_shape == (4, 8)


def test_row_parallel_splits_inputs():
    shards = [row_parallel("down_proj", 12, 8, Rank(rank, 3)) for rank in range(3)]
    assert [covered(shard) for shard in shards] == [(0, 4), (4, 8), (8, 12)]
    assert shards[1].local_shape == (8, 4)


def test_merged_column_stacks_the_same_share_of_each():
    gate, up = merged_column(("gate_proj", "up_proj"), 8, 12, Rank(1, 2))
    assert (gate.name, covered(gate)) == ("gate_proj", (6, 12))
    assert (up.name, covered(up)) == ("up_proj", (6, 12))


def test_qkv_splits_by_head():
    query, key, value = qkv(8, num_heads=4, num_kv_heads=2, head_dim=6, group=Rank(1, 2))
    assert [covered(shard) for shard in (query, key, value)] == [(12, 24), (6, 12), (6, 12)]


@pytest.mark.parametrize(("rank", "kv_head"), [(0, 0), (1, 0), (2, 1), (3, 1)])
def test_qkv_replicates_heads_fewer_than_ranks_beside_their_queries(rank, kv_head):
    query, key, _ = qkv(8, num_heads=8, num_kv_heads=2, head_dim=6, group=Rank(rank, 4))
    assert covered(query) == (rank * 12, rank * 12 + 12)
    assert covered(key) == (kv_head * 6, kv_head * 6 + 6)
    assert query.start // 6 // 4 == kv_head  # four query heads use one key/value head


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda group: column_parallel("up_proj", 8, 10, group), "up_proj has 10 outputs, which 4 tensor"),
        (lambda group: row_parallel("down_proj", 10, 8, group), "down_proj has 10 inputs, which 4 tensor"),
        (lambda group: qkv(8, 6, 2, 4, group), "q_proj has 6 heads, which 4 tensor"),
        (lambda group: qkv(8, 6, 2, 5, group), "q_proj has 6 heads, which 4 tensor"),
        (lambda group: qkv(8, 12, 6, 4, group), "6 key/value heads cannot be spread over 4"),
    ],
)
def test_uneven_shares_are_refused(make, message):
    with pytest.raises(ModelError, match=message):
        make(Rank(0, 4))


def test_shards_fill_the_weight_in_output_order():
    linear = Linear(merged_column(("gate_proj", "up_proj"), 3, 4, Rank(0, 2)), dtype=torch.float32, device=CPU)
    for number, placement in enumerate(linear.placements("layer")):
        assert placement.key == f"layer.{('gate_proj', 'up_proj')[number]}.weight"
        placement.target.fill_(number)
    assert linear(torch.ones(1, 3)).tolist() == [[0, 0, 3, 3]]


def test_sum_over_ranks_is_asked_for():
    class Doubling(Rank):
        def all_reduce(self, tensor):
            return tensor * 2

    group = Doubling(0, 2)
    linear = Linear([row_parallel("o_proj", 4, 1, group)], sum_over=group, dtype=torch.float32, device=CPU)
    linear.weight.fill_(1)
    assert linear(torch.ones(1, 2)).tolist() == [[4]]
