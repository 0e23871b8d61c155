import gc

import pytest

from sim.rare_collections import rare_collections


def test_what_is_there_is_left_out_until_the_end() -> None:
    before = gc.get_threshold()

    with rare_collections():
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold()[0] > before[0]

    assert (gc.get_freeze_count(), gc.get_threshold()) == (0, before)


def test_error_leaves_the_collector_as_it_was() -> None:
    before = gc.get_threshold()

    with pytest.raises(KeyboardInterrupt), rare_collections():
        raise KeyboardInterrupt

    assert (gc.get_freeze_count(), gc.get_threshold()) == (0, before)
