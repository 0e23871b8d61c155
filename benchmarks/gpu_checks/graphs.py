"""Steps in captured graphs give what the same steps give eager, and are as near to float32."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import torch.nn.functional as F  # noqa: N812 - the usual name

from backends.graph_sizes import graph_sizes
from backends.graph_table import GraphTable
from benchmarks.gpu_checks.attention_kind import AttentionKind
from benchmarks.gpu_checks.case import Case, Number, Verdict
from benchmarks.gpu_checks.compare import largest_row_error, relative_error
from benchmarks.gpu_checks.graph_twin import GraphTwin
from benchmarks.gpu_checks.setup import Setup
from benchmarks.gpu_checks.step_rows import Row

_WORSE = 1.3
"""How much farther from float32 one order of sums may be than another: each is one draw of the same rounding."""
_FAR = 0.3
"""Relative difference of a row that other inputs make: above what rounding makes of 28 random layers, up to 0.13."""
_EXACT = 1e-4
"""Errors below this are float32's own, as when the checks are tried on a CPU."""


def cases(setup: Setup) -> Iterator[Case]:
    """All sizes for 256 rows; on a CPU a few."""
    sizes = graph_sizes(256 if setup.is_cuda else 4)
    yield from graph_cases(setup, setup.usual_attention, sizes)


def graph_cases(setup: Setup, kind: AttentionKind, sizes: Sequence[int]) -> Iterator[Case]:
    """Every size full and as empty as it can be; contexts that need other widths in turn; steps with chunks."""
    yield Case(f"{kind}: {len(sizes)} sizes", partial(_all_sizes, setup, kind, sizes))
    yield Case(f"{kind}: tables of several widths", partial(_several_widths, setup, kind))
    yield Case(f"{kind}: one step in all widths", partial(_across_widths, setup, kind))
    yield Case(f"{kind}: steps with chunks", partial(_with_chunks, setup, kind))


def _all_sizes(setup: Setup, kind: AttentionKind, sizes: Sequence[int]) -> Verdict:
    contexts = [1 + 97 * seat % (600 if setup.is_cuda else 60) for seat in range(max(sizes))]
    twin = GraphTwin(setup, kind, GraphTable(sizes), contexts)
    replayed, apart = {}, {}
    for smaller, size in pairwise((0, *sizes)):
        for num_rows in {smaller + 1, size}:
            rows = _decodes(contexts[:num_rows])
            captured, ran = twin.captured(rows)
            assert ran == size, f"{num_rows} rows run in {ran}"
            replayed[num_rows] = largest_row_error(captured, twin.on_the_same_inputs(rows, size))
            apart[num_rows] = largest_row_error(captured, twin.eager(twin.eager_inputs(rows)))
    numbers = {"same_inputs": max(replayed.values()), "unpadded": max(apart.values()), "steps": len(apart)}
    return Verdict(numbers["same_inputs"] == 0 and numbers["unpadded"] < _FAR, numbers)


def _lengths(setup: Setup) -> list[int]:
    return [17_000, 5_000, 4_000, 900, 500, 300] if setup.is_cuda else [100, 60, 40, 30, 20, 10]


def _several_widths(setup: Setup, kind: AttentionKind) -> Verdict:
    """Contexts that need wide, narrow and wide tables in turn, each beside float32."""
    lengths = _lengths(setup)
    twin = GraphTwin(setup, kind, GraphTable((8,)), lengths)
    works = {
        "narrow": _decodes([1, 2, 3, 15, 16]),
        "wide": _decodes(lengths),
        "middle": _decodes([3, *lengths[1:]]),
        "third": _decodes([3, 7, *lengths[2:]]),
        "narrow_again": _decodes([5, 6, 7]),
    }
    return _judged(twin, works)


def _across_widths(setup: Setup, kind: AttentionKind) -> Verdict:
    """The same rows with tables of any width: what differs is the order of sums, if all are as near to float32."""
    lengths = _lengths(setup)
    twin = GraphTwin(setup, kind, GraphTable((8,)), lengths)
    inputs = twin.eager_inputs(_decodes([3, 7, 9, *lengths[3:]]))
    exact, narrow = twin.exact(inputs), inputs.decode_block_tables
    results = {}
    for width in sorted({narrow.shape[1], narrow.shape[1] * 4, twin.full_width}):
        tables = F.pad(narrow, (0, max(0, width - narrow.shape[1])))
        results[width] = twin.eager(replace(inputs, decode_block_tables=tables))
    errors = {width: relative_error(hidden, exact) for width, hidden in results.items()}
    first = next(iter(results.values()))
    numbers: dict[str, Number] = {f"width_{width}_from_float32": error for width, error in errors.items()}
    numbers["apart"] = max(relative_error(hidden, first) for hidden in results.values())
    return Verdict(_is_as_near(max(errors.values()), min(errors.values())), numbers)


def _with_chunks(setup: Setup, kind: AttentionKind) -> Verdict:
    """Chunks alone, continued, many, and beside decode rows; from sizes nearly empty to full."""
    lengths = [*_lengths(setup), *[70] * 40] if setup.is_cuda else [*_lengths(setup), *[9] * 16]
    scale = 1 if setup.is_cuda else 10
    table = GraphTable((1, 64), (16, 64, 256, 512)) if setup.is_cuda else GraphTable((1, 32), (16, 64, 128))
    twin = GraphTwin(setup, kind, table, lengths)
    long, short = lengths[0], range(6, len(lengths))
    works = {
        "one_chunk": [Row(5, 0, 9)],
        "continued": [Row(0, long - 90 // scale, long), Row(1, 3, 3 + 60 // scale), Row(4, 0, 100 // scale)],
        "beside_decodes": [*_decodes(lengths[:5]), Row(5, 0, 200 // scale)],
        "16_chunks": [Row(seat, 0, 2 + seat % 5) for seat in short[:16]],
        "many_decodes": [Row(0, long - 200 // scale, long), *[Row(seat, 8, 9) for seat in short]],
        "full": [Row(0, 0, table.mixed_sizes[-1] - len(short)), *[Row(seat, 6, 7) for seat in short]],
    }
    return _judged(twin, works)


def _judged(twin: GraphTwin, works: dict[str, list[Row]]) -> Verdict:
    """Equal to the last bit on the same padded inputs, and as near to float32 as the eager step."""
    numbers: dict[str, Number] = {}
    is_ok = True
    for name, rows in works.items():
        inputs = twin.eager_inputs(rows)
        exact = twin.exact(inputs)  # first: the others write the cache
        captured, size = twin.captured(rows)
        same = largest_row_error(captured, twin.on_the_same_inputs(rows, size))
        eager = twin.eager(inputs)
        ours, theirs = relative_error(captured, exact), relative_error(eager, exact)
        numbers |= {f"{name}_replay": same, f"{name}_graph32": ours, f"{name}_eager32": theirs}
        is_ok = is_ok and same == 0 and _is_as_near(ours, theirs)
    return Verdict(is_ok, numbers)


def _is_as_near(error: float, other: float) -> bool:
    return error <= max(_WORSE * other, _EXACT)


def _decodes(contexts: Sequence[int]) -> list[Row]:
    return [Row(seat, context - 1, context) for seat, context in enumerate(contexts)]
