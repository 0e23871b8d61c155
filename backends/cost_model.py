"""How long a step takes, from its shape: the seam between the simulated backend and its models of time.

A cost model is plain arithmetic on the columns of `StepColumns`. The same code runs on Python floats (one step, when
stepping) and on float64 arrays (many steps, when fitting or comparing). It uses only +, -, x, /, `larger`,
`square_root` and table look-ups: these are rounded alike in both, so one row and many rows give the same bits.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from backends.errors import RecordedStepsError
from engine.step_shape import StepShape

FloatColumn = NDArray[np.float64]
Value = TypeVar("Value", float, FloatColumn)


Sizes = tuple[float, float, float, float, float]
"""Prefill tokens, prefill rows, decode rows, sampled rows and graph size of one step: what models keep times by."""


def larger(first: Value, second: Value | float) -> Value:
    """The larger of two numbers, or of two columns row by row."""
    if isinstance(first, float):
        return first if first >= second else second
    return np.maximum(first, second)


def is_present(count: Value) -> Value:
    """1.0 where `count` (a whole number, 0 or more) is not 0, else 0.0."""
    return count / larger(count, 1.0)


def square_root(value: Value) -> Value:
    """Of a number, or row by row; both are rounded alike, as IEEE 754 asks for."""
    return math.sqrt(value) if isinstance(value, float) else np.sqrt(value)


def constant_column(value: float, num_rows: int) -> FloatColumn:
    """A column with the same number in each row, which it holds only once."""
    return np.ndarray((num_rows,), np.float64, np.array((value,), np.float64), strides=(0,))


def is_absent(count: float | FloatColumn) -> bool:
    """Whether a count is 0 in one step; never true of columns, so use it only to skip work that would yield 0.0."""
    return isinstance(count, float) and not count


class StepColumns(NamedTuple, Generic[Value]):
    """Shapes of one step (each field a float) or of many (each field a float64 column, all equally long).

    Attributes:
        num_prefill_tokens: this and the next fifteen fields are those of `engine.step_shape.StepShape`, in its order.
        graph_size: rows of the captured graph that the batch was padded to; 0 if the step ran eager.
    """

    num_prefill_tokens: Value
    num_prefill_seqs: Value
    prefill_qk: Value
    prefill_qq: Value
    prefill_context: Value
    max_query: Value
    max_context: Value
    num_decode_seqs: Value
    decode_context: Value
    decode_context_sq: Value
    max_decode_context: Value
    shared_context: Value
    num_sampled: Value
    num_new_blocks: Value
    num_admitted: Value
    num_released: Value
    graph_size: Value

    @staticmethod
    def one_row(shape: StepShape, graph_size: int | None) -> "StepColumns[float]":
        """One step; `graph_size` is None if it runs eager."""
        return StepColumns(*map(float, (*shape, graph_size or 0)))

    @staticmethod
    def of_sizes(sizes: Sizes) -> "StepColumns[float]":
        """One step of which only the sizes are known; all else is 0."""
        tokens, prefills, decodes, sampled, graph_size = sizes
        return StepColumns(*[0.0] * len(StepColumns._fields))._replace(
            num_prefill_tokens=tokens,
            num_prefill_seqs=prefills,
            num_decode_seqs=decodes,
            num_sampled=sampled,
            graph_size=graph_size,
        )

    @staticmethod
    def from_rows(shapes: Sequence[StepShape], graph_sizes: Sequence[int | None]) -> "StepColumns[FloatColumn]":
        """Many steps, one shape and one graph size (None: eager) each."""
        return StepColumns(*_columns(shapes, graph_sizes))

    @staticmethod
    def from_table(table: Mapping[str, ArrayLike]) -> "StepColumns[FloatColumn]":
        """Many steps from named columns, as a run's step table has them; other columns are ignored.

        Args:
            table: the columns; `graph_size` is 0, None or NaN for eager.

        Raises:
            RecordedStepsError: a column is missing.
        """
        missing = [name for name in StepColumns._fields if name not in table]
        if missing:
            raise RecordedStepsError(f"The steps have no column {missing[0]!r}; a recorded run has one for each field.")
        columns = StepColumns(*(np.asarray(table[name], dtype=np.float64) for name in StepColumns._fields))
        return columns._replace(graph_size=np.nan_to_num(columns.graph_size))


def _columns(shapes: Sequence[StepShape], graph_sizes: Sequence[int | None]) -> FloatColumn:
    rows = [(*shape, graph_size or 0) for shape, graph_size in zip(shapes, graph_sizes, strict=True)]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(StepColumns._fields)).T.copy()


class StepTimes(NamedTuple, Generic[Value]):
    """Times of one step (floats) or of many (float64 columns).

    Attributes:
        duration_s: time from one step to the next, host included, in seconds.
        device_s: time that the device is busy, in seconds; never above `duration_s`.
    """

    duration_s: Value
    device_s: Value


class CostModel(Protocol):
    """Predicts step times."""

    def step_times(self, steps: StepColumns[Value]) -> StepTimes[Value]:
        """Times of the given steps, row by row, as floats for one step and as columns for many."""
        ...


def with_constants(steps: StepColumns[Value]) -> StepColumns[Value]:
    """The same steps, with one float for each column made by `constant_column`, which numpy extends again.

    It saves a model of plain arithmetic most of its work on columns, and changes no bit. The contexts of decode rows
    stay a column, so that what is computed from them is one.
    """
    if isinstance(steps.decode_context, float):
        return steps
    numbers: list[Any] = [column[0].item() if column.strides == (0,) and column.size else column for column in steps]
    return StepColumns(*numbers)._replace(decode_context=steps.decode_context)
