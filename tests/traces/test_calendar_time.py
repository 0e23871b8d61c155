from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traces.calendar_time import CalendarTimes

BASE = datetime(2024, 5, 10, tzinfo=UTC)
offsets = st.sampled_from(["", "Z", "+00:00", "+02:00", "-05:30"])


@given(st.lists(st.tuples(st.integers(0, 3), st.text("0123456789", max_size=9), offsets), max_size=8))
def test_times_that_follow_each_other_are_read_as_each_alone(times: list[tuple[int, str, str]]) -> None:
    calendar = CalendarTimes()
    for second, digits, offset in times:
        text = f"2024-05-10 00:00:0{second}{'.' * bool(digits)}{digits}{offset}"
        hours = {"+02:00": 2.0, "-05:30": -5.5}.get(offset, 0.0)
        moment = BASE + timedelta(seconds=second) - timedelta(hours=hours)
        assert calendar.time_ns(text) == int(moment.timestamp()) * 10**9 + int(digits.ljust(9, "0"))
        assert CalendarTimes().time_ns(text) == calendar.time_ns(text)


@pytest.mark.parametrize(
    "text", ["", "2024-05-10", "2024-05-10 00:00:00.", "2024-05-10 00:00:00.x", "2024-05-10 00:00:61"]
)
def test_what_is_no_time_is_none_behind_a_time_too(text: str) -> None:
    calendar = CalendarTimes()
    assert calendar.time_ns("2024-05-10 00:00:00.5") is not None
    assert calendar.time_ns(text) is None
    assert calendar.time_ns("2024-05-10 00:00:00.1234567890") is None
