import numpy as np
import pytest

from analysis.errors import RunError
from analysis.timeline_window import TimelineWindow


def test_window_takes_what_lies_in_it_in_part() -> None:
    window = TimelineWindow.of(None, 1.0, 2.0)
    start_s = np.array([0.0, 0.0, 1.2, 2.0, 2.5, np.nan])
    end_s = np.array([0.9, 1.0, 1.3, 9.0, 9.0, np.nan])
    assert window.overlaps(start_s, end_s).tolist() == [False, True, True, True, False, False]
    assert TimelineWindow().overlaps(start_s, end_s).tolist() == [True] * 5 + [False]


@pytest.mark.parametrize(
    ("text", "wanted"), [(None, [0, 1, 5, 9]), ("1-5", [1, 5]), ("5", [5]), ("0-99", [0, 1, 5, 9]), ("2-4", [])]
)
def test_requests_by_position(text: str | None, wanted: list[int]) -> None:
    index = np.array([0, 1, 5, 9])
    assert index[TimelineWindow.of(text, None, None).holds_requests(index)].tolist() == wanted


@pytest.mark.parametrize("text", ["", "9-1", "r1", "-1", "1-", "1-2-3", "9" * 40])
def test_ranges_that_are_none(text: str) -> None:
    with pytest.raises(RunError, match="positions in the trace, first and last, such as 0-99"):
        TimelineWindow.of(text, None, None)


def test_window_that_ends_before_it_starts() -> None:
    with pytest.raises(RunError, match="ends at 1 s, before it starts at 2 s"):
        TimelineWindow.of(None, 2.0, 1.0)
