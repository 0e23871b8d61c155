"""The tables of columns in docs/metrics.md, which stand in code as schemas.

    python -m tests.column_tables docs/metrics.md

writes them anew; a test says when that is due.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from analysis.schema import SCHEMAS
from analysis.sweep_columns import schema_of

TITLES: Mapping[str, pa.Schema] = {
    **{f"Table `{name}`": schema for name, schema in SCHEMAS.items()},
    "Frame of a sweep": schema_of({}),
}
"""Schema by heading."""

_HEAD = "| column | type | meaning |\n|---|---|---|\n"
_TYPES = {pa.int64(): "integer", pa.int32(): "integer", pa.float64(): "float", pa.string(): "text"}
_TYPES |= {pa.bool_(): "truth value"}


def column_table(schema: pa.Schema) -> str:
    """A Markdown table, a row a column, with the meaning that the schema has."""
    return _HEAD + "".join(map(_row, schema))


def _row(field: "pa.Field[pa.DataType]") -> str:
    kind = "integers" if pa.types.is_list(field.type) else _TYPES[field.type]
    assert field.metadata is not None
    return f"| `{field.name}` | {kind}{', or null' * field.nullable} | {field.metadata[b'doc'].decode()} |\n"


def with_tables(text: str) -> str:
    """The document with tables as the schemas are now."""
    for title, schema in TITLES.items():
        start = text.index(_HEAD, text.index(f"### {title}\n"))
        end = text.index("\n\n", start) + 1
        text = text[:start] + column_table(schema) + text[end:]
    return text


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_tables(path.read_text("utf-8")), "utf-8")
