import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traces import TraceError, TraceRequest
from traces.hash_id_count import hash_id_count


def requests(*counts: tuple[int, int | None]) -> list[TraceRequest]:
    return [
        TraceRequest(
            request_id=f"r{index}",
            line=index + 1,
            input_length=num_tokens,
            output_length=1,
            arrival_s=0.0,
            hash_ids=None if num_ids is None else tuple(range(num_ids)),
        )
        for index, (num_tokens, num_ids) in enumerate(counts)
    ]


def error_of(counts: Sequence[tuple[int, int | None]], block_size: int = 512) -> str:
    with pytest.raises(TraceError) as caught:
        hash_id_count(requests(*counts), block_size, "t.jsonl")
    return str(caught.value)


def test_ceil_counts_the_partial_block() -> None:
    assert hash_id_count(requests((6758, 14), (512, 1), (1, 1)), 512, "t") == "ceil"


def test_floor_leaves_the_partial_block_out() -> None:
    assert hash_id_count(requests((6758, 13), (512, 1), (1, 0)), 512, "t") == "floor"


def test_exact_multiples_fit_both_rules() -> None:
    assert hash_id_count(requests((512, 1), (1024, 2)), 512, "t") == "ceil"
    assert hash_id_count(requests((512, 1), (1023, 1)), 512, "t") == "floor"


def test_requests_without_ids_do_not_matter() -> None:
    assert hash_id_count(requests((700, None)), 512, "t") is None
    assert hash_id_count(requests((700, None), (700, 1)), 512, "t") == "floor"


def test_a_misfit_names_the_sizes_that_fit_all_rows_so_far() -> None:
    # 423 ids: ceil needs 6758 / 423 <= b < 6758 / 422, so 16 alone; floor needs 6758 / 424 < b <= 6758 / 423: none.
    assert error_of([(32, 2)], 512) == (
        "t.jsonl line 1: hash_ids has 2 ids, but 32 tokens in blocks of 512 make 1 (ceil) or 0 (floor). Block sizes "
        "that fit every row up to this one: 16 to 31 (ceil) or 11 to 16 (floor); give it as the trace block size."
    )
    message = error_of([(512, 1), (6758, 423), (1, 1)])
    assert message.startswith(
        "t.jsonl line 2: hash_ids has 423 ids, but 6758 tokens in blocks of 512 make 14 (ceil) or"
    )
    assert "No block size fits every row up to this one; this row alone fits: 16 (ceil)." in message


def test_a_misfit_on_an_exact_multiple_names_the_one_right_count() -> None:
    assert "hash_ids has 2 ids, but 512 tokens in blocks of 512 make 1. " in error_of([(512, 2)])


def test_no_ids_at_all_fit_only_larger_blocks() -> None:
    assert "every row up to this one: 601 or more (floor)" in error_of([(600, 0)])


def test_more_ids_than_tokens_fit_nothing() -> None:
    assert "this row alone fits: none." in error_of([(3, 5)])


def test_one_file_counts_one_way() -> None:
    message = error_of([(700, None), (700, 2), (1024, 2), (700, 1)])
    assert message.startswith("t.jsonl line 4: hash_ids are counted by floor here, but by ceil in line 2.")


@given(
    st.lists(st.integers(1, 200), min_size=1, max_size=5),
    st.integers(1, 50),
    st.sampled_from(["ceil", "floor"]),
    st.integers(1, 50),
)
def test_the_named_sizes_are_exactly_those_that_work(lengths: list[int], true: int, rule: str, tried: int) -> None:
    rows = requests(*((n, -(-n // true) if rule == "ceil" else n // true) for n in lengths))
    assert hash_id_count(rows, true, "t") is not None
    try:
        hash_id_count(rows, tried, "t")
    except TraceError as error:
        line = int(re.search(r"line (\d+)", str(error))[1])  # type: ignore[index]  # every error has a line
        so_far = rows[:line]
        named = str(error).rpartition("one: ")[2]
        assert true in _sizes(named)
        assert {size for size in range(1, 300) if _works(so_far, size)} == _sizes(named)


def _works(rows: Sequence[TraceRequest], block_size: int) -> bool:
    try:
        hash_id_count(rows, block_size, "t")
    except TraceError:
        return False
    return True


def _sizes(named: str) -> set[int]:
    sizes: set[int] = set()
    for lowest, highest, more in re.findall(r"(\d+)(?: to (\d+)| (or more))?", named):
        sizes |= set(range(int(lowest), 300 if more else int(highest or lowest) + 1))
    return sizes
