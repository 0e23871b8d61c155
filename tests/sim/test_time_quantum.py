import random

from hypothesis import given
from hypothesis import strategies as st

from sim.time_quantum import quantise

SECONDS = st.floats(min_value=0.0, max_value=2.0**22)


@given(SECONDS)
def test_rounds_to_the_nearest_multiple(seconds: float) -> None:
    rounded = quantise(seconds)

    assert (rounded * 2**30).is_integer()
    assert abs(rounded - seconds) <= 2.0**-31
    assert quantise(rounded) == rounded


@given(st.lists(st.floats(min_value=0.0, max_value=2.0**17), min_size=1, max_size=30), st.randoms())
def test_sums_are_exact_in_any_order(times_s: list[float], shuffler: random.Random) -> None:
    rounded = [quantise(time_s) for time_s in times_s]
    shuffled = list(rounded)
    shuffler.shuffle(shuffled)

    assert sum(rounded) == sum(shuffled)
