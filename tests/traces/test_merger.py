import pytest

from tests.traces.requests import later, single, trace_of
from traces import TraceError
from traces.merger import merge_traces

FIRST = trace_of(
    single(0, 0.0, 20, hash_ids=(7, 9), session_id="s"), later(1, "s", 2.0), single(2, 5.0, 20, hash_ids=(7, 8)),
    block_size=10,
)  # fmt: skip
SECOND = trace_of(single(0, 0.0, 20, hash_ids=(7, 9), session_id="s"), single(1, 1.0, 5), block_size=10)


def test_requests_stand_in_the_order_of_time_with_names_of_their_own() -> None:
    merged = merge_traces({"a": FIRST, "b": SECOND})
    assert [(each.request_id, each.session_id, each.arrival_s) for each in merged.requests] == [
        ("a/r0", "a/s", 0.0),
        ("a/r1", "a/s", None),
        ("b/r0", "b/s", 0.0),
        ("b/r1", None, 1.0),
        ("a/r2", None, 5.0),
    ]
    assert merged.block_size == 10
    assert merged.num_sessions == 2
    assert merged.notices[0] == ("Merged, no prefix is shared between them: a: 3 requests of t; b: 2 requests of t.")


def test_ids_of_different_traces_are_different_and_their_own_sharing_stays() -> None:
    ids = {each.request_id: each.hash_ids for each in merge_traces({"a": FIRST, "b": SECOND}).requests}
    assert ids == {"a/r0": (0, 1), "a/r1": None, "a/r2": (0, 2), "b/r0": (3, 4), "b/r1": None}


def test_prefixes_are_shared_if_asked_for() -> None:
    ids = {
        each.request_id: each.hash_ids
        for each in merge_traces({"a": FIRST, "b": SECOND}, shared_prefixes=True).requests
    }
    assert (ids["a/r0"], ids["b/r0"]) == ((7, 9), (7, 9))


def test_blocks_of_different_sizes_are_refused_unless_one_trace_has_no_ids() -> None:
    other = trace_of(single(0, 0.0, 32, hash_ids=(1, 2)), block_size=16)
    with pytest.raises(TraceError, match="hash ids stand for 10 tokens in a and for 16 in c, but a trace has one"):
        merge_traces({"a": FIRST, "c": other})
    without = trace_of(single(0, 0.0, 32), block_size=512)
    assert merge_traces({"d": without, "c": other}).block_size == 16
    assert merge_traces({"d": without, "e": without}).block_size == 512


def test_partial_blocks_lose_their_ids_where_not_all_traces_have_them() -> None:
    ceil = trace_of(single(0, 0.0, 25, hash_ids=(1, 2, 3)), block_size=10)
    floor = trace_of(single(0, 0.0, 25, hash_ids=(1, 2)), block_size=10)
    merged = merge_traces({"a": ceil, "b": floor})
    assert [each.hash_ids for each in merged.requests] == [(0, 1), (2, 3)]
    assert merged.hash_id_count == "floor"
    assert "Partial last blocks have no id, as not all of the traces have one for them." in merged.notices
    assert merge_traces({"a": ceil, "c": ceil}).hash_id_count == "ceil"
