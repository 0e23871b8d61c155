import numpy as np
import pytest

from backends.qwen3.command_builder import CommandBuilder
from backends.qwen3.sampling_rows import SamplingRows, sampling_key
from engine.hashed_prompt import HashedPrompt
from engine.sampling_params import SamplingParams
from tests.qwen3.commands import admission, batch, ints

VOCAB = 50


@pytest.fixture
def builder():
    return CommandBuilder(VOCAB, block_size=4, sampling=SamplingRows(2, VOCAB, seed=0))


def build(builder, *args, **kwargs):
    command, refused = builder.build(batch(*args, **kwargs))
    assert refused == {}
    return command


def two(builder):
    """A (5 tokens) and b (2 tokens) in one step."""
    return build(
        builder,
        [("a", 0, 5, True), ("b", 0, 2, True)],
        admitted=[admission("a", [1, 2, 3, 4, 5], [7, 8]), admission("b", [6, 7], [9])],
    )


def test_admitted_sequences_take_seats_with_all_their_tokens(builder):
    command = two(builder)
    assert [(seq.seat, seq.token_ids.tolist(), seq.block_table.tolist()) for seq in command.admitted] == [
        (0, [1, 2, 3, 4, 5], [7, 8]),
        (1, [6, 7], [9]),
    ]
    assert command.seats.tolist() == [0, 1]
    assert command.first_positions.tolist() == [0, 0]
    assert command.num_tokens.tolist() == [5, 2]
    assert command.samples.tolist() == [True, True]


def test_how_a_sequence_is_sampled_is_noted_at_its_seat(builder):
    params = SamplingParams(temperature=0.5, top_k=3, seed=7)
    build(
        builder,
        [("a", 0, 1, True), ("b", 0, 1, True)],
        admitted=[admission("a", [1], [7]), admission("b", [2], [8], params=params)],
    )
    assert builder._sampling.temperatures.tolist() == [0, 0.5]
    assert builder._sampling.top_ks.tolist() == [VOCAB, 3]
    assert builder._sampling.keys[1] == sampling_key("b", 7, 0)


def test_a_resumed_sequence_brings_its_outputs(builder):
    command = build(builder, [("a", 0, 4, True)], admitted=[admission("a", [1, 2], [7], outputs=[3, 4])])
    assert command.admitted[0].token_ids.tolist() == [1, 2, 3, 4]


def test_the_result_travels_with_the_next_step(builder):
    command = two(builder)
    assert len(command.new_tokens.seats) == 0
    builder.note_result(command, ints(30, 31), {})
    following = build(builder, [("b", 2, 1, True), ("a", 5, 1, True)])
    assert [column.tolist() for column in following.new_tokens] == [[0, 1], [5, 2], [30, 31]]
    assert following.seats.tolist() == [1, 0]
    builder.note_result(following, ints(32, 33), {})
    assert build(builder, [("b", 3, 1, True)]).new_tokens.positions.tolist() == [3, 6]


def test_rows_are_told_by_the_same_array_only_while_nobody_comes_or_goes(builder):
    first = two(builder)
    second = build(builder, [("a", 5, 1, True), ("b", 2, 1, True)])
    assert second.seats is first.seats
    third = build(
        builder,
        [("a", 0, 1, True), ("b", 3, 1, True)],
        released=["a"],
        admitted=[admission("a", [9], [2], params=SamplingParams())],
    )
    assert third.seats is not first.seats


def test_only_rows_that_sample_give_tokens(builder):
    command = build(
        builder,
        [("a", 0, 2, False), ("b", 0, 2, True)],
        admitted=[admission("a", [1, 2, 3], [7]), admission("b", [6, 7], [9])],
    )
    builder.note_result(command, ints(30), {})
    assert [column.tolist() for column in build(builder, [("a", 2, 1, True)]).new_tokens] == [[1], [2], [30]]


def test_after_a_step_without_result_the_tokens_before_are_told_again(builder):
    builder.note_result(two(builder), ints(30, 31), {})
    build(builder, [("a", 5, 1, True)])
    assert build(builder, [("a", 6, 1, True)]).new_tokens.token_ids.tolist() == [30, 31]


def test_new_blocks_are_told_by_seat(builder):
    two(builder)
    grown = build(builder, [("a", 5, 1, True), ("b", 2, 1, True)], new_blocks=[("b", (3, 4)), ("a", (5,))]).grown
    assert [column.tolist() for column in grown] == [[1, 0], [2, 1], [3, 4, 5]]


def test_an_id_may_be_released_and_admitted_in_one_batch(builder):
    two(builder)
    command = build(builder, [("a", 0, 1, True)], released=["b", "a"], admitted=[admission("a", [9], [2])])
    assert set(command.released) == {0, 1}
    assert command.admitted[0].seat == 0


def test_an_id_that_is_not_seated_may_be_released(builder):
    two(builder)
    assert build(builder, [("a", 5, 1, True)], released=["b", "b", "never seen"]).released == (1,)


def test_failed_rows_are_told_with_the_next_step(builder):
    builder.note_result(two(builder), ints(30, 31), {"b": "NaN"})
    following = build(builder, [("a", 5, 1, True)], released=["b"])
    assert following.failed == (1,)
    builder.note_result(following, ints(32), {})
    assert build(builder, [("a", 6, 1, True)]).failed == ()


@pytest.mark.parametrize(("hit", "blocks"), [(0, 0), (4, 1), (5, 2), (8, 2)])
def test_hit_blocks_are_counted(builder, hit, blocks):
    command = build(builder, [("a", hit, 1, True)], admitted=[admission("a", list(range(9)), [1, 2, 3], hit=hit)])
    assert command.admitted[0].num_hit_blocks == blocks


@pytest.mark.parametrize("token", [VOCAB, -1, 2**40])
def test_a_token_that_the_model_does_not_know_fails_its_request(builder, token):
    command, refused = builder.build(
        batch(
            [("a", 0, 3, True), ("b", 0, 1, True)],
            admitted=[admission("a", [1, token, 3], [7]), admission("b", [4], [8])],
        )
    )
    assert refused == {"a": f"Its prompt has token id {token}; the model knows 0 to {VOCAB - 1}."}
    assert command.admitted[0].token_ids.tolist() == [1, 0, 3]


def test_content_ids_become_tokens_inside_the_vocabulary(builder):
    command = build(builder, [("a", 0, 20, True)], admitted=[admission("a", HashedPrompt(20, (7,), 16, 1), [1])])
    tokens = command.admitted[0].token_ids
    assert tokens.dtype == np.int32
    assert len(tokens) == 20
    assert tokens.min() >= 0
    assert tokens.max() < VOCAB


def test_a_name_that_a_new_scheduler_uses_again_gets_its_seat_anew(builder):
    two(builder)

    command = build(builder, [("b", 0, 3, True)], admitted=[admission("b", [1, 2, 3], [4])])

    assert command.released == (1,)
    assert [(seq.seat, seq.token_ids.tolist()) for seq in command.admitted] == [(1, [1, 2, 3])]
