import pytest

from backends.qwen3.seats import Seats


def test_the_lowest_free_seat_goes_first():
    seats = Seats()
    assert [seats.take(name) for name in "abcd"] == [0, 1, 2, 3]
    assert [seats.release(name) for name in "cab"] == [2, 0, 1]
    assert [seats.take(name) for name in "xyz"] == [0, 1, 2]
    assert seats.take("more") == 4
    assert seats["d"] == 3


def test_a_name_can_come_back():
    seats = Seats()
    seats.take("a")
    seats.release("a")
    assert "a" not in seats
    assert seats.take("a") == 0
    assert "a" in seats


def test_nobody_sits_twice():
    seats = Seats()
    seats.take("a")
    with pytest.raises(AssertionError, match="admitted twice"):
        seats.take("a")
