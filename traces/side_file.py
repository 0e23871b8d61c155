"""The side file of a trace, `NAME.meta.json`: what the rows do not say."""

from pathlib import Path
from typing import Annotated

import msgspec

from traces.errors import TraceError

FILE_SUFFIXES = (".gz", ".zst", ".jsonl", ".json", ".csv")


class SideFileContent(msgspec.Struct):
    """The fields that a reader needs; others (how the trace was made, where it is from) are for people."""

    block_size: Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)] | None = None


def side_file_path(trace_path: Path) -> Path:
    """Return `chat.meta.json` for `chat.jsonl` and for `chat.jsonl.zst`."""
    name = trace_path
    while name.suffix in FILE_SUFFIXES and name.stem:
        name = name.with_suffix("")
    return name.with_name(f"{name.name}.meta.json")


def stated_block_size(trace_path: Path) -> int | None:
    """Return the block size that the side file states; None without a side file or where it states none.

    Raises:
        TraceError: the side file cannot be read or is not what it must be.
    """
    path = side_file_path(trace_path)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror}") from error
    try:
        return msgspec.json.decode(content, type=SideFileContent).block_size
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        right = 'a JSON object like {"block_size": 512}, the block size being a whole number of tokens from 1'
        raise TraceError(f"{path} is a side file, but not {right} ({error})") from error


def side_file_content(block_size: int) -> bytes:
    """Return a side file that states the block size."""
    return msgspec.json.encode({"block_size": block_size}) + b"\n"
