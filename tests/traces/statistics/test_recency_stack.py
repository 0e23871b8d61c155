from hypothesis import given
from hypothesis import strategies as st

from traces.statistics.recency_stack import RecencyStack


def test_places_by_hand() -> None:
    stack = RecencyStack()
    for key in (1, 2, 1, 3, 2, 4):
        stack.use(key)
    assert [stack.depth(key) for key in (4, 2, 3, 1)] == [1, 2, 3, 4]
    assert stack.depth(5) is None
    assert len(stack) == 4


@given(st.lists(st.integers(0, 12)))
def test_places_are_those_in_a_list(keys: list[int]) -> None:
    stack, by_recency = RecencyStack(), list[int]()
    for key in keys:
        assert stack.depth(key) == (by_recency.index(key) + 1 if key in by_recency else None)
        stack.use(key)
        by_recency = [key, *(each for each in by_recency if each != key)]


def test_places_stay_when_slots_run_out() -> None:
    stack = RecencyStack()
    for turn in range(5000):
        stack.use(turn % 700)
    assert [stack.depth(key) for key in ((5000 - 1) % 700, (5000 - 350) % 700, (5000 - 700) % 700)] == [1, 350, 700]
    for key in range(1000, 5000):
        stack.use(key)
    assert [stack.depth(key) for key in (4999, 1000, (5000 - 1) % 700)] == [1, 4000, 4001]
    assert len(stack) == 4700
