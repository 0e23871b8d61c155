import numpy as np
import pytest

from backends.cost_model import StepColumns, StepTimes
from backends.errors import RecordedStepsError
from backends.recorded import RecordedCostModel
from engine.step_shape import StepShape
from tests.backends.step_shapes import Row, decode_shape, shape_of

EMPTY = StepShape(*[0] * len(StepShape._fields))
SHAPES = [shape_of([Row(9, 0)]), EMPTY, decode_shape(2, 10), decode_shape(2, 11)]
GRAPHS = [None, None, 2, 2]
DURATIONS = [0.5, 0.25, 0.125, 1 / 3]
DEVICE = [0.4, 0.0, 0.1, 0.3]


def recorded() -> RecordedCostModel:
    return RecordedCostModel(StepColumns.from_rows(SHAPES, GRAPHS), StepTimes(np.array(DURATIONS), np.array(DEVICE)))


def test_times_come_back_in_order_to_the_bit_and_empty_steps_are_passed_over() -> None:
    model = recorded()
    assert model.num_left == 3
    for i in (0, 2, 3):
        assert model.step_times(StepColumns.one_row(SHAPES[i], GRAPHS[i])) == (DURATIONS[i], DEVICE[i])
    assert model.num_left == 0


def test_many_rows_at_once_give_columns() -> None:
    model = recorded()
    times = model.step_times(StepColumns.from_rows([SHAPES[0], SHAPES[2]], [None, 2]))
    assert times.duration_s.tolist() == [0.5, 0.125]
    assert times.device_s.tolist() == [0.4, 0.1]
    assert model.num_left == 1
    assert model.step_times(StepColumns.from_rows([], [])).duration_s.shape == (0,)


def test_a_different_step_is_named_with_both_sides() -> None:
    model = recorded()
    model.step_times(StepColumns.one_row(SHAPES[0], None))
    with pytest.raises(
        RecordedStepsError,
        match=r"^Step 2 differs from the recorded run: max_context is 11 here and 10 there, decode_context is 22 here "
        r"and 20 there, decode_context_sq is 242 here and 200 there, max_decode_context is 11 here and 10 "
        r"there; replay it with the trace, settings and seed it was recorded with\.$",
    ):
        model.step_times(StepColumns.one_row(SHAPES[3], 2))
    assert model.num_left == 2


def test_another_graph_size_is_another_step() -> None:
    with pytest.raises(
        RecordedStepsError, match="Step 0 differs from the recorded run: graph_size is 8 here and 0 there"
    ):
        recorded().step_times(StepColumns.one_row(SHAPES[0], 8))


def test_running_out_of_steps_says_what_was_asked_for() -> None:
    model = recorded()
    model.step_times(StepColumns.from_rows([SHAPES[0], SHAPES[2], SHAPES[3]], [None, 2, 2]))
    with pytest.raises(
        RecordedStepsError,
        match=r"ends after 3 steps, but this run goes on with .*num_decode_seqs 2, .*graph_size 2; replay",
    ):
        model.step_times(StepColumns.one_row(SHAPES[3], 2))


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_times_that_cannot_be_are_refused(value: float) -> None:
    times = StepTimes(np.array([0.5, 0.0, value, 0.5]), np.array(DEVICE))
    with pytest.raises(RecordedStepsError, match=rf"duration_s of recorded step 2 is {value}; times must be"):
        RecordedCostModel(StepColumns.from_rows(SHAPES, GRAPHS), times)


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(RecordedStepsError, match="must be equally long"):
        RecordedCostModel(StepColumns.from_rows(SHAPES, GRAPHS), StepTimes(np.array([0.5]), np.array(DEVICE)))


def test_steps_that_nobody_asked_for_are_told_at_the_end() -> None:
    model = RecordedCostModel(
        StepColumns.from_rows(
            [StepShape(*[1] * len(StepShape._fields)), StepShape(*[1] * len(StepShape._fields))], [None, None]
        ),
        StepTimes(np.array([1.0, 2.0]), np.array([1.0, 2.0])),
    )
    model.step_times(StepColumns.one_row(StepShape(*[1] * len(StepShape._fields)), None))

    with pytest.raises(RecordedStepsError, match="has 1 more steps than this run's 1"):
        model.check_finished()
