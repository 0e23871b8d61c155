"""Less garbage collection while a run is under way."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLDS = (50_000, 20, 20)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Leave out what is there already, and look at the rest seldom.

    A run makes many objects that live long and hardly any garbage that counting references does not free, so that the
    collector would look at the same requests and rows again and again.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
