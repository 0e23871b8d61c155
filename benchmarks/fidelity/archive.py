"""Packs results into few files of bounded size, to be fetched from another machine."""

import io
import json
import tarfile
from collections.abc import Iterable
from pathlib import Path

_NOTE = "archived.json"
PART_BYTES = 15 * 2**20


def archive_new(folder: Path, output: Path, prefix: str) -> list[Path]:
    """Pack what has been added to `folder` since the last time; unpack the parts with `cat PARTS | tar x`.

    Args:
        folder: results; a note of what has been packed is kept in it.
        output: where the parts go.
        prefix: of their names.

    Returns:
        The parts; none if nothing is new.
    """
    note = folder / _NOTE
    packed: dict[str, int] = json.loads(note.read_text("utf-8")) if note.exists() else {}
    found = {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in _files(folder)}
    new = {name: changed for name, changed in found.items() if packed.get(name) != changed}
    if not new:
        return []
    data = _tar(folder, new)
    output.mkdir(parents=True, exist_ok=True)
    parts = []
    for number, first in enumerate(range(0, len(data), PART_BYTES)):
        part = output / f"{prefix}.tar.{number:02}"
        part.write_bytes(data[first : first + PART_BYTES])
        parts.append(part)
    note.write_text(json.dumps(packed | new), "utf-8")
    return parts


def _files(folder: Path) -> Iterable[Path]:
    """Finished results: no drafts, no traces that were generated, no table parts of a run under way."""
    whole_runs = {path.parent for path in folder.glob("runs/*/summary.json")}
    yield from sorted(path for path in folder.iterdir() if path.is_file() and path.name != _NOTE)
    for run in sorted(whole_runs):
        yield from sorted(path for path in run.iterdir() if path.is_file())


def _tar(folder: Path, names: Iterable[str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name in names:
            tar.add(folder / name, arcname=name)
    return buffer.getvalue()
