"""Prompts that share prefixes: each begins with a path through a tree of blocks."""

import numpy as np

from traces.generation.prefix_plan import PrefixPlan

Path = tuple[int, ...]  # child chosen at each level, the root first


def draw_paths(plan: PrefixPlan, num: int, rng: np.random.Generator) -> list[Path]:
    """Return `num` paths, of 0 to `depth` nodes each."""
    depths = rng.integers(0, plan.depth + 1, num)
    num_children = [plan.roots] + [plan.branching] * plan.depth
    choices = rng.integers(0, num_children[: plan.depth], (num, plan.depth))
    return [tuple(path[:depth]) for path, depth in zip(choices.tolist(), depths.tolist(), strict=True)]


class PrefixTree:
    """Gives the blocks of prompts their ids, consecutive from 0 in the order in which they are first seen.

    Args:
        block_size: tokens in a block.
        node_blocks: blocks in a node.
    """

    def __init__(self, block_size: int, node_blocks: int) -> None:
        self._block_size = block_size
        self._node_blocks = node_blocks
        self._shared_ids: dict[tuple[Path, int], int] = {}
        self._num_ids = 0

    def hash_ids(self, path: Path, num_tokens: int) -> tuple[int, ...]:
        """Return the ids of a prompt, one for a partial last block too.

        Args:
            path: nodes that the prompt begins with, as far as it has full blocks for them.
            num_tokens: length of the prompt.
        """
        num_full, rest = divmod(num_tokens, self._block_size)
        num_shared = min(len(path) * self._node_blocks, num_full)
        num_own = num_full - num_shared + (rest > 0)
        shared = [self._shared_id(path, block) for block in range(num_shared)]
        return (*shared, *(self._new_id() for _ in range(num_own)))

    def continued(self, before: tuple[int, ...], before_length: int, num_tokens: int) -> tuple[int, ...]:
        """Return the ids of a prompt that begins with the whole of another.

        Args:
            before: ids of the other prompt; that of a partial last block is not shared, as more follows in it.
            before_length: length of the other prompt.
            num_tokens: length of this one.
        """
        num_shared = before_length // self._block_size
        num_own = -(-num_tokens // self._block_size) - num_shared
        return (*before[:num_shared], *(self._new_id() for _ in range(num_own)))

    def _shared_id(self, path: Path, block: int) -> int:
        key = (path[: block // self._node_blocks + 1], block)
        if key not in self._shared_ids:
            self._shared_ids[key] = self._new_id()
        return self._shared_ids[key]

    def _new_id(self) -> int:
        self._num_ids += 1
        return self._num_ids - 1
