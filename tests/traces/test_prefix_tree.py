import numpy as np

from traces.generation import PrefixPlan
from traces.prefix_tree import PrefixTree, draw_paths


def test_ids_are_consecutive_in_the_order_they_are_first_seen() -> None:
    tree = PrefixTree(block_size=10, node_blocks=1)
    assert tree.hash_ids((0, 1), 35) == (0, 1, 2, 3)
    assert tree.hash_ids((0, 1), 20) == (0, 1)
    assert tree.hash_ids((0, 0), 31) == (0, 4, 5, 6)
    assert tree.hash_ids((1, 1), 20) == (7, 8)
    assert tree.hash_ids((), 11) == (9, 10)


def test_a_partial_block_is_never_shared() -> None:
    tree = PrefixTree(block_size=10, node_blocks=1)
    assert tree.hash_ids((0, 0), 15) == (0, 1)
    assert tree.hash_ids((0, 0), 15) == (0, 2)
    assert tree.hash_ids((0, 0), 9) == (3,)


def test_a_node_of_several_blocks_may_be_used_in_part() -> None:
    tree = PrefixTree(block_size=10, node_blocks=3)
    assert tree.hash_ids((0, 1), 40) == (0, 1, 2, 3)
    assert tree.hash_ids((0, 1), 61) == (0, 1, 2, 3, 4, 5, 6)
    assert tree.hash_ids((0, 0), 45) == (0, 1, 2, 7, 8)


def test_an_id_stands_for_its_block_and_all_before_it() -> None:
    plan = PrefixPlan(roots=2, branching=3, depth=4)
    rng = np.random.default_rng(1)
    tree = PrefixTree(block_size=16, node_blocks=2)
    before: dict[int, tuple[int, ...]] = {}
    for path in draw_paths(plan, 500, rng):
        hash_ids = tree.hash_ids(path, int(rng.integers(1, 300)))
        assert len(set(hash_ids)) == len(hash_ids)
        for index, hash_id in enumerate(hash_ids):
            assert before.setdefault(hash_id, hash_ids[:index]) == hash_ids[:index]
    assert sorted(before) == list(range(len(before)))


def test_paths_have_all_depths_roots_and_branches() -> None:
    paths = draw_paths(PrefixPlan(roots=3, branching=2, depth=2), 2000, np.random.default_rng(1))
    assert len(paths) == 2000
    assert set(paths) == {(), *((r,) for r in range(3)), *((r, b) for r in range(3) for b in range(2))}
    shares = [sum(len(path) == depth for path in paths) / 2000 for depth in range(3)]
    assert all(abs(share - 1 / 3) < 0.05 for share in shares)


def test_a_prompt_that_goes_on_shares_the_full_blocks_of_the_one_before() -> None:
    tree = PrefixTree(block_size=10, node_blocks=1)
    first = tree.hash_ids((), 25)
    assert first == (0, 1, 2)
    assert tree.continued(first, 25, 41) == (0, 1, 3, 4, 5)
    assert tree.continued((), 9, 10) == (6,)
