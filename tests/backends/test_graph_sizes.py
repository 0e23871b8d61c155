from itertools import pairwise

import pytest

from backends.graph_sizes import ascending_sizes, graph_sizes, mixed_graph_sizes, smallest_size
from engine.errors import SettingError


def test_sizes_are_few_and_denser_where_rows_are_few() -> None:
    assert graph_sizes(512) == (
        1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128,
        144, 160, 176, 192, 208, 224, 240, 256, 288, 320, 352, 384, 416, 448, 480, 512,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("max_num_seqs", "sizes"),
    [
        (0, ()),
        (1, (1,)),
        (2, (1, 2)),
        (3, (1, 2, 3)),
        (4, (1, 2, 4)),
        (12, (1, 2, 4, 8, 12)),
        (20, (1, 2, 4, 8, 16, 20)),
        (100, (1, 2, 4, *range(8, 97, 8), 100)),
    ],
)
def test_the_limit_is_always_captured_and_nothing_above_it(max_num_seqs: int, sizes: tuple[int, ...]) -> None:
    assert graph_sizes(max_num_seqs) == sizes


def test_large_limits_are_covered_with_few_sizes() -> None:
    sizes = graph_sizes(1000)
    assert sizes[-1] == 1000
    assert len(sizes) == 43


@pytest.mark.parametrize("sizes", [graph_sizes(4000), mixed_graph_sizes(4000, 1)])
def test_large_steps_are_padded_by_less_than_an_eighth(sizes: tuple[int, ...]) -> None:
    for smaller, size in pairwise(size for size in sizes if size >= 256):
        assert (size - smaller - 1) / size < 1 / 8


@pytest.mark.parametrize(
    ("budget", "layer_weights", "sizes"),
    [
        (8192, 193_000_000, (16, 32, 64, 128, 192, 256, 288, 320, 352)),  # 2**36 / 193,000,000 is 356
        (100, 1, (16, 32, 64, 100)),
        (10, 1, (10,)),
        (2048, 100_000_000, (16, 32, 64, 128, 192, 256, 288, 320, 352, 384, 416, 448, 480, 512, 576, 640)),
        (8192, 2**40, ()),
        (0, 1, ()),
    ],
)
def test_steps_with_prompts_are_captured_as_long_as_their_products_are_short(
    budget: int, layer_weights: int, sizes: tuple[int, ...]
) -> None:
    assert mixed_graph_sizes(budget, layer_weights) == sizes


def test_a_small_model_is_captured_up_to_4096_tokens() -> None:
    sizes = mixed_graph_sizes(16_384, 15_728_640)
    assert (sizes[0], sizes[-1], len(sizes)) == (16, 4096, 38)


@pytest.mark.parametrize("max_num_seqs", range(1, 700, 13))
def test_every_number_of_rows_has_the_smallest_graph_that_holds_it(max_num_seqs: int) -> None:
    sizes = graph_sizes(max_num_seqs)
    for rows in range(1, max_num_seqs + 1):
        assert smallest_size(sizes, rows) == min(size for size in sizes if size >= rows)
    assert smallest_size(sizes, max_num_seqs + 1) is None


def test_any_order_and_repeats_of_sizes_are_fine() -> None:
    assert ascending_sizes([4, 2, 2]) == (2, 4)


def test_no_sizes_mean_no_graphs() -> None:
    assert ascending_sizes([]) == ()
    assert smallest_size((), 1) is None


def test_a_size_below_one_is_refused() -> None:
    with pytest.raises(SettingError, match="graph size is 0; sizes must be at least 1"):
        ascending_sizes([0, 8])


def test_no_limit_on_rows_is_covered_too() -> None:
    sizes = graph_sizes(2**31 - 1)

    assert len(sizes) < 300
    assert smallest_size(sizes, 2**31 - 1) == 2**31 - 1
