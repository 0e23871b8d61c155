import os
import subprocess
import sys

import pytest

from backends.replay_tokens import ReplayTokens
from tests.backends.batches import batch_of
from tests.backends.step_shapes import Row

VOCAB_SIZE = 151_936


def tokens_at(request_id: str, positions: range, vocab_size: int = VOCAB_SIZE) -> list[int]:
    """Output tokens of one request alone, each sampled by a decode row."""
    tokens = ReplayTokens(vocab_size)
    tokens.sample(batch_of({request_id: Row(2, 0)}, samples=[False], admitted=[request_id]))
    return [tokens.sample(batch_of({request_id: Row(1, position - 1)}))[0] for position in positions]


def test_a_prefill_row_and_a_decode_row_yield_the_same_token_at_one_position() -> None:
    expected = tokens_at("a", range(10, 11))[0]
    for query in (2, 3, 10):
        tokens = ReplayTokens(VOCAB_SIZE)
        batch = batch_of({"a": Row(query, 10 - query), "b": Row(1, 4)}, admitted=["a", "b"])
        assert tokens.sample(batch) == (expected, *tokens_at("b", range(5, 6)))


def test_tokens_do_not_depend_on_the_rest_of_the_batch() -> None:
    tokens = ReplayTokens(VOCAB_SIZE)
    rows = {f"r{i}": Row(1, 100 + i) for i in range(50)}
    sampled = tokens.sample(batch_of(rows, admitted=list(rows)))
    assert sampled == tuple(tokens_at(name, range(row.context, row.context + 1))[0] for name, row in rows.items())


def test_only_sampling_rows_yield_tokens_in_batch_order() -> None:
    tokens = ReplayTokens(VOCAB_SIZE)
    batch = batch_of(
        {"a": Row(4, 0), "b": Row(1, 7), "c": Row(5, 0)}, samples=[False, True, True], admitted=["a", "b", "c"]
    )
    assert tokens.sample(batch) == (*tokens_at("b", range(8, 9)), *tokens_at("c", range(5, 6)))


def test_a_one_token_row_that_does_not_sample_yields_nothing() -> None:
    tokens = ReplayTokens(VOCAB_SIZE)
    batch = batch_of({"a": Row(1, 0), "b": Row(1, 7)}, samples=[False, True], admitted=["a", "b"])
    assert tokens.sample(batch) == tuple(tokens_at("b", range(8, 9)))


def test_tokens_differ_between_requests_and_positions_and_stay_in_the_vocabulary() -> None:
    streams = {name: tokens_at(name, range(1, 400)) for name in ("r0", "r1", "r10", "x")}
    assert len({tuple(stream) for stream in streams.values()}) == 4
    for stream in streams.values():
        assert len(set(stream)) > 390
        assert min(stream) >= 0
        assert max(stream) < VOCAB_SIZE
    assert set(tokens_at("a", range(1, 50), vocab_size=2)) == {0, 1}


def test_a_request_released_and_admitted_in_one_batch_keeps_its_tokens() -> None:
    tokens = ReplayTokens(VOCAB_SIZE)
    tokens.sample(batch_of({"a": Row(4, 0)}, admitted=["a"]))
    again = tokens.sample(batch_of({"a": Row(6, 0)}, admitted=["a"], released=["a"]))
    assert again == tuple(tokens_at("a", range(6, 7)))


def test_a_released_request_is_forgotten() -> None:
    tokens = ReplayTokens(VOCAB_SIZE)
    tokens.sample(batch_of({"a": Row(4, 0)}, admitted=["a"]))
    tokens.sample(batch_of({"b": Row(4, 0)}, admitted=["b"], released=["a", "never admitted"]))
    with pytest.raises(KeyError):
        tokens.sample(batch_of({"a": Row(1, 4)}))


def test_tokens_are_the_same_in_every_process_whatever_its_hash_seed() -> None:
    code = "from tests.backends.test_replay_tokens import tokens_at; print(tokens_at('request-7', range(1, 9)))"
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("0", "1")
    ]
    assert outputs == [f"{tokens_at('request-7', range(1, 9))}\n"] * 2


def test_tokens_are_pinned_since_recorded_runs_depend_on_them() -> None:
    assert tokens_at("r0", range(1, 5)) == [77095, 144078, 59125, 126108]
