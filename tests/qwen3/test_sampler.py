from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from backends.qwen3.sampler import Sampler
from backends.qwen3.torch_sampling import argmax, floors
from tests.qwen3.sampling import ALL, logits_of, rows

NAN, INF = float("nan"), float("inf")
GREEDY = (0.0, ALL, 1.0)
PLAIN = (1.0, ALL, 1.0)
sample = Sampler()


def many(logits, temperature, top_k, top_p, num):
    """Samples of one row of logits at `num` positions."""
    inputs = rows(*[(temperature, top_k, top_p)] * num)
    samples = sample(logits.expand(num, -1), inputs)
    assert not samples.is_bad.any()
    return samples.token_ids.numpy()


def kept(logits, temperature, top_k, top_p):
    """Tokens that top-k and top-p leave."""
    floor = floors(logits, rows((temperature, top_k, top_p)))
    return torch.flatten(torch.nonzero(logits[0] >= floor[0])).tolist()


def test_temperature_0_takes_the_largest():
    assert sample(torch.tensor([[1.0, 5.0, 3.0]]), rows(GREEDY)).token_ids.tolist() == [1]


def test_equal_logits_give_the_lowest_id():
    assert sample(torch.tensor([[1.0, 5.0, 5.0, 5.0]]), rows(GREEDY)).token_ids.tolist() == [1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_tiny_temperature_overflows_nothing(dtype):
    logits = torch.tensor([[60.0, 59.0, -60.0, 0.0]], dtype=dtype)
    samples = sample(logits, rows((1e-4, ALL, 1.0)))
    assert samples.columns.tolist() == [[0], [0]]


def test_a_huge_temperature_overflows_nothing():
    samples = sample(torch.tensor([[60.0, 59.0, -60.0, 0.0]]).expand(4000, 4), rows(*[(1e9, ALL, 1.0)] * 4000))
    assert not samples.is_bad.any()
    assert stats.chisquare(np.bincount(samples.token_ids, minlength=4)).pvalue > 1e-3


def test_minus_infinity_is_never_chosen_and_harms_no_row():
    logits = torch.tensor([[-INF, 1.0, -INF, 0.5]]).expand(300, 4)
    samples = sample(logits, rows(*[GREEDY, PLAIN, (2.0, 2, 0.9)] * 100))
    assert not samples.is_bad.any()
    assert set(samples.token_ids.tolist()) == {1, 3}
    assert set(samples.token_ids[::3].tolist()) == {1}


@pytest.mark.parametrize("row", [[NAN, 1.0, 2.0], [1.0, NAN, NAN], [-INF, -INF, -INF], [0.0, INF, 1.0], [NAN] * 3])
@pytest.mark.parametrize("setting", [GREEDY, PLAIN, (0.7, 2, 0.5)])
def test_a_row_without_numbers_is_reported_and_harms_no_other(row, setting):
    good = [0.0, 9.0, 1.0]
    samples = sample(torch.tensor([good, row, good]), rows(GREEDY, setting, GREEDY))
    assert samples.is_bad.tolist() == [0, 1, 0]
    assert samples.token_ids[[0, 2]].tolist() == [1, 1]
    assert 0 <= samples.token_ids[1] < 3


def test_ids_stay_inside_a_vocabulary_that_is_padded():
    padded = torch.full((64, 16), 100.0)
    padded[:, :10] = torch.randn(64, 10, generator=torch.Generator().manual_seed(0))
    samples = sample(padded[:, :10], rows(*[PLAIN, (1.0, 3, 0.9)] * 32))
    assert samples.token_ids.max() < 10


def test_top_p_keeps_the_token_that_crosses_p():
    assert kept(logits_of(0.1, 0.2, 0.3, 0.4), 1.0, ALL, 0.6) == [2, 3]


def test_the_token_that_brings_the_probability_to_just_p_is_the_last_kept():
    assert kept(logits_of(0.5, 0.25, 0.25), 1.0, ALL, 0.5) == [0]


def test_top_p_keeps_one_token_at_least():
    assert kept(logits_of(0.1, 0.2, 0.3, 0.4), 1.0, ALL, 1e-12) == [3]


def test_top_p_below_the_largest_probability_keeps_it_alone():
    assert kept(logits_of(0.1, 0.2, 0.3, 0.4), 1.0, ALL, 0.39) == [3]


def test_top_p_sees_the_temperature():
    # At temperature 0.5 the probabilities are squared: 1, 4, 9, 16 of 30.
    assert kept(logits_of(0.1, 0.2, 0.3, 0.4), 0.5, ALL, 0.53) == [3]
    assert kept(logits_of(0.1, 0.2, 0.3, 0.4), 0.5, ALL, 0.54) == [2, 3]


def test_top_p_works_on_what_top_k_left():
    # Of the two kept, the first has 0.625: that alone reaches 0.6. Of all three it would have 0.5.
    assert kept(logits_of(0.5, 0.3, 0.2), 1.0, 2, 0.6) == [0]
    assert kept(logits_of(0.5, 0.3, 0.2), 1.0, ALL, 0.6) == [0, 1]


@pytest.mark.parametrize(("top_k", "expected"), [(1, [3]), (2, [2, 3]), (4, [0, 1, 2, 3]), (9, [0, 1, 2, 3])])
def test_top_k_keeps_the_k_largest(top_k, expected):
    assert kept(logits_of(0.1, 0.2, 0.3, 0.4), 1.0, top_k, 1.0) == expected


def test_equals_of_the_last_token_kept_are_kept():
    assert kept(torch.tensor([[1.0, 3.0, 2.0, 2.0, 0.0]]), 1.0, 2, 1.0) == [1, 2, 3]
    assert kept(logits_of(0.2, 0.4, 0.2, 0.2), 1.0, ALL, 0.5) == [0, 1, 2, 3]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-8, 8), min_size=1, max_size=12),
    st.sampled_from([0.5, 1.0, 3.0]),
    st.integers(1, 14),
    st.floats(0.01, 1.0),
)
def test_floors_equal_an_obvious_search(logits, temperature, top_k, top_p):
    ranked = sorted(logits, reverse=True)
    inside = [value for value in logits if value >= ranked[min(top_k, len(ranked)) - 1]]
    weights = {value: np.exp((value - ranked[0]) / temperature) for value in inside}
    total = sum(weights[value] for value in inside)
    reach = {value: sum(weights[v] for v in inside if v >= value) / total for value in inside}
    if any(abs(share - top_p) < 1e-5 for share in reach.values()) and top_p < 1:
        return  # rounding decides
    floor = max(value for value in inside if reach[value] >= top_p) if top_p < 1 else min(inside)
    expected = [token for token, value in enumerate(logits) if value >= floor]
    assert kept(torch.tensor([logits], dtype=torch.float32), temperature, top_k, top_p) == expected


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_samples_follow_the_softmax(temperature):
    logits = torch.tensor([[2.0, 0.0, 1.0, -1.0, 0.5, 0.5, -3.0]])
    counts = np.bincount(many(logits, temperature, ALL, 1.0, 20_000), minlength=7)
    expected = (logits[0] / temperature).softmax(-1).double()
    assert stats.chisquare(counts, (expected / expected.sum()).numpy() * 20_000).pvalue > 1e-3


