"""A file of trace events: the JSON that Perfetto and chrome://tracing open."""

import gzip
import io
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from analysis.errors import RunError
from traces.whole_file import whole_file

Args = Mapping[str, Any]


class Track(NamedTuple):
    """Where a slice is drawn.

    Attributes:
        pid: number of the process, from 1; 0 has a meaning of its own where traces of a kernel are shown.
        tid: number of the thread in it, from 1.
    """

    pid: int
    tid: int


class TimelineFile:
    """Writes events one by one, so that a file may be larger than memory. Made by `timeline_file`.

    The format's unit is the microsecond. Times come here as whole nanoseconds and are written with their three
    decimals, so that nothing is lost and the end of a slice is the start of the next.
    """

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
        self._num_events = 0

    def describe(self, what: str, pid: int, tid: int | None, args: Args) -> None:
        """Names a process or thread, or says where it stands: `what` is process_name, thread_sort_index, ..."""
        self._write({"ph": "M", "name": what, "pid": pid, **({} if tid is None else {"tid": tid}), "args": args})

    def slice(self, track: Track, name: str, category: str, start_ns: int, end_ns: int, args: Args) -> None:
        """Something that lasts; one that lies inside another on its track comes after it."""
        times = {"ts": microseconds(start_ns), "dur": microseconds(end_ns - start_ns)}
        self._write({"ph": "X", "name": name, "cat": category, **track._asdict(), **times, "args": args})

    def counter(self, name: str, pid: int, time_ns: int, values: Mapping[str, float]) -> None:
        """Values that hold from now on."""
        self._write({"ph": "C", "name": name, "pid": pid, "ts": microseconds(time_ns), "args": values})

    def _write(self, event: Args) -> None:
        self._text.write((",\n" if self._num_events else "\n") + self._encode(event))
        self._num_events += 1


def nanoseconds(time_s: float) -> int:
    """Returns a time on the clock of a run, rounded."""
    return round(time_s * 1e9)


def microseconds(time_ns: int) -> float:
    """Returns nanoseconds as the microseconds of the format.

    Readers multiply by 1,000 and cut what is behind the point. Where rounding would make them miss the nanosecond by
    one, which happens for one in some 160, the next larger number is returned.
    """
    time_us = time_ns / 1000
    return time_us if math.floor(time_us * 1000) >= time_ns else math.nextafter(time_us, math.inf)


@contextmanager
def timeline_file(path: Path, about: Args) -> Iterator[TimelineFile]:
    """Makes a file, which appears when all is written and replaces one of its name.

    Args:
        path: the file; one whose name ends in .gz is compressed.
        about: what the file says of itself, under `otherData`.

    Raises:
        RunError: there cannot be such a file.
        OSError: it cannot be written.
    """
    if str(path) == "-":
        raise RunError("A timeline does not go to stdout; name a file to write, such as timeline.json.")
    if path.is_dir() or not path.parent.is_dir():
        what = "is a folder" if path.is_dir() else "is in no folder that exists"
        raise RunError(f"{path} {what}; name a file to write, such as timeline.json.")
    with whole_file(path) as draft, _text_file(draft, is_compressed=path.suffix == ".gz") as text:
        text.write(f'{{"displayTimeUnit":"ms","otherData":{json.dumps(about)},"traceEvents":[')
        yield TimelineFile(text)
        text.write("\n]}\n")


@contextmanager
def _text_file(path: Path, *, is_compressed: bool) -> Iterator[TextIO]:
    with path.open("wb") as raw:
        if not is_compressed:
            with io.TextIOWrapper(raw, "ascii") as text:
                yield text
            return
        # Without name and time in its header, so that the same runs give the same bytes.
        with gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed, io.TextIOWrapper(packed, "ascii") as text:
            yield text
