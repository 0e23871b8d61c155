"""Digests of files that settings name, so that a sweep that goes on later notices a file that has changed."""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

_WHOLE_BYTES = 2**20


def file_digests(values: Iterable[Any]) -> dict[str, str]:
    """Digest by path, of those values that are paths of files or folders, or FILE.py:Name.

    Of larger files than 1 MiB size and name count, as of weights.
    """
    texts = {value for value in values if isinstance(value, str)}
    texts |= {text.rpartition(":")[0] for text in texts if ".py:" in text}
    return {text: _digest(Path(text)) for text in sorted(texts) if text and Path(text).exists()}


def _digest(path: Path) -> str:
    digest = blake2b(digest_size=16)
    for file in _files(path):
        digest.update(f"{file.name} {file.stat().st_size}\n".encode("utf-8", "surrogateescape"))
        if file.stat().st_size <= _WHOLE_BYTES:
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _files(path: Path) -> Iterator[Path]:
    yield from sorted(each for each in path.iterdir() if each.is_file()) if path.is_dir() else [path]
