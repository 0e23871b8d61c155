import gzip
from pathlib import Path

import pytest
import zstandard

from traces import TraceError
from traces.row_file import RowFile


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz", "t.jsonl.zst"])
def test_lines_are_there_as_a_whole_at_the_end(name: str, tmp_path: Path) -> None:
    contents = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / name
        with RowFile(path) as rows:
            rows.write(b"forgotten\n" * 9)
            rows.restart()
            rows.write(b"one\n")
            rows.write(b"two\n")
            assert not path.exists()
            rows.commit()
        assert [each.name for each in path.parent.iterdir()] == [name]
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    assert decompressed(contents[0], name) == b"one\ntwo\n"


def test_a_failure_leaves_nothing_and_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(b"before")

    def fail() -> None:
        with RowFile(path) as rows:
            rows.write(b"one\n")
            raise TraceError("no")

    with pytest.raises(TraceError, match="no"):
        fail()
    assert [each.name for each in tmp_path.iterdir()] == ["t.jsonl.gz"]
    assert path.read_bytes() == b"before"


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"t\.jsonl cannot be written: No such file or directory"):
        RowFile(tmp_path / "no" / "t.jsonl")


def decompressed(content: bytes, name: str) -> bytes:
    if name.endswith(".gz"):
        return gzip.decompress(content)
    return zstandard.ZstdDecompressor().decompressobj().decompress(content) if name.endswith(".zst") else content
