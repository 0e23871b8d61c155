"""What the block manager keeps for runs of blocks, laid out for each block."""

from collections.abc import Iterator

from engine import BlockManager
from engine.block_run import BlockRun


def num_holders(manager: BlockManager) -> list[int]:
    """The count that it keeps for each block; one in no run is free or held by the table that it was handed to."""
    counts = [1] * manager.num_blocks
    for block_id in manager._free:
        counts[block_id] = 0
    for run in manager._runs._runs.values():
        for block_id in run.block_ids:
            assert (counts[block_id] == 0) == (run.num_holders == 0)
            counts[block_id] = run.num_holders
    return counts


def key_of_blocks(manager: BlockManager) -> list[int | None]:
    """The key that each block carries."""
    key_of = dict[int, int]()
    for run in manager._runs._runs.values():
        key_of |= {block_id: key for key, block_id in _keyed(run)}
    return [key_of.get(block_id) for block_id in range(manager.num_blocks)]


def findable(manager: BlockManager) -> list[tuple[int, list[int]]]:
    """Every key with its blocks, the one that a hit returns first; no key may be in runs that are not equal."""
    index = manager._runs._index
    blocks = dict[int, list[int]]()
    for first_key in index._found.keys() | index._others.keys():
        runs = index.with_key(first_key)
        keys = [key for key, _ in _keyed(runs[0])]
        assert all([key for key, _ in _keyed(run)] == keys for run in runs)
        assert blocks.keys().isdisjoint(keys), "runs that have a key in common are not cut alike"
        shown = runs if index._keep_duplicates else [run for run in runs if run is index.find(first_key)]
        for i, key in enumerate(keys):
            blocks[key] = [run.block_ids[i] for run in shown]
    return sorted((key, found) for key, found in blocks.items() if found)


def _keyed(run: BlockRun) -> Iterator[tuple[int, int]]:
    if run.keys is not None:
        yield from [(run.keys[run.start + i], block_id) for i, block_id in enumerate(run.block_ids)]
