"""TraceLab's replay files: CSV with a round a row, appended lengths, kept prefixes and waits."""

from collections.abc import Sequence
from typing import NamedTuple

from traces.csv_rows import CsvRows, csv_header
from traces.drawn_arrivals import DrawnArrivals
from traces.parsed_rows import ParsedRows
from traces.read_settings import ReadSettings
from traces.recorded_row import RecordedRow
from traces.recording import Recording
from traces.stated_prefixes import StatedPrefixes
from traces.trace_lines import TraceLines

TRACELAB_REPLAY_COLUMNS = ("round_idx", "prefix_len", "input_len", "output_len", "tool_wait_after_ms")
BLOCK_SIZE = 64
MILLISECONDS = 1000


class ReplayRound(NamedTuple):
    """A row of the file.

    Attributes:
        number: its `round_idx`.
        position: place among the rows, from 0.
        line: line in the file.
        arrival_ns: of its session.
        prefix_length: tokens kept of the session so far.
        input_length: tokens of the whole prompt, the kept ones included.
        output_length: tokens of the answer.
        wait_ns: from its end to the next round.
    """

    number: int
    position: int
    line: int
    arrival_ns: int
    prefix_length: int
    input_length: int
    output_length: int
    wait_ns: int


def read_tracelab_replay(lines: TraceLines, settings: ReadSettings) -> ParsedRows:
    """Read `session_id` (or `id`), `arrival_time` if there is one, and what else a round has, by name.

    `input_len` counts only what a round appends: its prompt has `prefix_len + input_len` tokens. A round comes
    `tool_wait_after_ms` of the round before after that has ended. Content ids are made from `prefix_len`, see
    `StatedPrefixes`. Rounds of zero length are dropped and counted; their wait is added to the wait before.

    Raises:
        TraceError: a line is not what it must be.
    """
    name = "session_id" if "session_id" in csv_header(lines.first()[1]) else "id"
    table = CsvRows(lines, (name, *TRACELAB_REPLAY_COLUMNS), ("arrival_time",))
    is_timed = table.has("arrival_time")
    settings.check_arrivals(is_timed, "arrival_time", lines)
    sessions = _sessions(table, lines, settings)
    recording = Recording(lines, settings, origin_ns=0)
    arrivals = DrawnArrivals(settings)
    for session_id, rounds in sorted(sessions.items(), key=lambda item: item[1][0].arrival_ns):
        _add(rounds, session_id, rounds[0].arrival_ns if is_timed else arrivals.next_ns(), recording)
    block_size = settings.trace_block_size or BLOCK_SIZE
    prefixes = StatedPrefixes(block_size)
    prefix_lengths = {each.position: each.prefix_length for rounds in sessions.values() for each in rounds}
    rows = prefixes.with_ids(recording.rows, prefix_lengths)
    times = f"arrival_time in {settings.unit_name('ms')}" if is_timed else "no times of sessions"
    return recording.parsed(
        f"Read as TraceLab replay CSV, {times}, tool_wait_after_ms in milliseconds.",
        *(() if is_timed else (arrivals.notice("sessions"),)),
        prefixes.notice("prefix_len"),
        *table.notices,
        rows=rows,
        is_stated=True,
        block_size=block_size,
    )


def _sessions(table: CsvRows, lines: TraceLines, settings: ReadSettings) -> dict[str, list[ReplayRound]]:
    """Return the rounds of each session, both in the order of the file."""
    sessions: dict[str, list[ReplayRound]] = {}
    for position, (line, (session_id, *texts)) in enumerate(table):
        found = _round(table, position, line, texts, settings)
        rounds = sessions.setdefault(session_id, [])
        if rounds and rounds[0].arrival_ns != found.arrival_ns:
            first = f"line {rounds[0].line} gives another for session {session_id}"
            raise lines.error(line, f"arrival_time is {texts[-1][:60]!r}, but {first}; a session has one")
        rounds.append(found)
    return sessions


def _round(table: CsvRows, position: int, line: int, texts: Sequence[str], settings: ReadSettings) -> ReplayRound:
    number, prefix, appended, output, wait, arrival = texts
    prefix_length = table.num_tokens(line, "prefix_len", prefix)
    units = settings.units_per_second("ms")
    return ReplayRound(
        number=table.num_tokens(line, "round_idx", number),
        position=position,
        line=line,
        arrival_ns=table.time_ns(line, "arrival_time", arrival, units) if table.has("arrival_time") else 0,
        prefix_length=prefix_length,
        input_length=prefix_length + table.num_tokens(line, "input_len", appended),
        output_length=table.num_tokens(line, "output_len", output),
        wait_ns=table.time_ns(line, "tool_wait_after_ms", wait, MILLISECONDS),
    )


def _add(rounds: Sequence[ReplayRound], session_id: str, start_ns: int, recording: Recording) -> None:
    """Add the rounds of a session that begins at `start_ns`, in their order."""
    wait_ns = 0
    for each in sorted(rounds):
        lengths = each.input_length, each.output_length
        if not recording.drops(("prefix_len + input_len", lengths[0]), ("output_len", lengths[1])):
            # Only waits are known: starts and service times are put where the first round is, and are not used.
            recording.add(RecordedRow(each.position, each.line, start_ns, *lengths, session_id, 0, wait_ns))
            wait_ns = 0
        wait_ns += each.wait_ns
