"""The formats that a trace can have, and how each is recognised."""

import msgspec

from traces.azure2023 import AZURE2023_COLUMNS
from traces.csv_rows import csv_header
from traces.trace_lines import TraceLines

NATIVE_FIELDS = ("timestamp", "input_length", "output_length")
LLMSERVINGSIM_FIELDS = ("input_toks", "output_toks", "arrival_time_ns")
MAX_SHOWN = 8
BAILIAN_FIELDS = ("chat_id", "parent_chat_id", "turn")
KNOWN = (
    f"known are native JSON lines ({', '.join(NATIVE_FIELDS)}), azure2023 CSV ({', '.join(AZURE2023_COLUMNS)}) "
    f"and llmservingsim JSON lines ({', '.join(LLMSERVINGSIM_FIELDS)})"
)


def recognised_format(lines: TraceLines) -> str:
    """Return the name of the format, by the fields or columns in the first line.

    Raises:
        TraceError: the file is empty, or its first line belongs to no known format.
    """
    number, content = lines.first()
    if content.startswith(b"{"):
        return _json_format(lines, number, content)
    if set(AZURE2023_COLUMNS) <= set(csv_header(content)):
        return "azure2023"
    start = content[:60].decode(errors="replace")
    raise lines.error(number, f"{start!r} is neither a JSON object nor a known CSV header; {KNOWN}")


def _json_format(lines: TraceLines, line: int, content: bytes) -> str:
    try:
        fields = msgspec.json.decode(content, type=dict[str, msgspec.Raw]).keys()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "native"  # whose reader explains what is wrong with the line
    if fields >= set(BAILIAN_FIELDS):
        # Its fields look native, but its seconds would be taken for milliseconds.
        raise lines.error(
            line,
            f"{', '.join(BAILIAN_FIELDS)} mark a Bailian trace, whose timestamps are seconds, and that format is not "
            "known; where they are milliseconds, give the format as native",
        )
    if fields & set(LLMSERVINGSIM_FIELDS):
        return "llmservingsim"
    if fields & set(NATIVE_FIELDS):
        return "native"
    named = ", ".join(sorted(fields)[:MAX_SHOWN]) + (", ..." if len(fields) > MAX_SHOWN else "")
    raise lines.error(line, f"the fields {named or '(none)'} are of no known format; {KNOWN}")
