import pytest

from tests.traces.conftest import TraceFile
from traces import TraceError, read_trace

HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens"


def test_crlf_seven_digits_and_no_final_newline(trace_file: TraceFile) -> None:
    path = trace_file(f"{HEADER}\r\n2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 18:15:50.9951693,396,109")
    trace = read_trace(path)
    assert [(r.line, r.input_length, r.output_length, r.request_id) for r in trace.requests] == [
        (2, 374, 44, "r0"),
        (3, 396, 109, "r1"),
    ]
    # All seven digits count: 4.3145793 s, where six would give 4.314579 s.
    assert trace.requests[0].arrival_s == 0.0
    assert trace.requests[1].arrival_s == round(4.3145793 * 2**30) / 2**30
    assert trace.notices == (
        "Read as Azure CSV, TIMESTAMP in calendar time.",
        "Times count from the earliest request, 2023-11-16 18:15:46.6805900.",
    )


def test_columns_are_read_by_name_and_unknown_ones_are_said(trace_file: TraceFile) -> None:
    path = trace_file("GeneratedTokens,NumImages,TIMESTAMP,ContextTokens\n7,3,2023-11-16 18:15:46,100\n")
    trace = read_trace(path)
    assert (trace.requests[0].input_length, trace.requests[0].output_length) == (100, 7)
    assert "Unknown columns were ignored: NumImages." in trace.notices


def test_whole_seconds_offsets_and_midnight(trace_file: TraceFile) -> None:
    path = trace_file(
        f"{HEADER}\n2024-05-10 23:59:59.5+00:00,1,1\n2024-05-11 00:00:00+00:00,1,1\n2024-05-11T02:00:01.25+02:00,1,1\n"
        "2024-05-11T00:00:02Z,1,1\n"
    )
    assert [request.arrival_s for request in read_trace(path).requests] == [0.0, 0.5, 1.75, 2.5]


def test_times_count_from_the_earliest_row_not_the_first(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(f"{HEADER}\n2023-11-16 18:00:05,1,1\n2023-11-16 18:00:00,2,2\n"))
    assert [(request.line, request.arrival_s) for request in trace.requests] == [(3, 0.0), (2, 5.0)]


def test_rows_of_length_zero_are_dropped_and_counted_by_reason(trace_file: TraceFile) -> None:
    rows = ("0,5", "5,0", "0,0", "5,5", "7.0,1")
    path = trace_file("\n".join([HEADER, *(f"2023-11-16 18:00:0{i},{row}" for i, row in enumerate(rows))]))
    trace = read_trace(path)
    assert [(r.request_id, r.line, r.input_length) for r in trace.requests] == [("r3", 5, 5), ("r4", 6, 7)]
    assert trace.notices[-1] == (
        "5 rows read: 2 kept, 3 dropped (2 because ContextTokens is 0, 1 because GeneratedTokens is 0)."
    )


@pytest.mark.parametrize("content", [HEADER, f"{HEADER}\n2023-11-16 18:00:00,0,0"])
def test_a_file_without_a_usable_row_is_refused(trace_file: TraceFile, content: str) -> None:
    with pytest.raises(TraceError, match=r"t\.jsonl has no request with a prompt and an output"):
        read_trace(trace_file(content))


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("2023-11-16 18:00:00,-5,1", "ContextTokens is '-5', but it must be a whole number of tokens from 0 to"),
        ("2023-11-16 18:00:00,5,x", "GeneratedTokens is 'x', but it must be a whole number of tokens from 0 to"),
        ("2023-11-16 18:00:00,5,", "GeneratedTokens is '', but it must be a whole number of tokens from 0 to"),
        ("2023-11-16 18:00:00,1_0,1", "ContextTokens is '1_0', but it must be a whole number"),
        ("2023-11-16 18:00:00,nan,1", "ContextTokens is 'nan', but it must be a whole number"),
        ("2023-11-16 18:00:00,1.5,1", "ContextTokens is '1.5', but it must be a whole number"),
        (f"2023-11-16 18:00:00,{'9' * 5000},1", "ContextTokens is '999"),
        ("46.68,1,1", "TIMESTAMP is '46.68', but it must be a date and time like 2023-11-16 18:15:46.6805900"),
        ("2023-13-16 18:00:00,1,1", "TIMESTAMP is '2023-13-16 18:00:00', but it must be a date and time like"),
        ("2023-11-16 18:00:00,1", "there are 2 fields, but the header has 3 columns"),
        ("2023-11-16 18:00:00,1,1,1", "there are 4 fields, but the header has 3 columns"),
        ('"2023-11-16 18:00:00,1,1', "not valid CSV ("),
    ],
)
def test_a_wrong_row_is_named(trace_file: TraceFile, row: str, sentence: str) -> None:
    path = trace_file(f"{HEADER}\n2023-11-16 17:00:00,1,1\n\n{row}\n")
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    assert str(caught.value).startswith(f"{path} line 4: {sentence}")
    assert len(str(caught.value)) < 400


def test_bytes_that_are_not_utf8_are_refused(trace_file: TraceFile) -> None:
    path = trace_file(f"{HEADER}\n".encode() + b"2023-11-16 18:00:00,\xff,1")
    with pytest.raises(TraceError, match="line 2: not UTF-8"):
        read_trace(path)


def test_column_named_twice_is_refused(trace_file: TraceFile) -> None:
    path = trace_file("TIMESTAMP,ContextTokens,ContextTokens,GeneratedTokens\n2023-11-16 18:00:00,1,7,2\n", "t.csv")

    with pytest.raises(TraceError, match="line 1: the header names ContextTokens more than once"):
        read_trace(path)
