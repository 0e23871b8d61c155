from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from traces import Trace, TraceError, TraceRequest
from traces.generation import (
    ConstantLength,
    GammaArrivals,
    IndependentLengths,
    PrefixPlan,
    Recipe,
    ResampledLengths,
    SessionPlan,
)
from traces.generation.recipe_maker import make_trace

PLAIN = Recipe(
    seed=3,
    num_requests=4000,
    arrivals=GammaArrivals(2.0),
    lengths=IndependentLengths(ConstantLength(100), ConstantLength(30)),
    block_size=16,
)
CHAT = replace(PLAIN, sessions=SessionPlan(mean_turns=3.0, mean_delay_s=5.0, max_input=10_000))


def sessions_of(trace: Trace) -> dict[str, list[TraceRequest]]:
    sessions: dict[str, list[TraceRequest]] = {}
    for request in trace.requests:
        assert request.session_id is not None
        sessions.setdefault(request.session_id, []).append(request)
    return sessions


def test_constant_lengths_without_prefixes_have_no_ids() -> None:
    trace = make_trace(PLAIN)
    assert {(each.input_length, each.output_length, each.hash_ids) for each in trace.requests} == {(100, 30, None)}


def test_lengths_of_a_trace_stay_pairs_in_their_shares() -> None:
    pairs = [(10, 1), (20, 2), (20, 2), (30, 3)]
    trace = make_trace(replace(PLAIN, lengths=ResampledLengths(pairs, "real.jsonl")))
    found = [(each.input_length, each.output_length) for each in trace.requests]
    assert set(found) == set(pairs)
    assert found.count((20, 2)) / 4000 == pytest.approx(0.5, abs=0.03)
    assert "Lengths are those of requests drawn from the 4 of real.jsonl, with replacement." in trace.notices


def test_a_turn_holds_the_prompt_and_answer_before_it() -> None:
    trace = make_trace(CHAT)
    assert trace.num_requests == 4000
    for turns in sessions_of(trace).values():
        assert turns[0].input_length == 100
        assert [turn.arrival_s is None for turn in turns] == [False] + [True] * (len(turns) - 1)
        for before, turn in pairwise(turns):
            assert turn.input_length == before.input_length + 30 + 100
            assert turn.hash_ids is not None
            assert before.hash_ids is not None
            num_shared = before.input_length // 16
            assert turn.hash_ids[:num_shared] == before.hash_ids[:num_shared]
            assert not set(turn.hash_ids[num_shared:]) & set(before.hash_ids)


def test_turns_and_delays_have_the_means_asked_for() -> None:
    trace = make_trace(CHAT)
    sessions = sessions_of(trace)
    assert 4000 / len(sessions) == pytest.approx(3.0, rel=0.05)
    delays = [request.delay_s for request in trace.requests if request.delay_s is not None]
    assert np.mean(delays) == pytest.approx(5.0, rel=0.05)
    assert np.std(delays) == pytest.approx(5.0, rel=0.08)
    assert len(sessions) / trace.last_arrival_s == pytest.approx(2.0, rel=0.08)


def test_a_session_ends_before_a_prompt_that_is_too_long() -> None:
    trace = make_trace(replace(CHAT, sessions=SessionPlan(mean_turns=3.0, mean_delay_s=5.0, max_input=300)))
    lengths = {len(turns) for turns in sessions_of(trace).values()}
    assert lengths == {1, 2}
    assert max(request.input_length for request in trace.requests) == 230
    (notice,) = [each for each in trace.notices if "sessions ended before a prompt of more than 300 tokens" in each]
    assert int(notice.split()[0]) > 100


def test_sessions_begin_with_shared_prefixes() -> None:
    trace = make_trace(replace(CHAT, prefixes=PrefixPlan(roots=1, branching=1, depth=3)))
    first_blocks = [turns[0].hash_ids[0] for turns in sessions_of(trace).values() if turns[0].hash_ids]
    most_common = max(set(first_blocks), key=first_blocks.count)
    assert first_blocks.count(most_common) / len(first_blocks) == pytest.approx(0.75, abs=0.05)


def test_one_part_leaves_the_draws_of_the_others_alone() -> None:
    alone, chat = make_trace(PLAIN), make_trace(CHAT)
    arrivals = [request.arrival_s for request in chat.requests if request.arrival_s is not None]
    assert arrivals == [request.arrival_s for request in alone.requests][: len(arrivals)]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: replace(PLAIN, num_requests=0), "the number of requests is 0"),
        (lambda: replace(PLAIN, block_size=0), "block size is 0"),
        (lambda: replace(PLAIN, seed=-1), "the seed is -1"),
        (lambda: SessionPlan(mean_turns=0.5, mean_delay_s=1.0), "turns is 0.5, but it must be a number from 1"),
        (lambda: SessionPlan(mean_turns=2.0, mean_delay_s=-1.0), "delay is -1.0"),
        (lambda: PrefixPlan(depth=0), "depth is 0"),
        (lambda: ConstantLength(0), "tokens is 0"),
        (lambda: ResampledLengths([], "x"), "x has no requests to take lengths from"),
        (lambda: make_trace(replace(PLAIN, arrivals=GammaArrivals(1e-9))), "4000 requests at a rate of 1e-09 a second"),
    ],
)
def test_what_cannot_be_is_refused(make: object, sentence: str) -> None:
    with pytest.raises(TraceError, match=sentence):
        make()  # type: ignore[operator]  # each of them can be called
