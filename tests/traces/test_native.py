from pathlib import Path

import pytest

from tests.traces.conftest import TraceFile
from traces import TraceError, TraceRequest, read_trace

ROW = '{"timestamp": 5, "input_length": 3, "output_length": 2}'


def row_with(**fields: str) -> str:
    """One row as JSON text, fields given as JSON text too; an empty text leaves a field out."""
    row = {"timestamp": "0", "input_length": "3", "output_length": "2"} | fields
    return "{" + ", ".join(f'"{name}": {value}' for name, value in row.items() if value) + "}"


def error_of(path: Path) -> str:
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    return str(caught.value)


def test_all_fields_are_read(trace_file: TraceFile) -> None:
    path = trace_file(
        '{"timestamp": 27482.5, "input_length": 600, "output_length": 52, "hash_ids": [46, 47], '
        '"request_id": "q", "session_id": "s", "priority": -2, "prompt": "héllo"}\n'
        '{"delay": 1500, "input_length": 1, "output_length": 1, "session_id": "s"}\n'
    )
    first, second = read_trace(path).requests
    assert first == TraceRequest(
        request_id="q",
        line=1,
        input_length=600,
        output_length=52,
        arrival_s=round(27.4825 * 2**30) / 2**30,
        session_id="s",
        priority=-2,
        hash_ids=(46, 47),
        prompt="héllo",
    )
    assert second == TraceRequest(request_id="r1", line=2, input_length=1, output_length=1, delay_s=1.5, session_id="s")
    assert (first.line, second.line) == (1, 2)


def test_null_is_the_same_as_leaving_a_field_out(trace_file: TraceFile) -> None:
    path = trace_file(
        row_with(delay="null", hash_ids="null", request_id="null", session_id="null", prompt="null", priority="null")
    )
    assert read_trace(path).requests == read_trace(trace_file(row_with(), "plain.jsonl")).requests


def test_default_ids_count_data_rows_and_lines_count_all(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(f"\n{ROW}\n\n \n{ROW}"))
    assert [(request.request_id, request.line) for request in trace.requests] == [("r0", 2), ("r1", 5)]
    assert "3 blank lines were skipped." in trace.notices


def test_ids_of_64_bits_and_repeated_ids_are_read_exactly(trace_file: TraceFile) -> None:
    path = trace_file(row_with(input_length="1024", hash_ids=f"[{2**64 - 1}, {2**64 - 1}]"))
    assert read_trace(path).requests[0].hash_ids == (2**64 - 1, 2**64 - 1)


