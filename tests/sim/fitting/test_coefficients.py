import numpy as np

from sim.fitting.blank_times import blank_times
from sim.fitting.coefficients import basis, slope_wishes, wishes
from sim.fitting.vectors import places, to_vector, with_vector
from tests.sim.fitting.made_up import measured

BLANK = blank_times(measured(3000, seed=1).steps)
BASIS = basis(BLANK)


def test_coefficients_reach_all_device_times_but_those_that_cannot_be_told_apart() -> None:
    reached = with_vector(BLANK, (BASIS.sum(axis=1) > 0).astype(float))
    assert not any(to_vector(reached.launches))
    assert not any(to_vector(reached.host))
    assert not any(reached.attention.call_us[0])
    assert all(map(all, reached.attention.call_us[1:]))
    assert all(reached.decode.products.time_us)
    assert all(reached.prompts.context_per_1k_us)


def test_products_rise_and_what_is_hidden_falls_whatever_the_coefficients() -> None:
    times = with_vector(BLANK, BASIS @ np.random.default_rng(0).random(len(BASIS)))
    assert (np.diff(times.decode.products.time_us) > 0).all()
    assert (np.diff(times.prompts.products.time_us) > 0).all()
    assert (np.diff(times.prompts.context_per_1k_us) < 0).all()


def test_tables_without_differences_fulfil_all_wishes() -> None:
    alike = np.zeros(len(BASIS))
    for name, place in places(BLANK).items():
        if name.startswith("attention."):
            alike[place] = 7.0
    assert not any(wish.combination @ alike for wish in wishes(BLANK))


def test_straight_products_fulfil_all_wishes() -> None:
    straight = np.zeros(len(BASIS))
    straight[places(BLANK)["prompts.products.time_us"]] = 50 + 3 * np.array(BLANK.prompts.products.tokens)
    assert max(abs(wish.combination @ straight) for wish in slope_wishes(BLANK)) < 1e-9
