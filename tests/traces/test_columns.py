import gzip
from pathlib import Path
from typing import Any

import pytest

from tests.traces.conftest import TraceFile
from traces import ReadSettings, TraceError, TraceRequest, Window, read_trace
from traces.checker import TraceChecker
from traces.column_map import ColumnMap
from traces.feed import feed

OWN = "prompt_len,request_time,gen_len,who\n12,0.5,3,a\n7,1.25,4,b\n0,2,4,b\n9,2,1,c\n"
COLUMNS = "time=request_time,input=prompt_len,output=gen_len"
SETTINGS = ReadSettings(columns=COLUMNS)


class Taken:
    """Takes requests."""

    def __init__(self, block_size: int) -> None:
        self.requests: list[TraceRequest] = []
        self.add = self.requests.append


def arrivals(path: Path, **settings: Any) -> list[float | None]:
    return [each.arrival_s for each in read_trace(path, ReadSettings(columns=COLUMNS, **settings)).requests]


def test_named_columns_are_read_wherever_they_stand(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(OWN), SETTINGS)
    assert [(r.request_id, r.arrival_s, r.input_length, r.output_length) for r in trace.requests] == [
        ("r0", 0.5, 12, 3),
        ("r1", 1.25, 7, 4),
        ("r3", 2.0, 9, 1),
    ]
    assert trace.notices[0] == "Read as CSV with columns as given, request_time in seconds."
    assert "Unknown columns were ignored: who." in trace.notices
    assert "4 rows read: 3 kept, 1 dropped (1 because prompt_len is 0)." in trace.notices
    assert dict(trace.dropped) == {"prompt_len is 0": 1}


def test_rows_are_taken_one_by_one(trace_file: TraceFile) -> None:
    path = trace_file(gzip.compress(OWN.encode()), "t.csv.gz")
    facts, taken = feed(path, SETTINGS, "auto", Taken)
    assert (facts.format, facts.is_streamed) == ("columns", True)
    assert taken.requests == list(read_trace(path, SETTINGS).requests)


def test_time_unit_and_window(trace_file: TraceFile) -> None:
    path = trace_file("request_time,prompt_len,gen_len\n500,1,1\n1500,1,1\n2500,1,1\n")
    assert arrivals(path, time_unit="ms") == [0.5, 1.5, 2.5]
    assert arrivals(path, time_unit="ms", window=Window(start_s=1, end_s=2)) == [0.5]


@pytest.mark.parametrize(
    ("times", "settings", "origin"),
    [
        (("1700000001.5", "1700000000", "1700000003"), {}, "2023-11-14 22:13:20+00:00"),
        (("1700000001500", "1700000000000", "1700000003000"), {"time_unit": "ms"}, "2023-11-14 22:13:20+00:00"),
        (
            ("2024-05-10T00:00:01.5", "2024-05-10 00:00:00", "2024-05-10 02:00:03+02:00"),
            {},
            "2024-05-10 00:00:00+00:00",
        ),
    ],
)
def test_calendar_times_count_from_the_earliest(
    trace_file: TraceFile, times: tuple[str, ...], settings: dict[str, Any], origin: str
) -> None:
    rows = "".join(f"{time},1,1\n" for time in times)
    path = trace_file("request_time,prompt_len,gen_len\n" + rows)
    assert arrivals(path, **settings) == [0.0, 1.5, 3.0]
    notice = f"request_time is calendar time: times count from the earliest request, {origin}."
    assert notice in read_trace(path, ReadSettings(columns=COLUMNS, **settings)).notices


def test_sessions_ids_and_priorities(trace_file: TraceFile) -> None:
    rows = "5,1,1,s,first,-2\n6,1,1,,,\n9,1,1,s,second,3\n"
    path = trace_file("request_time,prompt_len,gen_len,chat,rid,urgency\n" + rows)
    settings = ReadSettings(columns=f"{COLUMNS},session=chat,id=rid,priority=urgency")
    made = [
        (r.request_id, r.session_id, r.arrival_s, r.delay_s, r.priority) for r in read_trace(path, settings).requests
    ]
    assert made == [("first", "s", 5.0, None, -2), ("second", "s", None, 4.0, 3), ("r1", None, 6.0, None, 0)]
    opened = read_trace(path, ReadSettings(columns=f"{COLUMNS},session=chat", delay_rule="open"))
    assert [r.arrival_s for r in opened.requests] == [5.0, 6.0, 9.0]


