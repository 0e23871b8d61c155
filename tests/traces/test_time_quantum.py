import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from traces import TraceError
from traces.time_quantum import MAX_TIME_S, QUANTA_PER_SECOND, to_milliseconds, to_seconds


def test_seconds_are_the_nearest_multiple_of_the_quantum() -> None:
    assert to_seconds(3000, 1000) == 3.0
    assert to_seconds(0.1, 1) == round(0.1 * 2**30) / 2**30
    assert to_seconds(46_926_808, 10**9) == round(0.046926808 * 2**30) / 2**30


def test_large_whole_numbers_are_taken_exactly() -> None:
    assert to_seconds(4_000_000 * 10**9 + 500_000_000, 10**9) == 4_000_000.5


@given(st.integers(0, MAX_TIME_S * QUANTA_PER_SECOND))
@example(MAX_TIME_S * QUANTA_PER_SECOND - 1)
@example(1)
def test_every_quantum_survives_being_written_in_milliseconds(quanta: int) -> None:
    time_s = quanta / QUANTA_PER_SECOND
    assert to_seconds(to_milliseconds(time_s), 1000) == time_s


@given(st.integers(0, 4 * 10**9))
def test_a_time_given_in_microseconds_is_written_with_the_same_digits(microseconds: int) -> None:
    milliseconds = microseconds / 1000
    assert to_milliseconds(to_seconds(milliseconds, 1000)) == milliseconds


def test_whole_milliseconds_are_written_as_whole_numbers() -> None:
    assert isinstance(to_milliseconds(3.0), int)
    assert to_milliseconds(0.0) == 0


@pytest.mark.parametrize("time_s", [-1.0, 0.1, float(MAX_TIME_S + 1), float("nan"), float("inf")])
def test_times_that_a_file_cannot_hold_are_refused(time_s: float) -> None:
    with pytest.raises(TraceError, match=r"not a multiple of 2\*\*-30 s"):
        to_milliseconds(time_s)
