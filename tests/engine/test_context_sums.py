from hypothesis import given
from hypothesis import strategies as st

from engine.context_sums import ContextSums

positions = st.lists(st.integers(0, 10_000), max_size=5)


def _numbers(sums: ContextSums) -> tuple[int, int, int, int]:
    return sums.num_rows, sums.total, sums.total_sq, sums.longest


def test_sums_of_the_drawing() -> None:
    sums = ContextSums([3, 6])
    assert _numbers(sums) == (2, 11, 65, 7)

    sums.advance(1)

    assert _numbers(sums) == (2, 13, 89, 8)


def test_nobody_stays_nobody() -> None:
    sums = ContextSums([])
    sums.advance(3)

    assert _numbers(sums) == (0, 0, 0, 0)


@given(before=positions, later=positions, num_steps=st.integers(0, 300))
def test_rows_that_go_on_and_rows_that_come_are_as_if_looked_at_afresh(
    before: list[int], later: list[int], num_steps: int
) -> None:
    sums = ContextSums(before)
    sums.advance(num_steps)
    for position in later:
        sums.add(position)

    assert _numbers(sums) == _numbers(ContextSums([*[position + num_steps for position in before], *later]))


def test_rows_go_unless_it_is_the_longest() -> None:
    sums = ContextSums([3, 9, 6])

    rest = sums.without(3)

    assert rest is not None
    assert _numbers(rest) == _numbers(ContextSums([9, 6]))
    assert rest.without(9) is None
