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
        (AZURE, "azure2023", "Read as Azure CSV"),
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
        ("hello", "line 1: 'hello' is neither a JSON object nor a known CSV header; known are native JSON lines"),
        ("Timestamp,Model\n1,2", "line 1: 'Timestamp,Model' is neither a JSON object nor a known CSV header"),
        ("[{}]", "line 1: '[{}]' is neither a JSON object nor a known CSV header"),
        ('"a,b\n', "line 1: '\"a,b' is neither a JSON object nor a known CSV header"),
        ("{}", "line 1: the fields (none) are of no known format; known are native JSON lines"),
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
    row = NATIVE.replace("{", '{"chat_id": 159, "parent_chat_id": -1, "turn": 1, ')
    path = trace_file(row)
    assert "mark a Bailian trace, whose timestamps are seconds" in error_of(path)
    assert read_trace(path, format="native").num_requests == 1


def test_a_given_format_must_be_known(trace_file: TraceFile) -> None:
    assert error_of(trace_file(NATIVE), "csv") == (
        "trace format 'csv' is not known; known are auto, native, azure2023, llmservingsim"
    )


def test_a_given_format_must_fit(trace_file: TraceFile) -> None:
    assert "line 1: the header has no column TIMESTAMP" in error_of(trace_file(NATIVE), "azure2023")
    assert "line 1: input_toks is missing" in error_of(trace_file(NATIVE), "llmservingsim")
    assert "line 1: input_length is missing" in error_of(trace_file(LENGTHS), "native")
    assert "is empty" in error_of(trace_file(""), "azure2023")
