import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.traces.conftest import TraceFile
from traces import ReadSettings, TraceError, Window, read_trace

tokenizers = pytest.importorskip("tokenizers", exc_type=ImportError)


@pytest.fixture
def tokenizer(tmp_path: Path) -> str:
    """A tokenizer whose tokens are words."""
    model = tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]")
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    made.save(str(tmp_path / "tokenizer.json"))
    return str(tmp_path)


def talk(*turns: tuple[str, str]) -> dict[str, Any]:
    return {"id": "x", "conversations": [{"from": speaker, "value": text} for speaker, text in turns]}


CONVERSATIONS = [
    talk(("human", "one two three"), ("gpt", "four five"), ("human", "six"), ("gpt", "seven")),
    talk(("gpt", "hello"), ("human", "a b"), ("gpt", 'c { [ " \\ ] }')),
    talk(("human", "nobody answers")),
    talk(),
    talk(("human", ""), ("gpt", "x")),
    talk(("human", "x"), ("gpt", "  ")),
]


def test_the_first_question_and_its_answer_are_counted(trace_file: TraceFile, tokenizer: str) -> None:
    trace = read_trace(trace_file(json.dumps(CONVERSATIONS)), ReadSettings(tokenizer=tokenizer))
    assert [(r.request_id, r.prompt, r.input_length, r.output_length, r.arrival_s) for r in trace.requests] == [
        ("r0", "one two three", 3, 2, 0.0),
        ("r1", "a b", 2, 7, 0.0),
    ]
    assert (
        "6 rows read: 2 kept, 4 dropped (2 because they have no question with an answer, 1 because the question is 0, "
        "1 because the answer is 0)."
    ) in trace.notices
    assert trace.notices[0].startswith("Read as conversations in the manner of ShareGPT: of each the first question")


@pytest.mark.parametrize("indent", [None, 0, 2])
def test_any_layout_is_read(trace_file: TraceFile, tokenizer: str, indent: int | None) -> None:
    settings = ReadSettings(tokenizer=tokenizer)
    lines = read_trace(trace_file("\n".join(map(json.dumps, CONVERSATIONS))), settings)
    assert read_trace(trace_file(json.dumps(CONVERSATIONS, indent=indent)), settings) == lines
    assert lines.num_requests == 2


def test_the_manner_of_lmsys_is_read(trace_file: TraceFile, tokenizer: str) -> None:
    row = {"conversation": [{"role": "user", "content": "a b c"}, {"role": "assistant", "content": "d"}], "model": "m"}
    (request,) = read_trace(trace_file(json.dumps(row)), ReadSettings(tokenizer=tokenizer)).requests
    assert (request.input_length, request.output_length) == (3, 1)


def test_a_request_rate_and_a_limit(trace_file: TraceFile, tokenizer: str) -> None:
    settings = ReadSettings(tokenizer=tokenizer, request_rate=5, seed=1, window=Window(limit=20))
    trace = read_trace(trace_file(json.dumps(CONVERSATIONS[:1] * 2500)), settings)
    assert trace.num_requests == 20
    assert 1 < trace.last_arrival_s < 10


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (json.dumps(CONVERSATIONS)[:-1], "line 1: the file ends inside its list of objects; it is cut off"),
        (json.dumps(CONVERSATIONS)[:-9], "line 1: the file ends inside the object that begins in line 1"),
        (json.dumps(CONVERSATIONS[:1]) + "\n]", "line 2: ']' stands where a JSON object must begin"),
        (json.dumps([*CONVERSATIONS, 5]), "line 1: '5' stands where a JSON object must begin"),
        (json.dumps([*CONVERSATIONS, [CONVERSATIONS[0]]]), "line 1: '[' stands where a JSON object must begin"),
        (
            json.dumps([{"conversations": [{"value": 5}]}]),
            "line 1: conversations[0].value is 5, but value must be a text",
        ),
    ],
)
def test_what_is_wrong_is_named(trace_file: TraceFile, tokenizer: str, content: str, sentence: str) -> None:
    path = trace_file(content)
    with pytest.raises(TraceError) as caught:
        read_trace(path, ReadSettings(tokenizer=tokenizer))
    assert str(caught.value).startswith(f"{path} {sentence}")


def test_texts_need_a_tokenizer(trace_file: TraceFile, tmp_path: Path) -> None:
    path = trace_file(json.dumps(CONVERSATIONS))
    with pytest.raises(
        TraceError, match=r"holds texts, whose lengths need a tokenizer; give the path of a tokenizer.json"
    ):
        read_trace(path)
    with pytest.raises(TraceError, match=r"tokenizer.json does not exist; name a tokenizer.json, or a folder"):
        read_trace(path, ReadSettings(tokenizer=str(tmp_path)))
    with pytest.raises(TraceError, match=r"t\.jsonl is no tokenizer \("):
        read_trace(path, ReadSettings(tokenizer=str(path)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_mutated_conversations_are_read_or_refused(trace_file: TraceFile, tokenizer: str, data: st.DataObject) -> None:
    content = bytearray(json.dumps(CONVERSATIONS).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        content[start : start + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=3))
    with suppress(TraceError):
        assert read_trace(trace_file(bytes(content)), ReadSettings(tokenizer=tokenizer)).num_requests > 0