def test_ids_that_stand_twice_are_refused_row_by_row_too(trace_file: TraceFile) -> None:
    path = trace_file("t,i,o,rid\n0,1,1,x\n1,1,1,y\n2,1,1,x\n")
    settings = ReadSettings(columns="time=t,input=i,output=o,id=rid")
    with pytest.raises(TraceError, match="line 4: request_id is 'x', which line 2 has too"):
        feed(path, settings, "auto", Taken)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ("time=a,input=b", "columns are 'time=a,input=b', in which nothing says output; write time=NAME,input=NAME,"),
        ("", "'' is none of time=NAME, input=NAME, output=NAME, session=NAME, id=NAME, priority=NAME"),
        (f"{COLUMNS},size=x", "'size=x' is none of time=NAME"),
        ("time=,input=b,output=c", "'time=' is none of time=NAME"),
        (f"{COLUMNS},time=x", "time is given twice; leave one of them"),
        ("time=a,input=b,output=b", "column 'b' is named for two things"),
    ],
)
def test_columns_that_mean_nothing(columns: str, sentence: str) -> None:
    with pytest.raises(TraceError) as caught:
        ReadSettings(columns=columns)
    assert sentence in str(caught.value)


def test_names_may_have_spaces_and_equals_signs() -> None:
    assert ColumnMap.parse(" time = a b, input=c=d,output=e ") == ColumnMap(time="a b", input="c=d", output="e")


@pytest.mark.parametrize(
    ("content", "settings", "sentence"),
    [
        ("a,b\n1,2\n", {}, "line 1: there is no column request_time, prompt_len, gen_len, which --columns names; "),
        ("a,b\n1,2\n", {}, "the header has a, b"),
        ("request_time,request_time,prompt_len,gen_len\n", {}, "the header names request_time more than once"),
        (OWN, {"request_rate": 2}, "request rate is 2, but a trace of format columns has no use for it"),
        (OWN.replace("0.5", "soon"), {}, "line 2: request_time is 'soon', but it must be a number, 0 or more"),
        (OWN.replace("0.5", "1700000000000"), {}, "which is beyond any time; check its unit (--time-unit)"),
        (OWN.replace("0.5", "2024-01-01 00:00:00"), {}, "line 3: request_time is '1.25', but it must be a date"),
        (OWN.replace("0.5", "2024-01-01 00:00:00"), {"time_unit": "s"}, "request_time holds dates; leave it out"),
        (OWN.replace("12,", "1.5,"), {}, "line 2: prompt_len is '1.5', but it must be a whole number of tokens"),
    ],
)
def test_what_cannot_be_is_a_sentence(
    trace_file: TraceFile, content: str, settings: dict[str, Any], sentence: str
) -> None:
    path = trace_file(content)
    reading = ReadSettings(columns=COLUMNS, **settings)
    with pytest.raises(TraceError) as caught:
        read_trace(path, reading)
    assert sentence in str(caught.value)
    assert TraceChecker(reading, 1).check(path).problems == (str(caught.value),)


def test_a_priority_must_be_a_whole_number(trace_file: TraceFile) -> None:
    settings = ReadSettings(columns="time=t,input=i,output=o,priority=p")
    with pytest.raises(TraceError, match=r"p is '0\.5', but it must be a whole number from"):
        read_trace(trace_file("t,i,o,p\n1,1,1,0.5\n"), settings)


def test_columns_belong_to_files_of_ones_own(trace_file: TraceFile) -> None:
    with pytest.raises(TraceError, match=r"columns is .*, but a trace of format azure has no use for it"):
        read_trace(trace_file(OWN), SETTINGS, format="azure")
    with pytest.raises(TraceError, match="format columns needs the names of columns; give --columns time=NAME"):
        read_trace(trace_file(OWN), format="columns")
    with pytest.raises(TraceError, match="a CSV file of your own is read with --columns time=NAME,input=NAME"):
        read_trace(trace_file(OWN))
