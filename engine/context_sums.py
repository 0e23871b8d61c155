"""Sums over the contexts of decode rows."""

from collections.abc import Sequence
from operator import mul
from typing import Self


class ContextSums:
    """What a step's shape says of decode rows; it follows them from step to step without a look at any row.

    The context of a row that computes the token at a position is one token more than the position.

        step     contexts      total   total_sq   longest
        now      4  7          11      65         7
        next     5  8          13      89         8          89 = 65 + 2 x 11 + 2

    Attributes:
        num_rows: decode rows.
        total: sum of their contexts.
        total_sq: sum of (context squared).
        longest: largest context; 0 without rows.
    """

    __slots__ = ("longest", "num_rows", "total", "total_sq")

    def __init__(self, positions: Sequence[int]) -> None:
        """Look at rows that compute the tokens at these positions (from 0)."""
        sum_positions = sum(positions)
        self.num_rows = len(positions)
        self.total = sum_positions + self.num_rows
        self.total_sq = sum(map(mul, positions, positions)) + 2 * sum_positions + self.num_rows
        self.longest = max(positions) + 1 if positions else 0

    def advance(self, num_steps: int) -> None:
        """Let each row go on by so many tokens."""
        more = num_steps * self.num_rows
        # (context + s)^2 = context^2 + 2 s context + s^2
        self.total_sq += num_steps * (2 * self.total + more)
        self.total += more
        self.longest += num_steps if self.num_rows else 0

    def add(self, position: int) -> None:
        """Let a row come."""
        context = position + 1
        self.num_rows += 1
        self.total += context
        self.total_sq += context * context
        self.longest = max(self.longest, context)

    def without(self, position: int) -> Self | None:
        """Let a row go; None if it was the longest, as nothing is known of the second longest."""
        context = position + 1
        if context == self.longest:
            return None
        self.num_rows -= 1
        self.total -= context
        self.total_sq -= context * context
        return self
