"""Request ids that are seen to be unique without being held."""

import re

NUMBERED = re.compile(r"r(0|[1-9]\d{0,17})", re.ASCII)


class AscendingIds:
    """Follows ids of the form r<number>, whose numbers must rise."""

    def __init__(self) -> None:
        self._lowest_free = 0

    def rises_to(self, request_id: str) -> bool:
        """Take the next id; return whether it has that form and its number is above all before."""
        found = NUMBERED.fullmatch(request_id)
        if found is None or int(found[1]) < self._lowest_free:
            return False
        self._lowest_free = int(found[1]) + 1
        return True
