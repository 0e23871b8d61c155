"""Which block size the ids of a file have, and who says so."""

from pathlib import Path
from typing import NamedTuple

from traces.hash_id_count import HashIdCount
from traces.side_file import side_file_path
from traces.trace import DEFAULT_BLOCK_SIZE


class BlockSizeChoice(NamedTuple):
    """Prompt tokens that one of hash_ids stands for.

    Attributes:
        size: tokens.
        source: who stated it, as it fits behind "tokens".
    """

    size: int
    source: str

    @classmethod
    def of(cls, path: Path, given: int | None, stated: int | None, of_format: int | None = None) -> "BlockSizeChoice":
        """Choose the first that there is: given by the user, stated by the side file, fixed by the format, 512."""
        if given is not None:
            return cls(given, "as given")
        if stated is not None:
            return cls(stated, f"by {side_file_path(path).name}")
        if of_format is not None:
            return cls(of_format, "by the format")
        return cls(DEFAULT_BLOCK_SIZE, "by default")

    def notice(self, rule: HashIdCount | None, num_without: int) -> tuple[str, ...]:
        """Return a sentence about the ids of a trace, or nothing where it has none.

        Args:
            rule: how they are counted.
            num_without: requests that have none.
        """
        if rule is None:
            return ()
        without = f"; {num_without} requests have none and share no prefix" if num_without else ""
        partial = "has an id too" if rule == "ceil" else "has none"
        return (
            f"Each of hash_ids stands for {self.size} prompt tokens ({self.source}), counted by {rule}: "
            f"a partial last block {partial}{without}.",
        )
