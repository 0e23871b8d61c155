"""Files of every format with faults put in: a clean error or a trace comes of it, nothing else."""

import json
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.traces.format_samples import CSV, FORMATS, JSON, PMF, content_of
from traces import ReadSettings, Trace, TraceError, Window, read_trace, write_trace

junk_texts = st.sampled_from(
    ["", "-1", "0", "nan", "inf", "1e400", "1_0", "x", '"', '"a', "\x00", "é", "9" * 40, "{}", " "]
)
junk_values: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        -1,
        0,
        0.5,
        10**30,
        1e308,
        "",
        "x",
        [],
        {},
        [[]],
        [1.5],
        [-1],
        {"t": 1},
        "2026-13-01T00:00:00Z",
        "A" * 70,
    ]
)
Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Overwrites one file, so that examples do not pile up; a ServeGen client's lengths lie beside it."""
    (tmp_path / "m-dataset.json").write_text(json.dumps(PMF))

    def write(content: str | bytes) -> Path:
        path = tmp_path / "m-trace.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def read_or_refuse(path: Path, read_as: str = "auto", settings: ReadSettings | None = None) -> Trace | None:
    """A trace or a clean error; anything else fails the test."""
    try:
        trace = read_trace(path, settings, format=read_as)
    except TraceError as error:
        sentence = str(error)
    else:
        assert trace.num_requests > 0
        assert all(request.input_length > 0 and request.output_length > 0 for request in trace.requests)
        assert trace.notices
        return trace
    assert len(sentence) < 1200
    assert "\n" not in sentence
    return None


@pytest.mark.parametrize("format", FORMATS)
def test_files_without_faults_are_read_as_what_they_are(write: Write, format: str) -> None:
    trace = read_or_refuse(write(content_of(format)))
    assert trace is not None
    assert f"Format {format}, recognised by" in trace.notices[0]


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_read_is_written_and_read_again_the_same(write: Write, tmp_path: Path, format: str) -> None:
    trace = read_trace(write(content_of(format)))
    write_trace(trace, tmp_path / "native.jsonl")
    assert read_trace(tmp_path / "native.jsonl") == trace
    assert read_trace(tmp_path / "native.jsonl").digest == trace.digest


fuzzed = settings(
    max_examples=settings().max_examples // 2, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.parametrize("format", FORMATS)
@fuzzed
@given(st.data())
def test_bytes_changed_anywhere(write: Write, format: str, data: st.DataObject) -> None:
    content = bytearray(content_of(format).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        end = min(len(content), start + data.draw(st.integers(0, 5)))
        content[start:end] = data.draw(
            st.binary(max_size=3) | st.sampled_from([b'"', b",", b"\n", b"}", b"9" * 25, b"-"])
        )
    read_or_refuse(write(bytes(content)))


@pytest.mark.parametrize("format", list(CSV))
@fuzzed
@given(st.data())
def test_cells_replaced_dropped_or_repeated(write: Write, format: str, data: st.DataObject) -> None:
    rows = [line.split(",") for line in CSV[format]]
    for _ in range(data.draw(st.integers(1, 3))):
        row = data.draw(st.sampled_from(rows))
        position = data.draw(st.integers(0, len(row) - 1)) if row else 0
        row[position : position + 1] = data.draw(st.lists(junk_texts, max_size=2))
    read_or_refuse(write("\n".join(map(",".join, rows))))


@pytest.mark.parametrize("format", list(JSON))
@fuzzed
@given(st.data())
def test_values_replaced_or_dropped_at_any_depth(write: Write, format: str, data: st.DataObject) -> None:
    rows = deepcopy(JSON[format])
    for _ in range(data.draw(st.integers(1, 3))):
        place: Any = rows
        while isinstance(place, list | dict) and place:
            key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else list(range(len(place)))))
            if not isinstance(place[key], list | dict) or data.draw(st.booleans()):
                if data.draw(st.booleans()):
                    del place[key]
                else:
                    place[key] = deepcopy(data.draw(junk_values))
                break
            place = place[key]
    read_or_refuse(write("\n".join(map(json.dumps, rows))))


@pytest.mark.parametrize("format", FORMATS)
@fuzzed
@given(st.data())
def test_any_file_read_as_any_format_with_any_settings(write: Write, format: str, data: st.DataObject) -> None:
    read_as = data.draw(st.sampled_from(["auto", format, *FORMATS, "sharegpt"]))
    with suppress(TraceError):
        reading = ReadSettings(
            trace_block_size=data.draw(st.sampled_from([None, 1, 16, 64])),
            time_unit=data.draw(st.sampled_from([None, "s", "ns"])),
            delay_rule=data.draw(st.sampled_from([None, "think-only", "original", "api-scaled", "open"])),
            max_delay_s=data.draw(st.sampled_from([None, 0, 1.5])),
            request_rate=data.draw(st.sampled_from([None, 1e-9, 2.0])),
            window=Window(
                *data.draw(st.sampled_from([(None, None, None), (1, None, 2), (None, 5, 1), (None, None, 3)]))
            ),
        )
        read_or_refuse(write(content_of(format)), read_as, reading)
