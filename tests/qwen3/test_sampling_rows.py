import numpy as np
import pytest

from backends.qwen3.sampling_rows import GREEDY_BELOW, SamplingRows, sampling_key
from engine.sampling_params import SamplingParams

VOCAB = 100


def admit(**params):
    rows = SamplingRows(2, VOCAB, seed=0)
    rows.admit(1, "a", SamplingParams(**params))
    return rows


@pytest.mark.parametrize("temperature", [0.0, GREEDY_BELOW / 2])
def test_a_temperature_below_the_smallest_is_greedy_and_keeps_everything(temperature):
    rows = admit(temperature=temperature, top_k=3, top_p=0.5)
    assert (rows.temperatures[1], rows.top_ks[1], rows.top_ps[1], rows.has_filter[1]) == (0, VOCAB, 1, False)


@pytest.mark.parametrize(
    ("params", "has_filter"),
    [
        ({}, False),
        ({"top_k": VOCAB}, False),
        ({"top_k": VOCAB + 9}, False),
        ({"top_k": 5}, True),
        ({"top_p": 0.9}, True),
    ],
)
def test_only_a_limit_that_excludes_something_is_a_filter(params, has_filter):
    assert admit(**params).has_filter[1] == has_filter


def test_a_top_k_beyond_the_vocabulary_is_the_vocabulary():
    assert admit(top_k=10**12).top_ks[1] == VOCAB


def test_an_absurd_temperature_stays_a_finite_float32():
    assert np.isfinite(admit(temperature=1e300).temperatures[1] * np.float32(23))


def test_a_seat_beyond_the_first_ones_makes_room_and_keeps_the_others():
    rows = admit(temperature=0.5, top_k=7)
    rows.admit(9, "b", SamplingParams(temperature=0.25, top_p=0.5))
    assert rows.temperatures[[1, 9]].tolist() == [0.5, 0.25]
    assert rows.top_ks[[1, 9]].tolist() == [7, VOCAB]
    assert rows.has_filter[[1, 9]].tolist() == [True, True]


def test_the_seed_of_a_request_alone_decides_its_key():
    assert sampling_key("a", 5, backend_seed=0) == sampling_key("b", 5, backend_seed=1)
    assert sampling_key("a", 5, backend_seed=0) != sampling_key("a", 6, backend_seed=0)


def test_requests_without_a_seed_draw_from_the_backends():
    assert sampling_key("a", None, backend_seed=0) == sampling_key("a", None, backend_seed=0)
    assert len({sampling_key(name, None, seed) for name in "abc" for seed in range(3)}) == 9


@pytest.mark.parametrize("seed", [0, -1, 2**200])
def test_any_integer_is_a_seed(seed):
    assert -(2**63) <= sampling_key("a", seed, 0) < 2**63
