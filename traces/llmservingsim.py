"""The length files of LLMServingSim: JSON lines with lengths and arrivals in nanoseconds."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from traces.arrival_times import ArrivalTimes, Stamp
from traces.canonical_row import default_request_id
from traces.parsed_rows import ParsedRows, dropped_notice
from traces.read_settings import ReadSettings
from traces.row_decoder import RowDecoder
from traces.trace_lines import TraceLines
from traces.trace_request import TraceRequest

NumTokens = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class LlmServingSimRow(Struct):
    """One line as it stands in the file."""

    input_toks: NumTokens
    output_toks: NumTokens
    arrival_time_ns: Annotated[int, Meta(ge=0)]
    input_tok_ids: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    output_tok_ids: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


NUM_TOKENS = f"a whole number of tokens from 0 to {2**31 - 1}"
MEANINGS: Mapping[str, str] = {
    "input_toks": NUM_TOKENS,
    "output_toks": NUM_TOKENS,
    "arrival_time_ns": "a whole number of nanoseconds, 0 or more",
    "input_tok_ids": "a list of token ids, which is not used",
    "output_tok_ids": "a list of token ids, which is not used",
}


def read_llmservingsim(lines: TraceLines, settings: ReadSettings) -> ParsedRows:
    """Read `input_toks`, `output_toks`, `arrival_time_ns`; token ids are passed over with a notice.

    Rows with a length of zero are dropped and counted.

    Raises:
        TraceError: a line is not what it must be.
    """
    decoder = RowDecoder(LlmServingSimRow, MEANINGS, lines)
    dropped: Counter[str] = Counter()
    num_with_ids = 0
    rows: list[tuple[int, int, LlmServingSimRow]] = []
    for index, (line, content) in enumerate(lines):
        row = decoder.decode(line, content)
        num_with_ids += row.input_tok_ids is not msgspec.UNSET or row.output_tok_ids is not msgspec.UNSET
        if row.input_toks == 0 or row.output_toks == 0:
            dropped["input_toks is 0" if row.input_toks == 0 else "output_toks is 0"] += 1
        else:
            rows.append((index, line, row))
    times = ArrivalTimes.of(
        [Stamp(line, row.arrival_time_ns) for _, line, row in rows],
        "arrival_time_ns",
        settings.units_per_second("ns"),
        lines,
    )
    requests = tuple(_request(*row, times) for row in rows)
    origin = f"Read as an LLMServingSim length file, arrival_time_ns in {settings.unit_name('ns')}."
    ids = (f"Token ids were ignored in {num_with_ids} rows; prompts share no prefix.",) if num_with_ids else ()
    notices = (origin, *times.notices, *ids, *decoder.notices, *dropped_notice(len(rows), dropped))
    return ParsedRows(requests, notices, dropped=dict(dropped))


def _request(index: int, line: int, row: LlmServingSimRow, times: ArrivalTimes) -> TraceRequest:
    return TraceRequest(
        request_id=default_request_id(index),
        line=line,
        input_length=row.input_toks,
        output_length=row.output_toks,
        arrival_s=times.arrival_s(row.arrival_time_ns),
    )
