import pytest
from hypothesis import given

from backends.graph_sizes import graph_sizes, mixed_graph_sizes
from backends.graph_table import MAX_CHUNKS, GraphTable
from engine.errors import SettingError
from tests.backends.step_shapes import BATCHES, Row, shape_of

TABLE = GraphTable((4, 1, 2), (32, 16))


def test_sizes_are_sorted_and_single() -> None:
    table = GraphTable([4, 2, 4], [32, 16, 16])
    assert (table.sizes, table.mixed_sizes, table.max_decodes) == ((2, 4), (16, 32), 4)


@pytest.mark.parametrize(("num_rows", "size"), [(1, 1), (2, 2), (3, 4), (4, 4), (5, None)])
def test_decode_steps_are_padded_to_rows(num_rows: int, size: int | None) -> None:
    assert TABLE.size_for(shape_of([Row(1, 9)] * num_rows)) == size


@pytest.mark.parametrize(
    ("rows", "size"),
    [
        ([Row(2, 0)], 16),
        ([Row(16, 100)], 16),
        ([Row(16, 0), Row(1, 5)], 32),
        ([Row(13, 0), *[Row(1, 5)] * 4], 32),
        ([Row(28, 0), *[Row(1, 5)] * 4], 32),
        ([Row(29, 0), *[Row(1, 5)] * 4], None),  # too many tokens
        ([Row(2, 0), *[Row(1, 5)] * 5], None),  # more decode rows than any graph has
        ([Row(2, 0)] * MAX_CHUNKS, 32),
    ],
)
def test_steps_with_chunks_are_padded_to_tokens(rows: list[Row], size: int | None) -> None:
    assert TABLE.size_for(shape_of(rows)) == size


def test_more_chunks_than_a_graph_has_run_eager() -> None:
    table = GraphTable((1,), (64,))
    assert table.size_for(shape_of([Row(2, 0)] * MAX_CHUNKS)) == 64
    assert table.size_for(shape_of([Row(2, 0)] * (MAX_CHUNKS + 1))) is None


def test_without_decode_sizes_every_step_runs_eager() -> None:
    table = GraphTable((), (16,))
    assert table.mixed_sizes == ()
    assert table.size_for(shape_of([Row(2, 0)])) is None
    assert table.size_for(shape_of([Row(1, 0)])) is None


def test_without_mixed_sizes_steps_with_chunks_run_eager() -> None:
    assert GraphTable((4,)).size_for(shape_of([Row(2, 0)])) is None


@pytest.mark.parametrize("sizes", [([0], [16]), ([1], [0, 16])])
def test_a_size_below_one_is_refused(sizes: tuple[list[int], list[int]]) -> None:
    with pytest.raises(SettingError, match="graph size is 0; sizes must be at least 1"):
        GraphTable(*sizes)


@given(BATCHES)
def test_a_graph_is_the_smallest_that_holds_all_tokens(rows: list[Row]) -> None:
    table = GraphTable(graph_sizes(256), mixed_graph_sizes(8192, 16_000_000))
    size = table.size_for(shape_of(rows))
    num_tokens, is_mixed = sum(row.query for row in rows), any(row.query > 1 for row in rows)
    sizes = table.mixed_sizes if is_mixed else table.sizes
    if size is None:
        assert num_tokens > sizes[-1] or sum(row.query > 1 for row in rows) > MAX_CHUNKS
    else:
        assert size == min(size for size in sizes if size >= num_tokens)
