import json
from typing import Any

import pytest

from tests.traces.conftest import TraceFile
from traces import ReadSettings, TraceError, Window, read_trace

DAY = "2026-06-01T05:40:"


def event(second: float, kind: str) -> dict[str, str]:
    return {"event_type": kind, "timestamp": f"{DAY}{second:06.3f}Z", "source": "x"}


def llm_round(session: str, index: int, prefix: int, new: int, start: float, end: float, **fields: Any) -> str:
    events = [event(start - 0.25, "tool_result"), event(start, "tool_result"), event(end, "tool_call")]
    values = {"session_id": session, "round_index": index, "input_tokens_total": prefix + new, "prefix_tokens": prefix}
    values |= {"newly_append_tokens": new, "output_tokens": 20, "reasoning_output_tokens": None, "tools": []}
    return json.dumps(values | {"timing_events": events} | fields)


ROWS = "\n".join(
    [
        llm_round("a", 0, 100, 156, 10, 12),
        llm_round("b", 0, 0, 64, 11, 13),
        llm_round("a", 1, 256, 128, 20, 21.5),
        llm_round("a", 2, 192, 100, 30, 33),  # a rewind: the prefix is shorter than before
    ]
)


def test_rounds_are_turns_with_recorded_starts_and_service_times(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(ROWS))
    assert [(r.request_id, r.session_id, r.input_length, r.arrival_s, r.delay_s) for r in trace.requests] == [
        ("r0", "a", 256, 0.0, None),
        ("r2", "a", 384, None, 8.0),  # 20 - 12
        ("r3", "a", 292, None, 8.5),  # 30 - 21.5
        ("r1", "b", 64, 1.0, None),
    ]
    assert trace.notices[0].startswith("Read as TraceLab rounds, times of events in calendar time. Format tracelab,")
    assert "Unknown" not in " ".join(trace.notices)


@pytest.mark.parametrize(
    ("settings", "delays"),
    [
        (ReadSettings(delay_rule="original"), [10.0, 10.0]),
        (ReadSettings(delay_rule="api-scaled", api_time_scale=2), [12.0, 11.5]),
        (ReadSettings(max_delay_s=8.25), [8.0, 8.25]),
    ],
)
def test_all_delay_rules_have_what_they_need(
    trace_file: TraceFile, settings: ReadSettings, delays: list[float]
) -> None:
    turns = [request for request in read_trace(trace_file(ROWS), settings).requests if request.session_id == "a"]
    assert [turn.delay_s for turn in turns[1:]] == delays


def test_stated_prefixes_become_shared_blocks_and_are_flagged(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(ROWS))
    ids = [request.hash_ids for request in trace.requests]
    assert ids == [
        (0, 1, 2, 3),
        (0, 1, 2, 3, 4, 5),  # 256 of the prompt before are kept
        (0, 1, 2, 6),  # 192 of the prompt before are kept, 292 tokens make 4 full blocks
        (7,),
    ]
    assert (trace.block_size, trace.hash_id_count) == (64, "floor")
    # The first round's prefix is of no prompt in the file: 448 of 548 tokens are shared.
    assert any(
        n.startswith("prefix_synthesized: hash_ids are made from prefix_tokens, blocks of 64") for n in trace.notices
    )
    assert any("they share 448 of 548 stated prefix tokens (81.8%)" in notice for notice in trace.notices)
    assert read_trace(trace_file(ROWS), trace_block_size=128).requests[2].hash_ids == (0, 3)


def test_rounds_without_length_or_events_are_dropped_and_counted(trace_file: TraceFile) -> None:
    rows = [ROWS, llm_round("c", 0, 0, 5, 1, 2, timing_events=[]), llm_round("c", 1, 0, 5, 1, 2, output_tokens=0)]
    trace = read_trace(trace_file("\n".join(rows)))
    assert trace.num_requests == 4
    assert "6 rows read: 4 kept, 2 dropped (1 because timing_events is empty, 1 because output_tokens is 0)." in (
        trace.notices
    )


def test_sessions_months_apart_need_a_part_or_a_rate(trace_file: TraceFile) -> None:
    path = trace_file(f"{ROWS}\n{llm_round('z', 0, 0, 5, 1, 2).replace('2026-06', '2026-12')}")
    with pytest.raises(TraceError, match=r"\(--start, --end 1000h\), or draw arrivals \(--request-rate\)$"):
        read_trace(path)
    drawn = read_trace(path, ReadSettings(request_rate=1, seed=5))
    assert [r.session_id for r in drawn.requests if r.arrival_s is not None] == ["a", "b", "z"]
    assert [r.delay_s for r in drawn.requests if r.session_id == "a"] == [None, 8.0, 8.5]
    assert read_trace(path, ReadSettings(window=Window(end_s=60))).num_requests == 4
    assert read_trace(path, ReadSettings(window=Window(limit=3))).num_requests == 3


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (llm_round("a", 3, 9, 1, 1, 2, prefix_tokens=11), "prefix_tokens is 11, but it must be at most input_tokens_"),
        (
            llm_round("a", 3, 9, 1, 1, 2, timing_events=[{"event_type": "text", "timestamp": "now"}]),
            "timestamp of an event is 'now', but it must be a date and time like",
        ),
        (
            llm_round("a", 3, 9, 1, 1, 2, timing_events=[{"event_type": "text"}]),
            "timing_events[0].timestamp is missing; it must be a date and time like",
        ),
        (llm_round("a", -1, 9, 1, 1, 2), "round_index is -1, but round_index must be a whole number, 0 or more"),
    ],
)
def test_a_wrong_row_is_named(trace_file: TraceFile, row: str, sentence: str) -> None:
    path = trace_file(f"{ROWS}\n{row}\n")
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    assert str(caught.value).startswith(f"{path} line 5: {sentence}")
