import json
from pathlib import Path

import pytest

from tests.traces.conftest import TraceFile
from traces import TraceError, read_trace


def error_of(path: Path, format: str = "auto") -> str:
    with pytest.raises(TraceError) as caught:
        read_trace(path, format=format)
    return str(caught.value)


NATIVE = '{"timestamp": 0, "input_length": 3, "output_length": 2}'
AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44"
MANY_FIELDS = json.dumps({f"f{index}": 0 for index in range(99)})
LENGTHS = '{"input_toks": 3, "output_toks": 2, "arrival_time_ns": 1}'


@pytest.mark.parametrize(
    ("content", "format", "beginning"),
    [
        (NATIVE, "native", "Read as native JSON lines"),
        (AZURE, "azure", "Read as Azure CSV"),
        (LENGTHS, "llmservingsim", "Read as an LLMServingSim length file"),
    ],
)
def test_the_format_is_recognised_by_content_and_said(
    trace_file: TraceFile, content: str, format: str, beginning: str
) -> None:
    path = trace_file(content, "any.name")
    assert read_trace(path).notices[0].startswith(beginning)
    assert read_trace(path, format=format) == read_trace(path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("hello", "line 1: 'hello' is neither JSON nor a known CSV header; known formats are azure, bailian,"),
        ("Timestamp,Model\n1,2", "line 1: 'Timestamp,Model' is neither JSON nor a known CSV header"),
        ("[{}]", "line 1: the fields (none) are of no known format"),
        ("[]", "line 1: the line is [], but it must be one JSON object"),
        ('"a,b\n', "line 1: '\"a,b' is neither JSON nor a known CSV header"),
        ("{}", "line 1: the fields (none) are of no known format; known formats are azure, bailian,"),
        ('{"id": 1, "t": 2}', "line 1: the fields id, t are of no known format"),
        (
            MANY_FIELDS,
            "line 1: the fields f0, f1, f10, f11, f12, f13, f14, f15, ... are",
        ),
        ('{"timestamp": NaN}', "line 1: timestamp is NaN"),
        ('{"timestamp": 0}', "line 1: input_length is missing"),
    ],
)
def test_an_unknown_format_is_refused_with_the_known_ones(trace_file: TraceFile, content: str, sentence: str) -> None:
    path = trace_file(content)
    assert error_of(path).startswith(f"{path} {sentence}")


def test_seconds_are_not_taken_for_milliseconds(trace_file: TraceFile) -> None:
    bailian = '{"chat_id": 159, "parent_chat_id": -1, "turn": 1, "hash_ids": [7], '
    path = trace_file("\n".join([NATIVE, NATIVE.replace("0", "250", 1)]).replace("{", bailian).replace("159", "160", 1))
    assert read_trace(path).last_arrival_s == 250.0
    assert (
        "timestamp in seconds. Format bailian, recognised by its fields chat_id, parent_chat_id, turn."
        in (read_trace(path).notices[0])
    )
    assert read_trace(path, format="native").last_arrival_s == 0.25


def test_a_given_format_must_be_known(trace_file: TraceFile) -> None:
    assert error_of(trace_file(NATIVE), "csv") == (
        "trace format 'csv' is not known; known are auto, azure, bailian, burstgpt, columns, llmservingsim, native, "
        "servegen, sharegpt, tracelab, tracelab-replay, vidur, weka"
    )


def test_a_given_format_must_fit(trace_file: TraceFile) -> None:
    assert "line 1: the header has no column TIMESTAMP" in error_of(trace_file(NATIVE), "azure")
    assert "line 1: arrival_time_ns is missing" in error_of(trace_file(NATIVE), "llmservingsim")
    assert "line 1: input_length is missing" in error_of(trace_file(LENGTHS), "native")
    assert "is empty" in error_of(trace_file(""), "azure")


@pytest.mark.parametrize("lacking", ["chat_id", "parent_chat_id", "turn"])
def test_bailian_rows_that_lack_a_field_do_not_pass_for_native_ones(trace_file: TraceFile, lacking: str) -> None:
    row = {"timestamp": 61.1, "input_length": 5, "output_length": 2, "chat_id": 1, "parent_chat_id": -1, "turn": 1}
    del row[lacking]
    assert f"line 1: {lacking} is missing" in error_of(trace_file(json.dumps(row)))
