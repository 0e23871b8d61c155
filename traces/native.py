"""The native format: JSON lines with the Mooncake fields, and sessions."""

from collections.abc import Iterator, Mapping
from typing import Annotated

from msgspec import Meta, Struct

from traces.arrival_times import ArrivalTimes, Stamp
from traces.canonical_row import default_request_id
from traces.parsed_rows import ParsedRows
from traces.read_settings import ReadSettings
from traces.row_decoder import RowDecoder
from traces.session_turns import SessionTurns
from traces.time_quantum import MAX_TIME_S, to_seconds
from traces.trace_lines import TraceLines
from traces.trace_request import TraceRequest

MAX_INT32 = 2**31 - 1
MAX_HASH_ID = 2**64 - 1
MAX_DELAY = MAX_TIME_S * 10**9  # in any unit

NumTokens = Annotated[int, Meta(ge=1, le=MAX_INT32)]
Text = Annotated[str, Meta(min_length=1)]


class NativeRow(Struct):
    """One line as it stands in the file; null is the same as leaving a field out."""

    input_length: NumTokens
    output_length: NumTokens
    timestamp: Annotated[float, Meta(ge=0)] | None = None
    delay: Annotated[float, Meta(ge=0, le=MAX_DELAY)] | None = None
    hash_ids: tuple[Annotated[int, Meta(ge=0)], ...] | None = None
    request_id: Text | None = None
    session_id: Text | None = None
    priority: Annotated[int, Meta(ge=-MAX_INT32, le=MAX_INT32)] | None = None
    prompt: Text | None = None


NUM_TOKENS = f"a whole number of tokens from 1 to {MAX_INT32}"
HASH_IDS = f"a list of whole numbers from 0 to {MAX_HASH_ID}, one for each block of the prompt"
MEANINGS: Mapping[str, str] = {
    "input_length": NUM_TOKENS,
    "output_length": NUM_TOKENS,
    "timestamp": "a number of milliseconds, 0 or more",
    "delay": f"a number of milliseconds from 0 to {MAX_TIME_S * 1000}",
    "hash_ids": HASH_IDS,
    "request_id": "a text that is not empty",
    "session_id": "a text that is not empty",
    "priority": f"a whole number from {-MAX_INT32} to {MAX_INT32}",
    "prompt": "a text that is not empty",
}


class NativeRows:
    """The rows of a native file, each checked by itself and against those of its session.

    Args:
        lines: the file.
        settings: give the time unit.
    """

    def __init__(self, lines: TraceLines, settings: ReadSettings) -> None:
        self._lines = lines
        self._settings = settings
        self._decoder = RowDecoder(NativeRow, MEANINGS, lines)

    def __iter__(self) -> Iterator[tuple[int, NativeRow]]:
        """Yield each with its line.

        Raises:
            TraceError: a line is not what it must be.
        """
        lines, turns = self._lines, SessionTurns(self._lines)
        for number, content in lines:
            row = self._decoder.decode(number, content)
            turns.check(number, row.session_id, row.timestamp, row.delay)
            _check_hash_ids(lines, number, row.hash_ids)
            _check_delay(lines, number, row.delay, self._settings)
            yield number, row

    def notices(self, times: ArrivalTimes) -> tuple[str, ...]:
        """What was decided; known at the end."""
        unit = self._settings.unit_name("ms")
        origin = f"Read as native JSON lines (Mooncake fields), timestamp and delay in {unit}."
        return origin, *times.notices, *self._decoder.notices


def read_native(lines: TraceLines, settings: ReadSettings) -> ParsedRows:
    """Read the native format.

    Raises:
        TraceError: a line is not what it must be.
    """
    units = settings.units_per_second("ms")
    checked = NativeRows(lines, settings)
    rows = list(checked)
    stamps = [Stamp(number, row.timestamp) for number, row in rows if row.timestamp is not None]
    times = ArrivalTimes.of(stamps, "timestamp", units, lines)
    requests = tuple(native_request(index, number, row, times, units) for index, (number, row) in enumerate(rows))
    return ParsedRows(requests, checked.notices(times))


def _check_hash_ids(lines: TraceLines, line: int, hash_ids: tuple[int, ...] | None) -> None:
    # A bound of 64 bits is beyond what the decoder can check by itself.
    if hash_ids and max(hash_ids) > MAX_HASH_ID:
        raise lines.error(line, f"hash_ids has {max(hash_ids)}, but hash_ids must be {HASH_IDS}")


def _check_delay(lines: TraceLines, line: int, delay: float | None, settings: ReadSettings) -> None:
    most = MAX_TIME_S * settings.units_per_second("ms")
    if delay is not None and delay > most:
        meaning = f"a number of {settings.unit_name('ms')} from 0 to {most}"
        raise lines.error(line, f"delay is {delay}, but delay must be {meaning}")


def native_request(index: int, line: int, row: NativeRow, times: ArrivalTimes, units_per_second: int) -> TraceRequest:
    """Return a row as a request; `index` is its position among the rows."""
    return TraceRequest(
        request_id=default_request_id(index) if row.request_id is None else row.request_id,
        line=line,
        input_length=row.input_length,
        output_length=row.output_length,
        arrival_s=None if row.timestamp is None else times.arrival_s(row.timestamp),
        delay_s=None if row.delay is None else to_seconds(row.delay, units_per_second),
        session_id=row.session_id,
        priority=row.priority or 0,
        hash_ids=row.hash_ids,
        prompt=row.prompt,
    )