TOKENS = "must be a whole number of tokens from 1 to 2147483647"
TEXT = "must be a text that is not empty"
IDS = "must be a list of whole numbers from 0 to 18446744073709551615, one for each block of the prompt"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"input_length": "0"}, f"input_length is 0, but input_length {TOKENS}"),
        ({"input_length": "-4"}, f"input_length is -4, but input_length {TOKENS}"),
        ({"output_length": "0"}, f"output_length is 0, but output_length {TOKENS}"),
        ({"output_length": "-1"}, f"output_length is -1, but output_length {TOKENS}"),
        ({"input_length": '"12"'}, f'input_length is "12", but input_length {TOKENS}'),
        ({"input_length": "1.5"}, f"input_length is 1.5, but input_length {TOKENS}"),
        ({"input_length": "true"}, f"input_length is true, but input_length {TOKENS}"),
        ({"input_length": "null"}, f"input_length is null, but input_length {TOKENS}"),
        ({"input_length": "NaN"}, f"input_length is NaN, but input_length {TOKENS}"),
        ({"input_length": str(10**30)}, f"input_length is {10**30}, but input_length {TOKENS}"),
        ({"input_length": ""}, "input_length is missing; it must be a whole number of tokens from 1 to 2147483647"),
        ({"output_length": ""}, "output_length is missing; it must be a whole number of tokens from 1 to 2147483647"),
        ({"timestamp": "-1"}, "timestamp is -1, but timestamp must be a number of milliseconds, 0 or more"),
        ({"timestamp": '"0"'}, 'timestamp is "0", but timestamp must be a number of milliseconds, 0 or more'),
        ({"timestamp": "NaN"}, "timestamp is NaN, but timestamp must be a number of milliseconds, 0 or more"),
        ({"timestamp": "Infinity"}, "timestamp is Infinity, but timestamp must be a number of milliseconds, 0 or more"),
        (
            {"timestamp": "-Infinity"},
            "timestamp is -Infinity, but timestamp must be a number of milliseconds, 0 or more",
        ),
        ({"timestamp": "1e999"}, "timestamp is Infinity, but timestamp must be a number of milliseconds, 0 or more"),
        ({"timestamp": ""}, "timestamp is missing; it must be a number of milliseconds, 0 or more"),
        ({"hash_ids": "[1.5]"}, f"hash_ids[0] is 1.5, but hash_ids {IDS}"),
        ({"hash_ids": '["a"]'}, f'hash_ids[0] is "a", but hash_ids {IDS}'),
        ({"hash_ids": "[-1]"}, f"hash_ids[0] is -1, but hash_ids {IDS}"),
        ({"hash_ids": "[null]"}, f"hash_ids[0] is null, but hash_ids {IDS}"),
        ({"hash_ids": "[NaN]"}, f"hash_ids[0] is NaN, but hash_ids {IDS}"),
        ({"hash_ids": "7"}, f"hash_ids is 7, but hash_ids {IDS}"),
        ({"hash_ids": f"[{2**64}]"}, f"hash_ids has {2**64}, but hash_ids {IDS}"),
        ({"request_id": "7"}, f"request_id is 7, but request_id {TEXT}"),
        ({"request_id": '""'}, f'request_id is "", but request_id {TEXT}'),
        ({"session_id": "7"}, f"session_id is 7, but session_id {TEXT}"),
        ({"prompt": '["hi"]'}, f'prompt is ["hi"], but prompt {TEXT}'),
        (
            {"priority": '"high"'},
            'priority is "high", but priority must be a whole number from -2147483647 to 2147483647',
        ),
        ({"priority": "1.5"}, "priority is 1.5, but priority must be a whole number from -2147483647 to 2147483647"),
    ],
)
def test_a_wrong_field_is_named_with_its_value_and_what_is_right(
    trace_file: TraceFile, fields: dict[str, str], sentence: str
) -> None:
    path = trace_file(f"{ROW}\n\n{row_with(**fields)}\n")
    assert error_of(path) == f"{path} line 3: {sentence}"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("[1, 2]", "the line is [1, 2], but it must be one JSON object"),
        ("17", "the line is 17, but it must be one JSON object"),
        ('{"timestamp": 0', "not valid JSON (Input data was truncated), but each line must be one JSON object"),
        (ROW + ROW, "not valid JSON (JSON is malformed: trailing characters"),
        ("hello", "not valid JSON (JSON is malformed: invalid character (byte 0)), but each line must be"),
        ("[" * 200_000, "not valid JSON"),
        ('{"x": ' + "[" * 200_000, "not valid JSON"),
    ],
)
def test_a_line_that_is_no_json_object_is_refused(trace_file: TraceFile, line: str, sentence: str) -> None:
    path = trace_file(f"{ROW}\n{line}\n")
    assert error_of(path).startswith(f"{path} line 2: {sentence}")
    assert len(error_of(path)) < 300


def test_text_that_is_not_utf8_is_refused(trace_file: TraceFile) -> None:
    path = trace_file(row_with(request_id='"caf\xe9"').encode("latin-1"))
    assert error_of(path).startswith(f"{path} line 1: not valid JSON (")


def test_a_lone_surrogate_is_refused(trace_file: TraceFile) -> None:
    path = trace_file(row_with(request_id='"\\ud800"'))
    assert error_of(path).startswith(f"{path} line 1: not valid JSON (")


def test_long_values_are_shortened_in_the_error(trace_file: TraceFile) -> None:
    path = trace_file(row_with(input_length='"' + "x" * 10_000 + '"'))
    assert len(error_of(path)) < 300


def test_unknown_fields_are_ignored_with_one_notice(trace_file: TraceFile) -> None:
    rows = [row_with(model='"m"', turn="NaN") if i == 1 else row_with(model='"m"') for i in range(3)]
    rows[1] = row_with(model='"m"', turn="2")
    trace = read_trace(trace_file("\n".join(rows)))
    assert trace.num_requests == 3
    assert "Unknown fields were ignored: model (3 rows), turn (1 rows)." in trace.notices


def test_a_wrong_field_is_found_beside_an_unknown_one(trace_file: TraceFile) -> None:
    path = trace_file(row_with(model='"m"', input_length="0"))
    assert "line 1: input_length is 0" in error_of(path)


def test_the_format_and_its_unit_are_said(trace_file: TraceFile) -> None:
    notices = read_trace(trace_file(ROW)).notices
    assert notices[0] == (
        "Read as native JSON lines (Mooncake fields), timestamp and delay in milliseconds. Format native, recognised "
        "by its fields timestamp, input_length, output_length."
    )
