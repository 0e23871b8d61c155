import pytest

from tests.traces.conftest import TraceFile
from traces import ReadSettings, TraceError, read_trace

MANY = """session_id,arrival_time,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms
0,117,0,0,2318,200,300
0,117,1,2518,348,131,154
1,393,0,0,861,107,273
0,117,2,1000,812,104,0
"""
ONE = "session_id,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms\n0,0,128,100,124,182\n0,1,228,70,9,0\n"


def test_prompts_hold_the_kept_prefix_and_waits_count_from_the_end_before(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(MANY))
    ms = [round(value * 2**30 / 1000) / 2**30 for value in (117, 300, 154, 393)]
    assert [(r.session_id, r.input_length, r.output_length, r.arrival_s, r.delay_s) for r in trace.requests] == [
        ("0", 2318, 200, ms[0], None),
        ("0", 2866, 131, None, ms[1]),
        ("0", 1812, 104, None, ms[2]),
        ("1", 861, 107, ms[3], None),
    ]
    assert "arrival_time in milliseconds, tool_wait_after_ms in milliseconds" in trace.notices[0]
    assert "2 later turns of sessions come after the turn before has ended, delays stated in the file." in trace.notices


def test_prefixes_are_shared_as_far_as_the_prompt_before_reaches(trace_file: TraceFile) -> None:
    first, second, rewound, other = (request.hash_ids or () for request in read_trace(trace_file(MANY)).requests)
    assert (len(first), len(second), len(rewound), len(other)) == (36, 44, 28, 13)
    assert second[:36] == first  # of 2,518 stated tokens 2,304; the answer's 200 are of unknown content
    assert rewound[:15] == first[:15]  # a rewind to 1,000 tokens
    assert not set(rewound[15:]) & set(second)
    assert not set(other) & {*first, *second, *rewound}


def test_the_simulators_columns_are_the_same(trace_file: TraceFile) -> None:
    header = "id,input_len,output_len,arrival_time,round_idx,tool_wait_after_ms,prefix_len"
    rows = ["0,2318,200,117,0,300,0", "0,348,131,117,1,154,2518", "1,861,107,393,0,273,0", "0,812,104,117,2,0,1000"]
    assert read_trace(trace_file("\n".join([header, *rows]))) == read_trace(trace_file(MANY))


def test_without_arrivals_sessions_begin_at_zero_or_at_a_rate(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(ONE))
    assert [(r.input_length, r.arrival_s) for r in trace.requests] == [(228, 0.0), (298, None)]
    assert "The file gives no times: all sessions arrive at 0; a request rate spreads them." in trace.notices
    assert (read_trace(trace_file(ONE), ReadSettings(request_rate=1, seed=2)).first_arrival_s) > 0


def test_a_dropped_round_leaves_its_wait(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(MANY.replace("348,131", "348,0")))
    assert [r.delay_s for r in trace.requests if r.session_id == "0"] == [None, round(0.454 * 2**30) / 2**30]
    assert "4 rows read: 3 kept, 1 dropped (1 because output_len is 0)." in trace.notices


@pytest.mark.parametrize(
    ("content", "settings", "sentence"),
    [
        (
            f"{MANY}0,118,3,0,5,5,0",
            ReadSettings(),
            "line 6: arrival_time is '118', but line 2 gives another for session",
        ),
        (f"{MANY}0,117,x,0,5,5,0", ReadSettings(), "line 6: round_idx is 'x', but it must be a whole number"),
        (MANY, ReadSettings(request_rate=1), "has times of its own, arrival_time; scale their rate instead"),
        (
            MANY,
            ReadSettings(delay_rule="original"),
            "delay rule is 'original', but a trace of format tracelab-replay has",
        ),
    ],
)
def test_what_is_wrong_is_named(trace_file: TraceFile, content: str, settings: ReadSettings, sentence: str) -> None:
    with pytest.raises(TraceError) as caught:
        read_trace(trace_file(content), settings)
    assert sentence in str(caught.value)
