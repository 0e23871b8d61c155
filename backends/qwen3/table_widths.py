"""How wide the block tables of decode rows are handed to attention."""

from collections.abc import Sequence

_LIMITS = (1024, 4096, 16384)


class TableWidths:
    """A few widths in place of any, where the width of a table changes how attention works.

    Attention cannot look at the contexts when it splits them over the GPU, since those are on the device: it cuts the
    whole width of the table into equal splits, see `context_splits`.

        width 16 blocks, 4 splits    |----|----|----|----|
        context of 5 blocks          |oooo|o   |    |    |    two splits work, the others end at once
        the same in width 160        |ooooo ....40 blocks....|    one split works

    So a table much wider than the contexts makes a step slow, and two tables of different width give sums in different
    order. With the widths of this class a captured and an eager step of the same rows get the same table. Attention
    that never splits needs one.

    Args:
        full: blocks of the longest sequence.
        block_size: tokens in a block.
        is_split: whether attention splits contexts by the table's width.
        limits: contexts, in tokens, for which there are narrower tables, ascending.

    Attributes:
        full: as given.
        all: to capture decode steps of each size for, ascending; the last is the full one.
    """

    def __init__(self, full: int, block_size: int, *, is_split: bool, limits: Sequence[int] = _LIMITS) -> None:
        self.full = full
        self._is_split = is_split
        blocks = [-(-tokens // block_size) for tokens in limits] if is_split else []
        self.all = (*[width for width in blocks if width < full], full)

    def narrowest(self, num_blocks: int) -> int:
        """Smallest width that holds `num_blocks` blocks, which is at most the full width."""
        assert num_blocks <= self.full, f"{num_blocks} blocks in tables of {self.full}"
        return next(width for width in self.all if width >= num_blocks)

    def eager(self, num_blocks: int) -> int:
        """Width of the table of an eager step: as captured, or just as wide as needed where width does not matter."""
        return self.narrowest(num_blocks) if self._is_split and num_blocks else num_blocks
