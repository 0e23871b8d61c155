"""Files with faults in: row by row, in a check and out of compressed files the outcome is that of reading them."""

import gzip
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.traces.format_samples import FORMATS, JSON, OWN_COLUMNS, PMF, content_of
from traces import ReadSettings, TraceError, TraceRequest, read_trace
from traces.checker import TraceChecker
from traces.feed import STREAMED, feed

Outcome = tuple[list[TraceRequest], int] | str
fuzzed = settings(
    max_examples=max(10, settings().max_examples // 3), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
splices = st.binary(max_size=3) | st.sampled_from([b'"', b",", b"\n", b"}", b"9" * 25, b"-", b"0", b"r1"])


def mutated(content: bytes, data: st.DataObject) -> bytes:
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(changed)))
        end = min(len(changed), start + data.draw(st.integers(0, 5)))
        changed[start:end] = data.draw(splices)
    return bytes(changed)


def read(path: Path, reading: ReadSettings | None = None) -> Outcome:
    try:
        trace = read_trace(path, reading)
    except TraceError as error:
        sentence = str(error)
    else:
        return list(trace.requests), trace.block_size
    assert len(sentence) < 1200
    assert "\n" not in sentence
    return sentence


def reading_of(format: str) -> ReadSettings:
    return ReadSettings(columns=OWN_COLUMNS if format == "columns" else None)


class Taken:
    """Takes requests."""

    def __init__(self, block_size: int) -> None:
        self.block_size = block_size
        self.requests: list[TraceRequest] = []
        self.add = self.requests.append


def fed(path: Path, reading: ReadSettings) -> Outcome:
    try:
        _, taken = feed(path, reading, "auto", Taken)
    except TraceError as error:
        return str(error)
    return taken.requests, taken.block_size


@pytest.mark.parametrize("format", STREAMED)
@fuzzed
@given(st.data())
def test_rows_are_taken_one_by_one_as_they_are_read(tmp_path: Path, format: str, data: st.DataObject) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(mutated(content_of(format).encode(), data))
    assert fed(path, reading_of(format)) == read(path, reading_of(format))


@pytest.mark.parametrize("format", [*FORMATS, "columns"])
@fuzzed
@given(st.data())
def test_a_check_finds_a_problem_where_reading_does(tmp_path: Path, format: str, data: st.DataObject) -> None:
    (tmp_path / "m-dataset.json").write_text(json.dumps(PMF))
    path = tmp_path / "m-trace.csv"
    path.write_bytes(mutated(content_of(format).encode(), data))
    result = TraceChecker(reading_of(format), 5).check(path)
    outcome = read(path, reading_of(format))
    if isinstance(outcome, str):
        assert result.problems[0] == outcome
    else:
        assert result.num_requests == len(outcome[0])
        assert not any(" line " in problem and "earlier line" not in problem for problem in result.problems)
    assert len(result.problems) <= 5


def as_floats(value: Any) -> Any:
    """A JSON value with whole numbers as pandas writes them where a column has gaps."""
    if isinstance(value, dict):
        return {name: as_floats(item) for name, item in value.items()}
    if isinstance(value, list):
        return [as_floats(item) for item in value]
    return float(value) if isinstance(value, int) else value


@pytest.mark.parametrize("format", list(JSON))
def test_whole_numbers_may_be_written_as_fractions(tmp_path: Path, format: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(content_of(format))
    expected = read(path)
    path.write_text("\n".join(json.dumps(as_floats(row)) for row in JSON[format]))
    assert read(path) == expected
    assert any("Whole numbers are written as fractions, such as 20.0, in" in each for each in read_trace(path).notices)


@pytest.mark.parametrize("format", ["azure", "native", "weka"])
@fuzzed
@given(st.data())
def test_compressed_files_that_are_damaged_are_told(tmp_path: Path, format: str, data: st.DataObject) -> None:
    content = content_of(format).encode()
    compressed = data.draw(st.sampled_from([gzip.compress(content), zstandard.ZstdCompressor().compress(content)]))
    path = tmp_path / "t.txt"
    if data.draw(st.booleans()):
        path.write_bytes(compressed[: data.draw(st.integers(5, len(compressed) - 1))])
        assert isinstance(read(path), str)  # cut off: never a part of the rows
    else:
        path.write_bytes(mutated(compressed, data))
        read(path)


@fuzzed
@given(st.data())
def test_sessions_laid_out_over_many_lines(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(mutated(json.dumps(JSON["weka"], indent=2).encode(), data))
    read(path)


@fuzzed
@given(st.data())
def test_length_distributions_of_a_servegen_client(tmp_path: Path, data: st.DataObject) -> None:
    (tmp_path / "m-dataset.json").write_bytes(mutated(json.dumps(PMF).encode(), data))
    path = tmp_path / "m-trace.csv"
    path.write_text(content_of("servegen"))
    read(path)


@pytest.fixture
def tokenizer(tmp_path: Path) -> str:
    """A tokenizer whose tokens are words."""
    tokenizers = pytest.importorskip("tokenizers", exc_type=ImportError)
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    made.save(str(tmp_path / "tokenizer.json"))
    return str(tmp_path)


CONVERSATIONS: list[Any] = [
    {"id": "x", "conversations": [{"from": "human", "value": "one two"}, {"from": "gpt", "value": "three"}]},
    {"id": "y", "conversations": [{"from": "human", "value": "four"}, {"from": "gpt", "value": ""}]},
    {"model": "m", "conversation": [{"role": "user", "content": "é {"}, {"role": "assistant", "content": "six"}]},
]
junk: list[Any] = [None, 0, "", "x", [], {}, [[]], ["human"], {"from": 1}, "\ud800"]


@fuzzed
@given(st.data())
def test_conversations_with_values_replaced_or_dropped(tmp_path: Path, tokenizer: str, data: st.DataObject) -> None:
    rows = deepcopy(CONVERSATIONS)
    place: Any = rows
    while isinstance(place, list | dict) and place:
        key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else list(range(len(place)))))
        if not isinstance(place[key], list | dict) or data.draw(st.integers(0, 3)) == 0:
            place[key] = data.draw(st.sampled_from(junk))
            break
        place = place[key]
    path = tmp_path / "t.json"
    content = json.dumps(rows, indent=data.draw(st.sampled_from([None, 1]))).encode()
    path.write_bytes(mutated(content, data) if data.draw(st.booleans()) else content)
    read(path, ReadSettings(tokenizer=tokenizer))
