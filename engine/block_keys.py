"""The keys of one sequence's blocks."""

from typing import Protocol


class BlockKeys(Protocol):
    """Made when they are asked for, since of most runs of blocks only a key or two are ever needed."""

    def __getitem__(self, index: int) -> int:
        """The key of full block `index`: it stands for all tokens from the start to the end of the block."""
        ...
