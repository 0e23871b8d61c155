"""TraceLab's rounds of coding agents: JSON lines with lengths, stated prefixes and event times."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from traces.calendar_time import CalendarTimes
from traces.drawn_arrivals import DrawnArrivals
from traces.parsed_rows import ParsedRows
from traces.read_settings import ReadSettings
from traces.recorded_row import RecordedRow
from traces.recording import DRAW_ARRIVALS, Recording
from traces.row_decoder import RowDecoder
from traces.stated_prefixes import StatedPrefixes
from traces.trace_lines import TraceLines

BLOCK_SIZE = 64
INPUT_EVENTS = ("user_message", "tool_result")
NumTokens = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class TimingEvent(Struct):
    """Something that happened in a round."""

    event_type: str
    timestamp: str


class TraceLabRound(Struct):
    """The fields of a line that are used."""

    session_id: str
    round_index: Annotated[int, Meta(ge=0)]
    input_tokens_total: NumTokens
    prefix_tokens: NumTokens
    output_tokens: NumTokens
    timing_events: list[TimingEvent]


NUM_TOKENS = f"a whole number of tokens from 0 to {2**31 - 1}"
MEANINGS: Mapping[str, str] = {
    "session_id": "a text",
    "round_index": "a whole number, 0 or more",
    "input_tokens_total": NUM_TOKENS,
    "prefix_tokens": NUM_TOKENS,
    "output_tokens": NUM_TOKENS,
    "timing_events": "a list of objects with event_type and timestamp",
    "event_type": "a text",
    "timestamp": "a date and time like 2026-06-01T05:40:20.151Z",
}
UNUSED = (
    *("provider", "project", "round_id", "turn_id", "model", "store", "trace_key", "tools", "newly_append_tokens"),
    *("reasoning_output_tokens", "claude_uncached_input_tokens", "claude_cache_creation_input_tokens"),
    *("claude_cache_read_input_tokens", "current_input_event_count", "current_user_message_count"),
    *("current_tool_result_count", "current_user_message_chars", "current_tool_result_chars", "current_input_chars"),
    "first_input_event_type",
)


class Round(NamedTuple):
    """A usable round.

    Attributes:
        number: its `round_index`.
        prefix_length: tokens of the prompt that were there before.
        row: the rest.
    """

    number: int
    prefix_length: int
    row: RecordedRow


def read_tracelab(lines: TraceLines, settings: ReadSettings) -> ParsedRows:
    """Read rounds; a session's rounds follow each other by `round_index`.

    A round starts with its last user message or tool result and ends with its last event, so service and think times
    are known. A session's first round comes at its recorded time, or, at a request rate, sessions arrive as a Poisson
    process in the order of the file: recordings of few people may lie months apart. Content ids are made from
    `prefix_tokens`, see `StatedPrefixes`. Rounds of zero length or without events are dropped and counted.

    Raises:
        TraceError: a line is not what it must be.
    """
    decoder = RowDecoder(TraceLabRound, MEANINGS, lines, UNUSED)
    recording = Recording(lines, settings, other_remedy=DRAW_ARRIVALS)
    sessions = _sessions(lines, decoder, recording)
    if settings.request_rate is not None:
        sessions = _at_drawn_times(sessions, DrawnArrivals(settings))
    block_size = settings.trace_block_size or BLOCK_SIZE
    rows, prefixes = _with_ids(sessions.values(), recording, block_size)
    return recording.parsed(
        "Read as TraceLab rounds, times of events in calendar time.",
        *_arrival_notice(settings),
        prefixes.notice("prefix_tokens"),
        *decoder.notices,
        rows=rows,
        block_size=block_size,
    )


def _sessions(lines: TraceLines, decoder: RowDecoder[TraceLabRound], recording: Recording) -> dict[str, list[Round]]:
    """Return the usable rounds of each session, both in the order of the file; count the others."""
    sessions: dict[str, list[Round]] = {}
    calendar = CalendarTimes()
    for position, (line, content) in enumerate(lines):
        found = decoder.decode(line, content)
        lengths = found.input_tokens_total, found.output_tokens
        if found.prefix_tokens > lengths[0]:
            most = f"at most input_tokens_total, {lengths[0]}"
            raise lines.error(line, f"prefix_tokens is {found.prefix_tokens}, but it must be {most}")
        times = _start_and_service_ns(found.timing_events, calendar, line, lines)
        if recording.drops(("input_tokens_total", lengths[0]), ("output_tokens", lengths[1])):
            continue
        if times is None:
            recording.drop("timing_events is empty")
            continue
        row = RecordedRow(position, line, times[0], *lengths, found.session_id, times[1])
        sessions.setdefault(found.session_id, []).append(Round(found.round_index, found.prefix_tokens, row))
    return sessions


def _start_and_service_ns(
    events: Sequence[TimingEvent], calendar: CalendarTimes, line: int, lines: TraceLines
) -> tuple[int, int] | None:
    """When the last input of a round was there, and how long after that its last event came."""
    starts: list[int] = []
    ends: list[int] = []
    for event in events:
        time_ns = calendar.time_ns(event.timestamp)
        if time_ns is None:
            right = MEANINGS["timestamp"]
            raise lines.error(line, f"timestamp of an event is {event.timestamp[:60]!r}, but it must be {right}")
        (starts if event.event_type in INPUT_EVENTS else ends).append(time_ns)
    if not starts and not ends:
        return None
    start_ns = max(starts) if starts else min(ends)
    return start_ns, max(0, max(ends, default=start_ns) - start_ns)


def _at_drawn_times(sessions: Mapping[str, list[Round]], arrivals: DrawnArrivals) -> dict[str, list[Round]]:
    """Move each session as a whole, so that its first round comes when it is drawn."""
    return {name: _moved(rounds, arrivals.next_ns() - min(rounds).row.start_ns) for name, rounds in sessions.items()}


def _moved(rounds: Sequence[Round], by_ns: int) -> list[Round]:
    return [each._replace(row=each.row._replace(start_ns=each.row.start_ns + by_ns)) for each in rounds]


def _arrival_notice(settings: ReadSettings) -> tuple[str, ...]:
    if settings.request_rate is None:
        return ("Times count from the earliest session.",)
    rate = f"{settings.request_rate:g} a second, seed {settings.seed}"
    return (f"Sessions arrive as a Poisson process, {rate}, in place of their recorded times.",)


def _with_ids(
    sessions: Iterable[list[Round]], recording: Recording, block_size: int
) -> tuple[list[RecordedRow], StatedPrefixes]:
    """Choose sessions by their first round, the earliest session first, and give ids to what is kept."""
    in_order = [sorted(rounds, key=lambda each: (each.number, each.row.line)) for rounds in sessions]
    in_order.sort(key=lambda rounds: (rounds[0].row.start_ns, rounds[0].row.line))
    prefix_lengths: dict[int, int] = {}
    for rounds in in_order:
        for each in rounds:
            prefix_lengths[each.row.position] = each.prefix_length
            recording.add(each.row)
    prefixes = StatedPrefixes(block_size)
    return prefixes.with_ids(recording.rows, prefix_lengths), prefixes
