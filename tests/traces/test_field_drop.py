import pytest

from tests.traces.requests import later, single
from traces import TraceError, TraceRequest
from traces.field_drop import DROPPABLE, FieldDrop

FULL = single(3, 1.0005, hash_ids=(1,), priority=2, prompt="hi")


def dropped(fields: list[str], *requests: TraceRequest) -> tuple[list[TraceRequest], dict[str, int]]:
    taken: list[TraceRequest] = []
    drop = FieldDrop(fields, taken.append)
    for request in requests:
        drop.add(request)
    drop.finish()
    return taken, {field: num for field, num in drop.num_changed.items() if num}


@pytest.mark.parametrize(
    ("field", "value"), [("hash_ids", None), ("priority", 0), ("prompt", None), ("request_id", "r0")]
)
def test_one_field_is_left_out_and_counted(field: str, value: object) -> None:
    (request,), counts = dropped([field], FULL)
    assert getattr(request, field) == value
    others = set(DROPPABLE) & {"hash_ids", "priority", "prompt", "request_id"} - {field}
    assert all(getattr(request, other) == getattr(FULL, other) for other in others)
    assert counts == {field: 1}


def test_what_a_time_has_beyond_whole_milliseconds() -> None:
    exact = single(1, 3537000 / 1000)
    (rounded, same), counts = dropped(["timestamp_fraction"], FULL, exact)
    assert rounded.arrival_s == 1.0
    assert same == exact
    assert counts == {"timestamp_fraction": 1}


@pytest.mark.parametrize("milliseconds", [1, 999, 2207999, 4194303999])
def test_whole_milliseconds_stay_whatever_they_are_stored_as(milliseconds: int) -> None:
    whole, rest = divmod(milliseconds, 1000)
    arrival_s = whole + round(rest * 2**30 / 1000) / 2**30
    assert dropped(["timestamp_fraction"], single(0, arrival_s))[0][0].arrival_s == arrival_s


def test_turns_without_session_come_at_their_earliest_times() -> None:
    requests = (single(0, 0.0, session_id="a"), later(1, "a", 5.0), later(2, "a", 1.0), single(3, 5.5))
    taken, counts = dropped(["session_id", "request_id"], *requests)
    assert [(each.request_id, each.arrival_s, each.delay_s, each.session_id) for each in taken] == [
        ("r0", 0.0, None, None),
        ("r1", 5.0, None, None),
        ("r2", 5.5, None, None),
        ("r3", 6.0, None, None),
    ]
    assert counts == {"session_id": 3, "request_id": 2}


def test_a_field_that_nothing_can_do_without_is_refused() -> None:
    with pytest.raises(TraceError, match="the field 'input_length' cannot be dropped; it must be one of hash_ids, "):
        FieldDrop(["input_length"], print)
