from collections.abc import Callable
from pathlib import Path

import pytest

TraceFile = Callable[..., Path]


@pytest.fixture
def trace_file(tmp_path: Path) -> TraceFile:
    """Writes a small file and returns its path."""

    def write(content: str | bytes, name: str = "t.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
