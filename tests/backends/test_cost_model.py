import numpy as np
import pytest

from backends.cost_model import (
    FloatColumn,
    StepColumns,
    constant_column,
    is_present,
    larger,
    square_root,
    with_constants,
)
from backends.errors import RecordedStepsError
from backends.simulated import RooflineModel, load_gpu_sheet, load_model_sheet
from engine.step_shape import StepShape

SHAPES = [StepShape(*range(first, first + 16)) for first in (0, 100, 10**9)]


def test_larger_works_on_numbers_and_row_by_row() -> None:
    assert larger(2.0, 3.0) == 3.0
    assert larger(3.0, 2.0) == 3.0
    assert larger(np.array([1.0, 5.0]), np.array([2.0, 4.0])).tolist() == [2.0, 5.0]
    assert larger(np.array([0.5, 5.0]), 1.0).tolist() == [1.0, 5.0]


def test_roots_of_one_number_and_of_many_have_the_same_bits() -> None:
    numbers = np.random.default_rng(0).random(1000) * 1e12
    assert square_root(numbers).tolist() == [square_root(number) for number in numbers.tolist()]


def test_is_present_is_exactly_zero_or_one() -> None:
    counts = [0.0, 1.0, 3.0, 7.0, 49.0, 1e15]
    assert [is_present(count) for count in counts] == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert is_present(np.array(counts)).tolist() == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0]


def test_one_row_keeps_the_fields_and_calls_eager_zero() -> None:
    row = StepColumns.one_row(SHAPES[1], None)
    assert row[:-1] == tuple(SHAPES[1])
    assert row.graph_size == 0
    assert StepColumns.one_row(SHAPES[1], 16).graph_size == 16
    assert {type(value) for value in row} == {float}


def test_fields_are_those_of_a_step_shape_and_the_graph_size() -> None:
    assert StepColumns._fields == (*StepShape._fields, "graph_size")


def test_rows_and_table_give_the_same_columns() -> None:
    by_rows = StepColumns.from_rows(SHAPES, [None, 8, 16])
    table = {name: [getattr(shape, name) for shape in SHAPES] for name in StepShape._fields}
    by_table = StepColumns.from_table({**table, "graph_size": [0, 8, 16], "duration_s": ["ignored"] * 3})
    for left, right in zip(by_rows, by_table, strict=True):
        assert left.dtype == right.dtype == np.float64
        assert left.tolist() == right.tolist()
    assert by_rows.prefill_qk.tolist() == [2.0, 102.0, 1e9 + 2]


@pytest.mark.parametrize("eager", [0, None, float("nan")])
def test_a_table_may_leave_the_graph_size_of_eager_steps_open(eager: float | None) -> None:
    table = {name: [1, 2] for name in StepShape._fields}
    assert StepColumns.from_table({**table, "graph_size": np.array([eager, 8], dtype=object)}).graph_size.tolist() == [
        0.0,
        8.0,
    ]


def test_a_table_without_a_field_is_refused() -> None:
    with pytest.raises(RecordedStepsError, match="The steps have no column 'graph_size'"):
        StepColumns.from_table({name: [1] for name in StepShape._fields})


def test_no_rows_give_empty_columns() -> None:
    assert [len(column) for column in StepColumns.from_rows([], [])] == [0] * len(StepColumns._fields)


def test_shapes_and_graph_sizes_must_pair_up() -> None:
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        StepColumns.from_rows(SHAPES, [None])


def test_columns_of_one_number_give_the_bits_of_full_columns() -> None:
    """The roofline works with the number itself; a step's bits must not depend on it."""
    num_steps = 5
    rows = constant_column(8.0, num_steps)
    contexts: FloatColumn = np.arange(1000.0, 1000.0 + 8.0 * num_steps, 8.0)
    none, one = constant_column(0.0, num_steps), constant_column(1.0, num_steps)
    steps = StepColumns(
        none, none, none, none, none, one, contexts, rows, contexts, contexts, contexts, none, rows, one, none, none,
        rows,
    )  # fmt: skip
    full: StepColumns[FloatColumn] = StepColumns(*(np.array(column, np.float64) for column in steps))
    model = RooflineModel(load_model_sheet("Qwen3-0.6B"), load_gpu_sheet("H200"))

    for mine, theirs in zip(model.step_times(steps), model.step_times(full), strict=True):
        assert mine.tolist() == theirs.tolist()
    assert with_constants(steps).graph_size == 8.0
    assert with_constants(steps).decode_context is contexts
    assert with_constants(full).graph_size is full.graph_size
