"""Files appear as a whole or not at all."""

import os
import threading
from pathlib import Path

import pytest

from traces.whole_file import whole_file


def broken_off(path: Path, error: BaseException) -> None:
    with whole_file(path) as draft:
        draft.write_text("half of ")
        raise error


def test_what_fails_leaves_nothing_and_what_was_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text("old")
    with pytest.raises(OSError, match="No space left on device") as caught:
        broken_off(path, OSError(28, "No space left on device"))
    assert caught.value.filename == str(path)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("t.json", "old")]


def test_what_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        broken_off(tmp_path / "t.json", KeyboardInterrupt())
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_made_is_named_as_it_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "no folder" / "t.json"
    with pytest.raises(FileNotFoundError) as caught, whole_file(path) as draft:
        draft.write_text("")
    assert caught.value.filename == str(path)


def test_a_pipe_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(path.read_text()))
    reader.start()
    with whole_file(path) as draft:
        draft.write_text("all of it")
    reader.join()
    assert read == ["all of it"]
    assert path.is_fifo()
