import pytest

from tests.traces.requests import later, single
from traces import TraceError, TraceRequest
from traces.mooncake_rows import MooncakeRows


def test_a_row_has_mooncakes_fields_alone() -> None:
    rows = MooncakeRows("t", 512)
    fitted = rows.fitted(single(0, 27.5, 600, 52, hash_ids=(46, 47)))
    assert rows.line(fitted) == b'{"timestamp":27500,"input_length":600,"output_length":52,"hash_ids":[0,1]}\n'


def test_ids_are_numbered_as_they_are_first_seen_and_missing_ones_are_new() -> None:
    rows = MooncakeRows("t", 512)
    requests = (
        single(0, 0.0, 1200, hash_ids=(8, 9)),  # counted by floor: the partial block has none
        single(1, 0.0, 513),
        single(2, 0.0, 1024, hash_ids=(8, 5)),
    )
    assert [rows.fitted(request).hash_ids for request in requests] == [(0, 1, 2), (3, 4), (0, 5)]


@pytest.mark.parametrize(
    ("request_", "block_size", "field"),
    [
        (single(0, 0.0625), 512, "timestamp_fraction (62.5)"),
        (single(1, 0.0), 512, "request_id (r1)"),
        (single(0, 0.0, priority=3), 512, "priority (3)"),
        (single(0, 0.0, prompt="hello"), 512, "prompt (hello)"),
        (single(0, 0.0, session_id="s"), 512, "session_id (s)"),
        (later(0, "s", 1.0), 512, "session_id (s)"),
        (single(0, 0.0, 10, hash_ids=(1,)), 16, "hash_ids (in blocks of 16 tokens, not 512)"),
    ],
)
def test_what_a_row_cannot_carry_is_named(request_: TraceRequest, block_size: int, field: str) -> None:
    with pytest.raises(TraceError) as caught:
        MooncakeRows("t.csv", block_size).fitted(request_)
    sentence = str(caught.value)
    assert sentence.startswith(f"t.csv line {request_.line}: {field}")
    assert f"leave it out with --drop {field.split()[0]}" in sentence
