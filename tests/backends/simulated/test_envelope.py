import pytest

from backends.cost_model import FloatColumn, StepColumns
from backends.simulated.envelope import Envelope, Excess
from tests.backends.step_shapes import Row, shape_of

DECODES = [([Row(1, 99)] * 2, 2), ([Row(1, 999)] * 8, 8)]
MIXED = [([Row(1, 99), Row(50, 0)], None), ([Row(1, 99)] * 4 + [Row(500, 100)], None)]


def steps(*batches: tuple[list[Row], int | None]) -> StepColumns[FloatColumn]:
    return StepColumns.from_rows([shape_of(rows) for rows, _ in batches], [size for _, size in batches])


ENVELOPE = Envelope.around(steps(*DECODES, *MIXED))


def test_what_it_was_made_from_is_inside() -> None:
    assert not ENVELOPE.is_outside(steps(*DECODES, *MIXED)).any()
    assert ENVELOPE.ranges["decode graph"]["decode_context"] == (200.0, 8000.0)
    assert set(ENVELOPE.ranges) == {"decode graph", "mixed eager"}


@pytest.mark.parametrize(
    "batch",
    [
        ([Row(1, 99)], 2),  # fewer rows than measured
        ([Row(1, 999)] * 9, 9),  # more
        ([Row(1, 1999), Row(1, 9)], 2),  # a longer context
        ([Row(50, 0)], None),  # chunks alone were not measured
        ([Row(1, 99)] * 2, None),  # nor decode rows without a graph
        ([Row(1, 99), Row(501, 0)], None),  # a larger chunk
    ],
)
def test_what_was_not_measured_is_outside(batch: tuple[list[Row], int | None]) -> None:
    assert ENVELOPE.is_outside(steps(batch, DECODES[0])).tolist() == [True, False]


def test_an_empty_envelope_holds_nothing() -> None:
    assert Envelope({}).is_outside(steps(*DECODES)).all()
    assert Envelope({}).excesses(steps(*DECODES)) == [Excess("decode graph", 2)]


def test_it_is_said_in_what_steps_lie_outside_and_how_far() -> None:
    batches = [([Row(1, 99)], 2), ([Row(1, 999)] * 9, 9), ([Row(1, 999)] * 12, 12), ([Row(50, 0)], None)]
    assert ENVELOPE.excesses(steps(*batches, *DECODES)) == [
        Excess("num_decode_seqs", 3, 12.0, 8.0),
        Excess("decode_context", 3, 12_000.0, 8000.0),
        Excess("prefill eager", 1),
    ]
    assert ENVELOPE.excesses(steps(*batches[:1])) == [
        Excess("num_decode_seqs", 1, 1.0, 2.0),
        Excess("decode_context", 1, 100.0, 200.0),
    ]
    assert ENVELOPE.excesses(steps(*DECODES)) == []


def test_what_is_shared_counts_where_rows_decode() -> None:
    shapes = [shape_of([Row(1, 99)] * 2, shared_context=64), shape_of([Row(50, 0)] * 2, shared_context=64)]
    around = Envelope.around(StepColumns.from_rows([shape_of([Row(1, 99)] * 2), shapes[1]], [2, None]))
    assert around.excesses(StepColumns.from_rows(shapes, [2, None])) == [Excess("shared_context", 1, 64.0, 0.0)]
    assert "shared_context" not in around.ranges["prefill eager"]
