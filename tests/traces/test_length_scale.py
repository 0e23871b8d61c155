import pytest

from tests.traces.requests import single, trace_of
from traces import TraceError
from traces.length_scale import LengthScale

TRACE = trace_of(single(0, 0.0, 35, 7, hash_ids=(0, 1, 2, 3)), single(1, 1.0, 25, 1, hash_ids=(0, 1, 9)), block_size=10)


def test_outputs_are_rounded_and_stay_above_zero() -> None:
    scaled = LengthScale(output_scale=0.25).apply(TRACE)
    assert [(each.input_length, each.output_length) for each in scaled.requests] == [(35, 2), (25, 1)]
    assert [each.hash_ids for each in scaled.requests] == [(0, 1, 2, 3), (0, 1, 9)]
    assert scaled.notices == ("Lengths scaled: prompts by 1, outputs by 0.25.",)


def test_a_shorter_prompt_keeps_the_ids_of_what_is_left() -> None:
    scaled = LengthScale(input_scale=0.5).apply(TRACE)
    assert [(each.input_length, each.hash_ids) for each in scaled.requests] == [(18, (0, 1)), (12, (0, 1))]


def test_what_a_longer_prompt_has_more_is_new() -> None:
    scaled = LengthScale(input_scale=2).apply(TRACE)
    assert [(each.input_length, each.hash_ids) for each in scaled.requests] == [
        (70, (0, 1, 2, 3, 10, 11, 12)),
        (50, (0, 1, 9, 13, 14)),
    ]
    assert scaled.notices == (
        "Lengths scaled: prompts by 2, outputs by 1; 5 new blocks are shared with no other prompt.",
    )


def test_ids_counted_by_floor_stay_so() -> None:
    floor = trace_of(single(0, 0.0, 35, hash_ids=(0, 1, 2)), block_size=10)
    (request,) = LengthScale(input_scale=0.8).apply(floor).requests
    assert (request.input_length, request.hash_ids) == (28, (0, 1))


def test_factors_of_one_change_nothing() -> None:
    assert LengthScale().apply(TRACE) is TRACE


def test_what_cannot_be_is_refused() -> None:
    for factor in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(TraceError, match="the output scale is"):
            LengthScale(output_scale=factor)
    with pytest.raises(TraceError, match=r"t line 1: 7 tokens times 1e\+09 are more than 2147483647"):
        LengthScale(output_scale=1e9).apply(TRACE)
    full = trace_of(single(0, 0.0, 10, hash_ids=(2**64 - 1,)), block_size=10)
    with pytest.raises(TraceError, match="t has no hash ids left that could be new"):
        LengthScale(input_scale=2).apply(full)
