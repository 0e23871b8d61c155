from engine.key_index import KeyIndex


def _with_three_copies() -> KeyIndex:
    """Key 7 in blocks 5, 3 and 4, in that order."""
    index = KeyIndex(9, keep_duplicates=True)
    index.add([7, 8], [5, 6])
    index.add([7, 7], [3, 4])
    return index


def test_oldest_block_is_found_while_it_lives_when_duplicates_are_kept() -> None:
    index = _with_three_copies()

    found = []
    for block in (5, 3, 4):
        found.append(index.find(7))
        index.forget([block])

    assert found == [5, 3, 4]
    assert index.find(7) is None
    assert index.items() == [(8, [6])]
    assert len(index) == 1


def test_duplicate_that_goes_first_leaves_the_oldest() -> None:
    index = _with_three_copies()

    index.forget([3])

    assert index.items() == [(7, [5, 4]), (8, [6])]
    index.forget([5])
    assert index.items() == [(7, [4]), (8, [6])]


def test_key_starts_anew_when_all_its_blocks_have_gone() -> None:
    index = _with_three_copies()
    for block in (4, 5, 3):
        index.forget([block])

    index.add([7], [1])

    assert index.items() == [(8, [6]), (7, [1])]


def test_newest_block_replaces_the_others_when_duplicates_are_not_kept() -> None:
    index = KeyIndex(9, keep_duplicates=False)
    index.add([7, 8], [5, 6])
    index.add([7], [3])
    assert index.items() == [(7, [3]), (8, [6])]

    index.forget([5])  # no longer what the key finds
    assert index.find(7) == 3
    index.forget([3])
    assert index.find(7) is None


def test_block_carries_its_key_until_it_is_forgotten() -> None:
    index = KeyIndex(9, keep_duplicates=False)
    index.add([7, 8], [5, 6])
    index.add([7], [3])

    assert [index.key_of(block_id) for block_id in (3, 4, 5, 6)] == [7, None, 7, 8]
    index.forget([4, 5])
    index.forget([4, 5])
    assert [index.key_of(block_id) for block_id in (3, 4, 5, 6)] == [7, None, None, 8]
    assert index.items() == [(7, [3]), (8, [6])]
    assert len(index) == 2
