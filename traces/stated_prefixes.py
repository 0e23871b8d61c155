"""Content ids for sessions that say how many tokens of a prompt were there before, but not which."""

from collections.abc import Iterable, Mapping

from traces.recorded_row import RecordedRow


class StatedPrefixes:
    """Gives the prompts of each session ids so that a prompt begins with what it shares with the one before.

        prompt before   |id 0|id 1|id 2|id 3|rest|
        stated prefix   |=============|                 a rewind: shorter than the prompt before
        this prompt     |id 0|id 1|id 4|id 5|id 6|rest|

    Only full blocks that lie inside the stated prefix and inside the prompt before are shared: of the answer before,
    which a prefix may hold too, no trace knows the content. A partial last block has no id (floor).

    Args:
        block_size: prompt tokens that one id stands for.
    """

    def __init__(self, block_size: int) -> None:
        self._block_size = block_size
        self._prompts: dict[str, tuple[int, ...]] = {}
        self._num_ids = 0
        self._num_stated = 0
        self._num_shared = 0

    def with_ids(self, rows: Iterable[RecordedRow], prefixes: Mapping[int, int]) -> list[RecordedRow]:
        """Return rows with ids.

        Args:
            rows: in the order of turns.
            prefixes: stated prefix in tokens by position of the row.
        """
        return [row._replace(hash_ids=self._hash_ids(row, prefixes[row.position])) for row in rows]

    def notice(self, field: str) -> str:
        """Return a sentence that flags the ids as made up, and says how much of the stated prefixes they hold."""
        share = 100 * self._num_shared / self._num_stated if self._num_stated else 0.0
        return (
            f"prefix_synthesized: hash_ids are made from {field}, blocks of {self._block_size} tokens; they share "
            f"{self._num_shared:,} of {self._num_stated:,} stated prefix tokens ({share:.1f}%), those that lie in full "
            "blocks of the prompt before."
        )

    def _hash_ids(self, row: RecordedRow, prefix_length: int) -> tuple[int, ...]:
        before = self._prompts.get(row.session_id or "", ())
        num_shared = min(prefix_length // self._block_size, len(before))
        num_new = row.input_length // self._block_size - num_shared
        hash_ids = (*before[:num_shared], *range(self._num_ids, self._num_ids + num_new))
        self._num_ids += num_new
        self._num_stated += prefix_length
        self._num_shared += num_shared * self._block_size
        self._prompts[row.session_id or ""] = hash_ids
        return hash_ids
