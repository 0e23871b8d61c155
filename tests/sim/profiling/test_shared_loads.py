import pytest

from engine import Limits
from sim.profiling.bounds import Bounds
from sim.profiling.load import Load, Standing
from sim.profiling.shared_loads import alike, shared_loads

H200 = Bounds(Limits(block_size=256), 4510, (1, 2, 4, *range(8, 257, 8)))


def test_rounds_share_small_and_large_parts_of_short_and_long_contexts() -> None:
    loads = [load for number in range(3) for load in shared_loads(H200, number)]
    shares = [(load.standing[0].num_shared, min(each.num_tokens for each in load.standing)) for load in loads]
    assert shares == [(1536, 2048), (3072, 6144), (512, 1024), (2560, 3072)]
    assert {load.family for load in loads} == {"shared"}
    assert all(len({each.num_shared for each in load.standing}) == 1 for load in loads)


@pytest.mark.parametrize(("share", "block_size", "expected"), [(0.5, 16, 48), (1.0, 16, 96), (0.5, 256, None)])
def test_whole_blocks_are_shared_and_never_a_whole_prompt(share: float, block_size: int, expected: int | None) -> None:
    load = alike(Load("two", "decode", (Standing(112, 3), Standing(97, 2))), share, block_size)
    assert (load.standing[0].num_shared if load else None) == expected


def test_an_engine_of_few_tokens_shares_nothing() -> None:
    short = Bounds(Limits(block_size=16, max_num_seqs=4, max_num_batched_tokens=64, max_model_len=128), 40, (1, 2, 4))
    assert not [load for number in range(3) for load in shared_loads(short, number)]
