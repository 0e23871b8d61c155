"""The Bailian (Qwen) usage traces: JSON lines with seconds, ids of 16-token blocks, and parents."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated

from msgspec import Meta, Struct

from traces.disjoint_sets import DisjointSets
from traces.native import HASH_IDS, MAX_HASH_ID
from traces.parsed_rows import ParsedRows, sorted_notice
from traces.read_settings import ReadSettings
from traces.recorded_row import RecordedRow
from traces.recording import Recording
from traces.row_decoder import RowDecoder
from traces.time_quantum import MAX_TIME_S, NS_PER_SECOND
from traces.trace_lines import TraceLines

BLOCK_SIZE = 16
NO_PARENT = -1  # as the files have it
NumTokens = Annotated[int, Meta(ge=0, le=2**31 - 1)]
ChatId = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class BailianRow(Struct):
    """One line as it stands in the file."""

    chat_id: ChatId
    parent_chat_id: ChatId
    timestamp: Annotated[float, Meta(ge=0)]
    input_length: NumTokens
    output_length: NumTokens
    turn: int
    hash_ids: tuple[Annotated[int, Meta(ge=0)], ...]


NUM_TOKENS = f"a whole number of tokens from 0 to {2**31 - 1}"
MEANINGS: Mapping[str, str] = {
    "chat_id": "a whole number of 64 bits",
    "parent_chat_id": "the chat_id of the turn before, or -1",
    "timestamp": "a number of seconds, 0 or more",
    "input_length": NUM_TOKENS,
    "output_length": NUM_TOKENS,
    "turn": "a whole number",
    "hash_ids": HASH_IDS,
}


def read_bailian(lines: TraceLines, settings: ReadSettings) -> ParsedRows:
    """Read the Bailian fields; all rows that are linked by parents make one session, in the order of `turn`.

    A parent may lie outside the file: its children then still belong together. Service times are not recorded, so a
    later turn waits for the gap between the starts, unless its rule is "open". Rows with a length of zero are dropped
    and counted.

    Raises:
        TraceError: a line is not what it must be, or two have one chat_id.
    """
    decoder = RowDecoder(BailianRow, MEANINGS, lines, unused=("type",))
    rows: list[tuple[int, int, BailianRow]] = []
    sessions = DisjointSets()
    first_lines: dict[int, int] = {}
    units = settings.units_per_second("s")
    for index, (line, content) in enumerate(lines):
        row = decoder.decode(line, content)
        _check(row, line, units, first_lines, lines)
        if row.parent_chat_id != NO_PARENT:
            sessions.join(row.chat_id, row.parent_chat_id)
        rows.append((index, line, row))
    recording = _recording(rows, sessions, units, settings, lines)
    return recording.parsed(
        f"Read as Bailian JSON lines, timestamp in {settings.unit_name('s')}.",
        *decoder.notices,
        *_order_notice(rows),
        rows=_by_turn(recording.rows, {index: row.turn for index, _, row in rows}),
        block_size=BLOCK_SIZE,
    )


def _check(row: BailianRow, line: int, units: int, first_lines: dict[int, int], lines: TraceLines) -> None:
    first_line = first_lines.setdefault(row.chat_id, line)
    if first_line != line:
        raise lines.error(line, f"chat_id is {row.chat_id}, which line {first_line} has too; each row needs its own")
    if row.hash_ids and max(row.hash_ids) > MAX_HASH_ID:
        raise lines.error(line, f"hash_ids has {max(row.hash_ids)}, but hash_ids must be {HASH_IDS}")
    if row.timestamp > 2**32 * units:
        raise lines.error(line, f"timestamp is {row.timestamp}, which is beyond any time; check its unit")


def _recording(
    rows: list[tuple[int, int, BailianRow]],
    sessions: DisjointSets,
    units: int,
    settings: ReadSettings,
    lines: TraceLines,
) -> Recording:
    """Choose by the earliest turn of each session, wherever its line stands."""
    sizes: dict[int, int] = {}
    for _, _, row in rows:
        name = sessions.name_of(row.chat_id)
        sizes[name] = sizes.get(name, 0) + 1
    latest = max((row.timestamp for _, _, row in rows), default=0.0)
    recording = Recording(lines, settings, origin_ns=0 if latest <= MAX_TIME_S * units else None)
    for index, line, row in sorted(rows, key=lambda each: (each[2].timestamp, each[1])):
        if recording.drops(("input_length", row.input_length), ("output_length", row.output_length)):
            continue
        name = sessions.name_of(row.chat_id)
        session_id = None if sizes[name] == 1 else str(name)
        start_ns = round(row.timestamp * NS_PER_SECOND / units)
        if recording.wants(line, start_ns, session_id):
            lengths = row.input_length, row.output_length
            recording.keep(RecordedRow(index, line, start_ns, *lengths, session_id, hash_ids=row.hash_ids))
    return recording


def _by_turn(rows: list[RecordedRow], turns: Mapping[int, int]) -> list[RecordedRow]:
    return sorted(rows, key=lambda row: (turns[row.position], row.start_ns, row.line))


def _order_notice(rows: Sequence[tuple[int, int, BailianRow]]) -> tuple[str, ...]:
    late = [line for (_, _, before), (_, line, row) in pairwise(rows) if row.timestamp < before.timestamp]
    return sorted_notice(len(late), late[0] if late else None)