def test_filtered_samples_follow_the_softmax_of_what_is_kept():
    logits = logits_of(0.4, 0.1, 0.25, 0.05, 0.2)
    counts = np.bincount(many(logits, 1.0, 4, 0.8, 20_000), minlength=5)
    assert counts[[1, 3]].tolist() == [0, 0]
    assert stats.chisquare(counts[[0, 2, 4]], np.array([0.4, 0.25, 0.2]) / 0.85 * 20_000).pvalue > 1e-3


def test_samples_follow_the_softmax_across_tiles_of_a_large_vocabulary():
    logits = torch.full((1, 8200), -30.0)
    logits[0, [0, 4095, 4096, 8199]] = torch.tensor([0.1, 0.2, 0.3, 0.4]).log()
    tokens = many(logits, 1.0, ALL, 1.0, 300)
    counts = [int((tokens == token).sum()) for token in (0, 4095, 4096, 8199)]
    assert sum(counts) == 300
    assert stats.chisquare(counts, np.array([0.1, 0.2, 0.3, 0.4]) * 300).pvalue > 1e-3


def test_a_seeded_row_is_the_same_in_any_batch_and_any_row():
    generator = torch.Generator().manual_seed(0)
    logits, others = torch.randn(1, 500, generator=generator), torch.randn(3, 500, generator=generator)
    alone = rows((0.9, 50, 0.95))
    alone = replace(alone, keys=torch.tensor([77]), positions=torch.tensor([12]))
    crowd = rows(GREEDY, PLAIN, (0.9, 50, 0.95), (2.0, 3, 1.0))
    crowd.keys[2], crowd.positions[2] = 77, 12
    crowded = sample(torch.cat((others[:2], logits, others[2:])), crowd)
    assert crowded.token_ids[2] == sample(logits, alone).token_ids[0]


def test_a_filter_changes_no_row_that_has_none():
    logits = torch.randn(4, 300, generator=torch.Generator().manual_seed(1))
    inputs = rows(GREEDY, PLAIN, (0.5, ALL, 1.0), (1.5, ALL, 1.0))
    open_floors = floors(logits, inputs)
    assert (open_floors == -INF).all()
    assert torch.equal(argmax(logits, inputs, open_floors), argmax(logits, inputs, None))


def test_no_token_is_lost_at_the_edges_of_a_vocabulary():
    for token in (0, 1023, 1024, 4095, 4096, 4999):
        logits = torch.zeros(1, 5000)
        logits[0, token] = 1.0
        assert sample(logits, rows(GREEDY)).token_ids.tolist() == [token]
