import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.arrow_values import empty_table, text_scalar, to_arrow, to_numpy
from analysis.schema import STEPS

INTS = st.integers(-(2**63), 2**63 - 1)
SMALL_INTS = st.integers(-(2**31), 2**31 - 1)
COLUMNS = st.one_of(
    st.tuples(st.just(pa.int64()), st.lists(st.none() | INTS, max_size=20)),
    st.tuples(st.just(pa.int32()), st.lists(st.none() | SMALL_INTS, max_size=20)),
    st.tuples(st.just(pa.float64()), st.lists(st.none() | st.floats(allow_nan=False), max_size=20)),
    st.tuples(st.just(pa.string()), st.lists(st.none() | st.text(), max_size=20)),
    st.tuples(st.just(pa.list_(pa.int32())), st.lists(st.none() | st.lists(SMALL_INTS, max_size=4), max_size=20)),
)


@given(COLUMNS)
def test_same_array_as_arrow_makes(column: tuple[pa.DataType, list[Any]]) -> None:
    type_, values = column
    found = to_arrow(values, type_)
    found.validate(full=True)
    assert found.equals(pa.array(values, type_))
    assert found.to_pylist() == values


@pytest.mark.parametrize(
    ("values", "type_", "error"),
    [
        ([1.5], pa.int64(), TypeError),
        (["1"], pa.float64(), TypeError),
        ([2**31], pa.int32(), OverflowError),
        ([2**63], pa.int64(), OverflowError),
        ([[1.5]], pa.list_(pa.int64()), TypeError),
    ],
)
def test_values_of_another_kind_are_refused(values: list[Any], type_: pa.DataType, error: type[Exception]) -> None:
    with pytest.raises(error):
        to_arrow(values, type_)


def test_numbers_to_numpy() -> None:
    column = pa.chunked_array([to_arrow([1, 2], pa.int64()), to_arrow([3], pa.int64())])
    assert to_numpy(column).tolist() == [1, 2, 3]
    assert to_numpy(column.slice(1)).tolist() == [2, 3]
    assert to_numpy(column.slice(3)).tolist() == []


def test_column_without_chunks() -> None:
    for type_ in (pa.int64(), pa.float64(), pa.bool_()):
        assert to_numpy(pa.chunked_array([], type_)).tolist() == []


def test_null_times_become_nan() -> None:
    first, second = to_numpy(to_arrow([1.0, None], pa.float64()))
    assert first == 1.0
    assert math.isnan(second)


def test_truth_values_to_numpy() -> None:
    flags = pa.array([True, False, True])
    assert to_numpy(flags).tolist() == [True, False, True]
    assert to_numpy(flags.slice(1)).tolist() == [False, True]


def test_text_scalar() -> None:
    assert text_scalar("né").as_py() == "né"


def test_empty_table() -> None:
    assert empty_table(STEPS).equals(STEPS.empty_table())
