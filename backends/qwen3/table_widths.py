"""How wide the block tables of decode rows are handed to attention."""

from collections.abc import Sequence

_LIMITS = (1024, 4096, 16384)
_PROGRAMS = 256


class TableWidths:
    """A few widths in place of any, where the width of a table changes how attention works.

    flash-attn 2 does not look at the contexts when it splits them over the GPU, since those are on the device: it cuts
    the whole width of the table into equal splits.

        width 16 blocks, 4 splits    |----|----|----|----|
        context of 5 blocks          |oooo|o   |    |    |    two splits work, the others end at once
        the same in width 160        |ooooo ....40 blocks....|    one split works

    So a table much wider than the contexts makes a step slow, and two tables of different width give sums in different
    order. With the widths of this class a captured and an eager step of the same rows get the same table. Rows that
    fill the GPU by themselves are not split whatever the width; they, and attention that never splits, need no more
    than one graph a size.

    Args:
        full: blocks of the longest sequence.
        block_size: tokens in a block.
        num_kv_heads: of this rank.
        is_split: whether attention splits contexts by the table's width.
        limits: contexts, in tokens, for which there are narrower tables, ascending.

    Attributes:
        full: as given.
    """

    def __init__(
        self,
        full: int,
        block_size: int,
        *,
        num_kv_heads: int,
        is_split: bool,
        limits: Sequence[int] = _LIMITS,
    ) -> None:
        self.full = full
        blocks = [-(-tokens // block_size) for tokens in limits]
        self._narrow = tuple([width for width in blocks if width < full]) if is_split else ()
        self._max_split_rows = _PROGRAMS // num_kv_heads if is_split else 0

    def captured(self, num_rows: int) -> tuple[int, ...]:
        """Widths to capture graphs of `num_rows` rows for, ascending; the last is the full one."""
        return (*self._narrow, self.full) if num_rows <= self._max_split_rows else (self.full,)

    def narrowest(self, num_rows: int, num_blocks: int) -> int:
        """Smallest of `captured(num_rows)` that holds `num_blocks` blocks, which is at most the full width."""
        assert num_blocks <= self.full, f"{num_blocks} blocks in tables of {self.full}"
        return next(width for width in self.captured(num_rows) if width >= num_blocks)

    def eager(self, num_rows: int, num_blocks: int) -> int:
        """Width of the table of an eager step: as captured, or just as wide as needed where width does not matter."""
        is_split = 0 < num_rows <= self._max_split_rows
        return self.narrowest(num_rows, num_blocks) if is_split else num_blocks
