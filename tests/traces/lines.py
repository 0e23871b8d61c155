"""Lines of a file that does not exist."""

import io

from traces.trace_lines import TraceLines


def lines_of(content: str) -> TraceLines:
    """Lines of this content, of a file called `t.json`."""
    return TraceLines("t.json", io.BytesIO(content.encode()), 2**20)
