from pathlib import Path

import pytest

from tests.traces.conftest import TraceFile
from traces import TraceError
from traces.side_file import side_file_path, stated_block_size


@pytest.mark.parametrize(
    ("name", "side_name"),
    [
        ("chat.jsonl", "chat.meta.json"),
        ("chat.jsonl.zst", "chat.meta.json"),
        ("chat.jsonl.gz", "chat.meta.json"),
        ("chat.csv", "chat.meta.json"),
        ("v1.5.jsonl", "v1.5.meta.json"),
        ("chat", "chat.meta.json"),
        ("trace.v2", "trace.v2.meta.json"),
    ],
)
def test_the_side_file_has_the_name_of_the_trace(name: str, side_name: str) -> None:
    assert side_file_path(Path("a.b") / name) == Path("a.b") / side_name


def test_without_a_side_file_nothing_is_stated(tmp_path: Path) -> None:
    assert stated_block_size(tmp_path / "t.jsonl") is None


@pytest.mark.parametrize(("content", "stated"), [('{"block_size": 64}', 64), ('{"seed": 1}', None), ("{}", None)])
def test_other_fields_do_not_matter(trace_file: TraceFile, content: str, stated: int | None) -> None:
    trace_file(content, "t.meta.json")
    assert stated_block_size(trace_file("")) == stated


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"block_size": 0}',
        '{"block_size": "16"}',
        '{"block_size": 1.5}',
        "\xff",
        '{"a": ' + "[" * 100_000,
    ],
)
def test_a_side_file_that_is_wrong_is_refused(trace_file: TraceFile, content: str) -> None:
    side_path = trace_file(content, "t.meta.json")
    with pytest.raises(TraceError) as caught:
        stated_block_size(trace_file(""))
    assert str(caught.value).startswith(f'{side_path} is a side file, but not a JSON object like {{"block_size": 512}}')


def test_a_directory_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.meta.json").mkdir()
    with pytest.raises(TraceError, match=r"t\.meta\.json cannot be read: Is a directory"):
        stated_block_size(tmp_path / "t.jsonl")
