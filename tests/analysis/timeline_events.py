"""The trace event format, as far as it is used here, checked by itself: what a reader of the file relies on."""

import gzip
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

Event = dict[str, Any]

_REQUIRED: dict[str, dict[str, type | tuple[type, ...]]] = {
    "M": {"name": str, "pid": int, "args": dict},
    "X": {"name": str, "cat": str, "pid": int, "tid": int, "ts": float, "dur": float, "args": dict},
    "C": {"name": str, "pid": int, "ts": float, "args": dict},
}
_OPTIONAL = {"M": {"tid"}, "X": set[str](), "C": set[str]()}
_METADATA = {
    "process_name": "name",
    "process_labels": "labels",
    "process_sort_index": "sort_index",
    "thread_name": "name",
    "thread_sort_index": "sort_index",
}


def read_events(path: Path) -> list[Event]:
    """All events of a file that is right."""
    raw = path.read_bytes()
    value = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    assert set(value) == {"displayTimeUnit", "otherData", "traceEvents"}
    assert value["displayTimeUnit"] in {"ms", "ns"}
    events: list[Event] = value["traceEvents"]
    for event in events:
        check_event(event)
    for track in {(e["pid"], e["tid"]) for e in events if e["ph"] == "X"}:
        slices = [e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == track]
        assert ("thread_name", *track) in {(e["name"], e["pid"], e.get("tid")) for e in events}
        check_nesting(slices)
    check_counters([e for e in events if e["ph"] == "C"])
    return events


def check_event(event: Event) -> None:
    """Keys and types of one event."""
    phase = event["ph"]
    for key, kind in _REQUIRED[phase].items():
        assert type(event[key]) is kind, event
    assert set(event) - {"ph", *_REQUIRED[phase]} <= _OPTIONAL[phase], event
    assert event["pid"] > 0
    assert event.get("tid", 1) > 0
    if phase == "M":
        assert set(event["args"]) == {_METADATA[event["name"]]}
    if phase == "X":
        assert event["dur"] >= 0
    if phase == "C":
        assert event["args"]
        assert all(type(value) in {int, float} for value in event["args"].values())


def check_nesting(slices: list[Event]) -> None:
    """Slices of a track come in order of their start, and each lies within another or behind it, to the nanosecond."""
    assert all(a <= b for (a, _), (b, _) in pairwise(map(span_ns, slices)))
    open_ends: list[int] = []
    for start, end in map(span_ns, slices):
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1]
        open_ends.append(end)


def check_counters(counters: list[Event]) -> None:
    """Levels come in order of time, and only where something changes."""
    for key in {(e["pid"], e["name"]) for e in counters}:
        levels = [e for e in counters if (e["pid"], e["name"]) == key]
        for before, after in pairwise(levels):
            assert before["ts"] <= after["ts"]
            assert before["args"] != after["args"]


def span_ns(event: Event) -> tuple[int, int]:
    """Start and end of a slice as a reader takes them: times 1,000, and what is behind the point is cut."""
    start = int(event["ts"] * 1000)
    return start, start + int(event["dur"] * 1000)


def slices_of(events: list[Event], pid: int, category: str) -> Iterator[Event]:
    """Slices of a run."""
    return (e for e in events if e["ph"] == "X" and (e["pid"], e["cat"]) == (pid, category))
