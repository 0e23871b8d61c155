import pytest

from engine.key_index import KeyIndex


def test_oldest_block_is_found_while_it_lives_when_duplicates_are_kept() -> None:
    index = KeyIndex(keep_duplicates=True)
    for block in (5, 3, 4):
        index.add(7, block)

    found = []
    for block in (5, 3, 4):
        found.append(index.find(7))
        index.discard(7, block)

    assert found == [5, 3, 4]
    assert index.find(7) is None
    assert len(index) == 0


def test_duplicate_that_goes_first_leaves_the_oldest() -> None:
    index = KeyIndex(keep_duplicates=True)
    for block in (5, 3, 4):
        index.add(7, block)

    index.discard(7, 3)

    assert index.items() == [(7, [5, 4])]
    index.discard(7, 5)
    assert index.items() == [(7, [4])]


def test_newest_block_replaces_the_others_when_duplicates_are_not_kept() -> None:
    index = KeyIndex(keep_duplicates=False)
    index.add(7, 5)
    index.add(7, 3)
    assert index.items() == [(7, [3])]

    index.discard(7, 5)  # no longer what the key finds
    assert index.find(7) == 3
    index.discard(7, 3)
    assert index.find(7) is None


@pytest.mark.parametrize("keep_duplicates", [True, False])
def test_discarding_what_is_not_there_has_no_effect(keep_duplicates: bool) -> None:
    index = KeyIndex(keep_duplicates)
    index.add(7, 5)

    index.discard(8, 5)
    index.discard(7, 6)

    assert index.items() == [(7, [5])]
    assert len(index) == 1
