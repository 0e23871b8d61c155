"""The formats that a trace can have, and how each is recognised."""

from collections.abc import Collection
from typing import NamedTuple

import msgspec

from traces.azure import AZURE_COLUMNS
from traces.burstgpt import BURSTGPT_COLUMNS
from traces.column_map import COLUMNS_PATTERN
from traces.csv_rows import csv_header
from traces.errors import OwnTimesError, TraceError
from traces.json_values import JsonValues
from traces.read_settings import ReadSettings
from traces.servegen import is_servegen_row
from traces.sharegpt import CONVERSATION_FIELDS
from traces.trace_lines import TraceLines
from traces.tracelab_replay import TRACELAB_REPLAY_COLUMNS
from traces.vidur import VIDUR_COLUMNS

NATIVE_FIELDS = ("timestamp", "input_length", "output_length")
LLMSERVINGSIM_FIELDS = ("input_toks", "output_toks", "arrival_time_ns", "sub_requests")
SESSION_SETTINGS = ("delay_rule", "api_time_scale")


class TraceFormat(NamedTuple):
    """What a format is known by.

    Attributes:
        name: as settings name it.
        marks: fields or columns that a file of the format has.
        settings: those of `ReadSettings` that it has a use for, beside those that all have.
        is_csv: whether it is CSV; else JSON objects.
        num_needed: how many of the marks must be there; None is all.
    """

    name: str
    marks: tuple[str, ...]
    settings: tuple[str, ...]
    is_csv: bool = False
    num_needed: int | None = None

    def found_in(self, fields: Collection[str]) -> tuple[str, ...]:
        """Return the marks among the fields, or nothing if they are not enough."""
        found = tuple(mark for mark in self.marks if mark in fields)
        num_needed = len(self.marks) if self.num_needed is None else self.num_needed
        return found if len(found) >= num_needed else ()


# The more special before the more general: Bailian rows have the native fields too, but other units.
FORMATS = (
    # By two of three, as a row that lacks one and has no ids would pass for a native one, in milliseconds.
    TraceFormat("bailian", ("chat_id", "parent_chat_id", "turn"), ("time_unit", *SESSION_SETTINGS), num_needed=2),
    TraceFormat("weka", ("requests", "block_size"), ("request_rate", *SESSION_SETTINGS)),
    TraceFormat("tracelab", ("session_id", "round_index", "timing_events"), ("request_rate", *SESSION_SETTINGS)),
    TraceFormat("sharegpt", CONVERSATION_FIELDS, ("request_rate", "tokenizer"), num_needed=1),
    TraceFormat("llmservingsim", LLMSERVINGSIM_FIELDS, ("time_unit",), num_needed=1),
    TraceFormat("native", NATIVE_FIELDS, ("time_unit",), num_needed=1),
    TraceFormat("azure", AZURE_COLUMNS, (), True),
    TraceFormat("burstgpt", BURSTGPT_COLUMNS, ("time_unit", *SESSION_SETTINGS), True),
    TraceFormat("tracelab-replay", TRACELAB_REPLAY_COLUMNS, ("time_unit", "request_rate"), True),
    TraceFormat("vidur", VIDUR_COLUMNS, ("time_unit", "request_rate"), True),
    TraceFormat("servegen", (), (), True),
    TraceFormat("columns", (), ("columns", "time_unit", *SESSION_SETTINGS), True),  # known by being asked for
)
FORMAT_NAMES = tuple(sorted(format.name for format in FORMATS))
KNOWN = "known formats are " + ", ".join(name for name in FORMAT_NAMES if name != "columns")
OWN_CSV = f"a CSV file of your own is read with --columns {COLUMNS_PATTERN}"
MAX_SHOWN = 8
MAX_LOOKED_AT = 64 * 2**20


class Recognition(NamedTuple):
    """Which format a file has.

    Attributes:
        name: of the format.
        reason: what it was known by, as it fits behind "recognised by"; None where it was given.
    """

    name: str
    reason: str | None

    def told(self, first_notice: str) -> str:
        """Return the first notice of a format, which says how the file was read, with what it was known by."""
        return (
            first_notice if self.reason is None else f"{first_notice} Format {self.name}, recognised by {self.reason}."
        )


def recognised_format(lines: TraceLines) -> Recognition:
    """Return the format, by the fields or columns at the beginning of the file.

    Raises:
        TraceError: the file is empty, or its beginning belongs to no known format.
    """
    number, content = lines.first()
    if content.startswith((b"{", b"[")):
        return _json_format(lines, number, content)
    header = csv_header(content)
    for format in FORMATS:
        if format.is_csv and (marks := format.found_in(header)):
            return Recognition(format.name, f"its columns {', '.join(marks)}")
    if is_servegen_row(header):
        return Recognition("servegen", "its first row, six values without a header")
    start = content[:60].decode(errors="replace")
    raise lines.error(number, f"{start!r} is neither JSON nor a known CSV header; {KNOWN}; {OWN_CSV}")


def given_format(format: str, settings: ReadSettings) -> str:
    """Return the format that is asked for: "auto" where columns are named is "columns"."""
    return "columns" if format == "auto" and settings.columns is not None else format


def check_settings(name: str, settings: ReadSettings) -> None:
    """Check that a format has a use for all that is set.

    Raises:
        TraceError: the format is not known, or something is set that it would pass over.
    """
    format = next((format for format in FORMATS if format.name == name), None)
    if format is None:
        raise TraceError(f"trace format {name!r} is not known; known are auto, {', '.join(FORMAT_NAMES)}")
    for setting in ("columns", "time_unit", "request_rate", "tokenizer", *SESSION_SETTINGS):
        value = getattr(settings, setting)
        if value is not None and setting not in format.settings:
            users = sorted(each.name for each in FORMATS if setting in each.settings)
            sentence = (
                f"{setting.replace('_', ' ')} is {value!r}, but a trace of format {name} has no use for it; "
                f"it is for {', '.join(users)}"
            )
            if setting == "request_rate":
                raise OwnTimesError(f"{sentence}. The times of format {name} are scaled by --rate-scale instead")
            raise TraceError(sentence)


def _json_format(lines: TraceLines, line: int, content: bytes) -> Recognition:
    fields = _fields(content)
    if fields is None:
        fields = _fields(_first_object(lines))
    if fields is None:
        return Recognition("native", "its first byte")  # whose reader explains what is wrong with the line
    for format in FORMATS:
        if not format.is_csv and (marks := format.found_in(fields)):
            return Recognition(format.name, f"its fields {', '.join(marks)}")
    named = ", ".join(sorted(fields)[:MAX_SHOWN]) + (", ..." if len(fields) > MAX_SHOWN else "")
    raise lines.error(line, f"the fields {named or '(none)'} are of no known format; {KNOWN}")


def _fields(content: bytes) -> set[str] | None:
    try:
        return set(msgspec.json.decode(content, type=dict[str, msgspec.Raw]))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _first_object(lines: TraceLines) -> bytes:
    """Return the first object of a list, or of a file that lays objects out over several lines."""
    with lines.looking_ahead():
        try:
            return next((content for _, content in JsonValues(lines, MAX_LOOKED_AT)), b"")
        except TraceError:
            return b""
