import pytest

from backends.cost_model import StepColumns
from backends.simulated.shared_reads import shared_reads
from tests.backends.step_shapes import Row, shape_of


def _read_again(decodes: int, chunks: int, prefix: int, *, own: int = 100) -> float:
    """Of rows that all have one prefix in common and `own` tokens after it."""
    rows = [Row(1, prefix + own - 1)] * decodes + [Row(own, prefix)] * chunks
    shape = shape_of(rows, shared_context=(decodes + chunks - 1) * prefix)
    return shared_reads(StepColumns.one_row(shape, None))


@pytest.mark.parametrize(
    ("decodes", "chunks", "expected"),
    [(4, 0, 3 * 2048), (4, 2, 3 * 2048), (1, 0, 0), (1, 3, 0), (0, 2, 0), (64, 1, 63 * 2048)],
)
def test_each_decode_row_but_one_reads_a_common_prefix_again(decodes: int, chunks: int, expected: int) -> None:
    assert _read_again(decodes, chunks, 2048) == pytest.approx(expected)


def test_no_more_is_read_again_than_all_but_the_longest_row() -> None:
    """Running requests that have no row in the step hold blocks in common too."""
    shape = shape_of([Row(1, 99), Row(1, 399)], shared_context=5000)
    assert shared_reads(StepColumns.one_row(shape, 2)) == 100.0


def test_many_steps_at_once_have_the_same_bits() -> None:
    shapes = [shape_of([Row(1, 999)] * n + [Row(7, 70)] * (n % 3), shared_context=n * 333) for n in range(1, 40)]
    alone = [shared_reads(StepColumns.one_row(shape, None)) for shape in shapes]
    assert shared_reads(StepColumns.from_rows(shapes, [None] * len(shapes))).tolist() == alone
