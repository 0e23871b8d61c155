"""Into how many parts attention cuts the contexts of decode rows."""

_PROGRAMS = 512
"""Programs that fill a GPU."""
_TOKENS = 1024
"""Length of a split where rows fill the GPU."""
_FEWEST = 4
"""Two or three splits of short contexts save no more than combining them costs."""
_SHORTEST = 128
"""Tokens that a program reads at once."""
_MOST = 16
"""More gains nothing, not even for one row of 41,000 tokens."""
_RESULTS = 1024
"""Rows x splits, beyond which writing and combining the results of splits costs more than it evens out."""


def context_splits(num_rows: int, num_kv_heads: int, max_context: int) -> int:
    """How many splits each row's context gets; those of a row run side by side, and their results are combined.

    Without splits the longest context keeps a few programs busy while the rest of the GPU waits:

        4 rows, 1 split     |=|                      4 splits     |=|
                            |==|                                  |==|
                            |=========|                           |===|===|===|
                            |==|                                  |==|
                             time ->                               time ->

    All rows are cut at the same distances, so one long context among many short ones is what splits are for: on an H200
    32 rows, of which two have 41,000 tokens, take 1.08 ms a layer of Qwen3-0.6B in one piece and 0.14 ms in 16. A split
    costs little but not nothing (32 equal rows of 1,000 tokens: 36 us in one piece, 69 us in 16), so a context that can
    be no longer than `_TOKENS` has none, unless there are too few rows to fill the GPU.

    Args:
        num_rows: padding included, since a captured step has the same splits whatever it holds.
        num_kv_heads: of this rank; a program works for one row and KV head.
        max_context: tokens that the block tables have room for; contexts themselves are known on the device alone.
    """
    to_fill = min(_PROGRAMS // (num_rows * num_kv_heads), max_context // _SHORTEST)
    if to_fill < _FEWEST:
        to_fill = 1
    most = min(_MOST, _RESULTS // num_rows)
    return max(1, min(most, max(to_fill, max_context // _TOKENS)))
