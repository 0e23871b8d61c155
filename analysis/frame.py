"""An Arrow table as a pandas frame."""

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd


def to_frame(table: pa.Table) -> "pd.DataFrame":
    """Makes a frame; nullable integers become pandas' own nullable integers, not floats."""
    import pandas as pd

    frame = table.to_pandas()
    integers: dict[pa.DataType, Any] = {pa.int64(): pd.Int64Dtype(), pa.int32(): pd.Int32Dtype()}
    for field in table.schema:
        if field.nullable and field.type in integers:
            frame[field.name] = table.column(field.name).to_pandas(types_mapper=integers.get)
    return frame
