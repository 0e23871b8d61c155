"""The side file of a trace, `NAME.meta.json`: what the rows do not say."""

from pathlib import Path
from typing import Annotated

import msgspec

from traces.errors import TraceError

FILE_SUFFIXES = (".gz", ".zst", ".jsonl", ".json", ".csv")


class SideFile(msgspec.Struct, frozen=True):
    """The fields that a reader needs; others (how the trace was made, where it is from) are for people.

    Attributes:
        block_size: prompt tokens that one of hash_ids stands for.
        file: name of the trace file that the rest is about, since several may share a side file; None is any.
        digest: of the trace that was written, see `Trace.digest`.
    """

    block_size: Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)] | None = None
    file: str | None = None
    digest: str | None = None


def side_file_path(trace_path: Path) -> Path:
    """Return `chat.meta.json` for `chat.jsonl` and for `chat.jsonl.zst`."""
    name = trace_path
    while name.suffix in FILE_SUFFIXES and name.stem:
        name = name.with_suffix("")
    return name.with_name(f"{name.name}.meta.json")


def read_side_file(trace_path: Path) -> SideFile:
    """Return what the side file states; nothing without one, or where it is about another file.

    Raises:
        TraceError: the side file cannot be read or is not what it must be.
    """
    path = side_file_path(trace_path)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return SideFile()
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror}") from error
    try:
        found = msgspec.json.decode(content, type=SideFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        right = 'a JSON object like {"block_size": 512}, the block size being a whole number of tokens from 1'
        raise TraceError(f"{path} is a side file, but not {right} ({error})") from error
    return found if found.file in (None, trace_path.name) else SideFile()


def stated_block_size(trace_path: Path) -> int | None:
    """Return the block size that the side file states; None without a side file or where it states none.

    Raises:
        TraceError: the side file cannot be read or is not what it must be.
    """
    return read_side_file(trace_path).block_size


def side_file_content(block_size: int) -> bytes:
    """Return a side file that states the block size."""
    return msgspec.json.encode({"block_size": block_size}) + b"\n"
