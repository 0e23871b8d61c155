from itertools import pairwise

import pytest

from backends.graph_sizes import graph_for_rows, graph_sizes
from engine.errors import SettingError


def test_sizes_are_the_ones_that_vllm_users_know() -> None:
    assert graph_sizes(512) == (1, 2, 4, *range(8, 257, 8), *range(272, 513, 16))


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
    assert len(sizes) == 59
    assert max(b - a for a, b in pairwise(sizes)) == 64


@pytest.mark.parametrize("max_num_seqs", range(1, 700, 13))
def test_every_number_of_rows_has_the_smallest_graph_that_holds_it(max_num_seqs: int) -> None:
    sizes = graph_sizes(max_num_seqs)
    table = graph_for_rows(sizes)
    assert len(table) == max_num_seqs + 1
    for rows in range(1, max_num_seqs + 1):
        assert table[rows] == min(size for size in sizes if size >= rows)


def test_any_order_and_repeats_of_sizes_are_fine() -> None:
    assert graph_for_rows([4, 2, 2]) == (None, 2, 2, 4, 4)


def test_no_sizes_mean_no_graphs() -> None:
    assert graph_for_rows([]) == (None,)


def test_a_size_below_one_is_refused() -> None:
    with pytest.raises(SettingError, match="graph size is 0; sizes must be at least 1"):
        graph_for_rows([0, 8])
