import gzip
import tracemalloc
from collections.abc import Callable

import pytest
import zstandard

from tests.traces.conftest import TraceFile
from traces import ReadSettings, TraceError, Window, read_trace

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
        "Read as Azure CSV, TIMESTAMP in calendar time. Format azure, recognised by its columns TIMESTAMP, "
        "ContextTokens, GeneratedTokens.",
        "2 requests, first turns over 4.315 s, 0.4635 a second; prompts of 385.0 and outputs of 76.5 tokens on "
        "average.",
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


def test_one_file_mixes_fractions_of_all_lengths_with_whole_seconds(trace_file: TraceFile) -> None:
    rows = ("2024-05-12 00:00:00+00:00,1,1", "2024-05-12 00:00:00.009930+00:00,1,1", "2024-05-12 00:00:01.5+00:00,1,1")
    trace = read_trace(trace_file("\n".join([HEADER, *rows])))
    # 9.93 ms, not the 10 ms of two digits; the row of a whole second is there.
    assert [r.arrival_s for r in trace.requests] == [0.0, round(0.00993 * 2**30) / 2**30, 1.5]


def test_the_form_of_2025_has_milliseconds_and_images(trace_file: TraceFile) -> None:
    header = "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens"
    trace = read_trace(trace_file(f"{header}\n2024-10-15T23:59:59.999Z,2,1500,1\n2024-10-16T00:00:00.001Z,0,20,7\n"))
    assert [(r.input_length, r.output_length, r.arrival_s) for r in trace.requests] == [
        (1500, 1, 0.0),
        (20, 7, round(0.002 * 2**30) / 2**30),
    ]
    assert "Unknown columns were ignored: NumImages." in trace.notices


def many_rows(num: int) -> str:
    return "\n".join(
        [HEADER, *(f"2024-05-10 00:{i // 600 % 60:02}:{i // 10 % 60:02}.{i % 10},9,1" for i in range(num))]
    )


@pytest.mark.parametrize(
    ("window", "lines", "arrivals"),
    [
        (Window(limit=3), [2, 3, 4], [0.0, 0.1, 0.2]),
        (Window(start_s=100, end_s=100.25), [1002, 1003, 1004], [0.0, 0.1, 0.2]),
        (Window(start_s=1500), [], []),
        (Window(end_s=0.15), [2, 3], [0.0, 0.1]),
    ],
)
def test_a_window_is_applied_while_reading(
    trace_file: TraceFile, window: Window, lines: list[int], arrivals: list[float]
) -> None:
    path = trace_file(many_rows(5000))
    if not lines:
        with pytest.raises(TraceError, match=r"lies in the window \(from 1500 s\): its 5000 usable rows span 499.9 s"):
            read_trace(path, ReadSettings(window=window))
        return
    trace = read_trace(path, ReadSettings(window=window))
    assert [request.line for request in trace.requests] == lines
    assert [request.arrival_s for request in trace.requests] == pytest.approx(arrivals, abs=1e-9)
    assert f"applied while reading: {len(lines)} of 5000 requests kept" in trace.notices[-1]
    whole = read_trace(path)
    assert trace == whole.window(window.start_s, window.end_s, window.limit)


def test_a_file_of_any_length_is_read_in_little_memory(trace_file: TraceFile) -> None:
    path = trace_file(many_rows(30_000))
    tracemalloc.start()
    try:
        trace = read_trace(path, ReadSettings(window=Window(limit=100)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert trace.num_requests == 100
    assert peak < 2_000_000  # the rows alone would take 4 MB as tuples


def test_a_limit_takes_the_earliest_rows_wherever_they_stand(trace_file: TraceFile) -> None:
    rows = [f"2024-05-10 00:{i // 60:02}:{i % 60:02},{i + 1},1" for i in reversed(range(3000))]
    trace = read_trace(trace_file("\n".join([HEADER, *rows])), ReadSettings(window=Window(limit=2)))
    assert [(r.input_length, r.arrival_s) for r in trace.requests] == [(1, 0.0), (2, 1.0)]
    assert "2999 rows stood behind a later arrival (first in line 3)" in " ".join(trace.notices)


def test_bounds_need_the_earliest_row_first(trace_file: TraceFile) -> None:
    path = trace_file(f"{HEADER}\n2024-05-10 00:00:05,1,1\n2024-05-10 00:00:00,1,1\n")
    with pytest.raises(TraceError, match=r"line 3: this row is 5 s earlier than the first, which start and end count"):
        read_trace(path, ReadSettings(window=Window(start_s=1)))


def test_more_rows_than_can_be_held_ask_for_a_part(trace_file: TraceFile) -> None:
    with pytest.raises(TraceError, match=r"line 12: this is the 11th request, and more than 10 are not held; choose"):
        read_trace(trace_file(many_rows(50)), ReadSettings(max_requests=10))


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_compressed_files_are_read_directly(trace_file: TraceFile, compress: Callable[[bytes], bytes]) -> None:
    plain = read_trace(trace_file(many_rows(100)))
    assert read_trace(trace_file(compress(many_rows(100).encode()), "t.csv")) == plain


def test_any_year_is_a_time(trace_file: TraceFile) -> None:
    for year in ("0001", "9999"):
        trace = read_trace(trace_file(f"{HEADER}\n{year}-05-12 00:00:00,1,1\n{year}-05-12 00:00:02,1,1\n"))
        assert trace.last_arrival_s == 2.0


def test_column_named_twice_is_refused(trace_file: TraceFile) -> None:
    path = trace_file("TIMESTAMP,ContextTokens,ContextTokens,GeneratedTokens\n2023-11-16 18:00:00,1,7,2\n", "t.csv")

    with pytest.raises(TraceError, match="line 1: the header names ContextTokens more than once"):
        read_trace(path)
