from engine.block_run import BlockRun
from engine.key_index import KeyIndex


def _with_three_copies(keep_duplicates: bool = True) -> tuple[KeyIndex, list[BlockRun]]:
    """Three runs with the keys 7 and 8, and one with 9."""
    index = KeyIndex(keep_duplicates)
    keys = [7, 8, 9]
    runs = [BlockRun([1, 2], keys), BlockRun([3, 4], list(keys)), BlockRun([5, 6], list(keys)), BlockRun([0], keys, 2)]
    for run in runs:
        index.add(run)
    return index, runs


def test_oldest_run_is_found_while_it_lives_when_duplicates_are_kept() -> None:
    index, runs = _with_three_copies()

    found = []
    for run in runs[:3]:
        found.append(index.find(7))
        index.forget(run)

    assert found == runs[:3]
    assert (index.find(7), index.find(9)) == (None, runs[3])
    assert index.with_key(7) == []


def test_duplicate_that_goes_first_leaves_the_oldest() -> None:
    index, runs = _with_three_copies()

    index.forget(runs[1])

    assert index.with_key(7) == [runs[0], runs[2]]
    assert index.has_others(runs[0])
    index.forget(runs[0])
    assert index.with_key(7) == [runs[2]]
    assert not index.has_others(runs[2])


def test_key_starts_anew_when_all_its_runs_have_gone() -> None:
    index, runs = _with_three_copies()
    for run in (runs[2], runs[0], runs[1]):
        index.forget(run)
    new = BlockRun([6], [7])

    index.add(new)

    assert index.with_key(7) == [new]


def test_newest_run_replaces_the_others_when_duplicates_are_not_kept() -> None:
    index, runs = _with_three_copies(keep_duplicates=False)
    assert index.find(7) is runs[2]

    index.forget(runs[0])
    assert (index.find(7), index.with_key(7)) == (runs[2], [runs[2], runs[1]])
    index.forget(runs[2])

    # It lives on, and a run that comes must still be aligned with it.
    assert (index.find(7), index.with_key(7)) == (None, [runs[1]])
    assert index.has_others(runs[1])
    index.forget(runs[1])
    assert index.with_key(7) == []


def test_only_the_key_of_its_first_block_finds_a_run() -> None:
    index, _ = _with_three_copies()

    assert index.find(8) is None


def test_equal_runs_are_cut_together() -> None:
    for keep_duplicates in (True, False):
        index, runs = _with_three_copies(keep_duplicates)
        found, others = (runs[0], runs[1:3]) if keep_duplicates else (runs[2], runs[:2])

        halves = index.cut(runs[1], 1)

        assert [tail for _, tail in halves] == [found, *others]
        heads = [head for head, _ in halves]
        assert [head.block_ids for head in heads] == ([[1], [3], [5]] if keep_duplicates else [[5], [1], [3]])
        assert index.with_key(7) == heads
        assert index.with_key(8) == [found, *others]


def test_run_without_content_has_no_equals() -> None:
    index, _ = _with_three_copies()

    assert not index.has_others(BlockRun([7]))
