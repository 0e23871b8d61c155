import numpy as np

from sim.fitting.vectors import places, to_vector, with_vector
from tests.backends.fitted_numbers import fitted_times

TIMES = fitted_times()


def test_a_vector_holds_all_times_and_no_points() -> None:
    assert to_vector(TIMES.launches).tolist() == [9000.0, 11_000.0, 13_000.0]
    assert to_vector(TIMES.decode.products).tolist() == [1200.0, 1210.0, 1400.0, 2100.0]
    assert len(to_vector(TIMES.attention)) == 4 * 9


def test_there_and_back() -> None:
    assert with_vector(TIMES, to_vector(TIMES)) == TIMES
    doubled = with_vector(TIMES, 2 * to_vector(TIMES))
    assert doubled.attention.call_us[2] == (80.0, 70.0, 10.0)
    assert doubled.attention.rows == TIMES.attention.rows


def test_places_name_the_numbers() -> None:
    vector, where = to_vector(TIMES), places(TIMES)
    assert vector[where["prompts.chunk_us"]].tolist() == [12.0]
    assert vector[where["attention.per_1k_tokens_us"]].tolist() == np.ravel(TIMES.attention.per_1k_tokens_us).tolist()
    assert sum(place.stop - place.start for place in where.values()) == len(vector)
