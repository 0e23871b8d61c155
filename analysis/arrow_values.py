"""Python and numpy values to Arrow and back, through buffers.

Arrow's own `pa.array`, `pa.scalar` and `to_numpy` import pandas where it is installed, for no other purpose than to see
whether they were given a pandas object: a third of a second and a hundred megabytes. A replay can do without.
"""

from array import array
from collections.abc import Sequence
from itertools import accumulate, chain, repeat
from operator import is_not
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_TYPECODES = {pa.int64(): "q", pa.int32(): "i", pa.float64(): "d"}


def to_arrow(values: Sequence[Any], type_: pa.DataType) -> "pa.Array[Any]":
    """Turns Python values, None for null, into an Arrow array.

    Args:
        values: numbers, texts, or sequences of numbers.
        type_: int32, int64, float64, string, or a list of one of the numbers.

    Raises:
        TypeError: a value is of another kind.
        OverflowError: an integer is too large for its type.
    """
    # Most columns hold no None; to try is quicker than to look for one first.
    try:
        return _array(values, type_, None)
    except TypeError:
        if None not in values:
            raise
    is_valid = np.fromiter(map(is_not, values, repeat(None)), np.bool_, len(values))
    if not is_valid.any():
        return _nulls(len(values), type_)
    filler: Any = 0 if type_ in _TYPECODES else () if pa.types.is_list(type_) else ""
    filled = [filler if value is None else value for value in values]
    return _array(filled, type_, pa.py_buffer(np.packbits(is_valid, bitorder="little").tobytes()))


def text_scalar(text: str) -> "pa.Scalar[Any]":
    """Returns an Arrow text to compare a column with."""
    scalar: pa.Scalar[Any] = to_arrow([text], pa.string())[0]
    return scalar


def to_numpy(column: "pa.ChunkedArray[Any] | pa.Array[Any]") -> NDArray[Any]:
    """Turns a column of numbers or truth values into numpy.

    Args:
        column: only one of float64 may hold nulls; they become NaN.

    Returns:
        An array that may share memory with the column; do not write to it.
    """
    values = one_array(column) if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_boolean(values.type):
        return to_numpy(values.cast(pa.uint8())).astype(np.bool_)
    if values.null_count:
        values = pc.fill_null(values, to_arrow([np.nan], pa.float64())[0])
    result: NDArray[Any] = np.from_dlpack(values)
    return result


def one_array(column: "pa.ChunkedArray[Any]") -> "pa.Array[Any]":
    """Returns a column as one array."""
    return column.combine_chunks() if column.num_chunks else _nulls(0, column.type)


def empty_table(schema: pa.Schema) -> pa.Table:
    """Returns a table without rows."""
    return pa.Table.from_batches([], schema=schema)


def _nulls(length: int, type_: pa.DataType) -> "pa.Array[Any]":
    return pa.nulls(length, type_)  # type: ignore[no-any-return, call-overload] # stubs list types one by one


def _array(values: Sequence[Any], type_: pa.DataType, validity: pa.Buffer | None) -> "pa.Array[Any]":
    """Makes an array of values without None; `validity` says which of them stand for null."""
    if type_ in _TYPECODES:
        numbers = pa.py_buffer(array(_TYPECODES[type_], values))
        return pa.Array.from_buffers(type_, len(values), [validity, numbers])
    if pa.types.is_list(type_):
        child = _array(list(chain.from_iterable(values)), type_.value_type, None)
        return pa.Array.from_buffers(type_, len(values), [validity, _offsets(values)], children=[child])
    assert pa.types.is_string(type_), type_
    text = "".join(values)
    # The length of a text is its length in bytes only if it is ASCII.
    offsets = _offsets(values if text.isascii() else [value.encode() for value in values])
    return pa.Array.from_buffers(type_, len(values), [validity, offsets, pa.py_buffer(text.encode())])


def _offsets(values: Sequence[Sequence[Any]]) -> pa.Buffer:
    return pa.py_buffer(array("i", accumulate(map(len, values), initial=0)))
